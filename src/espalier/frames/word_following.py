"""Which tokens may follow in English verse: for all tokens at once, whether words of the dictionary go on with them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np

from espalier.frames.following import Following, Place
from espalier.frames.lexicon import CODED, LEAST, LETTERS, Lexicon, Numbers, code
from espalier.frames.line_automaton import MARKS, LineAutomaton, Verse
from espalier.frames.tokens import Tokens
from espalier.frames.trie import Ids

#: What tokens of English verse are made of.
_ALPHABET: Final = frozenset((*LETTERS, *LETTERS.upper(), *MARKS, " ", "\n"))
#: The tokens behind a word are kept for so many states.
_KEPT: Final = 256


class Spans(NamedTuple):
    """Tokens, and the words that go on with the letters of each: the first one, and the one after the last."""

    tokens: Ids
    first: Numbers
    last: Numbers


class Letters:
    """Tokens that are letters alone, or end with letters after one and the same beginning.

    Args:
        tokens: the small letters of each, and its id.
    """

    def __init__(self, tokens: Iterable[tuple[str, int]]) -> None:
        self.long, tables, seen = (
            list[tuple[str, int]](),
            defaultdict[tuple[int, int], list[tuple[int, int]]](list),
            Counter[str](),
        )
        for letters, token in tokens:
            if len(letters) > CODED:
                self.long.append((letters, token))
            else:  # no table has the same letters twice
                tables[len(letters), seen[letters]].append((code(letters), token))
                seen[letters] += 1
        #: For each table, the number of the letters, their codes in order, and the tokens.
        self.tables = [(size, *np.array(sorted(rows), np.int64).T) for (size, _), rows in tables.items()]
        self.spans = lru_cache(maxsize=65536)(self._spans)

    def _spans(self, lexicon: Lexicon, begun: str) -> Spans:
        """The tokens with which words go on that begin so."""
        first, last = lexicon.span(begun)
        codes, longest = lexicon.codes(first, last, len(begun)), lexicon.longest(first, last) - len(begun)
        found = [np.empty((3, 0), np.int64)]
        for size, coded, tokens in self.tables:
            if size <= longest:
                starts = np.flatnonzero(
                    np.diff(codes // LEAST[size], prepend=-1)
                )  # of words that share so many letters
                shared = codes[starts] // LEAST[size] * LEAST[size]
                place = coded.searchsorted(shared)
                known = coded[np.minimum(place, len(coded) - 1)] == shared
                ends = np.array([*starts[1:], len(codes)])
                found.append(np.array([tokens[place[known]], first + starts[known], first + ends[known]]))
        if longest > CODED:
            spans = ((token, *lexicon.span(begun + letters)) for letters, token in self.long)
            found.append(np.array([each for each in spans if each[1] < each[2]], np.int64).reshape(-1, 3).T)
        return Spans(*np.concatenate(found, axis=1))


@dataclass
class Beginning:
    """A beginning of tokens, before the letters that end them.

    Attributes:
        children: what may come next.
        ends: the tokens that end here.
        small: the tokens that end with small letters behind it: these letters, and the id.
        capital: those whose letters begin with a capital: the letters in small, and the id.
    """

    children: dict[str, Beginning] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)
    small: list[tuple[str, int]] = field(default_factory=list)
    capital: list[tuple[str, int]] = field(default_factory=list)

    def letters(self, *, first: bool) -> Letters:
        """The tokens that end with letters: the first ones of a word, or others."""
        return self._first if first else self._others

    @cached_property
    def _first(self) -> Letters:
        return Letters([*self.small, *self.capital])

    @cached_property
    def _others(self) -> Letters:
        return Letters(self.small)

    def add(self, token: int, text: str) -> None:
        """Add a token that goes on with a text of `_ALPHABET`."""
        node, letters = self, text[len(text.rstrip(LETTERS + LETTERS.upper())) :]
        for character in text[: len(text) - len(letters)]:
            node = node.children.setdefault(character, Beginning())
        if not letters:
            node.ends.append(token)
        elif letters[1:] == letters[1:].lower():
            (node.capital if letters[0].isupper() else node.small).append((letters.lower(), token))


_KNOWN: Final = WeakKeyDictionary[Tokens, Beginning]()


def beginnings(tokens: Tokens) -> Beginning:
    """The tokens that English verse can have. They are read once for each tokenizer."""
    if tokens not in _KNOWN:
        root = Beginning()
        for token, spelled in enumerate(tokens.spelled):
            text = (spelled or b"").decode(errors="replace")
            if text and _ALPHABET.issuperset(text):
                root.add(token, text)
        _KNOWN[tokens] = root
    return _KNOWN[tokens]


class WordFollowing(Following):
    """The tokens that may follow in the texts of an automaton of English lines."""

    def __init__(self, automaton: LineAutomaton, tokens: Tokens) -> None:
        super().__init__(automaton, tokens)
        self.lines, self.root = automaton, beginnings(tokens)
        self._words = lru_cache(_KEPT)(self._letters)
        for node in filter(None, (self.root, self.root.children.get(" "))):
            node.letters(first=True).spans(automaton.lexicon, "")  # now, as they are those of all words

    def allowed(self, place: Place) -> Ids:
        """The ids of the tokens that may follow, in any order, without those that end a text."""
        state = cast("Verse", place.state)
        found = [*self._behind(state, self.root)]
        if place.fresh and (blank := self.root.children.get(" ")):
            found += [np.array(blank.ends, np.int64), *self._behind(state, blank)]
        return np.concatenate([np.empty(0, np.int64), *found])

    def _behind(self, state: Verse, node: Beginning) -> Iterator[Ids]:
        if not state.marked and (node.small or node.capital):
            yield self._words(state, node.letters(first=not state.word))
        for character, child in node.children.items():
            if (after := self.lines.step(state, character)) is not None:
                yield np.array(child.ends, np.int64)
                yield from self._behind(after, child)

    def _letters(self, state: Verse, letters: Letters) -> Ids:
        """The tokens with which words go on from a state on."""
        spans, counts = letters.spans(self.lines.lexicon, state.word), self.lines.coming(state)
        return spans.tokens[counts[spans.last] > counts[spans.first]]
