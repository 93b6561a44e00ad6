"""What genuine ci keep of their tune's rhymes and tones: the measures of `espalier.metrics.prosody` on all Song ci.

    python benchmarks/songci_prosody.py MIRROR [--record]

MIRROR holds the sources `songci` and `couyun`. The first column is what the metrics count. The second holds a poem only
against the first variant of its tune; the later variants of the Qinding cipu seldom leave a tone free. The third also
hears each character in its default Mandarin reading alone. In the fourth no group of a first variant turns: by
Cilin level and oblique words never rhyme. It takes about half a minute.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from measuring import Record, folder

from espalier.corpora.readers.songci import read
from espalier.corpora.records import Verse
from espalier.metrics.bootstrap import Array
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.verse.books import Book, Books, Tone, ToneBook, read_books
from espalier.verse.rhyme import rhyme_group
from espalier.verse.tune_book import TuneBook
from espalier.verse.variants import Fit, fit_of, followed, has_clauses

ROWS = (
    "poems that fit", "poems that fit by clauses", "`rhyme_cilin`", "`rhyme_mandarin`", "`tone_book`",
    "`tone_mandarin`", "`tone_book`, free places too", "`tone_mandarin`, free places too", "`tones_whole_book`",
    "`tones_whole_mandarin`", "`verse_whole_book`", "`verse_whole_mandarin`",
)  # fmt: skip


@dataclass(frozen=True)
class DefaultReadings:
    """Books that hear each character in one Mandarin reading, pypinyin's default."""

    books: Books

    def groups(self, character: str, book: Book) -> frozenset[str]:
        if book != "mandarin":
            return self.books.groups(character, book)
        group = rhyme_group(character)
        return frozenset() if group is None else frozenset((group,))

    def tones(self, character: str, by: ToneBook = "book") -> frozenset[Tone]:
        return self.books.tones(character, by) if by == "book" else _default_tone(character)

    def characters(self, book: Book) -> Iterable[str]:
        return self.books.characters(book)


@cache
def _default_tone(character: str) -> frozenset[Tone]:
    from pypinyin import Style, pinyin

    final = pinyin(character, style=Style.FINALS_TONE3, strict=True)[0][0]
    return frozenset({"1": "平", "2": "平", "3": "仄", "4": "仄"}.get(final[-1:], ""))  # type: ignore[arg-type]


def counted(fits: Iterable[tuple[Fit, Fit]], by_clauses: int) -> Array:
    """One value for each of `ROWS`, from each poem's fit by the book and by Mandarin, and the second row."""
    rows = []
    for pair in fits:
        wanted = np.array(pair[0].wanted)
        tones = [np.array(fit.tones) for fit in pair]
        rhymes, whole = [fit.rhymes_throughout for fit in pair], [each.all() for each in tones]
        right = [[(each & wanted).sum() for each in tones], [each.sum() for each in tones]]
        both = [rhyme and tone for rhyme, tone in zip(rhymes, whole, strict=True)]
        rows.append([1, *rhymes, *right[0], *right[1], *whole, *both, wanted.sum(), len(wanted)])
    *sums, wanted_places, places = np.array(rows, float).sum(axis=0)
    poems = sums[0]
    of = [poems, poems, wanted_places, wanted_places, places, places, poems, poems, poems, poems]
    return np.array([poems, by_clauses, *(100 * count / whole for count, whole in zip(sums[1:], of, strict=True))])


def table(mirror: Path) -> BenchmarkTable:
    """The table of `docs/prosody.md`."""
    books, tunes = read_books(mirror / "couyun"), TuneBook(mirror / "couyun")
    poems = [poem for poem in read({"songci": mirror / "songci"}) if isinstance(poem, Verse)]
    columns = []
    ways = (books, False, True), (books, True, True), (DefaultReadings(books), True, True), (books, True, False)
    for ears, first, turning in ways:
        fits, by_clauses = [], 0
        for poem in poems:
            called = tunes.called(poem.tune) if poem.tune in tunes else ()
            asked = [each for each in called if each.number == 1 or not first]
            by_clauses += any(has_clauses(poem.target, each) for each in asked)
            variants = [each for each in tunes.fitting(poem.tune, poem.target) if each in asked]
            if not turning:
                variants = [replace(each, turns=frozenset()) for each in variants]
            if (fit := followed(poem.target, variants, books)) is not None:
                mandarin = fit_of(poem.target, fit.variant, ears, book="mandarin", by="mandarin")
                fits.append((fit, mandarin))
        columns.append(counted(fits, by_clauses))
    headings = (
        "all variants", "first variants", "first variants, default readings", "first variants, no turning rhymes"
    )  # fmt: skip
    rows = {}
    for name, *values in zip(ROWS, *columns, strict=True):
        rows[name] = [f"{value:,.0f}" if name in ROWS[:2] else float(value) for value in values]
    shown = [Column(heading=heading, digits=1) for heading in headings]
    return BenchmarkTable(title="", columns=shown, rows=rows, names=f"of {len(poems):,} poems")


if __name__ == "__main__":
    mirror = folder("songci and couyun")
    with Record(__file__, given="MIRROR") as record:
        record.add(table(mirror))
