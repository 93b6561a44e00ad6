"""What the constraints of verse cost: steps of SongNet at batch 32 with them, against steps without any.

    pip install llguidance xgrammar outlines-core                               # what is compared
    python benchmarks/verse_constraints.py [rounds] [--record]

The shape is that of the profile small. Frames are those of 菩萨蛮 (four rhyme groups) with an acrostic;
readings are drawn at random, with as many groups and polyphones as Cilin has. A step is the model's, the draw from the
32 most probable words, and, where there is a constraint, its mask and its state.

Then the masks of the last constraint alone, beside those of libraries that read grammars, with the same vocabulary and
the same frame as a grammar (`espalier.frames.grammars`), whose rhyme groups are free. A random text is followed. The
sets that are allowed must be equal, but for one rule that no grammar of a sensible size says: the words of a letter
differ. So theirs may have words that are written before. A mask includes taking the token before. Ours at batch 32
serves 32 texts. Setting up is what a new frame takes when the vocabulary is known; writing the grammars is not counted.
The first text meets its states for the first time; the rates are of later ones. Times are of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
import torch
from grammar_masks import Begin, Masks, llguidance_masks, outlines_masks, xgrammar_masks
from measuring import Record, arguments, rate_table, rounds, step_table
from peers import POSITIONS, SMALL

from espalier.datasets.verse.data import VerseBatch, VerseData, View
from espalier.datasets.verse.frames import frame_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, SEP, SPECIALS
from espalier.decoding.constraints.constraint import Constraint, masked
from espalier.decoding.constraints.rhyme import RhymeConstraint
from espalier.decoding.sampling import draw
from espalier.frames import grammars
from espalier.frames.places import PlaceAutomaton
from espalier.frames.plan import Plan
from espalier.layers.linear import constant_weights
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.tasks.verse_search import VerseDecoder, verse_constraint
from espalier.verse.books import Book, Tone, ToneBook
from espalier.verse.grammar import parse_format
from espalier.verse.sounds import Sounds

BATCH, TOP_K = 32, 32
#: Texts of a round whose masks are timed; the libraries know their states from the first text.
TEXTS = 5
GROUPS = [f"{part}{tone}" for part in range(1, 15) for tone in "平仄"] + [f"{part}入" for part in range(15, 20)]


class RandomBooks:
    """Of seven characters one has two readings."""

    def __init__(self, words: tuple[str, ...]) -> None:
        rng = np.random.default_rng(0)
        self.readings = {word: frozenset(rng.choice(GROUPS, size=1 + (rng.random() < 1 / 7))) for word in words}

    def characters(self, book: Book) -> frozenset[str]:
        return frozenset(self.readings)

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
        tokens = draw(scores, torch.rand(BATCH, generator=generator, dtype=torch.float64), TOP_K, 1.0)
        if constraint:
            rule = constraint.advance(tokens, rule)
    return process_time() - started


def ours(rule: RhymeConstraint, batch: VerseBatch) -> Begin:
    """Our masks, as those of `grammar_masks`."""

    def begin() -> Masks:
        state = rule.start(batch)

        def mask(token: int | None) -> Any:
            nonlocal state
            if token is not None:
                state = rule.advance(torch.full((len(batch),), token), state)
            return rule.mask(state)

        return mask

    return begin


def of_llguidance(spelled: list[bytes]) -> Callable[[str], Begin]:
    from llguidance import LLParserLimits, LLTokenizer, TokenizerWrapper

    class Tokenizer:
        eos_token_id, bos_token_id, special_token_ids, tokens = EOS, BOS, [*range(SEP)], spelled

        def __call__(self, text: str) -> list[int]:
            return [spelled.index(character.encode()) for character in text]

    # Free rhyme groups are large classes of characters, which need higher limits than the library's own.
    limits = LLParserLimits(
        initial_lexer_fuel=10**9, step_lexer_fuel=10**9, max_lexer_states=10**7, step_max_items=10**7
    )
    return llguidance_masks(LLTokenizer(TokenizerWrapper(Tokenizer())), limits)


def of_xgrammar(spelled: list[bytes]) -> Callable[[str], Begin]:
    import xgrammar

    return xgrammar_masks(xgrammar.TokenizerInfo(spelled, stop_token_ids=EOS))


def of_outlines(spelled: list[bytes]) -> Callable[[str], Begin]:
    import outlines_core

    tokens = {each: [number] for number, each in enumerate(spelled) if number >= SEP}
    return outlines_masks(outlines_core.Vocabulary(EOS, tokens), len(spelled))


LIBRARIES = {
    "outlines_core": (of_outlines, "regex"), "xgrammar": (of_xgrammar, "gbnf"), "llguidance": (of_llguidance, "lark"),
}  # fmt: skip


def grammar(plan: Plan, notation: grammars.Notation) -> str:
    """The grammar of a plan whose rhyme words may be equal; a regular expression of it has three million characters."""
    limit, grammars.LENGTH = grammars.LENGTH, 10**7
    try:
        return grammars.grammar_of(PlaceAutomaton(replace(plan, distinct=False)), notation)
    finally:
        grammars.LENGTH = limit


def allowed(mask: Any, size: int) -> set[int]:
    """The tokens that a mask allows, ours of a batch of one or bits."""
    if isinstance(mask, torch.Tensor) and mask.is_floating_point():
        return set((mask[0] == 0).nonzero()[:, 0].tolist())
    return set(np.flatnonzero(np.unpackbits(np.asarray(mask).view(np.uint8), bitorder="little")[:size]).tolist())


def masks_a_second(begin: Begin, walk: Sequence[int], rows: int, texts: int = TEXTS) -> float:
    """Masks of a row a second of the process, of texts that are begun anew; beginning is not counted."""
    seconds = 0.0
    for _ in range(texts):
        mask = begin()
        started = process_time()
        for token in (None, *walk):
            mask(token)
        seconds += process_time() - started
    return texts * rows * (1 + len(walk)) / seconds


def masks_table(rule: RhymeConstraint, batch: VerseBatch, count: int) -> BenchmarkTable:
    """Masks of the first frame of a batch, of its whole, and of libraries."""
    vocabulary, one = rule.frame.vocabulary, batch.part(slice(0, 1))[0]
    size, rng = vocabulary.text_size, np.random.default_rng(0)
    plan = rule.start(one).inside.places.plans[0]
    mask, walk, sets = ours(rule, one)(), list[int](), list[set[int]]()
    for _ in plan.places:
        sets.append(allowed(mask(walk[-1] if walk else None), size))
        walk.append(int(rng.choice(sorted(sets[-1]))))
    del walk[-1]
    more, contestants = dict[str, tuple[float, float]](), dict[str, Callable[[], float]]()

    def enter(name: str, set_up: Callable[[], Begin], rows: int = 1) -> None:
        started = process_time()
        begin = set_up()
        more[name] = (1000 * (process_time() - started), masks_a_second(begin, walk, rows, texts=1))
        contestants[name] = partial(masks_a_second, begin, walk, rows)
        if rows == 1:
            mask = begin()
            for place, token in enumerate((None, *walk)):
                theirs = allowed(mask(token), size)
                assert sets[place] <= theirs <= sets[place].union(walk[:place]), f"{name} allows other words"

    for given in (batch, one):
        enter(
            f"Espalier, batch {len(given)}", lambda given=given: (rule.start(given), ours(rule, given))[1], len(given)
        )
    spelled = [each.encode() for each in (*SPECIALS[:SEP], "\n", *vocabulary.words)]
    for module, (maker, notation) in LIBRARIES.items():
        if find_spec(module):
            enter(module.replace("_", "-"), partial(maker(spelled), grammar(plan, notation)))
    title = f"masks of {size:,} tokens along a text of {len(plan.places)}; {torch.get_num_threads()} threads"
    table = rate_table(title, rounds(contestants, count), f"Espalier, batch {BATCH}", "masks/s")
    columns = (*table.columns, Column(heading="ms to set up", digits=1), Column(heading="first text", digits=0))
    rows = {name: (*cells, *more[name]) for name, cells in table.rows.items()}
    return BenchmarkTable(title=title, columns=columns, rows=rows)


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
        assert isinstance(rule, RhymeConstraint)
        record.add(masks_table(rule, batch, count))


if __name__ == "__main__":
    main()
