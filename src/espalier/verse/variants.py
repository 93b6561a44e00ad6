"""Variants of tunes: what the Qinding cipu (1715) requires at each place of a ci, and which variant a poem follows.

A place is one word of a poem; marks are not places. A variant gives each place a tone, ends each sentence with a rhyme
place (with eight exceptions among 2,294 variants), and divides the rhyme places into groups.

The source is `couyun`: `ci_index.json` has the names of each tune, `ci_list/cipai_<idx>.json` its variants. Clauses and
sentences are separated by the marks in `origin`, the variant's example. `ge_lyu_sep` is not used: 141 of its entries
write a change of rhyme (换仄韵) with tone signs, and some contain the words of a chorus (竹枝), which the other fields
omit. Only the places of the marks are kept, not the example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.validation import first_mistake
from espalier.text.language import is_mark
from espalier.verse.books import REMEDY, Book, Books, ToneBook, part_of
from espalier.verse.text import units_of
from espalier.verse.tunes import Clause

#: The signs of the tone that a place wants: level, oblique, or either.
LEVEL: Final = "平"
OBLIQUE: Final = "仄"
EITHER: Final = "中"

_FORMS: Final = "couyun/ci_pu"
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
    """

    tune: str
    number: int
    clauses: tuple[Clause, ...]
    tones: str
    rhymes: tuple[tuple[int, ...], ...]
    turns: frozenset[int] = frozenset()

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
        return "".join(f"{words}{'，' if mark == '、' else mark}" for words, mark in self.clauses)

    @property
    def letters(self) -> str:
        """One letter per place: its rhyme group, "." for none."""
        letter_of = {place: _LETTERS[group] for group, places in enumerate(self.rhymes) for place in places}
        return "".join(letter_of.get(place, ".") for place in range(len(self.tones)))

    @property
    def rhyme(self) -> str:
        """One letter per sentence: the letter of its last place."""
        letters = self.letters
        return "".join(letters[end - 1] for end in _ends(self.sentences))


@dataclass(frozen=True, slots=True)
class Fit:
    """The fit of a poem to a variant.

    Attributes:
        variant: the variant.
        tones: (places,) whether the word has a reading with the required tone; True if either tone is allowed.
        rhymes: for each rhyme group, (places of the group,) whether the word rhymes with the majority of its group.
    """

    variant: Variant
    tones: tuple[bool, ...]
    rhymes: tuple[tuple[bool, ...], ...]

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
        """One sign per place: "." right, "t" wrong tone, "r" no rhyme, "b" both faults."""
        groups = zip(self.variant.rhymes, self.rhymes, strict=True)
        unrhymed = {place for places, kept in groups for place, rhymes in zip(places, kept, strict=True) if not rhymes}
        return "".join(".trb"[(not right) + 2 * (place in unrhymed)] for place, right in enumerate(self.tones))

    @property
    def faults(self) -> int:
        """The number of places with a wrong tone plus the number of places that do not rhyme."""
        return self.tones.count(False) + sum(group.count(False) for group in self.rhymes)


