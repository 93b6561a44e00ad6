"""Classes of words that sound alike. Sets of rhyme groups are bit sets in integers."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from torch import Tensor

from espalier.datasets.verse.frames import EITHER
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.decoding.constraints.places import COPIED, SIGN_OF, fitting
from espalier.verse.sounds import Sounds

Bits = npt.NDArray[np.int64]
S = TypeVar("S", Bits, Tensor)
#: The bits of one integer of a set. It is even, so that two groups of a part are never parted.
WIDTH = 62
#: Every word has the first bit; a place without a letter asks for no other.
FIRST = 2
#: The lower bit of each pair: the level group of a part. The upper is its oblique group.
LOWER = sum(1 << bit for bit in range(0, WIDTH, 2))


@dataclass(frozen=True, eq=False)
class SoundClasses:
    """The classes of words that sound alike. A set of groups is a bit set in `chunks` integers.

    Attributes:
        of_word: (text size,) the class of each id.
        words: (kinds, classes) the words of each class that fit a kind of place.
        groups: (classes, chunks) the groups of the readings that count (`Sounds.groups`).
        every: (classes, chunks) the groups of all readings.
        tones: (kinds, chunks) the groups whose words have the tone of a kind of place.
        found: (kinds, chunks) the groups of the words that fit a kind of place.
    """

    of_word: npt.NDArray[np.int64]
    words: npt.NDArray[np.float32]
    groups: Bits
    every: Bits
    tones: Bits
    found: Bits


@lru_cache(maxsize=8)
def classes_of(vocabulary: VerseVocabulary, marks: bool, sounds: Sounds) -> SoundClasses:
    """The classes of a vocabulary. They are computed once for each book."""
    fits = fitting(vocabulary, marks, sounds)
    words = [vocabulary.token(i) if fits[EITHER, i] else "" for i in range(fits.shape[1])]
    counted, every = (
        [sounds.groups(word, every=each) if word else frozenset() for word in words] for each in (False, True)
    )
    bits = _numbered(frozenset[str]().union(*every), sounds)
    keys = list(zip(map(bytes, fits.T), counted, every, strict=True))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    of_word = np.array([numbers[key] for key in keys])
    counts = np.stack([np.bincount(of_word, weights=row, minlength=len(numbers)) for row in fits])
    size = max(bits.values(), default=FIRST) + 1
    groups = _sets([[bits[group] for group in own] for _, own, _ in numbers], size)
    readings = _sets([[bits[group] for group in own] for _, _, own in numbers], size)
    signs = [SIGN_OF.get(kind, "") for kind in range(COPIED + 1)]
    tones = _sets([[bit for group, bit in bits.items() if sounds.has_tone(group, sign)] for sign in signs], size)
    found = np.bitwise_or.reduce(np.where(counts[..., None] > 0, groups, 0), axis=1)
    return SoundClasses(of_word, counts.astype(np.float32), groups, readings, tones, found)


def _numbered(groups: frozenset[str], sounds: Sounds) -> dict[str, int]:
    """The bit number of each group. The level and the oblique group of a part have adjacent bits."""
    if not sounds.has_parts:
        return {group: bit for bit, group in enumerate(sorted(groups), start=FIRST)}
    parts = {part: number for number, part in enumerate(sorted({sounds.rhyme_key(group, True) for group in groups}))}
    return {group: FIRST + 2 * parts[sounds.rhyme_key(group, True)] + ("仄" in group) for group in groups}


def _sets(members: list[list[int]], size: int) -> Bits:
    """(sets, chunks) bit sets with the given members, which are below `size`, and with bit 0."""
    sets = np.zeros((len(members), -(-size // WIDTH)), dtype=np.int64)
    sets[:, 0] = 1
    for number, bits in enumerate(members):
        for bit in bits:
            sets[number, bit // WIDTH] |= 1 << (bit % WIDTH)
    return sets


def with_twins(groups: S) -> S:
    """Add the oblique group of each level group, and the reverse."""
    return groups | ((groups & LOWER) << 1) | ((groups >> 1) & LOWER)
