"""How far the lines of genuine lüshi are parallel by jieba's parts of speech: the rule of `espalier check`.

    python benchmarks/parallel_lines.py MIRROR [--record]

MIRROR holds the sources `shi` and `couyun`. The poems are the first 3,000 of Tang whose eight lines follow a form of
regulated verse. The second and third couplets of a lüshi are parallel by rule; the last seldom is. In the last row the
second line of each middle couplet is that of the next poem. It takes about a minute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice, pairwise
from pathlib import Path

from measuring import Record, folder

from espalier.corpora.readers.shi import read
from espalier.corpora.records import Verse
from espalier.frames.forms import PARALLEL
from espalier.frames.parallelism import agreeing, read_line
from espalier.report.benchmarks import BenchmarkTable, Column

#: The number of poems; the source begins with Tang, which has many more.
COUNT = 3000
COUPLETS = ("first", "second, parallel by rule", "third, parallel by rule", "last")


def lushi(mirror: Path) -> dict[int, list[list[str]]]:
    """The lines of the poems, by the number of words of a line."""
    rows = read({name: mirror / name for name in ("shi", "couyun")})
    poems = (re.findall(r"\w+", row.target) for row in rows if isinstance(row, Verse) and row.tones)
    found = list(islice((lines for lines in poems if len(lines) == 8), COUNT))
    return {words: [lines for lines in found if len(lines[0]) == words] for words in (5, 7)}


def share(pairs: Iterable[tuple[str, str]]) -> float:
    """The places that agree, in per cent of those of which something is known."""
    places = [each for one, other in pairs for each in agreeing(read_line(one), read_line(other))]
    return 100 * places.count(True) / (len(places) - places.count(None))


def column(poems: list[list[str]]) -> list[float]:
    """The share of each couplet, and that of lines of different poems."""
    shares = [share((poem[line], poem[line + 1]) for poem in poems) for line in (0, 2, 4, 6)]
    return [*shares, share((one[first], other[second]) for one, other in pairwise(poems) for first, second in PARALLEL)]


def table(mirror: Path) -> BenchmarkTable:
    """The table of `docs/prosody.md`."""
    poems = lushi(mirror)
    columns = [column(own) for own in poems.values()]
    rows = {name: list(values) for name, *values in zip((*COUPLETS, "of two poems"), *columns, strict=True)}
    shown = [Column(heading=f"{len(own):,} of {words} words a line", digits=1) for words, own in poems.items()]
    return BenchmarkTable(title="", columns=shown, rows=rows, names="couplet, % of places")


if __name__ == "__main__":
    mirror = folder("shi and couyun")
    with Record(__file__, given="MIRROR") as record:
        record.add(table(mirror))
