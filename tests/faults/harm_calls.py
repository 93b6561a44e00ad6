"""Calls from Python with odd arguments: of each public method and function, each argument in turn.

A wrong argument must be one line of the library's own that names the argument; a right one may also give a result.
"""

from __future__ import annotations

import contextlib
import inspect
import random
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from harm import Project, Verdict

import espalier
from espalier.corpora.readers import READERS
from espalier.corpora.records import Pair, Verse
from espalier.frames import Acrostic, Form, Format, Meter, Rhyme, Syllables, Template, Tones, Tune, Words
from espalier.frames.frame import frame_of
from espalier.inference import requests as asked
from espalier.inference.export import export_system
from espalier.inference.system import System
from espalier.io.errors import EspalierError
from espalier.metrics.bleu import Bleu
from espalier.metrics.distinct import Distinct
from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.meteor import Meteor
from espalier.metrics.structure import SequenceBleu
from espalier.metrics.texts import Pairs, Verses
from espalier.syntax.parsers.registry import load_parser
from espalier.verse.ci_books import open_books

sys.path.insert(0, str(Path(__file__).parents[1] / "inference"))
sys.path.insert(0, str(Path(__file__).parents[1] / "frames"))
from small_tokenizers import byte_level
from tiny_models import Words as Splitter
from tiny_models import make_models

#: Seconds after which a call counts as one that never ends.
PATIENCE = 20

Right = Callable[[Any], bool]


def _of(*kinds: type) -> Right:
    """A value of just these types: a flag is no number."""
    return lambda value: type(value) in kinds


def _listed(right: Right) -> Right:
    """A list or a tuple of right values."""
    return lambda value: type(value) in (list, tuple) and all(map(right, value))


TEXT, NUMBER, REAL, FLAG, NONE = _of(str), _of(int), _of(int, float), _of(bool), _of(type(None))
FOLDER = _of(str, type(Path()))


def _either(*rights: Right) -> Right:
    return lambda value: any(right(value) for right in rights)


@dataclass(frozen=True)
class Called:
    """A function with arguments that it answers, and what each may be."""

    name: str
    function: Callable[..., Any]
    given: Mapping[str, Any]
    right: Mapping[str, Right] = field(default_factory=dict)
    unknown: str = "foo"  # an argument that it does not have; "" if none is tried


class Odd:
    """An object of a user's."""


#: Values that an argument seldom is.
ODD: dict[str, Callable[[], Any]] = {
    "None": lambda: None, "True": lambda: True, "0": lambda: 0, "-1": lambda: -1, "3": lambda: 3,
    "huge": lambda: 10**30, "1.5": lambda: 1.5, "nan": lambda: float("nan"), "inf": lambda: float("inf"),
    "complex": lambda: 1j, "text": lambda: "odd", "empty": lambda: "", "surrogate": lambda: "\ud800",
    "control": lambda: "\x1b[31m\0", "long": lambda: "a" * 20_000, "bytes": lambda: b"5", "list": list,
    "texts": lambda: ["odd"], "tuple": lambda: ("odd", "5。"), "Nones": lambda: [None], "numbers": lambda: [1, 2],
    "lists": lambda: [["odd"]], "bytes in a list": lambda: [b"5"], "mapping": dict,
    "mapping of numbers": lambda: {"a": 1}, "mapping by numbers": lambda: {1: "a"}, "mappings": lambda: [{}],
    "set": lambda: {"5。"}, "function": lambda: len, "class": lambda: int, "object": Odd, "module": lambda: random,
    "array": lambda: np.zeros(2), "generator": lambda: (each for each in ["5。"]), "path": lambda: Path("nowhere"),
    "post": lambda: asked.Post("你好"), "requests": lambda: [asked.Post("你好"), asked.VerseRequest("5。")],
    "pair": lambda: Pair(id="1", origin="", language="en", source="a", target="b"), "error": lambda: ValueError("a\nb"),
}  # fmt: skip


def an_odd_call(project: Project, rng: random.Random) -> Verdict:
    """Of a public method or function, with one argument that is odd, unknown or missing."""
    calls = odd_calls(project.scratch / "models")
    with contextlib.chdir(project.scratch):
        return judged(*rng.choice(calls))


