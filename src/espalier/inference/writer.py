"""How requests become results: all are read first, each by itself, then those that can be read are answered."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from espalier.decoding.bounds import PREFIXES
from espalier.io.errors import ConfigError, EspalierError

if TYPE_CHECKING:
    from espalier.inference.loaded import LoadedModel

T = TypeVar("T")
R = TypeVar("R")
Request = TypeVar("Request")
Job = TypeVar("Job")
Result = TypeVar("Result")

#: The most texts of one call, and the most requests.
MAX_TEXTS = 10_000


class InferenceWarning(UserWarning):
    """A request that is answered otherwise than the caller may expect."""


class ArgumentError(ConfigError):
    """An argument of a call that cannot be. `where` is the argument's name."""


class Writer(ABC, Generic[Request, Job, Result]):
    """Answers requests by one system under fixed options.

    Attributes:
        system: the model that writes.
        inputs: the name of the list of inputs, for errors: "formats".
        request_type: of its requests; a string is one that has this text alone.
    """

    system: LoadedModel
    inputs: ClassVar[str]
    request_type: ClassVar[type[Any]]

    @property
    def names(self) -> dict[str, str | None]:
        """The models that write: {"model": "guig_tg", "expander": "guig_se"}."""
        return {"model": self.system.name}

    def request(self, value: str | Request, name: str) -> Request:
        """The request that a caller's input stands for.

        Args:
            value: a string, or a request.
            name: what errors call it, unless it is a request.

        Raises:
            ArgumentError: it is neither.
        """
        if isinstance(value, self.request_type):
            return value
        if not isinstance(value, str):
            what, wanted = type(value).__name__, self.request_type.__name__
            raise ArgumentError(f"{what} instead of a text", where=name, remedy=f"give a string or a {wanted}")
        made: Request = self.request_type(value, name=name)
        return made

    @abstractmethod
    def read(self, requests: Sequence[Request]) -> list[Job | EspalierError]:
        """For each request a job, or the error that says why it cannot be answered.

        Raises:
            EspalierError: no request could be answered.
        """

    @abstractmethod
    def write(self, jobs: Sequence[Job]) -> Iterator[tuple[Request, Result]]:
        """The results of all jobs in their order, each after its request. Batches are made inside."""

    def answers(self, inputs: Sequence[Any]) -> list[Result]:
        """The results for all inputs.

        Raises:
            EspalierError: the first input that cannot be answered.
        """
        requests = [self.request(value, f"{self.inputs}[{place}]") for place, value in enumerate(inputs)]
        jobs, errors = parted(self.read(requests))
        if errors:
            raise errors[0]
        return [result for _, result in self.write(jobs)]


def attempt(rows: Iterable[T | EspalierError], function: Callable[[T], R]) -> list[R | EspalierError]:
    """`function` of each row; in place of a row that it refuses stands its error, and an error stays."""
    return [row if isinstance(row, EspalierError) else _tried(function, row) for row in rows]


def _tried(function: Callable[[T], R], row: T) -> R | EspalierError:
    try:
        return function(row)
    except EspalierError as error:
        return error


def parted(rows: Iterable[T | EspalierError]) -> tuple[list[T], list[EspalierError]]:
    """What could be read, and the errors; both in order."""
    kept, errors = list[T](), list[EspalierError]()
    for row in rows:
        if isinstance(row, EspalierError):
            errors.append(row)
        else:
            kept.append(row)
    return kept, errors


def batches(jobs: Sequence[T], prefixes: int) -> Iterator[Sequence[T]]:
    """Runs of jobs that are searched together, if a job has so many prefixes."""
    size = max(1, PREFIXES // prefixes)
    for start in range(0, len(jobs), size):
        yield jobs[start : start + size]


def note_unknown(words: Iterable[str], model: str, name: str = "", *, read: str = "; read as unknown") -> None:
    """Warn of words that a model does not know, if there are any.

    Args:
        name: of the input; "" for all inputs.
        read: how the model reads them.
    """
    if unknown := " ".join(dict.fromkeys(words)):
        what = f"model {model} does not know {unknown}"
        said = f"{name}: {what}, and reads it as unknown" if name else f"{what}{read}"
        warnings.warn(said, InferenceWarning, stacklevel=2)


def require_range(name: str, value: float | None, minimum: float, maximum: float | None = None) -> None:
    """Raise an ArgumentError unless `minimum` <= value <= `maximum`; None is not checked."""
    if value is None:
        return
    if not value >= minimum:
        raise ArgumentError(f"{value} is too small", where=name, remedy=f"at least {minimum}")
    if maximum is not None and value > maximum:
        raise ArgumentError(f"{value} is too large", where=name, remedy=f"at most {maximum:,}")


def require_beams(n: int, beam: int, texts: str = "texts") -> None:
    """Raise an ArgumentError unless a search with so many beams can find `n` texts.

    Args:
        texts: what they are, for the message.
    """
    require_range("n", n, 1)
    if n > beam:
        raise ArgumentError(f"{n} {texts} of {beam} beams", where="n", remedy=f"raise the beam to {n}, or lower n")


@contextmanager
def argument(name: str, value: str = "") -> Iterator[None]:
    """An error inside becomes an ArgumentError of that argument, whose text names the `value` if one is given."""
    try:
        yield
    except EspalierError as error:
        what = f"{value}: {error.what}" if value else error.what
        raise ArgumentError(what, where=name, remedy=error.remedy) from error
