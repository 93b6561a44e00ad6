"""The 100 canonical ci of the benchmark PoeTone, by the rules of their tunes (`espalier check`), beside other ci.

    python benchmarks/poetone_poems.py MIRROR [--record]

MIRROR holds the sources `poetone`, `songci` and `couyun`. Each poem is judged by the variant of its tune that fits
best, by the variant that most Song ci follow, and by the first of the book. Rhymes are heard in three ways: by Cilin,
by the groups of Mandarin, and by equal Mandarin finals, as PoeTone hears them. Beside them, by the variant that fits
best, stand every fortieth Song ci of the same tunes, and poems that the released model `songci` writes to these 100
tunes: with all rules of the book, and with the format and the rhymes of Mandarin alone.

A second table has the same poems by PoeTone's ruler, rebuilt from its data: its own patterns of the tunes, Mandarin
tones and equal finals. PoeTone prints 70.5, 82.5, 52.5 and, for all, 68.7. It takes about a minute.
"""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from measuring import Record, folder

import espalier
from espalier.corpora.readers.songci import read
from espalier.corpora.records import Verse
from espalier.frames import Tune
from espalier.frames.report import Report
from espalier.inference.requests import VerseRequest
from espalier.report.benchmarks import BenchmarkTable, Column
from espalier.text.language import HAN
from espalier.text.normalize import simplified
from espalier.verse.ci_books import CiBooks, open_books
from espalier.verse.mandarin import mandarin_tones
from espalier.verse.rhyme import final_of
from espalier.verse.variants import Variant, words_of

OTHERS = "Song ci", "`songci` by the book", "`songci` by the format"
HEADINGS = "best variant", "commonest variant", "first variant", *OTHERS


def share(report: Report, rule: str) -> float:
    """The share of the places that keep a rule; 1 if it binds none."""
    return next((score.score for score in report.scores if score.rule == rule), 1.0)


def same_final(words: Iterable[str]) -> int:
    """The number of the words with the commonest final, in Mandarin's first readings."""
    return max(Counter(filter(None, map(final_of, words))).values(), default=0)


def equal_finals(text: str, variant: Variant) -> float:
    """The share of rhyme places whose word has the commonest final of its group."""
    words = words_of(text)
    kept = sum(same_final(words[place] for place in places if place < len(words)) for places in variant.rhymes)
    return kept / sum(map(len, variant.rhymes))


class Pattern(NamedTuple):
    """PoeTone's pattern of a variant: its lines, such as 中仄平平, and which of them rhyme, counted from 1."""

    lines: Sequence[str]
    rhymes: Sequence[int]


def patterns(mirror: Path) -> dict[str, list[Pattern]]:
    """PoeTone's patterns of its 20 tunes, in the order of its file."""
    found = dict[str, list[Pattern]]()
    for each in json.loads((mirror / "poetone/cipai_metadata.json").read_text(encoding="utf-8")):
        stanzas = [each[name]["lines"] for name in sorted(each) if name.startswith("stanza")]
        pattern = Pattern([*chain.from_iterable(stanzas)], each["total"]["rhyme_positions"])
        found.setdefault(simplified(each["Cipai"]), []).append(pattern)
    return found


def by_pattern(text: str, pattern: Pattern) -> tuple[float, float, float]:
    """The share of the lines with the characters of the pattern, of its tones, and of its rhymes with one final."""
    lines = re.findall(f"[{HAN}]+", text)
    pairs = [*zip(lines, pattern.lines, strict=False)]
    sized = sum(len(line) == len(wanted) for line, wanted in pairs)
    toned = sum(
        tone in "平仄" and tone in mandarin_tones(word)
        for line, wanted in pairs
        for word, tone in zip(line, wanted, strict=False)
    )
    return (
        sized / max(len(lines), len(pattern.lines)),
        toned / sum(tone in "平仄" for wanted in pattern.lines for tone in wanted),
        same_final(lines[place - 1][-1] for place in pattern.rhymes if place <= len(lines)) / len(pattern.rhymes),
    )


def pattern_column(poems: list[tuple[str, str]], known: Mapping[str, Sequence[Pattern]]) -> list[float]:
    """The means over the poems, in per cent, each poem by the pattern of its tune that fits it best."""
    rows = [max((by_pattern(text, pattern) for pattern in known[tune]), key=sum) for tune, text in poems]
    shares = [100 * statistics.mean(values) for values in zip(*rows, strict=True)]
    return [*shares, statistics.mean(shares)]


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
PATTERN_ROWS = "lines of the right size", "tones right", "rhyme by equal finals", "mean of the three"


def tables(mirror: Path) -> list[BenchmarkTable]:
    """The tables of `docs/prosody.md`: by the book, and by PoeTone's patterns."""
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
    known = patterns(mirror)
    of_patterns = [pattern_column(own, known) for own in (poems, *others)]
    names = f"of {len(poems)} poems ({len(others[0])} Song ci), %"
    return [
        BenchmarkTable(
            title=title,
            columns=[Column(heading=heading, digits=1) for heading in headings],
            rows={name: list(values) for name, *values in zip(rows, *found, strict=True)},
            names=names,
        )
        for title, headings, rows, found in (
            ("By the book", HEADINGS, ROWS, columns),
            (
                "By PoeTone's patterns, each poem by the one that fits it best",
                ("PoeTone's poems", *OTHERS),
                PATTERN_ROWS,
                of_patterns,
            ),
        )
    ]


if __name__ == "__main__":
    mirror = folder("poetone and couyun")
    with Record(__file__, given="MIRROR") as record:
        for table in tables(mirror):
            record.add(table)
