"""Clauses of two to seven characters: sequences of word classes, filled from a lexicon."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection

from espalier.nursery.lexicon_zh import Lexicon, Sound, by_sound
from espalier.nursery.sampling import pick, weighted

#: A shape is its slots in order. A slot names a field of the lexicon; fields marked with the same number of primes
#: belong to one class, so that what is said of a bird is never said of a hill. "deed." fields belong to one deed.
#: Shapes keep the inner rhythm of classical verse: 2+2, 2+3, 2+2+2, 4+3. The weights are a matter of taste.
SCENES: dict[int, tuple[tuple[str, int], ...]] = {
    2: (("one state", 1),),
    3: (("one does2", 3), ("two state", 2)),
    4: (("two does2", 4), ("one state one' state'", 4), ("where one state", 1), ("when one state", 1)),
    5: (("two does3", 6), ("two over place", 3), ("one state one' does2'", 2), ("where two state", 1)),
    6: (("when two does2", 3), ("where two does2", 3), ("count two does2", 4)),
    7: (
        ("when two does3", 4),
        ("where two does3", 4),
        ("count two does3", 5),
        ("count two over place", 2),
        ("when two over place", 1),
        ("one state one' state' one'' does2''", 2),
    ),
}
DEEDS: dict[int, tuple[tuple[str, int], ...]] = {
    2: (("short2", 1),),
    3: (("deed.verb deed.two", 1), ("short3", 1)),
    4: (("deed.head deed.two", 1),),
    5: (("deed.head deed.three", 5), ("when deed.verb deed.two", 1), ("one state short3", 1)),
    6: (("when deed.head deed.two", 2), ("where deed.head deed.two", 1), ("one state deed.head deed.two", 1)),
    7: (
        ("when deed.head deed.three", 4),
        ("where deed.head deed.three", 3),
        ("two does2 short3", 1),
        ("one state one' state' deed.verb deed.two", 2),
        ("one state one' state' short3", 1),
    ),
}
#: Attempts to fill a shape.
_TRIES = 20

#: The words of a clause, in order.
Clause = tuple[str, ...]


def shape_of(rng: random.Random, length: int, deed: bool) -> str:
    """A random shape for a clause of `length` characters, about a person's deed or about the scene."""
    return weighted(rng, (DEEDS if deed else SCENES)[length])


def clause(
    rng: random.Random,
    words: Lexicon,
    shape: str,
    fits: Callable[[Sound | None], bool],
    taken: Collection[str],
) -> Clause | None:
    """Fill a shape with words; None if no attempt succeeds.

    Args:
        fits: function that tells whether the clause may end with a sound.
        taken: the words of the poem so far, and the characters at its rhyme places.
    """
    slots = shape.split()
    for _ in range(_TRIES):
        *earlier, final = _bind(rng, words, slots)
        # The last word has the fewest choices, so it is drawn first.
        last = [
            word
            for sound, group in by_sound(final).items()
            if fits(sound)
            for word in group
            if word not in taken and word[-1] not in taken
        ]
        if not last:
            continue
        chosen = (*(pick(rng, choices) for choices in earlier), pick(rng, last))
        if not any(len(word) > 1 and word in taken for word in chosen) and _distinct(chosen):
            return chosen
    return None


def _bind(rng: random.Random, words: Lexicon, slots: list[str]) -> list[tuple[str, ...]]:
    """The possible words of each slot, after drawing a class for each group of slots."""
    drawn: dict[str, str] = {}
    choices = []
    for slot in slots:
        if slot in words.loose:
            choices.append(words.loose[slot])
            continue
        deed = slot.startswith("deed.")
        field = slot.removeprefix("deed.").rstrip("'")
        group = "deed" if deed else slot[len(field) :]
        table = words.deeds if deed else words.scenery
        if group not in drawn:
            drawn[group] = pick(rng, [name for name in table if name not in drawn.values()])
        choices.append(table[drawn[group]][field])
    return choices


def _distinct(words: Clause) -> bool:
    """Whether no two words share a character. One word may repeat a character (悠悠)."""
    return all(not set(word) & set(other) for index, word in enumerate(words) for other in words[:index])
