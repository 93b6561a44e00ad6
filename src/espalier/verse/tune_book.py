"""The book of tunes: the variants of the Qinding cipu, as the source `couyun` has them.

`ci_index.json` has the names of each tune, `ci_list/cipai_<idx>.json` its variants. Clauses and sentences are separated
by the marks in `origin`, the variant's example. `ge_lyu_sep` says which clauses are repeated, and nothing else is taken
from it: 141 of its entries write a change of rhyme (换仄韵) with tone signs, and some contain the words of a chorus
(竹枝), which the other fields omit. Of the example only the places of its marks and of its repeated words are kept.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources.abc import Traversable
from itertools import count
from pathlib import Path
from typing import Any, Final, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.validation import first_mistake
from espalier.text.language import HAN
from espalier.verse.books import REMEDY, source_bytes, source_of
from espalier.verse.copies import copies_of
from espalier.verse.stanzas import first_stanza
from espalier.verse.variants import EITHER, LEVEL, OBLIQUE, Variant, ends_of, sentence_lengths

#: How many Song ci follow each variant, by the first name of the tune (`benchmarks/tune_variants.py`).
COUNTS: Final = Path(__file__).parent / "variant_counts.json"

#: Names by which the poets of Song mean another tune of the book than the one that has the name there.
NAMESAKES: Final = {"浪淘沙": "浪淘沙令", "诉衷情": "诉衷情令", "訴衷情": "诉衷情令"}

#: A variant of so many times the words of its tune's first variant may have two stanzas where that has one.
_DOUBLED: Final = 1.5

#: The folder of the forms, below that of the source.
FORMS: Final = "couyun/ci_pu"


class TuneBook:
    """The tunes of the Qinding cipu. Each tune is read on first use.

    Args:
        folder: folder of the source `couyun`, as written by `download`, or an archive of
            `espalier.verse.ci_books.pack_books`.

    Attributes:
        names: all names of each tune, in Simplified characters, in the order of the book.

    Raises:
        ArtifactError: the folder has no index of tunes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = source_of(folder) / FORMS
        file = self._folder / "ci_index.json"
        entries: list[_Entry] = _parsed(file, _ENTRIES)
        self.names = tuple(tuple(entry["names"]) for entry in entries)
        self._indices = [entry["idx"] for entry in entries]
        self._number = {
            name: number for number, entry in enumerate(entries) for name in (*entry["names_trad"], *entry["names"])
        }
        self._kinds = [entry.get("type") for entry in entries]
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
            self._read[number] = tuple(_variants(self.names[number][0], self._file(tune)))
        return self._read[number]

    def _file(self, tune: str) -> Traversable:
        return self._folder / f"ci_list/cipai_{self._indices[self._number[tune]]}.json"

    def variant(self, tune: str, number: int | None = None) -> Variant:
        """One variant of a tune, counted from 1; by default the one that most Song ci follow.

        Raises:
            ConfigError: no tune has this name, or the tune has no such variant.
        """
        if number is None:
            return max(self.called(tune), key=self.count)
        variants = self.variants(tune)
        if not 1 <= number <= len(variants):
            raise ConfigError(
                f"no variant {number} of {tune}", where="variant", remedy=f"there are {len(variants)}, from 1"
            )
        return variants[number - 1]

    def called(self, tune: str) -> tuple[Variant, ...]:
        """All variants that a name can mean: those of the tune, then those of its namesake (`NAMESAKES`)."""
        namesake = NAMESAKES.get(tune)
        return self.variants(tune) + (self.variants(namesake) if namesake and namesake in self else ())

    def count(self, variant: Variant) -> int:
        """How many Song ci follow a variant."""
        counts = _counts().get(variant.tune, [])
        return counts[variant.number - 1] if variant.number <= len(counts) else 0

    def stanza(self, variant: Variant) -> int:
        """The number of sentences of the first of two stanzas (`espalier.verse.stanzas`).

        It is 0 if the variant has another number of stanzas, or if it is not known where they part. A variant that is
        far longer than a tune of one stanza has two, if they have the same clauses (江城子).
        """
        match self._kinds[self._number[variant.tune]]:
            case ("双调", *_):
                return first_stanza(variant.clauses)
            case ("单调", words, *_) if len(variant.tones) >= _DOUBLED * words:
                return first_stanza(variant.clauses, equal=True)
        return 0

    def opening(self, variant: Variant) -> str:
        """The first sentence of the book's example of a variant; "" in an archive, which lacks it (`without_words`)."""
        forms: list[_Form] = _parsed(self._file(variant.tune), _FORM_LIST)
        sentence, mark, _ = forms[variant.number - 1]["origin"].partition("。")
        return sentence + mark if re.search(f"[{HAN}]", sentence) else ""

    def fitting(self, tune: str, text: str) -> tuple[Variant, ...]:
        """The variants of a tune with the sentence lengths of a poem; none if the tune is unknown."""
        if tune not in self:
            return ()
        lengths = sentence_lengths(text)
        return tuple(variant for variant in self.called(tune) if variant.sentences == lengths)


