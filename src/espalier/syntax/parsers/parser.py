"""What the pipeline knows of a parser, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from espalier.syntax.parse import Parse

#: A sentence to parse: its text, or its words where somebody has found them already.
Sentence = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Refused:
    """A sentence that a parser cannot parse, with a short fixed reason, so that reasons can be counted."""

    reason: str


EMPTY: Final = Refused("empty")
TOO_LONG: Final = Refused("too long")
NO_ROUND_TRIP: Final = Refused("tokens do not round-trip")
NO_TREE: Final = Refused("no tree")


def are_words(words: Sequence[str]) -> bool:
    """Whether none is empty or has white space."""
    return all(word.split() == [word] for word in words)


class Parser(Protocol):
    """A backend with its model loaded."""

    #: The model's name and version, and its library's: "benepar 0.2.0, nltk-sample 1a2b3c4d". It goes into artifacts.
    signature: str

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """One answer a sentence, in the order given. Batches are made inside, by length; they change no answer."""
        ...
