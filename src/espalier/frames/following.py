"""Which tokens may follow in a text that keeps a frame: the trie of the tokens, walked beside the automaton."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final, NamedTuple

import numpy as np

from espalier.frames.automaton import Automaton, Characters, State
from espalier.frames.points import any_within, points_of, within
from espalier.frames.tokens import Ids, Level, Node, Tokens, bits, code_points, least, length, split

#: With so many tokens below a place of the trie, they are kept, at most `_MOST` times; with so many characters, arrays
#: are searched instead of asking the automaton for each.
_MANY: Final = 64
_MOST: Final = 20_000
_NONE: Final = np.empty(0, np.int64)

#: Tokens, and characters with the places behind them where more tokens go on.
Next = tuple[Ids, Sequence[tuple[str, Sequence[Node]]]]


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


class Following:
    """The tokens that may follow in the texts of an automaton.

    Tokens of several characters are allowed if the automaton goes on after all of them; tokens that end inside a
    character, if the automaton allows a character that begins so. What is begun can be finished if the automaton's
    characters can all be spelled (`Spelled`).
    """

    def __init__(self, automaton: Automaton, tokens: Tokens) -> None:
        self.automaton, self.tokens = automaton, tokens
        self._tails, self._nexts = lru_cache(_MOST)(self._with_tails), lru_cache(_MOST)(_next_at)
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
        ids, deep = self._tails(self.automaton.allowed(place.state), place.lead)
        yield ids
        yield from self._beyond(place.state, deep)

    def _with_tails(self, characters: Characters, lead: bytes) -> Next:
        """The tokens that go on with or finish a character of a set that begins so, and where tokens go on after it."""
        lacking, points = length(lead) - len(lead), points_of(characters)
        ids, deep = [_NONE], list[tuple[str, list[Node]]]()
        for size in range(1, lacking + 1):
            tails, shift = self.tokens.tails[size], 6 * (lacking - size)
            value = bits(lead) << 6 * size | tails.bits
            begun = within(points, np.maximum(value << shift, least(lead)), value + 1 << shift)
            ids.append(tails.ends[begun[tails.at]])
            if not shift:
                found = zip(value[begun].tolist(), compress(tails.nodes, begun), strict=True)
                deep += [(chr(point), [node]) for point, node in found if node.children or node.parts]
        return np.concatenate(ids), deep

    def _beyond(self, state: State, deep: Iterable[tuple[str, Sequence[Node]]]) -> Iterator[Ids]:
        """The tokens that go on after characters."""
        below = defaultdict[State, list[Node]](list)
        for character, nodes in deep:
            below[self.automaton.step(state, character)] += nodes
        for after, nodes in below.items():
            yield self._follow(after, nodes)

    def _follow(self, state: State, nodes: Sequence[Node]) -> Ids:
        """The tokens below places of the trie that the automaton allows from a state on."""
        if sum(node.size for node in nodes) <= _MANY:
            return np.array([token for node in nodes for token in self._few(state, node)], np.int64)
        level = self.tokens.level(nodes)
        if (known := self._below.get((state, id(level)))) is None:
            if len(self._below) >= _MOST:
                self._below.clear()
            if len(level.ends) + len(level.points) + len(level.parts) > _MANY:
                known = np.concatenate([*self._many(state, level)])
            else:
                known = np.array([token for node in nodes for token in self._few(state, node)], np.int64)
            self._below[state, id(level)] = known
        return known

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
        ids, deep = self._nexts(self.automaton.allowed(state), level)
        yield ids
        yield from self._beyond(state, deep)


def _next_at(characters: Characters, level: Level) -> Next:
    """The tokens that go on with one of a set of characters, or end inside one, and where tokens go on after it."""
    points = points_of(characters)
    ids = [level.ends[within(points, level.single)], level.parts[within(points, level.first, level.last)]]
    return np.concatenate(ids), [*compress(level.deep.items(), within(points, level.points))]
