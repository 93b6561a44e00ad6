"""Variants of tunes: what the Qinding cipu (1715) requires at each place of a ci, and which variant a poem follows.

A place is one word of a poem; marks are not places. A variant gives each place a tone, ends each sentence with a rhyme
place (with eight exceptions among 2,294 variants), and divides the rhyme places into groups. `tune_book.py` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from espalier.io.errors import ConfigError
from espalier.text.language import is_mark
from espalier.verse.books import Book, Books, ToneBook, part_of
from espalier.verse.text import units_of
from espalier.verse.tunes import Clause

#: The signs of the tone that a place wants: level, oblique, or either.
LEVEL: Final = "平"
OBLIQUE: Final = "仄"
EITHER: Final = "中"

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Variant:
    """One form of a tune.

    Attributes:
        tune: first name of the tune ("卜算子").
        number: index among the variants of the tune, from 1.
        clauses: the words of each clause and the mark after it, "，" (句), "、" (读) or "。" (韵).
        tones: one sign per place: "平" for a level tone, "仄" for an oblique one, "中" for either.
        rhymes: for each rhyme group, the places that rhyme with each other, in reading order.
        turns: the groups whose places have both tones, and rhyme across them (平仄通叶): 西江月 turns oblique.
        copies: the places that repeat the word of an earlier place (叠, 重), each with that place.
    """

    tune: str
    number: int
    clauses: tuple[Clause, ...]
    tones: str
    rhymes: tuple[tuple[int, ...], ...]
    turns: frozenset[int] = frozenset()
    copies: tuple[tuple[int, int], ...] = ()

    @property
    def sentences(self) -> tuple[int, ...]:
        """The number of words of each sentence."""
        lengths = [0]
        for words, mark in self.clauses:
            lengths[-1] += words
            if mark == "。":
                lengths.append(0)
        return tuple(filter(None, lengths))

    @property
    def pattern(self) -> str:
        """Counts and marks in the form of `parse_format`, with "，" for "、" as in the catalogue of tunes."""
        return self.full_pattern.replace("、", "，")

    @property
    def full_pattern(self) -> str:
        """The same with "、" where the book has a pause within a clause (读)."""
        return "".join(f"{words}{mark}" for words, mark in self.clauses)

    @property
    def letters(self) -> str:
        """One letter per place: its rhyme group, "." for none."""
        letter_of = {place: _LETTERS[group] for group, places in enumerate(self.rhymes) for place in places}
        return "".join(letter_of.get(place, ".") for place in range(len(self.tones)))

    @property
    def rhyme_tones(self) -> str:
        """The tones of the rhyme places alone, "中" elsewhere. In ci, level and oblique words never rhyme together."""
        rhyming = {place for places in self.rhymes for place in places}
        return "".join(tone if place in rhyming else EITHER for place, tone in enumerate(self.tones))

    @property
    def rhyme(self) -> str:
        """One letter per sentence: the letter of its last place."""
        letters = self.letters
        return "".join(letters[end - 1] for end in ends_of(self.sentences))


@dataclass(frozen=True, slots=True)
class Fit:
    """The fit of a poem to a variant.

    Attributes:
        variant: the variant.
        tones: (places,) whether the word has a reading with the required tone; True if either tone is allowed.
        rhymes: for each rhyme group, (places of the group,) whether the word rhymes with the majority of its group.
        copies: for each repeated place, whether its word is the one that it repeats.
    """

    variant: Variant
    tones: tuple[bool, ...]
    rhymes: tuple[tuple[bool, ...], ...]
    copies: tuple[bool, ...] = ()

    @property
    def wanted(self) -> tuple[bool, ...]:
        """(places,) whether the variant requires a fixed tone."""
        return tuple(tone != EITHER for tone in self.variant.tones)

    @property
    def rhymes_throughout(self) -> bool:
        """Whether every place of every group rhymes."""
        return all(map(all, self.rhymes))

    @property
    def kept(self) -> str:
        """One sign per place: "." right, "t" wrong tone, "r" no rhyme, "b" both; "c" another word than is repeated."""
        groups = zip(self.variant.rhymes, self.rhymes, strict=True)
        unrhymed = {place for places, kept in groups for place, rhymes in zip(places, kept, strict=True) if not rhymes}
        pairs = zip(self.variant.copies, self.copies, strict=True)
        others = {place for (place, _), repeats in pairs if not repeats}
        return "".join(
            "c" if place in others else ".trb"[(not right) + 2 * (place in unrhymed)]
            for place, right in enumerate(self.tones)
        )

    @property
    def faults(self) -> int:
        """The numbers of places with a wrong tone, of those that do not rhyme, and of those that do not repeat."""
        return self.tones.count(False) + sum(group.count(False) for group in self.rhymes) + self.copies.count(False)


def words_of(text: str) -> str:
    """The words of a Chinese poem, without marks and line ends."""
    return "".join(character for unit in units_of(text) for character in unit if not is_mark(character))


def sentence_lengths(text: str) -> tuple[int, ...]:
    """The number of words of each sentence of a Chinese poem. Sentences end where its units do."""
    return tuple(len(words_of(unit)) for unit in units_of(text))


def has_clauses(text: str, variant: Variant) -> bool:
    """Whether the clauses of a poem are those of a variant, whatever marks end them.

    Editions end a sentence where the sense does, and the book where a rhyme is. A pause within a clause (读) may have a
    mark in the poem or none.
    """
    ends = {*_clauseends_of(text)}
    parts = ends_of([words for words, _ in variant.clauses])
    needed = {end for end, (_, mark) in zip(parts, variant.clauses, strict=True) if mark != "、"}
    return needed <= ends <= {*parts}


def fit_of(text: str, variant: Variant, books: Books, *, book: Book = "cilin", by: ToneBook = "book") -> Fit:
    """Compare a poem with a variant.

    A word has a tone, or rhymes, if any of its readings does. In Cilin, level and oblique words of one part rhyme only
    in a group that turns; there each word must have a reading, in the shared part, with the tone of its place. In other
    books, all groups may rhyme across tones.

    Args:
        text: a poem with as many words as the variant has places.
        book: the rhyme book.
        by: the book for tones.

    Raises:
        ConfigError: the number of words differs.
    """
    words = words_of(text)
    if len(words) != len(variant.tones):
        raise ConfigError(
            f"{len(words)} words for {len(variant.tones)} places", where=f"{variant.tune}, variant {variant.number}"
        )
    tones = tuple(
        wanted == EITHER or wanted in books.tones(word, by) for word, wanted in zip(words, variant.tones, strict=True)
    )
    rhymes = tuple(
        _rhyming(
            [_sounds(words[place], variant.tones[place], books, book, number in variant.turns) for place in places]
        )
        for number, places in enumerate(variant.rhymes)
    )
    copies = tuple(words[copy] == words[source] for copy, source in variant.copies)
    return Fit(variant, tones, rhymes, copies)


def followed(text: str, variants: Sequence[Variant], books: Books) -> Fit | None:
    """The variant that a poem follows, with its fit by Cilin and the tones of the book.

    This is the variant of `variants` (`TuneBook.fitting`) with the fewest faults. Ties go to the variant whose clauses
    end where the poem's do, then to the first. None if there are no variants.
    """
    if not variants:
        return None
    ends = _clauseends_of(text)
    fits = [fit_of(text, variant, books) for variant in variants]
    return min(fits, key=lambda fit: (fit.faults, ends != ends_of([words for words, _ in fit.variant.clauses])))


# --- Judging ---------------------------------------------------------------------------------------------------------


def _sounds(word: str, wanted: str, books: Books, book: Book, turns: bool) -> frozenset[str]:
    """The sounds of a word at a rhyme place. Words of a rhyme group must have one in common."""
    groups = books.groups(word, book)
    if not turns or book != "cilin":
        return groups
    return frozenset(part_of(group) for group in groups if wanted == EITHER or _tone_of(group) == wanted)


def _tone_of(group: str) -> str:
    """The tone of a Cilin group."""
    return LEVEL if group.endswith(LEVEL) else OBLIQUE


def _rhyming(sounds: Sequence[frozenset[str]]) -> tuple[bool, ...]:
    """Whether each word has the sound of the majority. A word that is alone in its group rhymes."""
    if len(sounds) == 1:
        return (True,)
    every = sorted(frozenset().union(*sounds))
    shared = max(every, key=lambda sound: sum(sound in each for each in sounds), default=None)
    return tuple(shared in each for each in sounds)


def ends_of(lengths: Sequence[int]) -> tuple[int, ...]:
    """The end of each part, as a place, from the lengths of the parts."""
    total, ends = 0, []
    for length in lengths:
        total += length
        ends.append(total)
    return tuple(ends)


def _clauseends_of(text: str) -> tuple[int, ...]:
    """The end of each clause of a poem, as a place."""
    return ends_of([len(words_of(clause)) for clause in re.split(r"[，、；：。！？\n]+", text) if clause])
