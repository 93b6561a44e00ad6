"""parse: convert raw files, or the output of a grammar of the nursery, to records; with a parser, to parsed records."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from espalier.cli.progress import counted, say
from espalier.corpora.filters import why_none
from espalier.corpora.readers import READERS
from espalier.corpora.record_tables import chunk_of, filled_columns, schema_of
from espalier.corpora.records import RECORDS, Quarantined, Record, optional_columns, records_of
from espalier.corpora.stored import in_chunks
from espalier.io.chunks import read_chunks, table_writer
from espalier.io.errors import DataError
from espalier.io.files import atomic_folder, read_json, together
from espalier.io.registry import entry
from espalier.syntax.parsers.registry import parser_signature
from pipeline import layout
from pipeline.graph.corpus_parses import CorpusParses
from pipeline.params.entries import Corpus, Params
from pipeline.params.read import load_params
from pipeline.records.artifacts import write_metrics
from pipeline.records.machine import chunk_rows
from pipeline.records.measured import Clock


def run(key: str) -> None:
    """Read one corpus into `data/parsed/<key>/`: its records, and the quarantined rows with reasons."""
    params = load_params()
    corpus = entry("corpus", params.corpora, key)
    kind, where = RECORDS[corpus.records], f"corpora.{key}"
    rows = READERS[corpus.reader].rows(
        source_folders(corpus, params), corpus.options, language=corpus.language, where=where
    )
    scratch = layout.scratch("parse", key)
    read = _read(rows, kind, scratch / "rows")
    details: dict[str, Any] = {"parser": "none"}
    parses = None
    if corpus.parser != layout.NONE:
        if not read.records:
            raise _nothing(read, key, where)
        parser = layout.parser(corpus.parser)
        signature = parser_signature(parser)
        trained = params.parsers[corpus.parser].treebank != layout.NONE
        scores = read_json(parser / "scores.json", dict[str, float]) if trained else {}
        clock = Clock()
        parses = CorpusParses(read.table, kind, chunk_rows(), parser, scratch)
        clock.write("parse", key, parses.speed)
        details = {"parser": signature, "parser_scores": scores}
    with together():
        with atomic_folder(layout.parsed(key)) as folder:
            reasons = _write(read, parses, kind, folder)
        quarantined = reasons.total()
        numbers = {"read": read.total, "kept": read.total - quarantined, "quarantined": quarantined}
        write_metrics("parsing", key, numbers, {"quarantined": dict(sorted(reasons.items())), **details})
    shutil.rmtree(scratch, ignore_errors=True)
    say(counted(list(numbers.items())))


class Rows(NamedTuple):
    """The rows of a reader, in a folder: those it could use with all columns of their type, and the others.

    Attributes:
        records: their number.
        total: the number of all rows.
    """

    folder: Path
    records: int
    total: int

    @property
    def table(self) -> Path:
        """The records."""
        return self.folder / "records.parquet"

    def quarantined(self) -> Iterator[pa.Table]:
        """The other rows, in chunks."""
        return read_chunks(self.folder / "quarantine.parquet", chunk_rows())


def _read(rows: Iterable[Record | Quarantined], kind: type[Record], folder: Path) -> Rows:
    """Write the rows of a reader as it yields them."""
    records = total = 0
    with (
        table_writer(folder / "records.parquet", schema_of(kind, optional_columns(kind))) as write,
        table_writer(folder / "quarantine.parquet", schema_of(Quarantined)) as write_other,
    ):
        for chunk in in_chunks(rows, chunk_rows()):
            good = [row for row in chunk if isinstance(row, Record)]
            write(chunk_of(good, kind))
            write_other(chunk_of([row for row in chunk if isinstance(row, Quarantined)], Quarantined))
            records, total = records + len(good), total + len(chunk)
    return Rows(folder, records, total)


def _write(read: Rows, parses: CorpusParses | None, kind: type[Record], folder: Path) -> Counter[str]:
    """Write the records with their parses, and the quarantined rows, whose reasons it counts."""
    reasons = Counter[str]()
    optional, filled, start = optional_columns(kind), set[str](), 0
    for chunk in read_chunks(read.table, chunk_rows(), optional):
        kept = slice(start, start + chunk.num_rows)
        filled |= filled_columns(chunk if parses is None else chunk.filter(parses.kept[kept]), optional)
        start += chunk.num_rows
    with (
        table_writer(folder / "records.parquet", schema_of(kind, filled)) as write,
        table_writer(folder / "quarantine.parquet", schema_of(Quarantined)) as write_other,
    ):
        for chunk in read.quarantined():
            write_other(chunk)
            reasons.update(chunk["reason"].to_pylist())
        if parses is None:
            for chunk in read_chunks(read.table, chunk_rows()):
                write(chunk)
            return reasons
        for chunk, unparsed in parses.chunks():
            write(chunk)
            write_other(unparsed)
            reasons.update(unparsed["reason"].to_pylist())
    return reasons


def _nothing(read: Rows, key: str, where: str) -> DataError:
    """The error of a corpus without records. What was quarantined is written, for a look at it."""
    with (
        atomic_folder(layout.parsed(key)) as folder,
        table_writer(folder / "quarantine.parquet", schema_of(Quarantined)) as write,
    ):
        for chunk in read.quarantined():
            write(chunk)
    rows = (row for chunk in read.quarantined() for row in records_of(chunk.to_pandas(), Quarantined))
    what = f"no records to parse: {why_none(rows)}"
    return DataError(what, file=where, remedy="check its sources, and its reader's options")


def source_folders(corpus: Corpus, params: Params) -> dict[str, Path]:
    """The folders that a corpus reads: sources on its shelves, in the order of params.yaml, and other corpora."""
    folders: dict[str, Path] = {}
    for shelf in corpus.shelves:
        folders |= params.sources.folders(shelf)
    return folders | {name: layout.corpus(name) for name in corpus.corpora}
