"""Which tokens may follow in a text that keeps a frame: the trie of the tokens, walked beside the automaton."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np

from espalier.frames.automaton import Automaton, State
from espalier.frames.points import any_within, points_of, within
from espalier.frames.tokens import Ids, Node, Tokens, code_points, length, split

#: With so many tokens below a place of the trie, they are kept, at most `_MOST` times; with so many characters, arrays
#: are searched instead of asking the automaton for each.
_MANY: Final = 64
_MOST: Final = 20_000
_NONE: Final = np.empty(0, np.int64)


class Place(NamedTuple):
    """What a prefix of a text leaves to write.

    Attributes:
        state: the automaton's state after the whole characters.
        lead: the first bytes of the next character.
        fresh: whether nothing is written, so that a blank may come first, which is not part of the text.
    """

    state: State
    lead: bytes = b""
    fresh: bool = False


class Level:
    """What comes next at places of the trie, in arrays.

    Attributes:
        single: (m,) code points of characters, and `ends`, (m,) of the tokens that end after them.
        first: (n,) and `last`, (n,) the ranges of code points, and `parts`, (n,) of tokens that end inside a character.
        deep: for each character after which tokens go on, the places behind it, and `points`, their code points.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        items = [item for node in nodes for item in node.children.items()]
        pairs = np.array([(ord(each), end) for each, child in items for end in child.ends], np.int64).reshape(-1, 2)
        self.single, self.ends = pairs.T
        self.first, self.last, self.parts = (
            np.array([part for node in nodes for part in node.parts], np.int64).reshape(-1, 3).T
        )
        self.deep = defaultdict[str, list[Node]](list)
        for character, child in items:
            if child.children or child.parts:
                self.deep[character].append(child)
        self.points = np.array([*map(ord, self.deep)], np.int64)


class Following:
    """The tokens that may follow in the texts of an automaton.

    Tokens of several characters are allowed if the automaton goes on after all of them; tokens that end inside a
    character, if the automaton allows a character that begins so. What is begun can be finished if the automaton's
    characters can all be spelled (`Spelled`).
    """

    def __init__(self, automaton: Automaton, tokens: Tokens) -> None:
        self.automaton, self.tokens = automaton, tokens
        self._levels: dict[tuple[int, ...], Level] = {}
        self._below: dict[tuple[State, int], Ids] = {}

    def advance(self, place: Place, token: int) -> Place | None:
        """The place after one more token; None if the text leaves the frame."""
        spelled = self.tokens.spelled[token] if token < len(self.tokens.spelled) else None
        if not spelled:
            return None
        state: State | None = place.state
        if place.fresh and spelled[0] == 0x20 and self.automaton.step(state, " ") is None:
            spelled = spelled[1:]
        whole, lead = split(place.lead + spelled)
        try:
            characters = whole.decode()
        except UnicodeDecodeError:
            return None
        for character in characters:
            state = self.automaton.step(state, character)
            if state is None:
                return None
        points = points_of(self.automaton.allowed(state)) if lead else _NONE
        return Place(state, lead) if not lead or any_within(points, *code_points(lead)) else None

    def allowed(self, place: Place) -> Ids:
        """The ids of the tokens that may follow, in order, without those that end a text."""
        return np.unique(np.concatenate([*(self._after_lead(place) if place.lead else self._from_root(place))]))

    def _from_root(self, place: Place) -> Iterator[Ids]:
        root = self.tokens.root
        yield self._follow(place.state, [root])
        if place.fresh and (blank := root.children.get(" ")) and self.automaton.step(place.state, " ") is None:
            yield np.array(blank.ends, np.int64)
            yield self._follow(place.state, [blank])

    def _after_lead(self, place: Place) -> Iterator[Ids]:
        """The tokens that begin with the bytes that a character still lacks, or are some of them."""
        yield _NONE
        lacking = length(place.lead) - len(place.lead)
        points = points_of(self.automaton.allowed(place.state))
        below = defaultdict[State, list[Node]](list)
        for tail, node in self.tokens.tails.items():
            if len(tail) > lacking or not any_within(points, *(span := code_points(place.lead + tail))):
                continue
            yield np.array(node.ends, np.int64)
            if len(tail) == lacking and (node.children or node.parts):
                below[self.automaton.step(place.state, chr(span[0]))].append(node)
        for state, nodes in below.items():
            yield self._follow(state, nodes)

    def _follow(self, state: State, nodes: Sequence[Node]) -> Ids:
        """The tokens below places of the trie that the automaton allows from a state on."""
        if sum(node.size for node in nodes) <= _MANY:
            return np.array([token for node in nodes for token in self._few(state, node)], np.int64)
        level = self.level(nodes)
        if (known := self._below.get((state, id(level)))) is None:
            if len(self._below) >= _MOST:
                self._below.clear()
            if len(level.ends) + len(level.points) + len(level.parts) > _MANY:
                known = np.concatenate([*self._many(state, level)])
            else:
                known = np.array([token for node in nodes for token in self._few(state, node)], np.int64)
            self._below[state, id(level)] = known
        return known

    def level(self, nodes: Sequence[Node]) -> Level:
        """The arrays of places of the trie."""
        key = tuple(map(id, nodes))
        if key not in self._levels:
            self._levels[key] = Level(nodes)
        return self._levels[key]

    def _few(self, state: State, node: Node) -> Iterator[int]:
        """`_follow`, a character at a time."""
        for character, child in node.children.items():
            if (after := self.automaton.step(state, character)) is not None:
                yield from child.ends
                if child.size > _MANY:
                    yield from self._follow(after, [child])
                elif child.children or child.parts:
                    yield from self._few(after, child)
        if node.parts:
            points = points_of(self.automaton.allowed(state))
            yield from (token for first, last, token in node.parts if any_within(points, first, last))

    def _many(self, state: State, level: Level) -> Iterator[Ids]:
        """`_follow`, all characters at once; the automaton is asked only where tokens go on."""
        points = points_of(self.automaton.allowed(state))
        yield level.ends[within(points, level.single, level.single + 1)]
        yield level.parts[within(points, level.first, level.last)]
        below = defaultdict[State, list[Node]](list)
        for character, nodes in compress(level.deep.items(), within(points, level.points, level.points + 1)):
            below[self.automaton.step(state, character)] += nodes
        for after, nodes in below.items():
            yield self._follow(after, nodes)
