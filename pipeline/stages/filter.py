"""filter: filter and split the rows of a corpus, quarantine the others with a reason, and count all.

Rows are read in chunks, several times: for the filters, for the split, to be written, and for the leakage. In between,
numbers of each row are in memory: `verdicts` and `parts_of` say how many bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from espalier.cli.progress import counted, say
from espalier.corpora.filters import Verdicts, require, verdicts, why_none
from espalier.corpora.leakage import leakage_between
from espalier.corpora.record_tables import filled_columns, filled_rows, joined_sides, schema_of, set_aside
from espalier.corpora.records import (
    RECORDS,
    Quarantined,
    Record,
    optional_columns,
    records_of,
    required_columns,
)
from espalier.corpora.splits import LEFT_OUT, SPLITS
from espalier.corpora.splitting import NONE, Parts, parts_of
from espalier.io.chunks import read_chunks, table_writer
from espalier.io.files import atomic_folder, together
from espalier.io.registry import entry
from pipeline import layout
from pipeline.params.entries import Corpus
from pipeline.params.read import load_params
from pipeline.records.artifacts import write_metrics
from pipeline.records.machine import chunk_rows

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: The part of a row that fails; `NONE` and those below it are of rows that pass.
_FAILS: Final = NONE + 1

Mask = npt.NDArray[np.bool_]


class Parsed(NamedTuple):
    """The records of a corpus, and the rows that could not be read or parsed.

    Attributes:
        rows: the number of rows in memory.
    """

    folder: Path
    kind: type[Record]
    rows: int

    def records(self) -> Iterator[Sequence[Record]]:
        """The records, in chunks."""
        for chunk in self.chunks():
            yield records_of(chunk.to_pandas(), self.kind)

    def chunks(self, names: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The records, or some of their columns, without those that are not there."""
        file, required = self.folder / "records.parquet", required_columns(self.kind)
        return read_chunks(file, self.rows, names, required=required, if_present=True)

    def chosen(self, mask: Mask, names: Sequence[str]) -> Iterator[pa.Table]:
        """Some of the records, in the same chunks."""
        start = 0
        for chunk in self.chunks(names):
            yield chunk.filter(mask[start : start + chunk.num_rows])
            start += chunk.num_rows

    def failed(self, found: Verdicts) -> Iterator[pa.Table]:
        """The records that fail, as rows of the quarantine, in chunks."""
        start, reasons = 0, np.array(found.reasons, dtype=object)
        for chunk in self.chunks(["id", *self.kind.sides]):
            codes = found.codes[start : start + chunk.num_rows]
            failed = chunk.filter(codes != 0)
            yield set_aside(failed, "filter", reasons[codes[codes != 0]], joined_sides(failed, self.kind))
            start += chunk.num_rows

    def unread(self) -> Iterator[pa.Table]:
        """The rows that are quarantined already."""
        return read_chunks(self.folder / "quarantine.parquet", self.rows, required_columns(Quarantined))


class Counts:
    """What is counted of the rows that are written.

    Args:
        filled: the optional columns that rows fill.

    Attributes:
        rows: the number of rows of each split and of the quarantine.
        filled: by optional column, the number of rows of each split that fill it.
    """

    def __init__(self, kind: type[Record], filled: Sequence[str]) -> None:
        self.rows = dict.fromkeys((*SPLITS, "quarantined"), 0)
        self._reasons: Counter[str] = Counter()
        self._origins: dict[str, Counter[str]] = {name: Counter() for name in SPLITS}
        self._distinct = {column: {name: set[str]() for name in SPLITS} for column in kind.counted}
        self.filled = {column: dict.fromkeys(SPLITS, 0) for column in filled}

    def add(self, split: str, rows: pa.Table) -> None:
        """Count rows of a split."""
        self.rows[split] += rows.num_rows
        self._origins[split].update(rows["origin"].to_pylist())
        for column, values in self._distinct.items():
            values[split].update(rows[column].to_pylist())
        for column, numbers in self.filled.items():
            numbers[split] += filled_rows(rows, column)

    def add_quarantined(self, rows: pa.Table) -> None:
        """Count rows of the quarantine."""
        self.rows["quarantined"] += rows.num_rows
        self._reasons.update(rows["reason"].to_pylist())

    def details(self) -> dict[str, Any]:
        """The counts as `metrics/details` has them."""
        distinct = {
            column: {split: len(values) for split, values in of.items()} for column, of in self._distinct.items()
        }
        return {
            "rows": {"read": sum(self.rows.values()), **self.rows},
            "distinct": distinct,
            "origins": {split: dict(sorted(counts.items())) for split, counts in self._origins.items()},
            **({"filled": self.filled} if self.filled else {}),
            "quarantined": dict(sorted(self._reasons.items(), key=lambda item: (-item[1], item[0]))),
        }


