"""The plugin of a rehearsal: every reader stops after few rows, of each part of its corpus some.

All rows are read, and those are taken that pass the corpus's filters; so the sample can be parsed, filtered and split
as the corpus would be. How many rows pass is written to `.scratch/rehearsal/<corpus>.json`, for estimates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from espalier.corpora.filters import Filters, screen
from espalier.corpora.readers import READERS, Reader
from espalier.corpora.records import Quarantined, Record
from espalier.corpora.splits import published_part
from espalier.io.files import write_json
from pipeline import layout
from pipeline.graph.rehearsal.cut import OPTION

#: Rules that need trees, which are not parsed yet.
_OF_TREES = ("max_levels", "min_label_count")


class SampledReader(Reader):
    """A reader that gives few of its rows."""

    def rows(
        self, folders: Mapping[str, Path], options: Mapping[str, Any], *, language: str, where: str
    ) -> Iterator[Record | Quarantined]:
        """As many rows as the option `rehearsal` says, of those that pass its filters; without the option all rows."""
        given = dict(options)
        sampling = given.pop(OPTION, None)
        if sampling is None:
            yield from super().rows(folders, given, language=language, where=where)
            return
        read = [row for row in super().rows(folders, given, language=language, where=where) if isinstance(row, Record)]
        rules = {name: value for name, value in sampling["filters"].items() if name not in _OF_TREES}
        kept, _ = screen(read, Filters.model_validate(rules))
        parts = Counter(published_part(row.id) for row in kept)
        write_json(counts_file(where.removeprefix("corpora.")), {"rows": len(kept), "parts": parts})
        yield from sample(kept, sampling["rows"])


def counts_file(corpus: str) -> Path:
    """Where the numbers of a corpus's rows are written: `rows`, and `parts` of each published split."""
    return layout.scratch("rehearsal", f"{corpus}.json")


def sample(rows: Sequence[Record], count: int) -> list[Record]:
    """At most `count` rows, in their order: of each part equally many, evenly spaced in it.

    A part is the rows of one origin and one published split.
    """
    parts: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(rows):
        parts.setdefault((row.origin, published_part(row.id)), []).append(place)
    share = max(1, count // max(1, len(parts)))
    spaced = [part[:: max(1, len(part) // share)][:share] for part in parts.values()]
    chosen = {place for part in spaced for place in part}
    if len(chosen) > count:  # more parts than rows
        order = sorted(chosen)
        chosen = {order[len(order) * number // count] for number in range(count)}
    # What small parts leave, from anywhere.
    rest = [place for place in range(len(rows)) if place not in chosen]
    lacking = min(count - len(chosen), len(rest))
    chosen |= {rest[len(rest) * number // lacking] for number in range(lacking)}
    return [rows[place] for place in sorted(chosen)]


for _name, _reader in READERS.items():
    READERS[_name] = SampledReader(**{item.name: getattr(_reader, item.name) for item in fields(_reader)})