@cache
def odd_calls(folder: Path) -> list[tuple[Called, str, str]]:
    """Each function, each argument of it, and each odd value; `folder` is for models."""
    if not folder.exists():
        make_models(folder)
    found = list[tuple[Called, str, str]]()
    for called in [*_systems(folder), *_frames(), *_metrics(), *_files(folder)]:
        found += [
            (called, argument, odd) for argument, odd in product(filter(None, (*called.right, called.unknown)), ODD)
        ]
        found += [(called, argument, "missing") for argument in called.given if called.unknown]
    return found


def judged(called: Called, argument: str, odd: str) -> Verdict:
    """How a call with one odd argument ended."""
    given = dict(called.given)
    value = given.pop(argument, None) if odd == "missing" else ODD[odd]()
    required = _required(called.function)
    if odd == "missing":
        right = argument not in required
    else:
        given[argument] = value
        right = argument in called.right and called.right[argument](value)
    what = f"{called.name}({argument}: {odd})"
    try:
        with warnings.catch_warnings(), _patience():
            warnings.simplefilter("ignore")
            result = called.function(**given)
            if isinstance(result, Iterator):
                list(result)
    except EspalierError as error:
        said = str(error)
        clear = "\n" not in said and 0 < len(said) < 2200 and (right or argument in said or called.name == "answer")
        own = right or isinstance(error, TypeError | ValueError)
        return Verdict("line" if clear and own else "wrong", f"{what}: {type(error).__name__}: {said[:300]}")
    except TimeoutError:
        return Verdict("never", what)
    except Exception as error:
        return Verdict("traceback", f"{what}: {type(error).__name__}: {str(error)[:300]}")
    return Verdict("well" if right else "wrong", f"{what}: {str(result)[:200]}")


