"""The protocol of parsers, and what their backends refuse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from espalier.io.errors import ConfigError
from espalier.syntax.parse import Parse

#: A sentence to parse: its text, or its words where somebody has found them already.
Sentence = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Refused:
    """A sentence that a parser cannot parse, with a short fixed reason that can be counted."""

    reason: str


EMPTY: Final = Refused("empty")
TOO_LONG: Final = Refused("too long")
NO_ROUND_TRIP: Final = Refused("tokens do not round-trip")
NO_TREE: Final = Refused("no tree")


def are_words(words: Sequence[str]) -> bool:
    """Whether no word is empty or has white space."""
    return all(word.split() == [word] for word in words)


def require_limits(backend: str, **limits: int) -> None:
    """Refuse a limit below 1.

    Raises:
        ConfigError: a limit is below 1; the message names it.
    """
    for name, value in limits.items():
        if value < 1:
            raise ConfigError(f"{name} is {value}", where=f"{backend}'s options", remedy="give at least 1")


def no_model(backend: str, model: str, *, fetch: str, train: str) -> ConfigError:
    """The error of a model that does not exist, with the ways to get one.

    Args:
        fetch: the command that fetches a published model. It is left out if `model` can only be a path.
        train: what trains one here.
    """
    ways = [f"train one here ({train})", "give the path of one"]
    if model and not set(model) & set("/\\. "):
        ways.insert(0, f"fetch it: {fetch}")
    return ConfigError(f"no model '{model}'", where=backend, remedy=", or ".join(ways))


class Parser(Protocol):
    """A backend with a loaded model."""

    #: The model's name and version, and its library's: "benepar 0.2.0, nltk-sample 1a2b3c4d". It goes into artifacts.
    signature: str

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """One result per sentence, in the given order. Batches are formed by length and do not change results."""
