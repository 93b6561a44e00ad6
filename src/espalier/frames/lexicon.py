"""English words by their spelling, syllables and rhymes, as the CMU Pronouncing Dictionary has them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from espalier.verse.rhyme import entries, pronunciations, rhyme_parts

_WORD = re.compile(r"'?[a-z]+(?:'[a-z]+)*'?")
_VOWELS = re.compile(r"[aeiouy]+")


def shapes_of(word: str) -> frozenset[str]:
    """The stress of each syllable, for each pronunciation: "remove" -> {"01"}; a single syllable is "x", for any.

    1 is the main stress, 0 none, and x may have either. The dictionary's secondary stress is x as well. Empty for an
    unknown word.
    """
    stresses = ("".join(sound[-1] for sound in sounds if sound[-1].isdigit()) for sounds in pronunciations(word))
    return frozenset("x" if len(each) == 1 else each.replace("2", "x") for each in stresses if each)


def guessed_shapes(word: str) -> frozenset[str]:
    """The syllables of an unknown word by its spelling, of any stress: its groups of vowels, without a mute final e."""
    plain = word.lower()
    if not re.search("[^aeiouy]le$", plain):
        plain = re.sub("(?<=[^aeiouy])e$", "", plain)
    return frozenset(["x" * max(len(_VOWELS.findall(plain)), 1)])


@dataclass(frozen=True, slots=True)
class Node:
    """A beginning of words.

    Attributes:
        follows: the letters that may follow.
        whole: the shapes of the word that it is; empty if it is none.
        within: for each shape of a word that begins so, how many letters such a word still needs at least.
    """

    follows: frozenset[str]
    whole: frozenset[str]
    within: dict[str, int]


class Spellings:
    """A set of words, by their beginnings."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = sorted(words)
        self.node = lru_cache(maxsize=65536)(self._node)

    def __contains__(self, word: str) -> bool:
        place = bisect_left(self.words, word)
        return place < len(self.words) and self.words[place] == word

    def _node(self, prefix: str) -> Node:
        first, last = bisect_left(self.words, prefix), bisect_left(self.words, prefix + "\uffff")
        follows, within, size = set[str](), dict[str, int](), len(prefix)
        for word in self.words[first:last]:
            if len(word) > size:
                follows.add(word[size])
            for shape in _shapes(word):
                within[shape] = min(within.get(shape, 999), len(word) - size)
        return Node(frozenset(follows), _shapes(prefix) if prefix in self else frozenset(), within)


class Lexicon:
    """Words that are spelled with letters and apostrophes and have a pronunciation. Some have one syllable."""

    def __init__(self, words: Iterable[str]) -> None:
        self.spellings = Spellings(word for word in words if _WORD.fullmatch(word) and _shapes(word))

    @cached_property
    def rhyming(self) -> dict[tuple[str, ...], frozenset[str]]:
        """The words of each rhyme part."""
        found: dict[tuple[str, ...], set[str]] = {}
        for word in self.spellings.words:
            for part in rhyme_parts(word):
                found.setdefault(part, set()).add(word)
        return {part: frozenset(words) for part, words in found.items()}


@lru_cache(maxsize=200_000)
def _shapes(word: str) -> frozenset[str]:
    return shapes_of(word)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon of the dictionary, made once."""
    return Lexicon(entries())
