"""Golden values of layers, models, training and decoding. Weights are waves, so that no random generator matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch, VerseData, View
from espalier.datasets.verse.frames import frame_of, target_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import EOS
from espalier.decoding.beam import beam_search
from espalier.models.ngram import NGram, NGramConfig
from espalier.models.rnn_seq2seq import RNNSeq2Seq
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig, VerseSeq2SeqConfig
from espalier.tasks.data import BaselineRow, Ready
from espalier.tasks.registry import TASKS
from espalier.tasks.verse_search import VerseDecoder, text_of
from espalier.training.config import TrainingConfig
from espalier.training.loop import train
from espalier.verse.format import format_of
from espalier.verse.grammar import parse_format

VOC = VerseVocabulary(tuple("，。！灯山桥雨石舟令天风"), units=4, length=12, language="zh")
TONED = replace(VOC, tones=True)
TEXTS = [("灯山，桥雨。\n山石！", "A."), ("雨。", "A"), ("桥，天。\n灯桥山，舟。\n石。", "AB."), ("风山，桥雨。", "A")]
SMALL: dict[str, Any] = {"layers": 2, "width": 12, "heads": 3, "inner": 16, "dropout": 0.0, "positions": 40}


def wave(*shape: int, phase: float = 0.0) -> Tensor:
    """Values between -1 and 1 that repeat nowhere nearby."""
    count = int(np.prod(shape))
    return torch.from_numpy(np.sin(np.arange(count) * 1.7 + phase)).float().reshape(shape)


def waved(module: Any, size: float = 0.5) -> Any:
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(size * wave(*parameter.shape, phase=number) if parameter.numel() else parameter)
    return module.eval()


def data(titles: bool = True, voc: VerseVocabulary = VOC) -> VerseData:
    frames = [frame_of(format_of(text, "zh", rhyme), voc) for text, rhyme in TEXTS]
    frames[0] = frame_of(format_of(TEXTS[0][0], "zh", TEXTS[0][1], "平仄中仄平仄"), voc)
    return VerseData.of(
        [str(n) for n in range(len(TEXTS))],
        frames,
        voc,
        targets=[target_of(text, VOC) for text, _ in TEXTS],
        titles=[VOC.encode("石舟令"[: 1 + n % 3] if titles else "") for n in range(len(TEXTS))],
    )


def songnet(_: Path) -> Any:
    variants: list[dict[str, Any]] = [
        {},
        {"block": "released", "embedding_norm": True, "head": "released", "marks": "one", "title": True},
        {"symbols": ("c", "s"), "order": "ascending", "norm": "pre", "head": "linear"},
        {"symbols": ("c", "p", "s", "t"), "smoothing_form": "released"},
        {"core": "gru", "block": "released"},
    ]
    found = []
    for changes in variants:
        voc = TONED if "t" in changes.get("symbols", ()) else VOC
        model = waved(SongNet(SongNetConfig(**SMALL, **changes), voc))
        batch = data(voc=voc).batch(np.arange(len(TEXTS)), model.config.view)
        with torch.inference_mode():
            losses, smoothed = model.token_losses(batch), model(batch, 0.1)
            state = model.start(batch)
            _, state = model.step(batch.inputs[:, 0], state)
            logs, _ = model.step(batch.inputs[:, 1], state)
        shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
        found.append(
            [losses.sum(1).tolist(), float(smoothed.total), int(smoothed.targets), logs[0, 4:9].tolist(), shapes]
        )
    return [found, SongNetConfig().model_dump(mode="json")]


def verse_seq2seq(_: Path) -> Any:
    found = []
    for changes in ({}, {"context": "last", "bidirectional": False}):
        small = {"width": 6, "word": 4, "readout": 5, "positions": 40}
        model = waved(RNNSeq2Seq(VerseSeq2SeqConfig.model_validate(small | changes), VOC))
        batch = data().batch(np.arange(len(TEXTS)), model.config.view)
        with torch.inference_mode():
            losses = model.token_losses(batch)
            _, state = model.step(batch.inputs[:, 0], model.start(batch))
            logs, _ = model.step(batch.inputs[:, 1], state)
        shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
        found.append([losses.sum(1).tolist(), logs[0, 4:9].tolist(), shapes])
    return [found, VerseSeq2SeqConfig().model_dump(mode="json")]


@dataclass(frozen=True)
class Examples:
    data: VerseData
    view: View

    @property
    def lengths(self) -> Any:
        return self.data.lengths

    def collate(self, indices: Any, rng: np.random.Generator | None) -> VerseBatch:
        return self.data.batch(indices, self.view, rng)


def training(folder: Path) -> Any:
    found = []
    for number, changes in enumerate(
        (
            {"optimizer": "adamw", "weight_decay": 0.01, "smoothing": 0.1},
            {"optimizer": "adam", "schedule": "linear", "rate": 0.01},
        )
    ):
        model = waved(SongNet(SongNetConfig(**SMALL, literals=0.2), VOC), 0.2)
        examples = Examples(data(), model.config.view)
        config = TrainingConfig(
            steps=20, batch_tokens=24, warmup=5, evaluate_every=5, precision="fp32", **changes
        )  # fmt: skip
        scratch = folder / str(number)
        progress = train(model, examples, examples, config, width=12, seed=1, scratch=scratch, cpu=True)
        found.append([progress.history, progress.step, progress.epoch, progress.tokens, progress.best_step])
    return found


@dataclass
class WaveState:
    rows: Tensor
    time: int

    def select(self, index: Tensor) -> WaveState:
        return WaveState(self.rows[index], self.time)


class WaveModel:
    """Log-probabilities from the row, the last token and the time alone."""

    vocabulary = VOC

    def start(self, batch: VerseBatch) -> WaveState:
        return WaveState(torch.arange(len(batch)), 0)

    def step(self, tokens: Tensor, state: WaveState) -> tuple[Tensor, WaveState]:
        place = torch.arange(VOC.text_size)[None] * 2.3 + (tokens * 1.9 + state.rows * 0.7 + state.time * 1.1)[:, None]
        scores = 1.5 * torch.sin(place.double()).float()
        scores[:, EOS] += 0.3 * state.time - 2
        return scores.log_softmax(1), WaveState(state.rows, state.time + 1)


def decoding(_: Path) -> Any:
    formats = [parse_format(text, "zh") for text in ("3，2。4。", "2。", "_雨_，鹤__。2！", "_#，_#。")]
    frames = [frame_of(format_, VOC) for format_ in formats]
    batch = VerseData.of(list("abcd"), frames, VOC).batch(np.arange(4), View())
    model: Any = WaveModel()
    found: dict[str, Any] = {}
    for mode in ("free", "frame"):
        for changes in ({}, {"marks": True}, {"marks": True, "rhyme": True}, {"method": "beam", "length_power": 0.6}):
            decoder = VerseDecoder(mode=mode, top_k=6, beam=3, slack=2, **changes)
            rows = TASKS["verse"].generate(model, batch, decoder, [1, 2, 3, 4])
            given = formats if mode == "frame" else [None] * 4
            texts = [
                text_of(row[0].tokens if row else [], VOC, format_) for row, format_ in zip(rows, given, strict=True)
            ]
            found[f"{mode} {sorted(changes)}"] = texts
    beams = beam_search(model, batch, beam=3, max_ids=7, begin=2, end=EOS, length_power=0.6)
    found["beams"] = [[[each.tokens, each.log_probability, each.score] for each in row] for row in beams]
    return found


def ngram(_: Path) -> Any:
    examples = data()
    whole = examples.batch(np.arange(len(TEXTS)), View())
    made = []
    for order in (1, 3):
        model = NGram.fit(NGramConfig(View(), order=order), VOC, [whole], VOC.text_size)
        _, state = model.step(whole.inputs[:, 0], model.start(whole))
        logs, _ = model.step(whole.inputs[:, 1], state)
        made.append([model.token_losses(whole).sum(1).tolist(), logs[0, 3:9].tolist()])
    return made


def baselines(_: Path) -> Any:
    table = pd.DataFrame(
        [{"id": f"p{n}", "sample": sample, "reference": text, "rhyme": rhyme}
         for n, (text, rhyme) in enumerate(TEXTS) for sample in range(2)]
    )  # fmt: skip
    judge = TASKS["verse"].judge
    assert judge is not None
    rows = TASKS["verse"].baselines(table, Ready([], None), data(), 1)
    return rows_of({**rows, **judge.controls(table, data(), 1)})


def rows_of(rows: Mapping[str, BaselineRow]) -> Any:
    return {name: [row.columns["text"], row.trivial, list(row.given)] for name, row in rows.items()}


COMPONENTS = {
    "baselines.verse": baselines,
    "models.songnet": songnet,
    "models.verse_seq2seq": verse_seq2seq,
    "models.ngram": ngram,
    "training": training,
    "decoding.verse": decoding,
}