def run(key: str) -> None:
    """Make `data/corpora/<key>/` from the parsed records, and count every row that was read."""
    corpus = entry("corpus", load_params().corpora, key)
    parsed = Parsed(layout.parsed(key), RECORDS[corpus.records], chunk_rows())
    found = verdicts(parsed.records, corpus.filters)
    parts = _parts(parsed, found, corpus, key)
    optional, filled = optional_columns(parsed.kind), set[str]()
    for chunk in parsed.chosen(parts != _FAILS, optional):
        filled |= filled_columns(chunk, chunk.column_names)
    counts = Counts(parsed.kind, [name for name in optional if name in filled])
    with together():
        with atomic_folder(layout.corpus(key)) as folder:
            _write(parsed, found, parts, folder, counts)
            splits = {name: partial(_columns, folder / f"{name}.parquet", parsed.rows) for name in SPLITS}
            details = counts.details() | {"leakage": leakage_between(splits, parsed.kind)}
        write_metrics("corpora", key, details["rows"], details)
    say(counted(list(counts.rows.items())))


def _parts(parsed: Parsed, found: Verdicts, corpus: Corpus, key: str) -> Parts:
    """The split of each row, `NONE` or `_FAILS`."""
    passes = found.codes == 0
    kept, unread = int(passes.sum()), sum(chunk.num_rows for chunk in parsed.unread())
    lost = (records_of(chunk.to_pandas(), Quarantined) for chunk in chain(parsed.unread(), parsed.failed(found)))
    why = "" if kept else why_none(chain.from_iterable(lost))
    require(kept, unread + len(passes) - kept, corpus.filters, corpus=key, why=why)

    def passing(names: Sequence[str]) -> Iterator[pd.DataFrame]:
        return (chunk.to_pandas() for chunk in parsed.chosen(passes, names))

    parts = np.full(len(passes), _FAILS, dtype=np.int8)
    parts[passes] = parts_of(passing, corpus.split, where=f"corpora.{key}.split")
    return parts


def _write(parsed: Parsed, found: Verdicts, parts: Parts, folder: Path, counts: Counts) -> None:
    """Write the splits and the quarantine, one after the other."""
    schema = schema_of(parsed.kind, counts.filled)
    for number, name in enumerate(SPLITS):
        with table_writer(folder / f"{name}.parquet", schema) as write:
            for chunk in parsed.chosen(parts == number, schema.names):
                write(chunk)
                counts.add(name, chunk)
    # A choice of the split says nothing about the quality of the data, which `require` limits.
    left_out = Verdicts((parts == NONE).astype(np.uint8), ("", LEFT_OUT))
    with table_writer(folder / "quarantine.parquet", schema_of(Quarantined)) as write:
        for chunk in chain(parsed.unread(), parsed.failed(found), parsed.failed(left_out)):
            write(chunk)
            counts.add_quarantined(chunk)


def _columns(file: Path, rows: int, names: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The rows of a table in chunks, with those of the columns that it has."""
    return (chunk.to_pandas() for chunk in read_chunks(file, rows, names, if_present=True))
