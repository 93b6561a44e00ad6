"""What the words of a rhyme letter can still share, and the words that may come."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from espalier.frames.automaton import Characters, one
from espalier.frames.readings import Readings

#: So many sets of words are kept, for all frames: equal sets are one object, which is quick to compare.
_SETS: Final = 1024


@dataclass(frozen=True, slots=True)
class Sound:
    """A rhyme letter of which some words are written and others are not: what all can still share, and the former."""

    keys: frozenset[str]
    used: frozenset[str]


@lru_cache(_SETS)
def rhyming(readings: Readings, mixed: bool, signs: tuple[str, ...], sound: Sound, distinct: bool) -> Characters:
    """The words that may stand at a rhyme place: after them some sound still has words for all places.

    Args:
        mixed: whether the words need only share a part of the book (`espalier.frames.plan.Letter`).
        signs: the tones of the letter's places, from this one on; "" for any.
        distinct: whether the words must differ.
    """
    words, later = readings.words(mixed, signs[0]), signs[1:]
    used = sound.used if distinct else frozenset[str]()
    found, some = list[frozenset[str]](), set[str]()
    for key in sound.keys:
        own = words.get(key, frozenset())
        own = own - used if used else own
        # Where each kind of place has a word to spare, any word may be taken.
        if own and fillable(readings, mixed, later, key, used if distinct else None, spare=1):
            found.append(own)
        else:
            some.update(
                w for w in own - some if fillable(readings, mixed, later, key, used | {w} if distinct else None)
            )
    return one(Characters(found[0] if len(found) == 1 and not some else frozenset(some).union(*found)))


def fillable(
    readings: Readings, mixed: bool, signs: tuple[str, ...], key: str, used: frozenset[str] | None, *, spare: int = 0
) -> bool:
    """Whether a sound has words for the places of these tones, and some to spare: different ones that are not used.

    If `used` is None, words may be equal. By Hall's theorem there are such words if there are enough level words,
    enough oblique ones, and enough of both together.
    """
    by_sign = {sign: readings.words(mixed, sign).get(key, frozenset()) for sign in {*signs}}
    if used is None or not signs:
        return all(by_sign.values())
    left = {sign: len(words) - len(words & used) for sign, words in by_sign.items()}
    if any(count < signs.count(sign) + spare for sign, count in left.items()):
        return False
    needed = len(signs) + spare
    return max(left.values()) >= needed or len(frozenset().union(*by_sign.values()) - used) >= needed
