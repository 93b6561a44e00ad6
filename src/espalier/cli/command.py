"""Commands of services. The options of a command are the fields of the service's inputs and options.

A command reads requests, checks its options, calls the service, prints the results, and counts what it could not read.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_origin

import typer

from espalier.cli.models import absolute, model_names, models
from espalier.cli.requests import are_all, as_options, looked_at, read_requests
from espalier.cli.streams import QUIET
from espalier.inference.requests import SEARCH, Options, described, require_options
from espalier.inference.writer import MAX_TEXTS, InferenceWarning, parted
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.io.registry import imported

if TYPE_CHECKING:
    from rich.text import Text

    from espalier.inference.system import System

DRAWN = 10  # the most texts of one drawing


#: The language of the texts.
Language = StrEnum("Language", ["zh", "en"])


def _tune_names(incomplete: str) -> list[str]:
    from espalier.verse.tunes import tunes

    return [name for name in tunes() if name.startswith(incomplete)]


def _be_quiet(value: bool) -> bool:
    if value:
        warnings.simplefilter("ignore", InferenceWarning)
        os.environ[QUIET] = "1"
    return value


def is_repeated(kind: object) -> bool:
    """Whether a field holds several values."""
    return any(get_origin(each) is tuple for each in (kind, *get_args(kind)))


def flag_of(name: str, *, repeated: bool = False) -> str:
    """The option that sets a field."""
    return f"--{name.removesuffix('s') if repeated else name}".replace("_", "-")


def parameter(
    name: str, kind: Any, text: str, default: Any = None, *short: str, argument: bool = False, **more: Any
) -> inspect.Parameter:
    """An option of a command, or its argument, that sets a field of the type `kind`; `more` goes to `typer.Option`
    or `typer.Argument`.

    Its value is None, or False for a flag, if it is not given. A tuple `topics` is a `--topic` that can be repeated.
    """
    repeated = is_repeated(kind)
    flag = flag_of(name, repeated=repeated)
    if isinstance(default, str | int | float) and default is not False and default != "":
        text += f"  [default: {default}]" if name not in SEARCH else f"  [default: the model's own, else {default}]"
    types: tuple[Any, ...] = (bool, int, float, Path, Language)
    given: Any = list[str] if repeated else next((each for each in types if each in (kind, *get_args(kind))), str)
    info = typer.Argument(help=text, **more) if argument else typer.Option(flag, *short, help=text, **more)
    default, only = False if given is bool else None, inspect.Parameter.KEYWORD_ONLY
    given = given if given is bool else given | None
    return inspect.Parameter(name, only, default=default, annotation=Annotated[given, info])


COMMON = (
    parameter(
        "model", str,
        "A model of the profile, a released model, a model's folder, or user/name of the Hugging Face Hub; default: "
        "the released one, if there is no --profile and one serves, else that of the profile.",
        autocompletion=model_names, callback=absolute,
    ),
    parameter("language", Language, "The language of the texts.", Language.zh),
    parameter("profile", str, "The profile of a clone; default: that of this folder, else nursery."),
    parameter(
        "file", Path,
        "A file with one request a line; a blank line gives a blank line; - is standard input.",
    ),
    parameter("json", bool, "Print one JSON object for each text."),
    parameter("quiet", bool, "Print no notes and no progress; errors stay.", None, "-q", callback=_be_quiet),
)  # fmt: skip


class Command:
    """A command of a service. Its docstring is its help."""

    service: ClassVar[str]
    request: ClassVar[type[Any]]  # the type of an input; its fields are options, and those of a line of --file
    options: ClassVar[type[Options]]  # the type of the service's options
    line: ClassVar[str]  # what a line of --file contains
    columns: ClassVar[int] = 0  # so many fields of a request can be in a line; 0 means all
    argument: ClassVar[str] = ""  # the name of the argument that gives the first field; "" if an option does
    either: ClassVar[bool] = False  # whether an argument can give the first field as well as its option
    shared: ClassVar[Sequence[str]] = ()  # fields that options give to all requests without their own
    more: ClassVar[Sequence[inspect.Parameter]] = ()  # further options
    without: ClassVar[Sequence[str]] = ()  # fields that are no options, and common options that do not exist
    #: Functions, or their names as "package.module:name", which are imported when results are printed. From the values
    #: of all options, a request and its result: what people read. From all results and a path: the file with a drawing.
    page: ClassVar[str | Callable[[dict[str, Any], Any, Any], str | Text]]
    draw: ClassVar[str | Callable[[Sequence[Any], Path], None]]
    endings: ClassVar[Sequence[str]] = ()  # of names of drawings
    treeless: ClassVar[str] = "reads no tree"  # what a model does that has no trees to show
    spaced: ClassVar[bool] = False  # whether an empty line separates requests that have several results

    def __init__(self, values: dict[str, Any]) -> None:
        lists = {name: tuple(value) or None for name, value in values.items() if isinstance(value, list)}
        self.values: dict[str, Any] = values | lists
        self.fields = [*described(self.request)][: self.columns or None]
        #: The names of options, where other than those of the fields that they set.
        self.names = {
            field.name: flag_of(field.name, repeated=True)
            for field, kind, _ in (*described(self.request), *described(self.options))
            if is_repeated(kind)
        }
        first = self.fields[0][0].name
        if self.argument:
            self.values[first] = self.values.pop(self.argument)
        elif self.either and (argument := self.values.pop(f"{first}_")) is not None:
            if self.values[first] is not None:
                raise ConfigError("given twice", where=f"--{first}", remedy="give the option or the argument")
            self.values[first] = argument

    @classmethod
    def parameters(cls) -> Iterator[inspect.Parameter]:
        """The argument and the options."""
        for place, (field, kind, option) in enumerate((*described(cls.request), *described(cls.options))):
            if cls.argument and not place:
                yield parameter(cls.argument, kind, option.help, argument=True)
                continue
            if cls.either and not place:
                yield parameter(
                    f"{field.name}_", kind, f"The same as --{field.name}.", argument=True, metavar=field.name
                )
            if field.name not in cls.without:
                more: dict[str, Any] = {"autocompletion": _tune_names} if field.name == "tune" else {}
                yield parameter(field.name, kind, option.help, field.default, **more)
        yield from (*cls.more, *(each for each in COMMON if each.name not in cls.without))

    def run(self) -> None:
        """Answer all requests. The exit status is 1 if one could not be read, or a result is not what was asked for."""
        looked, lines = looked_at(read_requests(self.values["file"], self.given(), self.row, self.line))
        requests, errors = parted(looked)
        if errors and not requests:
            raise errors[0]
        models().enter(self.values["profile"])  # --file is a path in the folder before
        with as_options(self.names):
            missed = self.print(self.open(requests), lines, len(looked) if are_all(looked) else None)
        if missed:
            raise SystemExit(1)

    def given(self) -> list[Any]:
        """The request of the command line, if it has one. Raises a ConfigError if it lacks a field that it needs."""
        values = {name: value for name, value in self.values.items() if value is not None and name not in self.shared}
        names = [field.name for field, *_ in self.fields if field.name in values]
        lacking = [field.name for field, *_ in self.fields if field.default is MISSING and field.name not in names]
        if names and lacking:
            where = f"--{names[0].removesuffix('s')}"
            if self.values["file"] is not None:
                raise ConfigError("a file has its own", where=where, remedy="write it after a tab in each line")
            raise ConfigError(f"no {lacking[0]}", where=where, remedy=f"give --{lacking[0]} as well")
        return [self.request(**{name: values[name] for name in names})] if names else []

    def row(self, cells: Sequence[str], name: str) -> Any:
        """The request of a line, or the error that tells what is wrong with it: the other lines are answered."""
        try:
            return self.read(cells, name)
        except EspalierError as error:
            return error

    def read(self, cells: Sequence[str], name: str) -> Any:
        """The request of a line. Raises an error if it has too many cells, or if one is no number."""
        found: dict[str, Any] = {}
        cells = cells if len(self.fields) > 1 else [" ".join(cells)]
        if any(cells[len(self.fields) :]):
            raise DataError(f"{len(cells)} fields", file=name, remedy=f"at most {len(self.fields)}: {self.line}")
        for (field, kind, _), cell in zip(self.fields, cells, strict=False):
            if cell and int in get_args(kind) and not (cell.isascii() and cell.isdecimal() and len(cell) < 10):
                raise ConfigError(f"'{cell}' is no number of a {field.name}", where=name, remedy="for example 2")
            if cell or field.default is MISSING:
                repeated, number = is_repeated(kind), int in get_args(kind)
                found[field.name] = tuple(cell.split()) if repeated else int(cell) if number else cell
        return self.request(**found, name=name)

    def open(self, requests: Sequence[Any]) -> Any:
        """A writer with the options of the command, for these requests."""
        options, values = self.chosen(requests), self.values
        parts: dict[str, Any] = {"expander": values.get("expander"), "expands": not values.get("full", True)}
        parts["trees"] = self.guided(requests)
        system = models().open(self.service, self.language(requests), model=values["model"], **parts)
        if values["model"] is None and values["profile"] is None:
            note_synthetic(system)
        if (asked := values.get("language")) is not None and system.language != asked:
            what = f"model {system.name} writes {system.language}, not {asked}"
            raise ConfigError(what, where="--language", remedy="leave it out, or name another model")
        writer, where = system.writer(self.service, **options), "--expander" if parts["expander"] else "--show-tree"
        if (parts["expander"] or values.get("show_tree")) and not writer.shows_trees:
            what = f"model {system.name} {self.treeless}"
            raise ConfigError(what, where=where, remedy="leave it out, or name a model of trees")
        largest = max((writer.texts([request]) for request in requests), default=0)
        limits = [(largest, MAX_TEXTS, "--n", "at once"), (writer.texts(requests), DRAWN, "--out", "in one drawing")]
        for texts, most, where, what in limits if values.get("out") else limits[:1]:
            if texts > most:
                raise ConfigError(f"{texts:,} texts {what}", where=where, remedy=f"at most {most:,}")
        return writer

    def print(self, writer: Any, lines: Iterable[Any], total: int | None = 1) -> int:
        """Print the results, and draw them. A blank line, None, gives a blank line.

        Args:
            total: the number of requests; None if it is not known.

        Returns:
            The number of requests that could not be read, and of results that are not what was asked for.
        """
        from espalier.cli.answers import answer

        results, out, kind, misses = list[Any](), self.values.get("out"), type(self), 0

        def printed(result: object) -> None:
            nonlocal misses
            misses += self.misses(result)
            if out is not None:
                results.append(result)

        page = partial(imported("page", kind.page, where=f"command {self.service}"), self.values)
        spaced, as_json = self.spaced and writer.n > 1, self.values.get("json", False)
        missed = answer(writer, lines, page, as_json=as_json, spaced=spaced, total=total, then=printed)
        if results:
            imported("drawing", kind.draw, where=f"command {self.service}")(results, out)
        return missed + misses

    def guided(self, requests: Sequence[Any]) -> bool:
        """Whether the command needs a model that reads trees."""
        return False

    def misses(self, result: Any) -> bool:
        """Whether a result is not what was asked for, as the exit status then says."""
        return False

    def chosen(self, requests: Sequence[Any]) -> dict[str, Any]:
        """The options that are given, in their bounds; a command adds what its requests need."""
        found = {field.name: self.values.get(field.name) for field, *_ in described(self.options)}
        found = {name: value for name, value in found.items() if value is not None and value is not False}
        require_options(self.options, found)
        if (out := self.values.get("out")) is not None and out.suffix not in self.endings:
            remedy = f"give a name that ends in {' or '.join(self.endings)}"
            raise ConfigError(f"{out.name} is no name of a drawing", where="--out", remedy=remedy)
        return found

    def language(self, requests: Sequence[Any]) -> str:
        """The language of the requests: that of --language; English for a command without this option."""
        return str(self.values.get("language", "en") or "zh")


def note_synthetic(system: System) -> None:
    """Warn of a model that nobody named, if all that it has read is a grammar's."""
    if system.synthetic:
        what = f"model {system.name} learned from synthetic text alone; other words and sentences confuse it"
        warnings.warn(what, InferenceWarning, stacklevel=2)


def add(app: typer.Typer, command: type[Command]) -> None:
    """Add a command to a command line."""

    def run(**values: Any) -> None:
        command(values).run()

    run.__doc__ = command.__doc__
    run.__signature__ = inspect.Signature([*command.parameters()])  # type: ignore[attr-defined]
    app.command(command.__name__.lower())(run)
