"""What may follow in a text that keeps a frame, character by character."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol, TypeVar, runtime_checkable

from espalier.text.language import HAN

#: A state of an automaton: an immutable value, to be compared and hashed but not read.
State = Hashable
State_ = TypeVar("State_", bound=Hashable)

#: The classes of characters that are too large to be listed, by name: "han" is every Han character.
OPEN: Final[dict[str, re.Pattern[str]]] = {"han": re.compile(f"[{HAN}]")}
#: So many sets of characters are known, for all frames.
_SETS: Final = 4096


@dataclass(frozen=True, slots=True)
class Characters:
    """A set of characters: those of `some`, and those of the class `open` of `OPEN` that are not in `without`.

    Without a class (`open` is ""), the set is `some`.
    """

    some: frozenset[str] = frozenset()
    open: str = ""
    without: frozenset[str] = frozenset()

    def __contains__(self, character: str) -> bool:
        """Whether one character is in the set."""
        if character in self.some:
            return True
        return bool(self.open and character not in self.without and OPEN[self.open].fullmatch(character))

    def __bool__(self) -> bool:
        """Whether the set has a character."""
        return bool(self.some or self.open)


@lru_cache(_SETS)
def one(characters: Characters) -> Characters:
    """The first of equal sets. Sets of thousands of characters are compared at once if they are one object."""
    return characters


class Automaton(Protocol[State_]):
    """The texts that keep a frame, read character by character. `Frame.automaton` compiles it.

    It is exact: a text is accepted if and only if it keeps the frame in the frame's own layout (`Frame.layout`). It is
    co-accessible: every state can be finished. Two prefixes after which the same may follow have equal states, so that
    states can be keys of a cache. Lines are separated by one line feed each; nothing follows the last line.

    A frame that no text keeps has no automaton: compiling it raises a ConfigError that names the rules in conflict.
    """

    @property
    def start(self) -> State_:
        """The state before the first character."""
        ...

    def step(self, state: State_, character: str) -> State_ | None:
        """The state after one more character; None if no text that keeps the frame goes on so."""
        ...

    def allowed(self, state: State_) -> Characters:
        """The characters that may come next: those for which `step` is not None. Empty only if the text is complete."""
        ...

    def accepts(self, state: State_) -> bool:
        """Whether the text may end here."""
        ...

    def remaining(self, state: State_) -> int:
        """The least number of characters that are still needed; 0 if and only if the text may end here."""
        ...


@runtime_checkable
class PlacedAutomaton(Automaton[State_], Protocol[State_]):
    """An automaton that knows what whole sets of characters lead to, so that they are followed at once."""

    def common(self, state: State_) -> State_ | None:
        """The state after any of the allowed characters, if it is one; None if they lead, or may lead, to several."""
        ...

    def ahead(self, state: State_) -> Characters:
        """A set that has all characters that may come after the next one; it may have more."""
        ...

    def alike(self, state: State_, characters: Iterable[str]) -> Iterator[set[str]]:
        """Some of the allowed characters, in sets each of which leads to one state."""
        ...
