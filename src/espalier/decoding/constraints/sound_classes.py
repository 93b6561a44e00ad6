"""Classes of words that sound alike. Sets of what rhyming words share are bit sets in integers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from espalier.datasets.verse.frames import EITHER
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.decoding.constraints.places import COPIED, TONES, fitting
from espalier.verse.sounds import Sounds

Bits = npt.NDArray[np.int64]
#: The bits of one integer of a set.
WIDTH = 63


def case_of(kind: int, mixed: bool) -> int:
    """The number of a case: what words of a kind of place can share, in a letter that is mixed or not."""
    return kind + (COPIED + 1) * mixed


@dataclass(frozen=True, eq=False)
class SoundClasses:
    """The classes of words that sound alike.

    A set of keys (`espalier.frames.readings.Readings`) is a bit set in `chunks` integers. Every set has the first bit,
    which is of no key; a place without a letter asks for it alone.

    Attributes:
        of_word: (text size,) the class of each id.
        words: (kinds, classes) the words of each class that fit a kind of place.
        keys: (cases, classes, chunks) the keys of each class in a case (`case_of`).
        found: (cases, chunks) the keys of the words that fit a case.
        bits: the bit of each key.
    """

    of_word: npt.NDArray[np.int64]
    words: npt.NDArray[np.float32]
    keys: Bits
    found: Bits
    bits: Mapping[str, int]

    def given(self, keys: Collection[str] | None) -> Bits:
        """(chunks,) keys as a bit set without the first bit; None for all keys."""
        bits = _sets([[bit for key, bit in self.bits.items() if keys is None or key in keys]], self.keys.shape[2])[0]
        bits[0] -= 1
        return bits


@lru_cache(maxsize=8)
def classes_of(vocabulary: VerseVocabulary, marks: bool, sounds: Sounds) -> SoundClasses:
    """The classes of a vocabulary. They are computed once for each book."""
    fits = fitting(vocabulary, marks, sounds)
    words = [vocabulary.token(i) if fits[EITHER, i] else "" for i in range(fits.shape[1])]
    alike = list(zip(map(bytes, fits.T), (sounds.groups(word) if word else frozenset() for word in words), strict=True))
    numbers = {each: number for number, each in enumerate(dict.fromkeys(alike))}
    of_word = np.array([numbers[each] for each in alike])
    counts = np.stack([np.bincount(of_word, weights=row, minlength=len(numbers)) for row in fits])
    shared = [
        [
            {
                sounds.rhyme_key(group, mixed)
                for group in groups
                if kind < COPIED and sounds.has_tone(group, TONES[kind])
            }
            for _, groups in numbers
        ]
        for mixed in (False, True)
        for kind in range(COPIED + 1)
    ]
    every = sorted(set[str]().union(*(keys for case in shared for keys in case)))
    bits = {key: bit for bit, key in enumerate(every, start=1)}
    chunks = len(bits) // WIDTH + 1
    keys = np.stack([_sets([[bits[key] for key in own] for own in case], chunks) for case in shared])
    found = np.bitwise_or.reduce(np.where(np.tile(counts, (2, 1))[..., None] > 0, keys, 1), axis=1)
    return SoundClasses(of_word, counts.astype(np.float32), keys, found, bits)


def _sets(members: Sequence[Collection[int]], chunks: int) -> Bits:
    """(sets, chunks) bit sets with the given members, and with bit 0."""
    sets = np.zeros((len(members), chunks), dtype=np.int64)
    sets[:, 0] = 1
    for number, bits in enumerate(members):
        for bit in bits:
            sets[number, bit // WIDTH] |= 1 << (bit % WIDTH)
    return sets
