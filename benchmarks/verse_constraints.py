"""What the constraints of verse cost: steps of SongNet at batch 32 with them, against steps without any.

    python benchmarks/verse_constraints.py [rounds] [--record]

The shape is that of the profile small. Frames are those of 菩萨蛮 (four rhyme groups) with an acrostic;
readings are drawn at random, with as many groups and polyphones as Cilin has. A step is the model's, the draw from the
32 most probable words, and, where there is a constraint, its mask and its state.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import torch
from measuring import Record, arguments, step_table
from peers import POSITIONS, SMALL

from espalier.datasets.verse.data import VerseBatch, VerseData, View
from espalier.datasets.verse.frames import frame_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS
from espalier.decoding.constraints.constraint import Constraint, masked
from espalier.decoding.sampling import _draw
from espalier.layers.linear import constant_weights
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.tasks.verse_search import VerseDecoder, verse_constraint
from espalier.verse.books import Book, Tone, ToneBook
from espalier.verse.grammar import parse_format
from espalier.verse.sounds import Sounds

BATCH, TOP_K = 32, 32
GROUPS = [f"{part}{tone}" for part in range(1, 15) for tone in "平仄"] + [f"{part}入" for part in range(15, 20)]


class RandomBooks:
    """Of seven characters one has two readings."""

    def __init__(self, words: tuple[str, ...]) -> None:
        rng = np.random.default_rng(0)
        self.readings = {word: frozenset(rng.choice(GROUPS, size=1 + (rng.random() < 1 / 7))) for word in words}

    def groups(self, character: str, book: Book) -> frozenset[str]:
        return self.readings.get(character, frozenset())

    def tones(self, character: str, by: ToneBook = "book") -> frozenset[Tone]:
        return frozenset("平" if group[-1] == "平" else "仄" for group in self.groups(character, "cilin"))


def steps(model: SongNet, batch: VerseBatch, constraint: Constraint | None) -> float:
    """Seconds of this process for writing every place of the batch's frames once."""
    generator = torch.Generator().manual_seed(0)
    tokens = torch.full((BATCH,), BOS)
    state, rule = model.start(batch), constraint.start(batch) if constraint else None
    started = process_time()
    for _ in range(batch.c.shape[1]):
        scores, state = model.step(tokens, state)
        if constraint:
            scores = masked(scores, constraint.mask(rule))
        tokens = _draw(scores, torch.rand(BATCH, generator=generator, dtype=torch.float64), TOP_K, 1.0)
        if constraint:
            rule = constraint.advance(tokens, rule)
    return process_time() - started


def main() -> None:
    [count] = arguments(15)
    words = SMALL.vocabulary.words[2:]
    vocabulary, books = VerseVocabulary(("，", "。", *words), "zh", 16, 32), RandomBooks(words)
    config = SongNetConfig(
        layers=SMALL.layers, width=SMALL.width, heads=SMALL.heads, inner=SMALL.inner, positions=POSITIONS,
        embedding_norm=True,
    )  # fmt: skip
    model = SongNet(config, vocabulary).eval()
    first = words[:8]
    tones = "中平中仄平平仄中平中仄平平仄中仄仄平平中平中仄平中平平仄仄中仄中平仄中仄仄平平中平中仄平"
    kinds: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "format and marks": ({}, {}),
        "format, marks and rhyme": ({"rhyme": True}, {}),
        "all: rhyme by a book, tones, acrostic": (
            {"rhyme": True, "book": "cilin", "tone": True},
            {"tones": tones, "acrostic": "".join(first)},
        ),
    }
    run: dict[str, Callable[[], float]] = {}
    for name, (decoder, asked) in kinds.items():
        given = books if "book" in decoder else None
        sounds = Sounds("zh", decoder.get("book", "mandarin"), decoder.get("tone", False), given)
        format_ = parse_format("7。7。5。5。5。5。5。5。", "zh", "AABBCCDD", sounds=sounds, **asked)
        data = VerseData.of([""] * BATCH, [frame_of(format_, vocabulary, sounds)] * BATCH, vocabulary)
        batch = data.batch(np.arange(BATCH), View())
        rule = verse_constraint(VerseDecoder(mode="frame", marks=True, **decoder), vocabulary, given)
        run[name] = partial(steps, model, batch, rule)
    places = batch.c.shape[1]
    times: dict[str, list[float]] = {name: [] for name in ("none", *run)}
    with constant_weights():
        for turn in range(count + 2):
            for name, measure in {"none": partial(steps, model, batch, None), **run}.items():
                seconds = measure()
                if turn >= 2:
                    times[name].append(seconds / places)
    title = f"{SMALL}; batch {BATCH}; {places} steps; {torch.get_num_threads()} threads"
    with Record(__file__) as record:
        record.add(step_table(title, times, "none"))


if __name__ == "__main__":
    main()
