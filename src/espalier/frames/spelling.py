"""An automaton for a tokenizer that cannot spell all characters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from espalier.frames.automaton import Automaton, Characters, State
from espalier.frames.points import points_of
from espalier.frames.tokens import Tokens
from espalier.io.errors import ConfigError

#: So many states are looked at to finish one; a state that needs more counts as one that cannot be finished.
_MOST: Final = 20_000


class Spelled:
    """The texts of an automaton that tokens can spell. Co-accessible again, like the automaton itself.

    Raises:
        ConfigError: no text of the frame can be spelled. It names characters that the tokenizer lacks.
    """

    def __init__(self, automaton: Automaton[Any], tokens: Tokens) -> None:
        self.automaton, self.tokens = automaton, tokens
        self.start, self.accepts, self.remaining = automaton.start, automaton.accepts, automaton.remaining
        self._finishes: dict[State, bool] = {}
        if not self._can_finish(self.start):
            raise self._lacking()

    def step(self, state: State, character: str) -> State | None:
        """The state after one more character; None if no text that can be spelled goes on so."""
        after = self.automaton.step(state, character) if self.tokens.spells(character) else None
        return after if after is not None and self._can_finish(after) else None

    def allowed(self, state: State) -> Characters:
        """The characters for which `step` is not None."""
        spelled = self._spelled(self.automaton.allowed(state))
        return Characters(frozenset(each for each in spelled if self.step(state, each) is not None))

    def _can_finish(self, state: State) -> bool:
        """Whether a text can be finished from a state: a search in depth, first where few characters are left."""
        way, seen = [(state, self._after(state))], 0
        while way and state not in self._finishes:
            at, after = way[-1]
            seen += 1
            if self.accepts(at) or self._finishes.get(at):
                self._finishes |= dict.fromkeys((each for each, _ in way), True)
            elif (below := next(after, None)) is None or seen > _MOST:
                self._finishes[at] = False
                way.pop()
            elif self._finishes.get(below, True):
                way.append((below, self._after(below)))
        return self._finishes[state]

    def _after(self, state: State) -> Iterator[State]:
        """The states after characters that can be spelled, those that leave few characters first."""
        steps = (self.automaton.step(state, each) for each in self._spelled(self.automaton.allowed(state)))
        return iter(sorted({after for after in steps if after is not None}, key=self.remaining))

    def _spelled(self, characters: Characters) -> Iterator[str]:
        """Those of the characters that can be spelled."""
        if not self.tokens.has_parts:
            return (each for each in self.tokens.characters if each in characters)
        return filter(self.tokens.spells, map(chr, points_of(characters).tolist()))

    def _lacking(self) -> ConfigError:
        """The error for a frame that cannot be spelled: what is lacking at the last place that is reached."""
        state, seen = self.start, {self.start}
        way = [self._after(state)]
        while way:
            if (below := next(way[-1], None)) is None or len(seen) > _MOST:
                way.pop()
            elif below not in seen:
                seen.add(below)
                state = min(state, below, key=self.remaining)
                way.append(self._after(below))
        needed = self.automaton.allowed(state)
        some = "".join(filter(str.strip, sorted(needed.some)[:5])) or needed.open or "a line feed"
        return ConfigError(
            f"its vocabulary spells none of the characters that the frame needs, such as {some}",
            where="tokenizer",
            remedy="use a tokenizer with bytes, or a frame without them",
        )