class TuneBook:
    """The tunes of the Qinding cipu. Each tune is read on first use.

    Args:
        folder: folder of the source `couyun`, as written by `download`.

    Attributes:
        names: all names of each tune, in Simplified characters, in the order of the book.

    Raises:
        ArtifactError: the folder has no index of tunes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FORMS
        file = self._folder / "ci_index.json"
        entries: list[_Entry] = _parsed(file, _ENTRIES)
        self.names = tuple(tuple(entry["names"]) for entry in entries)
        self._indices = [entry["idx"] for entry in entries]
        self._number = {
            name: number for number, entry in enumerate(entries) for name in (*entry["names_trad"], *entry["names"])
        }
        self._read: dict[int, tuple[Variant, ...]] = {}

    def __len__(self) -> int:
        """The number of tunes."""
        return len(self.names)

    def __contains__(self, tune: object) -> bool:
        """Whether a tune has this name or alias, in Simplified or Traditional characters."""
        return tune in self._number

    def variants(self, tune: str) -> tuple[Variant, ...]:
        """All variants of a tune, by any of its names.

        Raises:
            ConfigError: no tune has this name.
            ArtifactError: the tune's file is missing or damaged.
        """
        number = self._number.get(tune)
        if number is None:
            near = get_close_matches(tune, self._number, cutoff=0.3)
            remedy = f"names like it: {', '.join(near)}" if near else "names are those of the Qinding cipu"
            raise ConfigError(f"no tune '{tune}' in the book", where="tune", remedy=remedy)
        if number not in self._read:
            file = self._folder / f"ci_list/cipai_{self._indices[number]}.json"
            self._read[number] = tuple(_variants(self.names[number][0], file))
        return self._read[number]

    def variant(self, tune: str, number: int = 1) -> Variant:
        """One variant of a tune, counted from 1. Variant 1 is the most frequent form.

        Raises:
            ConfigError: no tune has this name, or the tune has no such variant.
        """
        variants = self.variants(tune)
        if not 1 <= number <= len(variants):
            raise ConfigError(
                f"no variant {number} of {tune}", where="variant", remedy=f"there are {len(variants)}, from 1"
            )
        return variants[number - 1]

    def fitting(self, tune: str, text: str) -> tuple[Variant, ...]:
        """The variants of a tune with the sentence lengths of a poem; none if the tune is unknown."""
        if tune not in self:
            return ()
        lengths = sentence_lengths(text)
        return tuple(variant for variant in self.variants(tune) if variant.sentences == lengths)


def words_of(text: str) -> str:
    """The words of a Chinese poem, without marks and line ends."""
    return "".join(character for unit in units_of(text) for character in unit if not is_mark(character))


def sentence_lengths(text: str) -> tuple[int, ...]:
    """The number of words of each sentence of a Chinese poem. Sentences end where its units do."""
    return tuple(len(words_of(unit)) for unit in units_of(text))


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
    return Fit(variant, tones, rhymes)


def followed(text: str, variants: Sequence[Variant], books: Books) -> Fit | None:
    """The variant that a poem follows, with its fit by Cilin and the tones of the book.

    This is the variant of `variants` (`TuneBook.fitting`) with the fewest faults. Ties go to the variant whose clauses
    end where the poem's do, then to the first. None if there are no variants.
    """
    if not variants:
        return None
    ends = _clause_ends(text)
    fits = [fit_of(text, variant, books) for variant in variants]
    return min(fits, key=lambda fit: (fit.faults, ends != _ends([words for words, _ in fit.variant.clauses])))


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


def _ends(lengths: Sequence[int]) -> tuple[int, ...]:
    """The end of each part, as a place, from the lengths of the parts."""
    total, ends = 0, []
    for length in lengths:
        total += length
        ends.append(total)
    return tuple(ends)


def _clause_ends(text: str) -> tuple[int, ...]:
    """The end of each clause of a poem, as a place."""
    return _ends([len(words_of(clause)) for clause in re.split(r"[，、；：。！？\n]+", text) if clause])


# --- Reading ---------------------------------------------------------------------------------------------------------


class _Entry(TypedDict):
    idx: int
    names: list[str]
    names_trad: list[str]


class _Form(TypedDict):
    ge_lyu_str: str
    rhyme_pos: list[int]
    yun_classify: dict[str, list[int]]
    origin: str


_ENTRIES: Final = TypeAdapter(list[_Entry])
_FORM_LIST: Final = TypeAdapter(list[_Form])


def _parsed(file: Path, kind: TypeAdapter[Any]) -> Any:
    try:
        return kind.validate_json(file.read_bytes())
    except OSError as error:
        raise ArtifactError("no form book", where=file, remedy=REMEDY) from error
    except ValidationError as error:
        raise ArtifactError(f"no form book: {' '.join(first_mistake(error))}", where=file, remedy=REMEDY) from error


def _variants(tune: str, file: Path) -> Iterator[Variant]:
    forms: list[_Form] = _parsed(file, _FORM_LIST)
    for number, form in enumerate(forms, start=1):
        # Two variants have a refrain (些) after each rhyme, and a comma at their end.
        example = re.sub("，$", "。", form["origin"])
        clauses = tuple((len(words), mark) for words, mark in re.findall(r"(\w+)([，、。])", example))
        tones = form["ge_lyu_str"]
        # A place of the other tone is negative. Place 0 has no sign, and no variant rhymes there in the other tone.
        groups = [group for group in form["yun_classify"].values() if group]
        groups.sort(key=lambda group: abs(group[0]))
        rhymes = tuple(tuple(map(abs, group)) for group in groups)
        places = sorted(place for group in rhymes for place in group)
        borders = _ends([words for words, _ in clauses])
        if (
            set(tones) - {LEVEL, OBLIQUE, EITHER}
            or borders[-1:] != (len(tones),)
            or not example.endswith("。")
            or places != sorted(form["rhyme_pos"])
            or not {place + 1 for place in places} <= set(borders)
        ):
            raise ArtifactError(f"variant {number} contradicts itself", where=file, remedy=REMEDY)
        turns = frozenset(index for index, group in enumerate(groups) if any(place < 0 for place in group))
        yield Variant(tune, number, clauses, tones, rhymes, turns)
