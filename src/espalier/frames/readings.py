"""The words of a rhyme book by their tones and rhymes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Final

from espalier.frames.automaton import OPEN
from espalier.verse.sounds import Sounds

SIGNS: Final = ("平", "仄")


class Readings:
    """A rhyme book, with an index that is made when it is first used.

    A *key* is what two words must share to rhyme: a rhyme group, or the part of one if a letter is `mixed`.
    """

    def __init__(self, sounds: Sounds) -> None:
        self.sounds = sounds
        self._by_key: dict[tuple[bool, str], dict[str, frozenset[str]]] = {}

    @cached_property
    def groups(self) -> dict[str, frozenset[str]]:
        """The rhyme groups of each word that has any."""
        return {word: groups for word in self._every if (groups := self.sounds.groups(word))}

    @cached_property
    def toned(self) -> dict[str, frozenset[str]]:
        """The words that have a reading of each tone."""
        tones = {word: self.sounds.tones(word) for word in self._every}
        return {sign: frozenset(word for word in tones if sign in tones[word]) for sign in SIGNS}

    @cached_property
    def common(self) -> list[str]:
        """The words of the 3,755 common characters of GB 2312."""
        return sorted(filter(_is_common, self.groups))

    @property
    def _every(self) -> list[str]:
        return [word for word in self.sounds.words() if OPEN["han"].fullmatch(word)]

    def keys(self, word: str, mixed: bool, sign: str, *, every: bool = False) -> frozenset[str]:
        """The keys of a word's readings that have a tone; with `every`, of all its readings."""
        groups = self.sounds.groups(word, sign, every=every)
        return frozenset(self.sounds.rhyme_key(group, mixed) for group in groups)

    def words(self, mixed: bool, sign: str) -> Mapping[str, frozenset[str]]:
        """The words of each key that have a tone, or any tone."""
        case = mixed and self.sounds.has_parts, sign
        if case not in self._by_key:
            found: dict[str, set[str]] = {}
            for word, groups in self.groups.items():
                for group in groups:
                    if self.sounds.has_tone(group, sign):
                        found.setdefault(self.sounds.rhyme_key(group, case[0]), set()).add(word)
            self._by_key[case] = {key: frozenset(words) for key, words in found.items()}
        return self._by_key[case]


def _is_common(word: str) -> bool:
    """Whether a character is of the first level of GB 2312, its 3,755 common ones."""
    try:
        return word.encode("gb2312") < b"\xd8\xa1"
    except UnicodeEncodeError:
        return False


@lru_cache(maxsize=8)
def readings_of(sounds: Sounds) -> Readings:
    """The index of a book. It is made once for each book."""
    return Readings(sounds)
