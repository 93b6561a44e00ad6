"""How many tokens a text needs, so that it is finished within those that it may have."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import Final

import numpy as np

from espalier.frames.automaton import Characters, State
from espalier.frames.following import Following, Place
from espalier.frames.points import points_of, within
from espalier.frames.trie import Ids
from espalier.frames.utf8 import code_points

#: More tokens than one token can add to what a text needs: by a rhyme group of rare characters, or by a longer word.
_JUMP: Final = 64
#: So many of the characters that take the fewest tokens are looked at.
_FEW: Final = 16


class Budget:
    """Numbers of tokens that finish a text: those of one way, each of whose characters takes few tokens."""

    def __init__(self, following: Following) -> None:
        self.following, self.automaton, self.tokens = following, following.automaton, following.tokens
        self._ways: dict[State, tuple[int, str]] = {}  # the tokens from a state on, and the first character
        self._lead: dict[Place, int] = {}
        self._few = lru_cache(maxsize=1024)(self._with_few_tokens)

    def needed(self, place: Place) -> int:
        """The tokens of the way from a place on, with the one that ends the text.

        Of each place, one of the tokens that may follow leads to a place that needs one token less.
        """
        if place.lead and place not in self._lead:
            self._lead[place] = self._needed(place)
        return self._lead[place] if place.lead else self._way(place.state)[0]

    def _needed(self, place: Place) -> int:
        first, last = code_points(place.lead)
        points = points_of(self.automaton.allowed(place.state))
        some = map(chr, points[points.searchsorted(first) :][:2].tolist())
        own = self._way(place.state)[1]
        counts = [
            self._count(each.encode()[len(place.lead) :]) + self._way(self.automaton.step(place.state, each))[0]
            for each in {own, *some}
            if each and first <= ord(each) < last
        ]
        return min(counts)

    def is_tight(self, place: Place, left: int) -> bool:
        """Whether a token may need more than those that are left."""
        return left <= self.needed(place) + _JUMP

    def within(self, place: Place, allowed: Ids, left: int) -> Ids:
        """Those of the allowed tokens after which the tokens that are left, themselves counted, finish the text.

        Where none does, which only a jump can cause, those that need the fewest.
        """
        needed = np.array([self._after(place, token) for token in allowed.tolist()], np.int64)
        ends = not place.lead and self.automaton.accepts(place.state)
        return allowed[needed < left] if ends or (needed < left).any() else allowed[needed == needed.min()]

    def _after(self, place: Place, token: int) -> int:
        after = self.following.advance(place, token)
        assert after is not None  # as the token is allowed
        return self.needed(after)

    def _way(self, state: State) -> tuple[int, str]:
        way = []
        at = state
        while at not in self._ways:
            if self.automaton.accepts(at):
                self._ways[at] = (1, "")
                break
            character, after = self._next(at)
            way.append((at, character))
            at = after
        for before, character in reversed(way):
            self._ways[before] = self._ways[at][0] + self._count(character.encode()), character
            at = before
        return self._ways[state]

    def _next(self, state: State) -> tuple[str, State]:
        """A character that takes few tokens and leaves few characters to write, and the state after it."""
        remaining, allowed = self.automaton.remaining(state), self.automaton.allowed(state)
        best: tuple[int, str, State] | None = None
        for character in chain(self._few(allowed), map(chr, points_of(allowed))):
            after = self.automaton.step(state, character)
            left = self.automaton.remaining(after)
            if left < remaining:
                return character, after
            if best is None or left < best[0]:
                best = left, character, after
        assert best is not None  # as the state can be finished
        return best[1:]

    def _with_few_tokens(self, characters: Characters) -> list[str]:
        """Characters of a set that take the fewest tokens."""
        points, level = points_of(characters), self.tokens.level([self.tokens.root])
        single, (first, last, _) = level.single[0], level.parts
        whole, starts = single[within(points, single)].tolist(), first[within(points, first, last)]
        begun = points[points.searchsorted(np.sort(starts))].tolist()
        some = dict.fromkeys(map(chr, (*whole[:_FEW], *begun[: 4 * _FEW], *points[:_FEW].tolist())))
        return sorted(some, key=lambda each: self._count(each.encode()))[:_FEW]

    def _count(self, spelled: bytes) -> int:
        return self.tokens.count(spelled) or len(spelled)
