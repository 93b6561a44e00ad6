"""The 100 canonical ci of the benchmark PoeTone, by the rules of their tunes (`espalier check`).

    python benchmarks/poetone_poems.py MIRROR [--record]

MIRROR holds the sources `poetone` and `couyun`. Each poem is judged by the variant of its tune that fits best, by the
variant that most Song ci follow, and by the first of the book. Rhymes are heard in three ways: by Cilin, by the groups
of Mandarin, and by equal Mandarin finals, as PoeTone hears them. It takes some seconds.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from measuring import RECORD, Record

from espalier.frames import Tune
from espalier.frames.report import Report
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.text.normalize import simplified
from espalier.verse.ci_books import CiBooks, open_books
from espalier.verse.rhyme import final_of
from espalier.verse.variants import Variant, words_of

HEADINGS = "best variant", "commonest variant", "first variant"


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
    best = []
    for tune, text in poems:
        name, _, number = Tune(tune, tone=True).check(text, books).variant.rpartition(" ")
        best.append(books.tunes.variant(name, int(number)))
    default = [books.tunes.variant(tune) for tune, _ in poems]
    first = [books.tunes.variant(tune, 1) for tune, _ in poems]
    columns = [column(poems, variants, books) for variants in (best, default, first)]
    rows = {name: list(values) for name, *values in zip(ROWS, *columns, strict=True)}
    shown = [Column(heading=heading, digits=1) for heading in HEADINGS]
    return BenchmarkTable(title="", columns=shown, rows=rows, names=f"of {len(poems)} poems, %")


if __name__ == "__main__":
    folders = [value for value in sys.argv[1:] if value != RECORD]
    if len(folders) != 1:
        sys.exit("python benchmarks/poetone_poems.py MIRROR: the folder of the sources poetone and couyun")
    with Record(__file__, given="MIRROR") as record:
        record.add(table(Path(folders[0])))
