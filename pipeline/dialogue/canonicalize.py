"""canonicalize dialogues: words of both sides, ternary trees of the responses, and how far words must be carried."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from espalier.corpora.records import Pair
from espalier.datasets.dialogue.data import ARITY, DialogueData
from espalier.datasets.dialogue.encode import canonicalize, words_known
from espalier.datasets.vocabulary import UNK, WordVocabulary
from espalier.io.files import write_json
from espalier.metrics.steps import steps_by_length, steps_of_tree
from pipeline import layout
from pipeline.artifacts import read_split, write_ready
from pipeline.params import DialogueDataset, Params
from pipeline.stage import counted, say
from pipeline.stages.filter import SPLITS


def run(key: str, dataset: DialogueDataset, params: Params) -> None:
    """One table a split, the vocabulary, what did not fit, and the steps of figure 6 by length."""
    rows = {name: read_split(dataset.corpus, name, Pair) for name in SPLITS}
    if dataset.vocab_from != layout.NONE:
        vocabulary = WordVocabulary.load(layout.ready(dataset.vocab_from) / "vocabulary.json")
    else:
        vocabulary = words_known(rows["train"], most=dataset.words, coverage=dataset.coverage)
    limits: dict[str, Any] = {
        "least": dataset.least,
        "most": dataset.most,
        "unknown": dataset.unknown,
        "lift": dataset.lift,
    }
    made = {name: canonicalize(rows[name], vocabulary, **limits) for name in SPLITS}
    splits = {name: data for name, (data, _, _) in made.items()}
    aside = [row for _, dropped, _ in made.values() for row in dropped]
    write_ready(key, vocabulary, splits, aside)
    counts = {name: len(data) for name, data in splits.items()}
    write_json(
        layout.dataset_metrics(key),
        {
            "rows": {**counts, "quarantined": len(aside)},
            "words": {name: int(data.columns["target"].lengths.sum()) for name, data in splits.items()},
            "unknown": {name: _unknown(data) for name, data in splits.items()},
            "lifted": {name: lifted for name, (_, _, lifted) in made.items()},
            "quarantined": dict(sorted(Counter(row.reason for row in aside).items())),
            "vocabulary": {"words": len(vocabulary.words)},
            "steps": _steps(splits["train"]),
        },
    )
    say(counted([("words", len(vocabulary.words)), *counts.items(), ("quarantined", len(aside))]))


def _unknown(data: DialogueData) -> dict[str, float]:
    """Of each side, the share of words that the vocabulary does not have, in percent."""
    shares = {side: (data.columns[side].flat == UNK).mean() if len(data) else 0.0 for side in ("source", "target")}
    return {side: round(100 * float(share), 2) for side, share in shares.items()}


def _steps(data: DialogueData) -> dict[str, dict[str, float]]:
    """The points of figure 6: by length, the words that a state carries in a chain and in trees."""
    children = data.columns["children"]
    trees = (row.reshape(-1, ARITY) for row in np.split(children.flat, children.offsets[1:-1])) if len(data) else ()
    found = steps_by_length(steps_of_tree(tree) for tree in trees)
    return {
        str(length): {name: round(value, 4) for name, value in row._asdict().items()} for length, row in found.items()
    }
