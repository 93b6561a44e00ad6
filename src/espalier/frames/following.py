"""Which tokens may follow in a text that keeps a frame: the trie of the tokens, walked beside the automaton."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np

from espalier.frames.automaton import Automaton, Characters, PlacedAutomaton, State
from espalier.frames.points import Points, any_within, points_of, within
from espalier.frames.tokens import Tokens
from espalier.frames.trie import Ids, Level, Node
from espalier.frames.utf8 import bits, code_points, least, length, split

#: With so many tokens below a place of the trie, they are kept, at most `_MOST` times; with so many characters, arrays
#: are searched instead of asking the automaton for each.
_MANY: Final = 64
_MOST: Final = 20_000
#: What follows is kept of so many sets of characters, for all frames.
_SETS: Final = 4096
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


class Next:
    """The tokens that spell some characters, and the places of the trie behind each character where more go on."""

    def __init__(self, ids: Ids, deep: Sequence[tuple[str, Sequence[Node]]]) -> None:
        self.ids, self.deep = ids, deep
        self._before: dict[Characters, Sequence[tuple[str, Sequence[Node]]]] = {}

    def before(self, ahead: Characters) -> Sequence[tuple[str, Sequence[Node]]]:
        """The places behind each character where tokens go on with one of the characters ahead."""
        if ahead.open:
            return self.deep
        if ahead not in self._before:
            points, living = points_of(ahead), list[tuple[str, Sequence[Node]]]()
            for character, nodes in self.deep:
                if nodes := [node for node in nodes if _goes_on(node, ahead, points)]:
                    living.append((character, nodes))
            self._before[ahead] = living
        return self._before[ahead]

    @cached_property
    def level(self) -> Level:
        """All the places."""
        return Level([node for _, nodes in self.deep for node in nodes])


class Following:
    """The tokens that may follow in the texts of an automaton.

    Tokens of several characters are allowed if the automaton goes on after all of them; tokens that end inside a
    character, if the automaton allows a character that begins so. What is begun can be finished if the automaton's
    characters can all be spelled (`Spelled`).
    """

    def __init__(self, automaton: Automaton[Any], tokens: Tokens) -> None:
        self.automaton, self.tokens = automaton, tokens
        self.placed = automaton if isinstance(automaton, PlacedAutomaton) else None
        self._below: dict[tuple[State, Level], Ids] = {}

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
        """The ids of the tokens that may follow, in any order, without those that end a text."""
        return np.concatenate([*(self._after_lead(place) if place.lead else self._from_root(place))])

    def _from_root(self, place: Place) -> Iterator[Ids]:
        root = self.tokens.root
        yield self._follow(place.state, self.tokens.level([root]))
        if place.fresh and (blank := root.children.get(" ")) and self.automaton.step(place.state, " ") is None:
            yield np.array(blank.ends, np.int64)
            yield self._follow(place.state, self.tokens.level([blank]))

    def _after_lead(self, place: Place) -> Iterator[Ids]:
        """The tokens that begin with the bytes that a character still lacks, or are some of them."""
        yield from self._ways(place.state, _with_tails(self.automaton.allowed(place.state), place.lead, self.tokens))

    def _ways(self, state: State, found: Next) -> Iterator[Ids]:
        """The tokens that spell characters, and those that go on after them."""
        yield found.ids
        if not found.deep:
            return
        deep, placed = found.deep, self.placed
        if placed is not None:
            if (after := placed.common(state)) is not None:
                yield self._follow(after, found.level)
                return
            deep = found.before(placed.ahead(state))
        below = defaultdict[State, list[Node]](list)
        for character, nodes in deep:
            below[self.automaton.step(state, character)] += nodes
        for after, nodes in below.items():
            yield self._follow(after, self.tokens.level(nodes))

    def _follow(self, state: State, level: Level) -> Ids:
        """The tokens below places of the trie that the automaton allows from a state on."""
        if level.size <= _MANY:
            return np.array([token for node in level.nodes for token in self._few(state, node)], np.int64)
        if (known := self._below.get((state, level))) is None:
            if len(self._below) >= _MOST:
                self._below.clear()
            if level.width > _MANY:
                found = _next_at(self.automaton.allowed(state), level)
                known = np.concatenate([*self._ways(state, found)])
            else:
                known = np.array([token for node in level.nodes for token in self._few(state, node)], np.int64)
            self._below[state, level] = known
        return known

    def _few(self, state: State, node: Node) -> Iterator[int]:
        """`_follow`, a character at a time."""
        for character, child in node.children.items():
            if (after := self.automaton.step(state, character)) is not None:
                yield from child.ends
                if child.size > _MANY:
                    yield from self._follow(after, self.tokens.level([child]))
                elif child.children or child.parts:
                    yield from self._few(after, child)
        if node.parts:
            points = points_of(self.automaton.allowed(state))
            yield from (token for first, last, token in node.parts if any_within(points, first, last))


def _goes_on(node: Node, characters: Characters, points: Points) -> bool:
    """Whether tokens go on from a place with one of the characters."""
    return not characters.some.isdisjoint(node.children) or any(
        any_within(points, first, last) for first, last, _ in node.parts
    )


@lru_cache(_SETS)
def _next_at(characters: Characters, level: Level) -> Next:
    """The tokens that go on with one of a set of characters, or end inside one, and where tokens go on after it."""
    points, (single, ends), (first, last, parts) = points_of(characters), level.single, level.parts
    ids = np.concatenate([ends[within(points, single)], parts[within(points, first, last)]])
    return Next(ids, [*compress(level.deep[1], within(points, level.deep[0]))])


@lru_cache(_SETS)
def _with_tails(characters: Characters, lead: bytes, tokens: Tokens) -> Next:
    """The tokens that go on with or finish a character of a set that begins so, and where tokens go on after it."""
    lacking, points = length(lead) - len(lead), points_of(characters)
    ids, deep = [_NONE], list[tuple[str, list[Node]]]()
    for size in range(1, lacking + 1):
        tails, shift = tokens.tails[size], 6 * (lacking - size)
        value = bits(lead) << 6 * size | tails.bits
        begun = within(points, np.maximum(value << shift, least(lead)), value + 1 << shift)
        ids.append(tails.ends[begun[tails.at]])
        if not shift:
            found = zip(value[begun].tolist(), compress(tails.nodes, begun), strict=True)
            deep += [(chr(point), [node]) for point, node in found if node.children or node.parts]
    return Next(np.concatenate(ids), deep)
