"""The rows of a report of paraphrases that need no trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from espalier.corpora.keys import Keys, key_array, key_of
from espalier.datasets.pairs.data import PairData, PairView, top_levels
from espalier.datasets.ragged import IntArray, Ragged
from espalier.metrics.ibleu import cleaned
from espalier.tasks.chance import chance_seeds, known_rows
from espalier.tasks.data import BaselineRow, Ready
from espalier.tasks.training_pairs import TrainingPairs

if TYPE_CHECKING:
    import pandas as pd

    from espalier.corpora.records import Pair
    from espalier.datasets.pairs.vocabulary import PairVocabulary


def exemplars(wanted: Ragged, train: PairData, levels: int, among: IntArray | None = None) -> IntArray:
    """(trees,) index in `train` of the exemplar of each tree.

    An exemplar is a sentence with the wanted syntax and another meaning (Chen et al. 2019). Our corpora have no
    exemplars, so one is chosen from the training split for each pair.

    Its tree has the same top `levels` levels; if there is no such tree, the same top `levels` - 1 levels, and so on.
    Among such trees, the one closest in size is chosen; ties go to the smaller one, then to the first by id.

    Args:
        wanted: symbols of the trees, in the vocabulary of `train`.
        among: indices of the rows that may be chosen, at least one; None for all. About 40 bytes of each are in
            memory.
    """
    trees = train.columns["target_tree"]
    rows = np.arange(len(train)) if among is None else among
    lengths = trees.lengths[rows]
    found = np.full(len(wanted.lengths), -1, dtype=np.int64)
    for level in range(levels, -1, -1):
        missing = np.flatnonzero(found < 0)
        if not len(missing):
            break
        parts = (trees.select(rows[start : start + _ROWS]) for start in range(0, len(rows), _ROWS))
        tops = np.concatenate([_tops(part, level, train.vocabulary) for part in parts])
        order = np.argsort(tops, kind="stable")
        tops, own = tops[order], _tops(wanted.select(missing), level, train.vocabulary)
        bounds = (np.searchsorted(tops, own, side) for side in ("left", "right"))
        known: dict[tuple[int, int], int] = {}
        for row, start, end in zip(missing.tolist(), *bounds, strict=True):
            if start == end:
                continue
            size = int(wanted.lengths[row])
            if (start, size) not in known:
                group = order[start:end]
                away = np.abs(lengths[group] - size)
                nearest = group[away == away.min()]
                nearest = rows[nearest[lengths[nearest] == lengths[nearest].min()]]
                known[start, size] = min(nearest.tolist(), key=lambda place: train.ids[place])
            found[row] = known[start, size]
    return found


def _tops(trees: Ragged, levels: int, vocabulary: PairVocabulary) -> Keys:
    """The keys of the top levels of trees."""
    top = top_levels(trees, levels, vocabulary)
    return key_array(key_of(top.flat[start:end].tobytes()) for start, end in pairwise(top.offsets.tolist()))


#: Training rows whose trees are looked at at a time.
_ROWS: Final = 1 << 14
#: A target by itself, for a model that reads no source.
TEXT_VIEW: Final = PairView(())
#: The share of words that the row `noise` replaces.
NOISE: Final = 0.4


def baseline_rows(
    table: pd.DataFrame, ready: Ready[Pair, PairData], train: PairData, seed: int
) -> Mapping[str, BaselineRow]:
    """The sources and the references with their parses, and training targets: exemplars, and random ones."""
    known = known_rows(train.columns["target"])
    seeds = chance_seeds(table, seed)
    drawn = known[[own % len(known) for own in seeds]]
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
            {"text": _targets(train, exemplars(wanted, train, TEXT_VIEW.template, known))},
            given=("template_kept", "incomprehensible", "empty", "ted_unparsed"),
        )
    return rows


def _targets(data: PairData, places: IntArray) -> list[str]:
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
