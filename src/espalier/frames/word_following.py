"""Which tokens may follow in English verse: for all tokens at once, whether words of the dictionary go on with them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, cast
from weakref import WeakKeyDictionary

import numpy as np

from espalier.frames.following import Following, Place
from espalier.frames.lexicon import CODED, LEAST, LETTERS, Lexicon, code
from espalier.frames.line_automaton import MARKS, LineAutomaton, Verse
from espalier.frames.tokens import Tokens
from espalier.frames.trie import Ids
from espalier.frames.word_sets import Coming, Spans, every, going_on, unions

#: What tokens of English verse are made of.
_ALPHABET: Final = frozenset((*LETTERS, *LETTERS.upper(), *MARKS, " ", "\n"))
#: The tokens behind a word are kept for so many states.
_KEPT: Final = 1024


#: Letters side by side, and other characters one by one.
_FIRST: Final = LETTERS + LETTERS.upper()
_PARTS: Final = re.compile(r"[A-Za-z'][a-z']*|.", re.DOTALL)
#: So many words are asked one by one which tokens they go on with.
_ALONE: Final = 96
#: Of so many words, each is asked for its tokens.
_FEW: Final = 2048


class Letters:
    """Tokens that are letters alone, or end with letters after one and the same beginning.

    Args:
        tokens: the small letters of each, and its id.
    """

    def __init__(self, tokens: Iterable[tuple[str, int]]) -> None:
        self.known, tables = (
            defaultdict[str, list[int]](list),
            defaultdict[tuple[int, int], list[tuple[int, int]]](list),
        )
        for letters, token in tokens:
            if len(letters) <= CODED:  # no table has the same letters twice
                tables[len(letters), len(self.known[letters])].append((code(letters), token))
            self.known[letters].append(token)
        self.long = [(letters, token) for letters, own in self.known.items() if len(letters) > CODED for token in own]
        #: For each table, the number of the letters, their codes in order, and the tokens.
        self.tables = [(size, *np.array(sorted(rows), np.int64).T) for (size, _), rows in tables.items()]
        self.spans = lru_cache(maxsize=65536)(self._spans)

    def _spans(self, lexicon: Lexicon, begun: str) -> Spans:
        """The tokens with which words go on that begin so."""
        first, last = lexicon.span(begun)
        if last - first > _ALONE:
            return self._of_many(lexicon, begun, first, last)
        found = dict[int, tuple[int, int]]()
        for number, word in enumerate(lexicon.words[first:last], start=first):
            for end in range(len(begun) + 1, len(word) + 1):
                for token in self.known.get(word[len(begun) : end], ()):
                    found[token] = found.get(token, (number,))[0], number + 1
        rows = [(token, *span) for token, span in found.items()]
        return Spans(*np.array(rows, np.int64).reshape(-1, 3).T)

    def _of_many(self, lexicon: Lexicon, begun: str, first: int, last: int) -> Spans:
        codes, longest = lexicon.codes(first, last, len(begun)), lexicon.longest(first, last) - len(begun)
        found = [np.empty((3, 0), np.int64)]
        for size, coded, tokens in self.tables:
            if size <= longest:
                own = codes // LEAST[size]  # of words that share so many letters
                bounds = np.concatenate(([0], np.flatnonzero(own[1:] != own[:-1]) + 1, [len(own)]))
                starts, ends = bounds[:-1], bounds[1:]
                shared = own[starts] * LEAST[size]
                place = coded.searchsorted(shared)
                known = coded[np.minimum(place, len(coded) - 1)] == shared
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

    @cached_property
    def ids(self) -> Ids:
        """The tokens that end here."""
        return np.array(self.ends, np.int64)

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


#: By a character, the state after it, and what follows there.
Steps = dict[str, "tuple[Verse | None, Steps]"]


class WordFollowing(Following):
    """The tokens that may follow in the texts of an automaton of English lines."""

    def __init__(self, automaton: LineAutomaton, tokens: Tokens) -> None:
        super().__init__(automaton, tokens)
        self.lines, self.root = automaton, beginnings(tokens)
        self._words = lru_cache(_KEPT)(self._letters)
        starting = [self.lines.starting_words(line) for line in range(len(automaton.letters))]
        #: Sets of words whose shapes are known for all tokens.
        self.known = {every(automaton.lexicon), *filter(None, starting)}
        for node in filter(None, (self.root, self.root.children.get(" "))):  # now, as they are of all words
            spans = node.letters(first=True).spans(automaton.lexicon, "")
            for words in self.known:
                unions(words, spans)
            if any(starting):
                _ = spans.of_words
        for letter in LETTERS:  # with which many words begin
            self.root.letters(first=False).spans(automaton.lexicon, letter)

    def allowed(self, place: Place) -> Ids:
        """The ids of the tokens that may follow, in any order, without those that end a text."""
        state = cast("Verse", place.state)
        steps: Steps = {}
        found = [*self._behind(state, self.root, steps)]
        if place.fresh and (blank := self.root.children.get(" ")):
            found += [blank.ids, *self._behind(state, blank, steps)]
        return np.concatenate([np.empty(0, np.int64), *found])

    def advance(self, place: Place, token: int) -> Place | None:
        """The place after one more token; None if the text leaves the frame."""
        spelled = self.tokens.spelled[token] if token < len(self.tokens.spelled) else None
        text, state = (spelled or b"").decode(errors="replace"), cast("Verse | None", place.state)
        if place.fresh:
            text = text.removeprefix(" ")
        for part in _PARTS.findall(text):
            state = state and (self.lines.write(state, part) if part[0] in _FIRST else self.lines.step(state, part))
        return Place(state) if state and spelled else None

    def _behind(self, state: Verse, node: Beginning, steps: Steps) -> Iterator[Ids]:
        if not state.marked and (node.small or node.capital):
            letters = node.letters(first=not state.word)
            yield self._words(self.lines.coming(state), state.word, letters)
        for character, child in node.children.items():
            kind = MARKS[0] if character in MARKS else character  # after all marks the same follows
            if kind not in steps:
                steps[kind] = self.lines.step(state, kind), {}
            after, further = steps[kind]
            if after is not None:
                yield child.ids
                yield from self._behind(after, child, further)

    def _letters(self, coming: Coming, begun: str, letters: Letters) -> Ids:
        """The tokens with which words go on that begin so, if they may come."""
        spans, (first, last) = letters.spans(self.lines.lexicon, begun), self.lines.lexicon.span(begun)
        flags = np.zeros(len(spans.tokens), np.bool_)
        for words, shapes in coming.sets:
            if not begun and words in self.known:
                flags |= going_on(words, spans, shapes.tobytes())
            elif not begun and len(words) <= _FEW:
                flags[spans.places(words.having(shapes, first, last))] = True
            else:
                flags |= spans.of(words.among(shapes, first, last), first)
        if (coming.first, coming.last) != (0, len(self.lines.lexicon.words)):
            flags &= (spans.first >= coming.first) & (spans.last <= coming.last)
        return spans.tokens[flags]
