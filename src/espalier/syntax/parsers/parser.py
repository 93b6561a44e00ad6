"""The protocol of parsers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

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


class Parser(Protocol):
    """A backend with a loaded model."""

    #: The model's name and version, and its library's: "benepar 0.2.0, nltk-sample 1a2b3c4d". It goes into artifacts.
    signature: str

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """One result per sentence, in the given order. Batches are formed by length and do not change results."""
