"""The command `list`: models, runs, tunes, forms, templates, readers and sources."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rich.cells import cell_len

from espalier.cli.models import models
from espalier.corpora.readers import READERS
from espalier.frames.forms import ALSO, NAMES, form_of
from espalier.frames.tune_names import tune_name
from espalier.inference.folder import read_system
from espalier.inference.registry import services_of
from espalier.inference.released import released
from espalier.inference.writer import InferenceWarning
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import read_json
from espalier.io.registry import imported
from espalier.io.terminal import json_line, printable
from espalier.io.validation import options_of
from espalier.verse.books import REMEDY
from espalier.verse.grammar import parse_format
from espalier.verse.tune_book import TuneBook
from espalier.verse.tunes import tunes
from pipeline import layout
from pipeline.params.entries import Params
from pipeline.params.read import load_catalogue, load_params
from pipeline.records.systems import default_for, find_model, require_folder

#: A row: the content of a column by its name.
Row = dict[str, Any]


def list_entries(kind: str, name: str | None = None, *, json: bool) -> None:
    """Print a table for the present profile: aligned in a terminal, else tab-separated and without a header.

    Args:
        kind: a key of `KINDS`.
        name: a tune, whose variants are listed.
        json: print one JSON object per row instead.

    Raises:
        ConfigError: the kind or the tune is unknown, or no model is trained whose templates could be listed.
        ArtifactError: there is no book of tunes.
    """
    if kind not in KINDS:
        raise ConfigError.unknown("list", kind, KINDS, where="list")
    if name is not None and kind != "tunes":
        raise ConfigError(f"{kind} are not listed by name", where=name, remedy="leave the name out")
    rows = [*(_variants(name) if name is not None else KINDS[kind](load_params()))]
    if json:
        for row in rows:
            print(json_line(row))
    elif sys.stdout.isatty():
        print(printable(_aligned(rows)))
    else:
        for row in rows:
            print(printable("\t".join(_cells(row).values())))


def _models(params: Params) -> Iterator[Row]:
    """The methods of each model, and the released models; * marks the defaults of the profile."""
    for key, model in params.models.items():
        corpus = params.datasets.every[model.dataset].corpus
        language = params.corpora[corpus].language
        own = services_of(model.encoding, model.network)
        yield {
            "model": key,
            "title": model.title,
            "language": language,
            "corpus": corpus,
            "serves": [f"{name}*" if default_for(params, name, language) == key else name for name in own],
            "trained": layout.model(key).is_dir(),
        }
    for folder in released():
        served = [default.partition(".") for default in read_system(folder).default_for]
        yield {
            "model": folder.name,
            "title": "released; the default without --profile",
            "language": ", ".join(dict.fromkeys(language for *_, language in served)),
            "corpus": "",
            "serves": [service for service, *_ in served],
            "trained": True,
        }


def _runs(params: Params) -> Iterator[Row]:
    for key, run in params.runs.items():
        yield {
            "run": key,
            "title": run.title or params.models[run.model].title,
            "paper": run.paper,
            "model": run.model,
            "dataset": run.dataset,
            "split": run.split,
            "scored": layout.details(run.paper, key).is_file(),
        }


def _tunes(params: Params) -> Iterator[Row]:
    """The tunes of the catalogue, then the others of the book, in the variant that is meant where none is named."""
    catalogue = tunes()
    for name, tune in catalogue.items():
        yield {"tune": name, "format": tune.pattern, "rhyme": tune.rhyme}
    if (folder := models().books()) is None:
        return
    book = TuneBook(folder)
    for name, *_ in book.names:
        if name not in catalogue:
            variant = book.variant(name)
            yield {"tune": name, "format": variant.pattern, "rhyme": variant.rhyme}


def _forms(params: Params) -> Iterator[Row]:
    """The forms that `espalier check --form` knows, by the first of their kinds, with their other names."""
    for name in NAMES:
        first = form_of(name)[0]
        lines = first.get("syllables") or first.get("meter") or str(parse_format(first["format"], "zh"))
        yield {
            "form": name,
            "pattern": lines,
            "rhyme": first.get("rhyme", ""),
            "kinds": len(form_of(name)),
            "also": ", ".join(other for other, form in ALSO.items() if form == name),
        }


def _variants(name: str) -> Iterator[Row]:
    """The variants of a tune by the book; * marks the one that is meant where none is named."""
    folder = models().books()
    if folder is None:
        raise ArtifactError("no book of tunes", where="data/raw/forms/couyun", remedy=REMEDY)
    book, name = TuneBook(folder), tune_name(name)
    default = book.variant(name)
    if not book.opening(default):
        warnings.warn(f"first sentences are not at hand; {REMEDY}", InferenceWarning, stacklevel=2)
    for variant in book.called(name):
        yield {
            "variant": f"{variant.tune} {variant.number}{'*' * (variant == default)}",
            "format": variant.pattern,
            "rhyme": variant.rhyme,
            "tones": variant.tones,
            "repeated": len(variant.copies),
            "count": book.count(variant),
            "opens": book.opening(variant),
        }


def _templates(params: Params) -> Iterator[Row]:
    """The templates of the default model of English paraphrases, the most frequent first.

    Raises:
        ConfigError: there is no such model, or it is not trained.
    """
    key = find_model(params, "paraphrase", "en", None, "list templates")
    require_folder(params, layout.model(key), f"model {key} is not trained", f"train@{key}")
    file = layout.model(key) / "templates.json"
    for row in read_json(file, list[Mapping[str, Any]]) if file.exists() else ():
        yield {"template": row["template"], "count": row["count"]}


def _readers(params: Params) -> Iterator[Row]:
    """The readers of corpora, with their records and options."""
    for name, reader in READERS.items():
        function = imported("reader", reader.function, where=f"READERS['{name}']")
        options, _ = options_of(function, given=("folders", "language"))
        yield {
            "reader": name,
            "records": reader.records,
            "reads": "files" if reader.reads_sources else "nothing: it makes its rows",
            "options": [*options],
            "what": " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split()),
        }


def _sources(params: Params) -> Iterator[Row]:
    catalogue = load_catalogue(params) if params.sources.published else {}
    for key, source in params.sources.every.items():
        known = catalogue.get(key)
        yield {
            "source": key,
            "shelf": source.shelf,
            "MB": round(known.size / 1e6, 1) if known else None,
            "here": (layout.raw(source.shelf) / key).is_dir(),
            "licence": known.licence if known else "",
            "title": known.title if known else str(Path(getattr(source, "file", "")).name),
        }


#: The kinds of entries that can be listed.
KINDS: Final[dict[str, Callable[[Params], Iterator[Row]]]] = {
    "models": _models,
    "runs": _runs,
    "tunes": _tunes,
    "forms": _forms,
    "templates": _templates,
    "readers": _readers,
    "sources": _sources,
}


def _cells(row: Row) -> dict[str, str]:
    return {name: _cell(value) for name, value in row.items()}


def _cell(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return " ".join(value)
        case None:
            return ""
    return str(value)


def _aligned(rows: list[Row]) -> str:
    """A header and the rows in columns. Chinese characters are two columns wide."""
    if not rows:
        return "none"
    lines = [{name: name for name in rows[0]}, *map(_cells, rows)]
    widths = {name: max(cell_len(line[name]) for line in lines) for name in rows[0]}
    return "\n".join(
        "  ".join(cell + " " * (widths[name] - cell_len(cell)) for name, cell in line.items()).rstrip()
        for line in lines
    )
