"""Pastiche ci: poems on real tune patterns, rhymed by pinyin final, generated from a seed.

A model has to learn the same as for real ci: the clauses and marks of the tune; rhymes of one group for each letter,
level or oblique as the tune requires, without repeated characters; the opposite tone at the end of a clause before a
comma; a single season and theme; and the turn from the scene in the first stanza to the person in the second.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection

from espalier.corpora.records import Verse
from espalier.nursery.lexicon_zh import SEASONS, THEMES, Lexicon, Sound, by_sound, lexicon, supply
from espalier.nursery.sampling import chance, exhausted, pick, seeded, weighted
from espalier.verse.text import join_units
from espalier.verse.tunes import Tune, tunes

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


#: The probability that a sentence begins with a person's deed, not a scene: in the first half, in the second.
_DEEDS = (0.2, 0.65)
#: The probability that a clause has the shape of the clause before it, if that is as long (对仗); and that a clause
#: without such a shape changes from scene to deed, or back.
_PARALLEL, _TURN = 0.6, 0.25
#: Clauses of this length or more occur once in a corpus.
_LONG = 5
#: The smallest number of spare rhyme characters of a sound, beyond those that the tune needs.
_SPARE = 3
#: Shapes tried for one clause before the poem is given up.
_ATTEMPTS = 12
#: Attempts to make a poem before `grow` raises an error.
_BEGINNINGS = 1000


def grow(count: int, seed: int) -> list[Verse]:
    """Generate `count` distinct poems. No clause of at least five characters occurs twice.

    Args:
        count: number of poems.
        seed: the same seed gives the same poems on every machine; a larger count only adds poems.

    Returns:
        Records of origin "nursery", ids "verse_zh/00001" and so on; `tune` names the tune, `rhyme` has its letters.

    Raises:
        ConfigError: the count is negative, or more than the grammar generates.
    """
    rng = seeded(seed, count, "poems", "verse_zh")
    catalogue = list(tunes().values())
    written: set[str] = set()
    poems: list[Verse] = []
    while len(poems) < count:
        tune = pick(rng, catalogue)
        for _ in range(_BEGINNINGS):
            units = _poem(rng, tune, pick(rng, SEASONS), pick(rng, THEMES), written)
            if units is not None:
                break
        else:
            raise exhausted(len(poems), count, "poems", "verse_zh")
        poems.append(_record(len(poems) + 1, tune, units))
    return poems


def _record(number: int, tune: Tune, units: list[str]) -> Verse:
    return Verse(
        id=f"verse_zh/{number:05d}",
        origin="nursery",
        language="zh",
        target=join_units(units),
        author="nursery",
        tune=tune.name,
        rhyme=tune.rhyme,
    )


def _poem(rng: random.Random, tune: Tune, season: str, theme: str, written: set[str]) -> list[str] | None:
    """The units of one poem, whose long clauses are added to `written`; None if a rhyme has too few words."""
    words = lexicon(season, theme)
    sounds = _sounds(rng, tune, supply(season, theme))
    if sounds is None:
        return None
    taken: set[str] = set()
    lines: set[str] = set()
    units = []
    for index, (unit, rhyme) in enumerate(zip(tune.units, sounds, strict=True)):
        deed = chance(rng, _DEEDS[2 * index >= len(sounds)])
        shape, before, text = "", 0, ""
        for length, mark in unit:
            parallel = length == before and chance(rng, _PARALLEL)
            if text and not parallel and chance(rng, _TURN):
                deed = not deed
            rhymed = mark == "。"
            for attempt in range(_ATTEMPTS):
                if attempt or not parallel:
                    shape = shape_of(rng, length, deed ^ (attempt > _ATTEMPTS // 2))
                drawn = clause(rng, words, shape, _may_end(rhyme, rhymed), taken)
                if drawn is None or any(len(word) == 1 and word in text for word in drawn):
                    continue
                line = "".join(drawn)
                if line not in written and line not in lines:
                    break
            else:
                return None
            taken.update(word for word in drawn if len(word) > 1)
            if rhymed:
                taken.add(line[-1])
            if length >= _LONG:
                lines.add(line)
            text, before = text + line + mark, length
        units.append(text)
    written |= lines
    return units


def _sounds(rng: random.Random, tune: Tune, stock: dict[Sound, int]) -> list[Sound] | None:
    """The sound at the end of each unit: one group per letter, different for each letter, in the tones of the tune."""
    groups: dict[str, tuple[str, str]] = {}
    for letter in dict.fromkeys(tune.rhyme):
        tones = [tone for mark, tone in zip(tune.rhyme, tune.tone, strict=True) if mark == letter]
        open_groups = []
        for group in dict.fromkeys(sound[:2] for sound in stock):
            spare = [stock.get((*group, tone), 0) - tones.count(tone) for tone in dict.fromkeys(tones)]
            if min(spare) >= _SPARE and group not in groups.values():
                open_groups.append((group, min(spare)))
        if not open_groups:
            return None
        groups[letter] = weighted(rng, open_groups)
    return [(*groups[letter], tone) for letter, tone in zip(tune.rhyme, tune.tone, strict=True)]


def _may_end(rhyme: Sound, rhymed: bool) -> Callable[[Sound | None], bool]:
    """A function that tells whether a clause may end with a sound: the rhyme, or another group and tone at a comma."""
    if rhymed:
        return lambda sound: sound == rhyme
    return lambda sound: sound is not None and sound[:2] != rhyme[:2] and sound[2] != rhyme[2]
