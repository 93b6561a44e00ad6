"""generate and polish: verse for people, one format or many at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.io.errors import ConfigError
from espalier.text.language import tokens_of
from espalier.verse.format import Format, parse_format
from espalier.verse.text import units_of
from pipeline import layout
from pipeline.commands.requests import lines_asked, writer_asked
from pipeline.device import device
from pipeline.params import VerseDataset, load_params
from pipeline.progress import say

if TYPE_CHECKING:
    from espalier.decoding.verse import VerseDecoder

    from espalier.models.songnet import SongNet

#: What one call may ask for.
MOST = 10_000


@dataclass(frozen=True)
class Request:
    """What is asked for: a format as people write it, its rhyme letters, a tune's name; None where not given.

    Attributes:
        name: what errors call it; "" for what stands on the command line, whose options they name.
    """

    format: str | None
    rhyme: str | None
    tune: str | None
    name: str = ""


@dataclass(frozen=True)
class Options:
    """How it is written."""

    model: str | None
    language: Any
    n: int
    seed: int
    json: bool
    free: bool
    top_k: int
    temperature: float
    beam: int


@dataclass(frozen=True)
class Text:
    """A finished text and what it was asked to be."""

    text: str
    format: Format
    tune: str
    sample: int


def requests_of(file: Path | None, given: list[Request]) -> list[Request]:
    """One request a line: format, rhyme letters, tune, separated by tabs. Standard input where nothing else is given.

    Raises:
        DataError: the file is missing, or asks for nothing.
    """
    nothing = ConfigError("nothing asked for", remedy="give a format, a tune, --file, or lines on standard input")
    lines = lines_asked(file, bool(given), nothing=nothing, remedy="one format a line")
    return [_request(name, [*line.strip("\r").split("\t"), "", ""]) for name, line in lines]


def _request(name: str, row: list[str]) -> Request:
    format_, rhyme, tune = (part.strip() or None for part in row[:3])
    return Request(format_, rhyme, tune, name)


def write(command: str, requests: list[Request], options: Options) -> None:
    """Write `n` texts for each request, to standard output."""
    from espalier.models.serialization import load_model

    _check(options, len(requests))
    params = load_params()
    key = writer_asked(params, options.model, command, options.language, VerseDataset, "verse")
    wanted = [_format(request, command, options) for request in requests]
    model, _ = load_model(layout.model(key))
    texts = _texts(model, wanted, requests, options)  # type: ignore[arg-type]
    for text in texts:
        if options.json:
            print(json.dumps(_object(text, key, options), ensure_ascii=False), flush=True)
        else:
            print(_page(text, options.seed), flush=True)


def _check(options: Options, requests: int) -> None:
    for name, value, least in (("--n", options.n, 1), ("--top-k", options.top_k, 1), ("--beam", options.beam, 0)):
        if value < least:
            raise ConfigError(f"{value} is too small", where=name, remedy=f"at least {least}")
    if options.n * requests > MOST:
        raise ConfigError(f"{options.n * requests:,} texts at once", where="--n", remedy=f"at most {MOST:,}")
    if options.beam and options.n > 1:
        raise ConfigError(
            f"{options.n} texts of one search", where="--n", remedy="--beam finds the best; leave it out to draw"
        )
    if not options.temperature > 0:
        raise ConfigError(f"{options.temperature} is no temperature", where="--temperature", remedy="above 0")


def _format(request: Request, command: str, options: Options) -> Format:
    """The format of one request; a tune's own where none is written."""
    from espalier.verse.tunes import tune as tune_of

    with _named(request):
        text, rhyme = request.format, request.rhyme
        if text is None and request.tune is not None:
            tune = tune_of(request.tune)
            text, rhyme = tune.pattern, rhyme or tune.rhyme
        if command == "polish" and text and not set("_#＿＃") & set(text):
            raise ConfigError(
                f"'{text[:40]}' has no blanks", where="template", remedy="write _ for each word to find, # for a rhyme"
            )
        return parse_format(text or "", options.language, rhyme)


@contextmanager
def _named(request: Request) -> Iterator[None]:
    """Errors say whose they are."""
    try:
        yield
    except ConfigError as error:
        if not request.name:
            raise
        raise ConfigError(error.what, where=f"{request.name}, {error.where}", remedy=error.remedy) from error