def _required(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {each.name for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD}


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# --- What is called ---------------------------------------------------------------------------------------------------


def _systems(folder: Path) -> Iterator[Called]:
    def system(name: str, **more: Any) -> System:
        return espalier.load(folder / name, parser=Splitter(), device="cpu", **more)

    yield Called(
        "load", espalier.load, {"folder": folder / "verse"},
        {
            "folder": FOLDER, "seed": _either(NUMBER, NONE), "parser": _either(FOLDER, NONE),
            "expander": _either(FOLDER, NONE), "device": _either(TEXT, NONE),
        },
    )  # fmt: skip
    search = {"n": NUMBER, "beam": NUMBER}
    drawn = {**search, "seed": NUMBER, "top_k": NUMBER, "temperature": REAL}
    verse = {**drawn, "book": TEXT, "tone": FLAG, "rare": FLAG, "free": FLAG, "books": NONE, "tunes": NONE}
    guided = {**search, "templates": _either(NUMBER, _listed(TEXT)), "like": _either(TEXT, NONE), "full": FLAG,
              "length_power": REAL, "strict": FLAG, "candidates": _either(NUMBER, NONE)}  # fmt: skip
    answers: list[tuple[str, str, str, Any, type, Mapping[str, Right]]] = [
        ("verse", "generate", "formats", "2。", asked.VerseRequest, verse),
        ("verse", "polish", "templates", "灯_。", asked.VerseRequest, verse),
        ("writer", "paraphrase", "texts", "now, I sleep.", asked.PairRequest, guided),
        ("expander", "expand", "texts", "now, I sleep.", asked.PairRequest,
         {**search, "templates": guided["templates"]}),
        ("plain", "paraphrase", "texts", "now, I sleep.", asked.PairRequest, {**search, "length_power": REAL}),
        ("plain", "granularities", "texts", "now, I sleep.", asked.PairRequest, {"beam": NUMBER, "length_power": REAL}),
        ("gpt2", "sample", "prompts", "a dog", asked.SampleRequest, drawn),
        ("tree", "reply", "posts", "今天天气好吗？", asked.Post,
         {**search, "local": _either(NUMBER, NONE), "min_words": NUMBER, "length_power": REAL, "mmi": REAL}),
    ]  # fmt: skip
    systems = {name: system(name) for name in dict.fromkeys(each[0] for each in answers)}
    for name, method, inputs, text, request, options in answers:
        own = _listed(lambda value, kind=request: type(value) in (str, kind))
        given = {inputs: [text]}
        yield Called(f"{name}.{method}", getattr(systems[name], method), given, {inputs: own, **options})
    for name, loaded in systems.items():
        yield Called(f"{name}.encode", loaded.encode, {"records": []}, {"records": _listed(_is_row)})
        yield Called(f"{name}.likelihood", loaded.likelihood, {"records": []}, {"records": _listed(_is_row)})
    loaded = systems["verse"]
    yield Called("answer", loaded.answer, {"name": "generate", "inputs": ["2。"]},
                 {"name": TEXT, "inputs": _listed(lambda value: type(value) in (str, asked.VerseRequest))})  # fmt: skip
    yield Called("writer", loaded.writer, {"name": "generate"}, {"name": TEXT})
    yield Called("require", loaded.require, {"name": "generate"}, {"name": TEXT})
    yield Called("parse", systems["plain"].parse, {"texts": ["a"], "names": ["a"]},
                 {"texts": _listed(_either(TEXT, _listed(TEXT))), "names": _listed(TEXT)})  # fmt: skip
    written = _either(TEXT, NONE)
    yield Called(
        "VerseRequest", asked.VerseRequest, {"format": "2。"},
        {
            "format": written, "rhyme": written, "tune": written, "name": TEXT, "variant": _either(NUMBER, NONE),
            "tones": written, "acrostic": written,
        },
    )  # fmt: skip
    yield Called("PairRequest", asked.PairRequest, {"text": "a"}, {"text": TEXT, "template": written, "name": TEXT})
    yield Called("Post", asked.Post, {"text": "a"}, {"text": TEXT, "name": TEXT})
    yield Called("SampleRequest", asked.SampleRequest, {}, {"prompt": TEXT, "name": TEXT})
    yield Called(
        "TemplateRequest", asked.TemplateRequest, {},
        {"template": TEXT, "prompt": TEXT, "topics": _listed(TEXT), "name": TEXT, "pos": TEXT, "pc": TEXT},
    )  # fmt: skip
    for kind in (asked.VerseOptions, asked.ReplyOptions, asked.ComposeOptions):
        yield Called(kind.__name__, kind, {}, dict(search))


def _is_row(value: object) -> bool:
    """A record, or a mapping of texts."""
    return isinstance(value, Pair | Verse) or (isinstance(value, dict) and all(map(TEXT, value)))


def _frames() -> Iterator[Called]:
    book, flag = _either(TEXT, NONE), _either(FLAG, NONE)
    number = _either(NUMBER, NONE)
    yield Called("Format", Format, {"format": "2。"}, {"format": TEXT, "language": TEXT, "marks": FLAG})
    yield Called("Rhyme", Rhyme, {"rhyme": "A"}, {"rhyme": _either(TEXT, NONE), "book": book, "rare": flag})
    yield Called("Tones", Tones, {"tones": "平。"}, {"tones": TEXT, "book": book, "rare": flag})
    yield Called("Acrostic", Acrostic, {"acrostic": "春"}, {"acrostic": TEXT})
    yield Called("Words", lambda words: Words(words), {"words": "春"}, {"words": TEXT}, "")
    yield Called(
        "Tune", Tune, {"tune": "卜算子"},
        {"tune": TEXT, "variant": number, "book": book, "tone": flag, "marks": flag, "rare": flag},
    )  # fmt: skip
    yield Called("Syllables", Syllables, {"syllables": "2/2"}, {"syllables": TEXT})
    yield Called("Meter", Meter, {"meter": "iambic dimeter"}, {"meter": TEXT})
    yield Called("Form", Form, {"form": "haiku"}, {"form": TEXT, "opening": number})
    yield Called("Template", Template, {"template": "(S (NP))"}, {"template": TEXT})
    for make in (Format, Tones, Acrostic, Tune, Syllables, Meter, Form, Template):

        def kept(said: Any, make: Any = make) -> Any:
            return make(said).check("春风。")

        def followed(said: Any, make: Any = make) -> Any:
            return make(said).automaton()

        (first,) = list(inspect.signature(make).parameters)[:1]
        for name, function in (("check", kept), ("automaton", followed)):
            yield Called(f"{make.__name__}.{name}", _renamed(function, first), {first: "2。"}, {first: TEXT}, "")
    frame = Format("2。")
    yield Called("check", frame.check, {"text": "春风。"}, {"text": TEXT, "books": NONE, "parser": NONE})
    yield Called("automaton", frame.automaton, {}, {"books": NONE})
    yield Called("processor", frame.processor, {"tokenizer": byte_level([])}, {"tokenizer": lambda value: False})
    yield Called(
        "grammar", frame.grammar, {"notation": "lark"},
        {"notation": TEXT, "books": NONE, "groups": _listed(TEXT), "repeated": TEXT, "alternatives": NUMBER},
    )  # fmt: skip
    yield Called("&", frame.__and__, {"other": Rhyme("A")}, {"other": lambda value: False})
    yield Called("frame_of", frame_of, {"values": {"format": "2。"}}, {"values": _of(dict)})
    for rule in (Format, Syllables):
        yield Called(
            f"{rule.__name__}.of_melody", rule.of_melody, {"path": "nowhere.mxl"},
            {"path": FOLDER, "part": _either(TEXT, NONE), "verse": _either(TEXT, NUMBER, NONE), "by": TEXT},
        )  # fmt: skip


def _renamed(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of one argument under another name."""

    def call(**given: Any) -> Any:
        return function(*given.values())

    return call


def _metrics() -> Iterator[Called]:
    texts = ["a dog runs"]
    pairs, verses = Pairs(texts, texts, texts), Verses(["春风\n秋月"], ["春风\n秋月"], [""], "zh")
    lists = {"sources": _listed(TEXT), "references": _listed(TEXT), "hypotheses": _listed(TEXT)}
    yield Called(
        "Pairs",
        Pairs,
        dict.fromkeys(lists, texts),
        {**lists, "likelihood": NONE, "wordnet": _either(_of(type(Path())), NONE)},
    )
    yield Called(
        "Verses", Verses, {"references": ["春"], "hypotheses": ["春"], "rhymes": [""], "language": "zh"},
        {
            "references": _listed(TEXT), "hypotheses": _listed(TEXT), "rhymes": _listed(TEXT), "language": TEXT,
            "tunes": _either(_listed(TEXT), NONE), "books": _either(_of(type(Path())), NONE),
        },
    )  # fmt: skip
    for family, given in ((Bleu, pairs), (Meteor, pairs), (Distinct, verses)):
        yield Called(family.__name__, family, {}, {})
        yield Called(
            f"statistics_of {family.__name__}", statistics_of, {"families": [family()], "texts": given},
            {"families": lambda value: type(value) in (list, tuple, dict) and not value, "texts": lambda value: False},
        )  # fmt: skip
    yield Called("SequenceBleu", SequenceBleu, {"of": "text"}, {"of": TEXT, "whole": FLAG})
    yield Called(
        "family_scores", family_scores, {"statistics": statistics_of([Bleu()], pairs), "seed": 1, "resamples": 10},
        {"statistics": lambda value: type(value) is dict and not value, "seed": NUMBER, "resamples": NUMBER,
         "groups": _either(NONE, _of(list, tuple, np.ndarray))},
    )  # fmt: skip


def _files(folder: Path) -> Iterator[Called]:
    yield Called("open_books", open_books, {"folder": "nowhere"}, {"folder": FOLDER})
    yield Called("load_parser", load_parser, {"folder": "nowhere"}, {"folder": FOLDER})
    yield Called(
        "export_system", export_system, {"folder": folder / "verse", "out": folder / "verse"},
        {"folder": FOLDER, "out": FOLDER, "card": TEXT, "bfloat16": FLAG, "hub": FLAG, "added": NONE},
    )  # fmt: skip
    for name in ("lines", "pairs", "tsv"):
        yield Called(
            f"reader {name}", READERS[name].rows, {"folders": {}, "options": {}, "language": "en", "where": "corpus"},
            {"folders": _of(dict), "options": _of(dict), "language": TEXT, "where": TEXT},
        )  # fmt: skip
