"""Where words that must occur in Chinese verse still fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple

from espalier.frames.automaton import OPEN
from espalier.frames.plan import Plan
from espalier.frames.words import Wanted, progress
from espalier.io.errors import ConfigError

#: The most words: room is sought for each of their sets.
MOST_WORDS: Final = 8
#: Characters put at rhyme places and at places that are repeated.
Put = tuple[tuple[int, str], ...]
#: The number of words until the next mark, and of later clauses by their length.
_Rest = tuple[int, tuple[tuple[int, int], ...]]


class _Node(NamedTuple):
    """A place, the words that are left there, what has begun of one, and the characters put before it."""

    place: int
    words: frozenset[str]
    begun: str
    put: Put


class PlaceRoom:
    """Room for words at the places of a plan: a search from place to place, which goes on from no node twice.

    Raises:
        ConfigError: there are too many words.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._repeated = {place.source for place in plan.places if place.source >= 0}
        self._kept = self._repeated.union(*(letter.places for letter in plan.letters.values()))
        self._rests = _rests(plan)
        self._adds = {word: _added(word, plan.words) for word in plan.words}
        self._needs = lru_cache(maxsize=4096)(self._needs_of)
        if len(plan.words) > MOST_WORDS and self._has_room(0, frozenset(plan.words), 0):
            remedy = f"at most {MOST_WORDS}; check tells whether a text has more"
            raise ConfigError(f"{len(plan.words)} words are too many to place", where="words", remedy=remedy)

    def fits(
        self,
        start: int,
        wanted: Wanted,
        kept: Mapping[int, str],
        rhymes: Callable[[Put], bool],
    ) -> bool:
        """Whether the words that are left fit into the places from `start` on. They may overlap.

        Args:
            kept: the words that will be repeated, by their places.
            rhymes: whether words at rhyme places leave words for the others; if they do, so do fewer of them.
        """
        rhymes = cache(rhymes)
        todo, seen = [_Node(start, wanted.words, wanted.begun, ())], set[_Node]()
        while todo:
            node = todo.pop()
            if not node.words:
                return True
            if node in seen or not self._has_room(node.place, node.words, len(node.begun)):
                continue
            seen.add(node)
            todo += (each for each in self._after(node, kept) if each.put == node.put or rhymes(each.put))
        return False

    def _after(self, node: _Node, kept: Mapping[int, str]) -> Iterator[_Node]:
        """The nodes after a node, the most promising one last: a word goes on, or begins, or neither."""
        place = self.plan.places[node.place]
        root = place.source if place.source >= 0 else node.place
        there = (kept.get(root) or self.plan.places[root].given or dict(node.put).get(root)) if place.word else ""
        if there:
            yield self._next(node, there, node.put)
            return
        if node.begun:
            yield node._replace(begun="")  # what has begun is left
        else:
            yield _Node(node.place + 1, node.words, "", node.put)
        if not place.word or place.source >= 0:
            return
        for character in self._characters(node):
            tone = not place.tone or character in self.plan.readings.toned[place.tone]
            if tone and OPEN["han"].fullmatch(character):
                put = (*node.put, (node.place, character)) if node.place in self._kept else node.put
                yield self._next(node, character, put)

    def _next(self, node: _Node, character: str, put: Put) -> _Node:
        wanted = progress(Wanted(node.words, node.begun), character, word=True)
        return _Node(node.place + 1, wanted.words, wanted.begun, put)

    def _characters(self, node: _Node) -> Iterable[str]:
        """The characters with which words go on, or else begin; at a place that is repeated, all of them."""
        words = sorted(node.words, key=lambda word: (len(word), word))
        if node.begun:
            ends = [node.begun[start:] for start in range(len(node.begun))]
            return dict.fromkeys(word[len(end)] for word in words for end in ends if word.startswith(end))
        if node.place in self._repeated:
            return dict.fromkeys(character for word in words for character in word)
        return dict.fromkeys(word[0] for word in words)

    # --- How many words there is room for, at most ---

    def _has_room(self, place: int, words: frozenset[str], begun: int) -> bool:
        """Whether as many words fit, whatever they are: each adds characters to a clause (`_added`)."""
        rest, later = self._rests[place]
        rest += begun
        return place < len(self.plan.places) and all(
            count <= rest // size + sum(clause // size * times for clause, times in later)
            for size, count in self._needs(words)
        )

    def _needs_of(self, words: frozenset[str]) -> list[tuple[int, int]]:
        """The sizes of words, and how many words have at least each size."""
        sizes = [self._adds[word] for word in words]
        return [(size, sum(each >= size for each in sizes)) for size in {*sizes} - {0}]


def _added(word: str, words: Iterable[str]) -> int:
    """The least number of characters that a word adds to a clause with some of the other words."""
    others = [each for each in words if each != word]
    if any(word in each for each in others):
        return 0
    shared = (size for size in range(len(word) - 1, 0, -1) if any(each.endswith(word[:size]) for each in others))
    return len(word) - next(shared, 0)


def _rests(plan: Plan) -> list[_Rest]:
    """What is left at each place and at the end."""
    later, rest, rests = Counter[int](), 0, list[_Rest]([(0, ())])
    for place in reversed(plan.places):
        if not place.word and rest:
            later[rest] += 1
        rest = rest + 1 if place.word else 0
        rests.append((rest, tuple(later.items())))
    return rests[::-1]
