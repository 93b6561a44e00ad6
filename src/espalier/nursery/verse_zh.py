"""Pastiche ci: poems on real tune patterns, rhymed by pinyin final, generated from a seed.

A model has to learn the same as for real ci: the clauses and marks of the tune; rhymes of one group for each letter,
level or oblique as the tune requires, without repeated characters; the opposite tone at the end of a clause before a
comma; a single season and theme; and the turn from the scene in the first stanza to the person in the second.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from espalier.corpora.records import Verse
from espalier.nursery.clauses_zh import clause, shape_of
from espalier.nursery.lexicon_zh import SEASONS, THEMES, Sound, lexicon, supply
from espalier.nursery.sampling import chance, exhausted, pick, seeded, weighted
from espalier.verse.text import join_units
from espalier.verse.tunes import Tune, tunes

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
