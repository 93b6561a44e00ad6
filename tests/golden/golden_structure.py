"""Golden values of texts with structures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from espalier.corpora.records import Sentence
from espalier.datasets.structure.data import StructureView
from espalier.datasets.structure.encode import StructureEncoding, StructureSettings

LINES = [
    ("蓦然回首 情 已远 ， 身不由己 在 天边", "ns n d x i p s"),
    ("灯 在 桥边", "n p s"),
    ("雨 未 停", "n d"),
    ("雨" * 20, "n"),
]


def structured(_: Path) -> Any:
    rows = [
        Sentence(id=f"line/{n}", origin="made", language="zh", target=words.replace(" ", ""), target_words=words,
                 target_tags=tags)
        for n, (words, tags) in enumerate(LINES)
    ]  # fmt: skip
    encoding = StructureEncoding()
    settings = StructureSettings(structures=("pc", "pos", "tone"), max_length=16, topics=2)
    vocabulary = encoding.build_vocabulary(rows[:2], settings, "zh")
    encoded = encoding.encode(rows, vocabulary, settings)
    batch = encoded.split.batch(
        np.arange(len(encoded.places)), StructureView(("pc", "pos", "tone"), topic=True), grain=4
    )
    return [
        vocabulary.words, {name: list(table) for name, table in vocabulary.symbols.items()}, list(encoded.places),
        [[row.id, row.reason] for row in encoded.quarantined], batch.inputs.tolist(), batch.target.tolist(),
        {name: symbols.tolist() for name, symbols in batch.structures.items()}, batch.topic.tolist(),
        batch.prompt.tolist(), encoding.counts(encoded.split), encoding.numbers(vocabulary),
    ]  # fmt: skip


COMPONENTS = {"encodings.structure": structured}