def _texts(model: SongNet, formats: list[Format], requests: list[Request], options: Options) -> Iterator[Text]:
    """Batch by batch, in the order asked for."""
    import numpy as np
    from espalier.decoding.verse import text_of, verse_constraint
    from espalier.decoding.verse import write as decode

    from espalier.datasets.verse.data import VerseData
    from espalier.datasets.verse.encode import title_of
    from espalier.datasets.verse.frames import Frame, frame_of
    from espalier.io.hashing import seed_from
    from pipeline.verse.decode import BATCH

    model.to(device())
    vocabulary, view = model.vocabulary, model.config.view
    decoder, most, frames = _decoder(options), model.config.positions, list[Frame]()
    for format_, request in zip(formats, requests, strict=True):
        with _named(request):
            frames.append(frame_of(format_, vocabulary))
            tokens = len(frames[-1]) + (decoder.slack if options.free else 0)
            if tokens > most:
                remedy = f"this model writes at most {most}"
                raise ConfigError(f"a format of {tokens} tokens", where="format", remedy=remedy)
    tunes = [request.tune for request in requests]
    if any(tunes) and not view.title:
        say("espalier: note: this model does not read a tune's name; --tune gives it the format alone")
    titles = [title_of(tune or "", vocabulary) for tune in tunes]
    data = VerseData.of([str(format_) for format_ in formats], frames, vocabulary, titles=titles)
    constraint = verse_constraint(decoder, vocabulary)
    jobs = [(row, sample) for row in range(len(formats)) for sample in range(options.n)]
    for start in range(0, len(jobs), BATCH):
        part = jobs[start : start + BATCH]
        batch = data.batch(np.array([row for row, _ in part]), view).to(device())
        seeds = [seed_from(options.seed, row, sample) for row, sample in part]
        for (row, sample), ids in zip(part, decode(model, batch, seeds, decoder, constraint), strict=True):
            format_ = formats[row]
            yield Text(text_of(ids, vocabulary, None if options.free else format_), format_, tunes[row] or "", sample)


def _decoder(options: Options) -> VerseDecoder:
    from espalier.decoding.verse import VerseDecoder

    return VerseDecoder(
        mode="free" if options.free else "frame",
        marks=not options.free,
        rhyme=not options.free,
        method="beam" if options.beam else "top_k",
        top_k=options.top_k,
        temperature=options.temperature,
        beam=options.beam or 1,
    )


def _object(text: Text, model: str, options: Options) -> dict[str, Any]:
    return {
        "text": text.text,
        "format": str(text.format),
        "rhyme": text.format.rhyme,
        "tune": text.tune,
        "seed": options.seed,
        "sample": text.sample,
        "model": model,
    }


def _page(text: Text, seed: int) -> str:
    """A heading, then a unit a line; rhyme letters and their sounds stand in a column of their own."""
    from rich.cells import cell_len

    units = units_of(text.text)
    width = max((cell_len(unit) for unit in units), default=0)
    parts = [part for part in (text.tune, str(text.format).replace("\n", "/"), f"seed {seed}") if part]
    lines = ["  ".join([*parts, f"no. {text.sample + 1}"])]
    for index, (unit, letter) in enumerate(zip(units, text.format.rhyme.ljust(len(units), "."), strict=False)):
        rhyme = "" if letter == "." else f"   {letter} {_sounds(unit, text.format, index)}"
        lines.append(f"  {unit}{' ' * (width - cell_len(unit)) if rhyme else ''}{rhyme}")
    return "\n".join([*lines, ""])


def _sounds(unit: str, format_: Format, index: int) -> str:
    """The sounds at the rhyme places of a unit; of its last word, if the text does not keep to the format."""
    from espalier.verse.rhyme import group_name
    from espalier.verse.text import rhyme_place

    tokens = tokens_of(unit, format_.language)
    if len(tokens) == len(format_.units[index]):
        places = format_.rhyme_places[index]
    else:
        last = rhyme_place(tokens)
        places = () if last is None else (last,)
    sounds = (group_name(tokens[place], format_.language) or "?" for place in places)
    return "/".join(dict.fromkeys(sounds)) or "?"
