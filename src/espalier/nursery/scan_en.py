"""Scansion: choosing words whose stresses make up a line of ten syllables."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

from espalier.nursery.lexicon_en import pattern
from espalier.nursery.sampling import chance, pick, weighted

#: The iambic pentameter, and the same with its first foot inverted.
IAMBIC, INVERTED = "0101010101", "1001010101"
#: The probability of a line with its first foot inverted.
_INVERSIONS = 0.15

#: The candidates for one slot, grouped by stress pattern; "" leaves the slot empty.
Forms = tuple[tuple[str, tuple[str, ...]], ...]


@cache
def forms(words: tuple[str, ...]) -> Forms:
    """Words grouped by stress pattern, in order of first appearance; "" stands for an empty slot."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(pattern(word) if word else "", []).append(word)
    return tuple((form, tuple(group)) for form, group in groups.items())


def scan(rng: random.Random, slots: Sequence[Forms]) -> list[str] | None:
    """One word for each slot, such that the line scans; None if impossible.

    All possible choices are equally likely.
    """
    target = INVERTED if chance(rng, _INVERSIONS) else IAMBIC
    # ways[k][n]: the number of ways to fill slots k, k + 1, ... after n syllables.
    ways = [[0] * (len(target) + 1) for _ in slots] + [[0] * len(target) + [1]]
    for index in range(len(slots) - 1, -1, -1):
        for form, words in slots[index]:
            for start in range(len(target) + 1 - len(form)):
                if ways[index + 1][start + len(form)] and _fits(form, target, start):
                    ways[index][start] += len(words) * ways[index + 1][start + len(form)]
    if not ways[0][0]:
        return None
    filling, at = [], 0
    for index, slot in enumerate(slots):
        open_forms = [
            (words, len(words) * ways[index + 1][at + len(form)])
            for form, words in slot
            if at + len(form) <= len(target) and _fits(form, target, at)
        ]
        words = weighted(rng, [(words, weight) for words, weight in open_forms if weight])
        filling.append(pick(rng, words))
        at += len(pattern(filling[-1])) if filling[-1] else 0
    return filling


@cache
def _fits(form: str, target: str, start: int) -> bool:
    beats = target[start : start + len(form)]
    return len(beats) == len(form) and all(sign in ("x", beat) for sign, beat in zip(form, beats, strict=True))