class _Entry(TypedDict):
    idx: int
    names: list[str]
    names_trad: list[str]
    type: NotRequired[
        tuple[str, int, list[str]]
    ]  # 单调, 双调, 三段 or 四段; the words of its first variant; its rhymes


class _Form(TypedDict):
    ge_lyu_str: str
    ge_lyu_sep: list[str]
    rhyme_pos: list[int]
    yun_classify: dict[str, list[int]]
    origin: str


_ENTRIES: Final = TypeAdapter(list[_Entry])
_FORM_LIST: Final = TypeAdapter(list[_Form])


def without_words(file: Traversable) -> bytes:
    """A file of variants with what is read of it alone, and letters for the words of an example, equal for equal ones.

    Raises:
        ArtifactError: the file is missing or damaged.
    """
    forms: list[_Form] = _parsed(file, _FORM_LIST)
    for form in forms:
        letters = filter(str.isalpha, map(chr, count(ord("A"))))
        of_word = defaultdict[str, str](lambda: next(letters))  # noqa: B023  # of this form
        form["origin"] = re.sub(r"\w", lambda word: of_word[word[0]], form["origin"])  # noqa: B023
    return _FORM_LIST.dump_json(forms)


@lru_cache(maxsize=1)
def _counts() -> dict[str, list[int]]:
    counts: dict[str, list[int]] = json.loads(COUNTS.read_text(encoding="utf-8"))
    return counts


def _parsed(file: Traversable, kind: TypeAdapter[Any]) -> Any:
    try:
        return kind.validate_json(source_bytes(file, "form book"))
    except ValidationError as error:
        raise ArtifactError(
            f"no form book: {' '.join(first_mistake(error))}", where=str(file), remedy=REMEDY
        ) from error


def _variants(tune: str, file: Traversable) -> Iterator[Variant]:
    forms: list[_Form] = _parsed(file, _FORM_LIST)
    for number, form in enumerate(forms, start=1):
        # Two variants have a refrain (些) after each rhyme, and a comma at their end.
        example = re.sub("，$", "。", form["origin"])
        written = re.findall(r"(\w+)([，、。])", example)
        clauses = tuple((len(words), mark) for words, mark in written)
        tones = form["ge_lyu_str"]
        # A place of the other tone is negative. Place 0 has no sign, and no variant rhymes there in the other tone.
        groups = [group for group in form["yun_classify"].values() if group]
        groups.sort(key=lambda group: abs(group[0]))
        rhymes = tuple(tuple(map(abs, group)) for group in groups)
        places = sorted(place for group in rhymes for place in group)
        borders = ends_of([words for words, _ in clauses])
        if (
            set(tones) - {LEVEL, OBLIQUE, EITHER}
            or borders[-1:] != (len(tones),)
            or not example.endswith("。")
            or places != sorted(form["rhyme_pos"])
            or not {place + 1 for place in places} <= set(borders)
        ):
            raise ArtifactError(f"variant {number} contradicts itself", where=str(file), remedy=REMEDY)
        try:
            copies = copies_of(form["ge_lyu_sep"], [words for words, _ in written])
        except ValueError as error:
            raise ArtifactError(
                f"variant {number} contradicts itself: {error}", where=str(file), remedy=REMEDY
            ) from error
        turns = frozenset(index for index, group in enumerate(groups) if any(place < 0 for place in group))
        yield Variant(tune, number, clauses, tones, rhymes, turns, copies)
