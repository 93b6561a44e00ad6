"""Rhyme places: places of a scheme, places that rhyme, and places that rhyme by chance.

A rhyme place is the last word of a unit; other places that formats may have are not scored. A rhyme scheme has one
letter per unit: units with the same letter rhyme with each other; "." marks a unit without rhyme.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from espalier.text.language import Language, tokens_of
from espalier.verse.rhyme import rhyme_group
from espalier.verse.text import rhyme_place, tokens_by_unit, units_of, verse_of

FREE = "."


def end_words(text: str, language: Language) -> list[str | None]:
    """The last word of each unit; None for a unit of marks only."""
    words: list[str | None] = []
    for unit in units_of(text):
        tokens = tokens_of(unit, language)
        place = rhyme_place(tokens)
        words.append(None if place is None else tokens[place])
    return words


def end_groups(text: str) -> list[str | None]:
    """The rhyme group of each unit of a Chinese text."""
    return [None if word is None else rhyme_group(word) for word in end_words(text, "zh")]


def majority(groups: Sequence[str | None], *, min_places: int = 2) -> str | None:
    """The most frequent group, the first one in a tie; None if fewer than `min_places` places have it.

    A single place is not a majority, since a rhyme needs two places.
    """
    counts = Counter(group for group in groups if group is not None)
    best = max(counts, key=counts.__getitem__, default=None)  # max keeps the first of equals, as they were inserted
    return best if best is not None and counts[best] >= min_places else None


def rhyming_places(groups: Sequence[str | None], scheme: str) -> list[bool]:
    """For each unit of a Chinese text, whether it rhymes under a scheme.

    A letter's group is the majority group of its places. A place with the letter rhymes if it has this group. A place
    without a letter, or beyond the end of the scheme, rhymes if it has the group of any letter.
    """
    letters = scheme[: len(groups)].ljust(len(groups), FREE)
    places: dict[str, list[str | None]] = {}
    for group, letter in zip(groups, letters, strict=True):
        places.setdefault(letter, []).append(group)
    leaders = {letter: majority(members) for letter, members in places.items() if letter != FREE}
    return [
        group is not None and (group in leaders.values() if letter == FREE else group == leaders[letter])
        for group, letter in zip(groups, letters, strict=True)
    ]


def scheme_of(rhyme: str, reference: str, language: Language) -> str:
    """The scheme. For a Chinese text with unknown scheme (""), units that end in the majority group get "A"."""
    if rhyme or language != "zh":
        return rhyme
    groups = end_groups(reference)
    leader = majority(groups)
    return "".join("A" if leader is not None and group == leader else FREE for group in groups)


def shuffle_ends(texts: Sequence[str], language: Language, seed: int) -> list[str]:
    """The same texts with the last words of all units of all texts permuted at random.

    Formats, marks and the set of last words do not change. The rhyme scores of the result are the chance level.
    """
    poems = [tokens_by_unit(text, language) for text in texts]
    places = [(tokens, place) for units in poems for tokens in units if (place := rhyme_place(tokens)) is not None]
    rhyme_tokens = [tokens[place] for tokens, place in places]
    order = np.random.default_rng(seed).permutation(len(rhyme_tokens))
    for (tokens, place), source in zip(places, order, strict=True):
        tokens[place] = rhyme_tokens[source]
    return [verse_of(units, language) for units in poems]
