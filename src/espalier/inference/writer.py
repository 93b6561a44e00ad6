"""From requests to results: each request is read separately, then all readable ones are answered."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from espalier.decoding.bounds import PREFIXES
from espalier.io.calls import require_kind
from espalier.io.errors import ArgumentError as ArgumentError
from espalier.io.errors import CallError as CallError
from espalier.io.errors import EspalierError

if TYPE_CHECKING:
    from espalier.inference.loaded import LoadedModel


T = TypeVar("T")
F = TypeVar("F")
R = TypeVar("R")
Request = TypeVar("Request")
Job = TypeVar("Job")
Result = TypeVar("Result")

#: The most texts of one request.
MAX_TEXTS = 10_000


class InferenceWarning(UserWarning):
    """A warning that a request is answered differently than the caller may expect."""


@dataclass(frozen=True)
class Writer(ABC, Generic[Request, Job, Result]):
    """Answers requests with one system and fixed options, which a subclass inherits (`espalier.inference.requests`).

    Attributes:
        system: the model that writes.
        inputs: the name of the list of inputs, for errors: "formats".
        request_type: type of its requests; a string stands for a request with only this text.
    """

    system: LoadedModel[Any, Any, Any]
    inputs: ClassVar[str]
    request_type: ClassVar[type[Any]]

    @property
    def names(self) -> dict[str, str | None]:
        """The names of the models used: {"model": "guig_tg", "expander": "guig_se"}."""
        return {"model": self.system.name}

    @property
    def shows_trees(self) -> bool:
        """Whether results have trees to show."""
        return False

    def request(self, value: str | Request, name: str) -> Request:
        """Convert the input of a caller to a request.

        Args:
            value: a string, or a request.
            name: name of the request in errors, unless `value` is a request.

        Raises:
            CallError: `value` is neither.
        """
        require_kind("", name, value, str | self.request_type)
        made: Request = value if isinstance(value, self.request_type) else self.request_type(value, name=name)
        return made

    def texts(self, requests: Sequence[Request]) -> int:
        """The largest number of texts for these requests."""
        return int(getattr(self, "n", 1)) * len(requests)

    @abstractmethod
    def read(self, requests: Sequence[Request]) -> list[Job | EspalierError]:
        """For each request, a job, or the error that tells why it cannot be answered.

        Raises:
            EspalierError: the model can answer no request.
        """

    def read_after(self, before: int, requests: Sequence[Request]) -> list[Job | EspalierError]:
        """As `read`, of requests that come after `before` others, where a result depends on the place of its request.

        Raises:
            EspalierError: the model can answer no request.
        """
        return self.read(requests)

    @abstractmethod
    def write(self, jobs: Sequence[Job]) -> Iterator[tuple[Request, Result]]:
        """The results of all jobs in order, each paired with its request. Jobs are batched internally."""

    def answers(self, inputs: Sequence[Any]) -> list[Result]:
        """The results for all inputs.

        Raises:
            CallError: `inputs` is no list, or one of them is neither a text nor a request.
            EspalierError: the first input that cannot be answered.
        """
        require_kind("", self.inputs, inputs, Sequence)
        requests = [self.request(value, f"{self.inputs}[{place}]") for place, value in enumerate(inputs)]
        jobs, errors = parted(self.read(requests))
        if errors:
            raise errors[0]
        return [result for _, result in self.write(jobs)]


def attempt(rows: Iterable[T | EspalierError], function: Callable[[T], R]) -> list[R | EspalierError]:
    """Apply `function` to each row. A row that it rejects is replaced by the error; errors are kept."""
    return [row if isinstance(row, EspalierError) else _tried(function, row) for row in rows]


def attempt_with(
    rows: Sequence[T | EspalierError],
    found: Callable[[list[T]], Sequence[F | EspalierError]],
    function: Callable[[T, F], R],
) -> list[R | EspalierError]:
    """As `attempt`, with what `found` gives for each row, such as a parse. `found` is called once, for all rows."""
    each = iter(found(parted(rows)[0]))

    def applied(row: T) -> R:
        own = next(each)
        if isinstance(own, EspalierError):
            raise own
        return function(row, own)

    return attempt(rows, applied)


def _tried(function: Callable[[T], R], row: T) -> R | EspalierError:
    try:
        return function(row)
    except EspalierError as error:
        return error


def parted(rows: Iterable[T | EspalierError]) -> tuple[list[T], list[EspalierError]]:
    """Divide rows into readable ones and errors, both in order."""
    kept, errors = list[T](), list[EspalierError]()
    for row in rows:
        if isinstance(row, EspalierError):
            errors.append(row)
        else:
            kept.append(row)
    return kept, errors


def batches(jobs: Sequence[T], prefixes: int) -> Iterator[Sequence[T]]:
    """Runs of jobs to search together, if each job has `prefixes` prefixes."""
    size = max(1, PREFIXES // prefixes)
    for start in range(0, len(jobs), size):
        yield jobs[start : start + size]


def note_unknown(words: Iterable[str], model: str, name: str = "", *, read: str = "; read as unknown") -> None:
    """Warn of words that a model does not know, if there are any.

    Args:
        name: name of the input; "" for all inputs.
        read: how the model reads them.
    """
    if unknown := " ".join(dict.fromkeys(words)):
        what = f"model {model} does not know {unknown}"
        said = f"{name}: {what}, and reads it as unknown" if name else f"{what}{read}"
        warnings.warn(said, InferenceWarning, stacklevel=2)


@contextmanager
def called(method: str) -> Iterator[None]:
    """Let an error about an argument in this context name the method that was called."""
    try:
        yield
    except ArgumentError as error:
        where = method if error.where is None else f"{method}, {error.where}"
        raise type(error)(error.what, where=where, remedy=error.remedy) from error


@contextmanager
def argument(name: str, value: str = "") -> Iterator[None]:
    """Convert an error in this context to an ArgumentError for the argument; its message names `value` if given."""
    try:
        yield
    except EspalierError as error:
        what = f"{value}: {error.what}" if value else error.what
        raise ArgumentError(what, where=name, remedy=error.remedy) from error
