"""The plugin of a rehearsal: every reader stops after a few rows of each part of its corpus.

All rows are read, and the sample is taken from those that pass the filters of the corpus, so that it can be parsed,
filtered and split like the corpus. The number of passing rows is written to `.scratch/rehearsal/<corpus>.json`, for
estimates.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from espalier.corpora.filters import Filters, screen
from espalier.corpora.readers import READERS, Reader
from espalier.corpora.records import Quarantined, Record
from espalier.corpora.splits import published_part
from espalier.io.calls import checked_call
from espalier.io.files import write_json
from pipeline import layout
from pipeline.graph.rehearsal.cut import OPTION

#: Rules that need trees, which are not parsed yet.
_OF_TREES = ("max_levels", "min_label_count")


class SampledReader(Reader):
    """A reader that yields few of its rows."""

    @checked_call
    def rows(
        self, folders: Mapping[str, Path], options: Mapping[str, Any], *, language: str, where: str
    ) -> Iterator[Record | Quarantined]:
        """At most as many passing rows as the option `rehearsal` says; without the option, all rows."""
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
    """The file with the numbers of rows of a corpus: `rows`, and `parts` for each published split."""
    return layout.scratch("rehearsal", f"{corpus}.json")


def sample(rows: Sequence[Record], count: int) -> list[Record]:
    """At most `count` rows in their order, equally many from each part, at even distances.

    A part consists of the rows with one origin and one published split.
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
