"""Requests of the page, answered as the command line answers them."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from espalier.cli import framed
from espalier.cli.check import Check
from espalier.cli.command import Command, flag_of
from espalier.cli.models import Models, load_model, models
from espalier.cli.requests import as_options
from espalier.inference.writer import InferenceWarning
from espalier.io.errors import ConfigError

if TYPE_CHECKING:
    from espalier.frames.report import Report
    from espalier.inference.system import System

Found = TypeVar("Found")

#: One answer at a time: models share a processor, and warnings a list.
_LOCK = Lock()


@dataclass(frozen=True)
class Answer:
    """The results of a request.

    Attributes:
        writer: the writer, whose system parses texts.
        notes: what the command line would say on standard error.
    """

    results: tuple[Any, ...]
    writer: Any
    notes: tuple[str, ...]


class KeptModels(Models):
    """Models that are loaded once and kept, whatever tabs ask for them."""

    def __init__(self, found: Models) -> None:
        self._found = found
        self._open = cache(partial(found.open, load=cache(load_model)))

    def enter(self, profile: str | None) -> None:
        """As the models that are kept do."""
        self._found.enter(profile)

    def names(self) -> Iterable[str]:
        """As the models that are kept do."""
        return self._found.names()

    def books(self) -> Path | None:
        """As the models that are kept do."""
        return self._found.books()

    def parser(self, name: str | None, language: str) -> Path:
        """As the models that are kept do."""
        return self._found.parser(name, language)

    def open(self, method: str, language: str, **parts: Any) -> System:
        """The system opened for the same arguments or for others that mean the same folders, else a new one."""
        return self._open(method, language, **parts)


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that say something: an empty field of a form is an option that is not given."""
    # 0 is a value, though it equals False.
    return {
        name: value
        for name, value in values.items()
        if value is not None and value is not False and value not in ("", [])
    }


def command_line(kind: type[Command], values: Mapping[str, Any]) -> str:
    """The command that gives the same answer, as one types it in a shell."""
    words = ["espalier", kind.__name__.lower()]
    for name, value in given(values).items():
        if name == kind.argument:
            words.insert(2, shlex.quote(str(value)))
            continue
        for each in value if isinstance(value, list | tuple) else [value]:
            words += [flag_of(name, repeated=isinstance(value, list | tuple))]
            words += [] if each is True else [shlex.quote(str(each))]
    return " ".join(words)


def ask(kind: type[Command], values: Mapping[str, Any]) -> Answer:
    """Answer a request.

    Args:
        kind: the command that answers it.
        values: the values of its argument and options; see `given`.

    Raises:
        EspalierError: the request cannot be answered; its message names options.
    """

    def answered(command: Command) -> tuple[tuple[Any, ...], Any]:
        requests = _requests(command)
        models().enter(command.values["profile"])
        with as_options(command.names):
            writer = command.open(requests)
            return tuple(writer.answers(requests)), writer

    (results, writer), notes = _noted(kind, values, answered)
    return Answer(results, writer, notes)


def check(values: Mapping[str, Any]) -> tuple[Report, tuple[str, ...]]:
    """Check a text without a model; the report, and notes.

    Raises:
        EspalierError: the rules cannot be read.
    """

    def answered(command: Command) -> Report:
        assert isinstance(command, Check)
        (request,) = _requests(command)
        models().enter(command.values["profile"])
        books = framed.books_of(command.values)
        with as_options(command.names):
            options = command.chosen([request])
        return command.report(request, options, partial(framed.checked, books=books))

    return _noted(Check, values, answered)


def _requests(command: Command) -> list[Any]:
    """The request of a form. Raises a ConfigError if its fields are empty."""
    if requests := command.given():
        return requests
    field = command.argument or flag_of(command.fields[0][0].name)
    raise ConfigError("nothing is asked for", remedy=f"give {field}")


def _noted(
    kind: type[Command], values: Mapping[str, Any], answered: Callable[[Command], Found]
) -> tuple[Found, tuple[str, ...]]:
    """What a command answers, and its notes."""
    defaults = {each.name: each.default for each in kind.parameters()}
    with _LOCK, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InferenceWarning)
        found = answered(kind(defaults | given(values)))
    said = (str(each.message) for each in caught if issubclass(each.category, InferenceWarning))
    return found, tuple(dict.fromkeys(said))
