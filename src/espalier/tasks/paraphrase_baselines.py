"""The rows of a report of paraphrases that need no trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from espalier.datasets.pairs.data import PairData, PairView, top_levels
from espalier.datasets.ragged import IntArray, Ragged
from espalier.metrics.ibleu import cleaned
from espalier.tasks.chance import chance_seeds, known_rows
from espalier.tasks.data import BaselineRow
from espalier.tasks.training_pairs import TrainingPairs

if TYPE_CHECKING:
    import pandas as pd

    from espalier.corpora.records import Pair
    from espalier.datasets.pairs.data import PairData
    from espalier.datasets.pairs.vocabulary import PairVocabulary
    from espalier.datasets.ragged import IntArray
    from espalier.tasks.data import Ready


def exemplars(wanted: Ragged, train: PairData, levels: int) -> IntArray:
    """(trees,) index in `train` of the exemplar of each tree.

    An exemplar is a sentence with the wanted syntax and another meaning (Chen et al. 2019). Our corpora have no
    exemplars, so one is chosen from the training split for each pair.

    Its tree has the same top `levels` levels; if there is no such tree, the same top `levels` - 1 levels, and so on.
    Among such trees, the one closest in size is chosen; ties go to the smaller one, then to the first by id.

    Args:
        wanted: symbols of the trees, in the vocabulary of `train`.
    """
    trees = train.columns["target_tree"]
    order = np.lexsort((np.array(train.ids), trees.lengths))
    found = np.full(len(wanted.lengths), -1, dtype=np.int64)
    for level in range(levels, -1, -1):
        missing = np.flatnonzero(found < 0)
        if not len(missing):
            break
        tops = _rows(top_levels(trees, level, train.vocabulary))
        groups: dict[bytes, list[int]] = {}
        for place in order.tolist():
            groups.setdefault(tops[place], []).append(place)
        arrays = {top: np.array(places) for top, places in groups.items()}
        for row, top in zip(missing, _rows(top_levels(wanted.select(missing), level, train.vocabulary)), strict=True):
            if top in arrays:
                group = arrays[top]
                found[row] = group[np.abs(trees.lengths[group] - wanted.lengths[row]).argmin()]
    return found


def _rows(trees: Ragged) -> list[bytes]:
    """The symbols of each tree in a hashable form."""
    return [trees.flat[start:end].tobytes() for start, end in zip(trees.offsets[:-1], trees.offsets[1:], strict=True)]


#: A target by itself, for a model that reads no source.
TEXT_VIEW: Final = PairView(())
#: The share of words that the row `noise` replaces.
NOISE: Final = 0.4


def baseline_rows(
    table: pd.DataFrame, ready: Ready[Pair, PairData], train: PairData, seed: int
) -> Mapping[str, BaselineRow]:
    """The sources and the references with their parses, and training targets: exemplars, and random ones."""
    train = train.select(known_rows(train.columns["target"]))
    seeds = chance_seeds(table, seed)
    drawn = [own % len(train) for own in seeds]
    rows = {
        "copy": BaselineRow(
            "the source itself",
            {"text": table["source"].tolist()},
            table["source_tree"].tolist(),
            given=("repeated_words", "incomprehensible", "empty", "ted_unparsed"),
        ),
        "human": BaselineRow(
            "the reference", {"text": table["reference"].tolist()}, table["reference_tree"].tolist(), trivial=False
        ),
        "chance": BaselineRow(
            "a training target drawn at random",
            {"text": _targets(train, drawn)},
            given=("copied", "incomprehensible", "empty", "ted_unparsed"),
        ),
    }
    if train.vocabulary.symbols is None:
        rows["noise"] = BaselineRow(
            f"the source, {NOISE:.0%} of its words drawn from those of the references",
            {"text": _noised(table, train.vocabulary, seeds)},
            given=("copied", "words", "empty"),
        )
    if "pairs" in ready.extras:
        pairs = TrainingPairs(ready.extras["pairs"])
        found = [pairs.look_up(source) or source for source in table["source"]]
        rows["look_up"] = BaselineRow(
            "what training pairs with the source, else the source",
            {"text": [train.vocabulary.text_of(text.split()) for text in found]},
            given=("words", "incomprehensible", "empty"),
        )
    if train.vocabulary.symbols is not None:
        place_of = {id_: place for place, id_ in enumerate(ready.data.ids)}
        wanted = ready.data.columns["target_tree"].select(np.array([place_of[id_] for id_ in table["id"]]))
        rows["exemplar"] = BaselineRow(
            "the training target nearest in size under the reference's template",
            {"text": _targets(train, exemplars(wanted, train, TEXT_VIEW.template))},
            given=("template_kept", "incomprehensible", "empty", "ted_unparsed"),
        )
    return rows


def _targets(data: PairData, places: Sequence[int] | IntArray) -> list[str]:
    """The targets with these indices, as text."""
    targets = data.columns["target"]
    bounds = targets.offsets
    return [data.vocabulary.decode_text(targets.flat[bounds[n] : bounds[n + 1]].tolist()) for n in places]


def _noised(table: pd.DataFrame, vocabulary: PairVocabulary, seeds: Sequence[int]) -> list[str]:
    """The sources, with each word replaced with probability `NOISE` by a random word of the references, by frequency.

    Texts are split at spaces after BERT's clean-up, so a mark belongs to its word.
    """
    pool = np.array([word for reference in table["reference"] for word in cleaned(reference).split()])
    texts = list[str]()
    for source, own in zip(table["source"], seeds, strict=True):
        words, rng = np.array(cleaned(source).split(), dtype=object), np.random.default_rng(own)
        drawn = rng.random(len(words)) < NOISE
        words[drawn] = rng.choice(pool, int(drawn.sum()))
        texts.append(vocabulary.text_of(words.tolist()))
    return texts
