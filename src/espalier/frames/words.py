"""Words that must occur in a text: how far they are written, and where they still fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from espalier.frames.plan import Plan


@dataclass(frozen=True, slots=True)
class Wanted:
    """The words that must still occur, and the end of the text that begins one of them, the longest such."""

    words: frozenset[str]
    begun: str


def progress(wanted: Wanted, character: str, *, word: bool) -> Wanted:
    """The words that are left after one more character. A mark or a line feed ends what has begun."""
    if not wanted.words or not word:
        return Wanted(wanted.words, "")
    text = wanted.begun + character
    left = frozenset(each for each in wanted.words if not text.endswith(each))
    begun = (text[start:] for start in range(len(text)))
    return Wanted(left, next((end for end in begun if any(each.startswith(end) for each in left)), ""))


def placed(plan: Plan, start: int, wanted: Wanted, kept: Mapping[int, str]) -> Iterator[dict[int, str]]:
    """All ways to put the words into the places from `start` on, by the given words and the repetitions alone.

    Words may overlap. A word that has begun may go on. A way has the words of blanks, of those that are repeated at the
    first of the places.
    """
    yield from _placed(plan, start, sorted(wanted.words, key=lambda word: (-len(word), word)), wanted.begun, kept, {})


def _placed(
    plan: Plan, start: int, words: list[str], begun: str, kept: Mapping[int, str], put: dict[int, str]
) -> Iterator[dict[int, str]]:
    if not words:
        yield put
        return
    word, *others = words
    for first in range(start - len(begun), len(plan.places) - len(word) + 1):
        written = max(start - first, 0)
        if written >= len(word) or not begun.endswith(word[:written]):
            continue
        if (more := _put(plan, first + written, word[written:], kept, put)) is not None:
            yield from _placed(plan, start, others, begun, kept, more)


def _put(plan: Plan, first: int, word: str, kept: Mapping[int, str], put: dict[int, str]) -> dict[int, str] | None:
    """The words put so far and those of one more, side by side from a place on; None if it does not fit there."""
    more = dict(put)
    for index, character in enumerate(word, start=first):
        place = plan.places[index]
        root = place.source if place.source >= 0 else index
        there = kept.get(root) or plan.places[root].given or more.get(root)
        if not place.word or (there is not None and there != "" and there != character):
            return None
        if not there:
            more[root] = character
    return more
