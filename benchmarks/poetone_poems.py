"""The 100 canonical ci of the benchmark PoeTone, by the rules of their tunes (`espalier check`), beside other ci.

    python benchmarks/poetone_poems.py MIRROR [--record]

MIRROR holds the sources `poetone`, `songci` and `couyun`. Each poem is judged by the variant of its tune that fits
best, by the variant that most Song ci follow, and by the first of the book. Rhymes are heard in three ways: by Cilin,
by the groups of Mandarin, and by equal Mandarin finals, as PoeTone hears them. Beside them, by the variant that fits
best, stand every fortieth Song ci of the same tunes, and poems that the released model `songci` writes to these 100
tunes: with all rules of the book, and with the format and the rhymes of Mandarin alone. It takes about a minute.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from measuring import RECORD, Record

import espalier
from espalier.corpora.readers.songci import read
from espalier.corpora.records import Verse
from espalier.frames import Tune
from espalier.frames.report import Report
from espalier.inference.requests import VerseRequest
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.text.normalize import simplified
from espalier.verse.ci_books import CiBooks, open_books
from espalier.verse.rhyme import final_of
from espalier.verse.variants import Variant, words_of

HEADINGS = (
    "best variant", "commonest variant", "first variant", "Song ci", "`songci` by the book", "`songci` by the format"
)  # fmt: skip


def share(report: Report, rule: str) -> float:
    """The share of the places that keep a rule; 1 if it binds none."""
    return next((score.score for score in report.scores if score.rule == rule), 1.0)


def equal_finals(text: str, variant: Variant) -> float:
    """The share of rhyme places whose word has the commonest final of its group, in Mandarin's first readings."""
    words, kept = words_of(text), 0
    for places in variant.rhymes:
        finals = Counter(final_of(words[place]) for place in places if place < len(words))
        kept += max(finals.values(), default=0)
    return kept / sum(map(len, variant.rhymes))


def fitting(poems: Sequence[tuple[str, str]], books: CiBooks) -> list[Variant]:
    """The variant of its tune that fits each poem best."""
    found = []
    for tune, text in poems:
        name, _, number = Tune(tune, tone=True).check(text, books).variant.rpartition(" ")
        found.append(books.tunes.variant(name, int(number)))
    return found


def genuine(mirror: Path, tunes: Collection[str]) -> list[tuple[str, str]]:
    """Every fortieth of the Song ci to these tunes."""
    rows = read({name: mirror / name for name in ("songci", "couyun")}, plain_commas=True)
    return [(row.tune, row.target) for row in rows if isinstance(row, Verse) and row.tune in tunes][::40]


def written(tunes: Sequence[str], books: CiBooks, **options: Any) -> list[tuple[str, str]]:
    """A poem of the released model to each tune."""
    model = espalier.load("songci", device="cpu")
    requests = [VerseRequest(tune=tune) for tune in tunes]
    poems = model.generate(requests, tunes=books.tunes, books=books.rhyme_books, **options)
    return [(tune, poem.text) for tune, poem in zip(tunes, poems, strict=True)]


def column(poems: list[tuple[str, str]], variants: list[Variant], books: CiBooks) -> list[float]:
    """The means over the poems, in per cent, each poem by its variant."""
    rows = []
    for (_, text), variant in zip(poems, variants, strict=True):
        cilin, mandarin = (
            Tune(variant.tune, variant.number, book, True).check(text, books) for book in ("cilin", "mandarin")
        )
        format_ = share(cilin, "format")
        rows.append([
            format_ == 1, format_, share(cilin, "marks") == 1, share(cilin, "tone"), share(cilin, "rhyme"),
            share(mandarin, "rhyme"), equal_finals(text, variant), cilin.score, cilin.kept,
        ])  # fmt: skip
    return [100 * sum(values) / len(rows) for values in zip(*rows, strict=True)]


ROWS = (
    "poems with all clauses right", "clauses right", "poems with all marks right", "tones right",
    "rhyme by Cilin", "rhyme by Mandarin's groups", "rhyme by equal finals", "score", "poems right throughout",
)  # fmt: skip


def table(mirror: Path) -> BenchmarkTable:
    """The table of `docs/prosody.md`."""
    books = open_books(mirror / "couyun")
    entries = json.loads((mirror / "poetone/songci_corpus.json").read_text(encoding="utf-8"))
    poems = [(simplified(each["Cipai"]), simplified(each["text"])) for each in entries]
    tunes = [tune for tune, _ in poems]
    others = (
        genuine(mirror, {*tunes}),
        written(tunes, books, book="cilin", tone=True),
        written(tunes, books),
    )
    default = [books.tunes.variant(tune) for tune, _ in poems]
    first = [books.tunes.variant(tune, 1) for tune, _ in poems]
    columns = [column(poems, variants, books) for variants in (fitting(poems, books), default, first)]
    columns += [column(own, fitting(own, books), books) for own in others]
    rows = {name: list(values) for name, *values in zip(ROWS, *columns, strict=True)}
    shown = [Column(heading=heading, digits=1) for heading in HEADINGS]
    return BenchmarkTable(
        title="", columns=shown, rows=rows, names=f"of {len(poems)} poems ({len(others[0])} Song ci), %"
    )


if __name__ == "__main__":
    folders = [value for value in sys.argv[1:] if value != RECORD]
    if len(folders) != 1:
        sys.exit("python benchmarks/poetone_poems.py MIRROR: the folder of the sources poetone and couyun")
    with Record(__file__, given="MIRROR") as record:
        record.add(table(Path(folders[0])))
