"""Every architecture, small and with dropout, and rows that it trains on, which the nursery grows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from espalier.datasets.batch import Batch
from espalier.datasets.registry import ENCODINGS
from espalier.models.registry import ARCHITECTURES
from espalier.nursery import dialogue_zh, lyrics_zh, paraphrase_en, verse_zh
from espalier.text.language import Language

DROPOUTS = {"dropout": 0.3, "attention_dropout": 0.2}
BLOCKS = {"width": 16, "heads": 2, "inner": 16, "layers": 2, **DROPOUTS}
ENCODERS = {"layers": 1, "heads": 2, "cross_heads": 1}
GUIG = {**BLOCKS, "head_width": 8, "positions": 128}
RNN = {"width": 12, "word": 8, "readout": 10, "dropout": 0.3, "positions": 64}

SCPN = {"width": 12, "word": 8, "label": 8, "tree_hidden": 8, "dropout": 0.3, "positions": 256}
CDNPG = {**BLOCKS, "encoder_layers": 2, "positions": 64}
LSTM = {"width": 16, "dropout": 0.3}
PATHS = [{"reads": ["source"], **ENCODERS}, {"reads": ["target_tree"], "attention": "path", **ENCODERS}]
TREES = [{"reads": ["source_tree", "template"], **ENCODERS}]
POINTER = {"word": 12, "residual": 0, "bidirectional": True, "attention": True, "copying": True, "coverage": 1.0}

#: The dataset, the architecture and the settings of each system.
SYSTEMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "SongNet": ("verse", "songnet", {**BLOCKS, "positions": 256, "literals": 0.2}),
    "S2S": ("verse", "verse_seq2seq", {**RNN, "positions": 256}),
    "GuiG": ("pairs", "guig", {**GUIG, "encoders": PATHS}),
    "GuiG's expander": ("pairs", "guig", {**GUIG, "writes": "tree", "encoders": TREES}),
    "SCPN": ("pairs", "scpn", {**SCPN, "layers": 1, "attention": "after"}),
    "SCPN, attention before": ("pairs", "scpn", {**SCPN, "layers": 2}),
    "C-DNPG": ("pairs", "cdnpg", CDNPG),
    "Transformer and copying": ("pairs", "cdnpg", {**CDNPG, "granularity": "none", "copying": True}),
    "residual LSTM": ("pairs", "pair_seq2seq", {**LSTM, "word": 16, "encoder_layers": 2, "layers": 2, "residual": 1}),
    "pointer-generator": ("pairs", "pair_seq2seq", {**LSTM, **POINTER}),
    "DNPG": ("pairs", "dnpg", {**BLOCKS, "encoder_layers": 1}),
    "SAT": ("structure", "sat", {**BLOCKS, "encoder_layers": 1, "positions": 64, "structures": ["pc", "pos"]}),
    "X2Tree": ("dialogue", "x2tree", RNN),
    "X2Tree, one softmax": ("dialogue", "x2tree", {**RNN, "shared": True}),
    "NRM": ("dialogue", "rnn_seq2seq", {**RNN, "context": "nrm"}),
}

#: What grows the rows of a dataset, their language, and the settings of the encoding.
ROWS: dict[str, tuple[Any, Language, dict[str, Any]]] = {
    "verse": (verse_zh.grow, "zh", {"units": 32, "length": 32, "max_tokens": 200}),
    "pairs": (paraphrase_en.grow, "en", {"pieces": 300, "depth": 8, "min_length": 1}),
    "structure": (lyrics_zh.grow, "zh", {"max_length": 24}),
    "dialogue": (dialogue_zh.grow, "zh", {"max_words": 24}),
}


@cache
def _split(kind: str, count: int) -> tuple[Any, Any]:
    encoding = ENCODINGS[kind]
    grow, language, given = ROWS[kind]
    records, settings = grow(count, 1), encoding.settings(**given)
    vocabulary = encoding.build_vocabulary(records, settings, language)
    return encoding.encode(records, vocabulary, settings).split, vocabulary


@dataclass
class System:
    """A model with its rows."""

    model: nn.Module
    rows: Any

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return self.rows.sizes(self.model.config.view)

    def collate(self, indices: npt.NDArray[np.int64], rng: np.random.Generator | None) -> Batch:
        return self.rows.batch(indices, self.model.config.view, rng, grain=self.rows.GRAIN)


def system(name: str, count: int = 40, **changes: Any) -> System:
    """A system with weights of seed 1, and `count` rows."""
    kind, architecture, network = SYSTEMS[name]
    rows, vocabulary = _split(kind, count)
    known = ARCHITECTURES[architecture]
    torch.manual_seed(1)
    settings: Any = known.config(**network | changes)
    return System(known.build(settings, vocabulary), rows)
