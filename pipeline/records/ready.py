"""A corpus encoded as rows of ids for models, with its vocabulary."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from espalier.cli.progress import counted, say
from espalier.corpora.record_tables import chunk_of, schema_of
from espalier.corpora.records import Quarantined, Record, optional_columns
from espalier.corpora.splits import SPLITS
from espalier.corpora.stored import StoredRecords, in_chunks
from espalier.datasets.encoding import Encoding, Settings, Vocabulary
from espalier.datasets.ragged import IntArray, RaggedSplit, saved_as_lists
from espalier.datasets.registry import ENCODINGS
from espalier.io.chunks import table_writer
from espalier.io.errors import DataError
from espalier.io.files import atomic_folder, read_json, together, write_json
from espalier.io.lists import lists_writer
from espalier.io.mapped import list_files
from pipeline import layout
from pipeline.params.entries import Dataset, Params
from pipeline.records.artifacts import ParsingDetails, RowCounts, write_metrics
from pipeline.records.machine import chunk_rows

Record_ = TypeVar("Record_", bound=Record)
Vocabulary_ = TypeVar("Vocabulary_", bound=Vocabulary)


@dataclass
class _Made:
    """What is known of an encoded split.

    Attributes:
        rows: the number of records that fit.
        reasons: the quarantined records by reason.
        facts: as in `Encoded`.
        counts: `Encoding.counts` of the split.
        measures: `Encoding.measures` of the training split.
    """

    rows: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    counts: Mapping[str, float] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)


def make_ready(key: str, dataset: Dataset, params: Params) -> None:
    """Encode the splits of a dataset's corpus into `data/ready/<key>/`, and count the rows that fit and those that do
    not.

    What is needed is looked for before a row is encoded, and `chunk_rows` records are in memory at a time.
    `details.json` counts the rows at each step from raw files to ids, for reports.
    """
    kind = ENCODINGS.find(dataset.encoding, where=f"datasets: {key}.encoding")
    settings, corpus, at_once = dataset.settings, layout.corpus(dataset.corpus), chunk_rows()
    stored = {name: StoredRecords(corpus / f"{name}.parquet", kind.record, at_once) for name in SPLITS}
    filtered = read_json(layout.details("corpora", dataset.corpus), RowCounts)
    parsed = read_json(layout.details("parsing", dataset.corpus), ParsingDetails)
    known = dataset.vocab_from != layout.NONE
    _require_filled(key, dataset, [*stored.values()] if known else [stored["train"]])
    vocabulary = _vocabulary(kind, dataset, stored["train"], params)
    records: dict[str, Sequence[Any]] = {**stored, "train": kind.training_records(stored["train"], settings)}
    with together():
        with atomic_folder(layout.ready(key)) as folder:
            vocabulary.save(folder / "vocabulary.json")
            made = dict[str, _Made]()
            for name, rows in records.items():
                made[name] = _encode(name, rows, kind, vocabulary, settings, folder)
                if name == "train" and not known and not made[name].rows:
                    raise DataError(
                        "no row for training is left",
                        file=corpus / "train.parquet",
                        remedy=f"loosen the bounds of dataset {key}, or the filters of corpus {dataset.corpus}",
                    )
            reasons = sum((part.reasons for part in made.values()), Counter[str]())
            numbers = {**{name: part.rows for name, part in made.items()}, "quarantined": reasons.total()}
            numbers |= kind.numbers(vocabulary)
            details = {
                "corpus": dataset.corpus,
                "language": params.corpora[dataset.corpus].language,
                "rows": numbers,
                "splits": {name: {**part.counts, **part.facts} for name, part in made.items()},
                "quarantined": dict(sorted(reasons.items())),
                "measures": made["train"].measures,
                "filtered": filtered,
                "parsed": parsed,
            }
            write_json(folder / "extras.json", dict(kind.extras(records["train"], settings)))
            write_json(folder / "details.json", details)
        write_metrics("datasets", key, numbers, details)
    say(counted(list(numbers.items())))
    for name, part in made.items():
        if changed := [(fact.replace("_", " "), count) for fact, count in part.facts.items() if count]:
            say(f"{name}: {counted(changed)}")


def _encode(
    name: str,
    records: Sequence[Record_],
    kind: Encoding[Record_, Any, Any, Any],
    vocabulary: Vocabulary,
    settings: Settings,
    folder: Path,
) -> _Made:
    """Write the ids of a split and its quarantined records, and the records that fit, which training does not read."""
    made, places = _Made(), list[IntArray]()
    in_parts, path, lists = saved_as_lists(kind.split), folder / f"{name}.parquet", folder / "lists"
    size = chunk_rows() if in_parts else max(1, len(records))
    with ExitStack() as held:
        aside = held.enter_context(table_writer(folder / f"{name}.quarantine.parquet", schema_of(Quarantined)))
        add = held.enter_context(_rows_writer(path, lists, kind.split.names(vocabulary))) if in_parts else None
        for rows in in_chunks(records, size) if len(records) else [[]]:
            part = kind.encode(rows, vocabulary, settings)
            aside(chunk_of(part.quarantined, Quarantined))
            made.reasons.update(row.reason for row in part.quarantined)
            made.facts.update(part.facts)
            split = part.split
            if add:
                add(split)
            if name != "train":
                places.append(np.array(part.places, dtype=np.int64))
    if in_parts:
        split = kind.split.in_files(lists, vocabulary)
    else:
        split.save(path)
    made.rows, made.counts = len(split), kind.counts(split)
    if name == "train":
        made.measures = kind.measures(split)
    del split, part  # on a shared disk, a file that is mapped cannot be deleted
    if in_parts:
        shutil.rmtree(lists)
    if name != "train":
        _write_kept(folder / f"{name}.records.parquet", records, kind.record, places, size)
    return made


def _write_kept(
    path: Path, records: Sequence[Record], kind: type[Record], places: Sequence[IntArray], size: int
) -> None:
    """Write the records at these places of each chunk; optional columns that none of them fills are left out."""

    def kept() -> Iterator[list[Record]]:
        return ([rows[place] for place in own] for rows, own in zip(in_chunks(records, size), places, strict=False))

    optional = optional_columns(kind)
    chunks = kept() if optional else iter(())
    filled = {column for rows in chunks for column in optional if any(getattr(row, column) for row in rows)}
    with table_writer(path, schema_of(kind, filled)) as write:
        for rows in kept():
            write(chunk_of(rows, kind))


@contextmanager
def _rows_writer(path: Path, lists: Path, columns: Sequence[str]) -> Iterator[Callable[[RaggedSplit[Any]], None]]:
    """Yield a function that appends the rows of a split to a table, and to a folder of lists to be mapped."""
    lists.mkdir()
    with list_files(lists, columns) as append, lists_writer(path, columns) as write:

        def add(split: RaggedSplit[Any]) -> None:
            append(split.ids, split.lists)
            write(split.ids, split.lists)

        yield add


def _require_filled(key: str, dataset: Dataset, tables: Sequence[StoredRecords[Any]]) -> None:
    """Refuse a corpus without a row that fills what the encoding needs, such as trees.

    Raises:
        DataError: a column is empty in all tables.
    """
    if not any(map(len, tables)):
        return
    for column in dataset.settings.needs:
        if not any(table.fills(column) for table in tables):
            raise DataError(
                f"no row has a {column}",
                file=tables[0].path,
                remedy=f"give corpus {dataset.corpus} a parser, or change the settings of dataset {key}",
            )


def _vocabulary(
    kind: Encoding[Record_, Any, Vocabulary_, Any], dataset: Dataset, records: Sequence[Record_], params: Params
) -> Vocabulary_:
    """The vocabulary: built on the training split, with learnt or published pieces; or that of another dataset."""
    if dataset.vocab_from != layout.NONE:
        return kind.vocabulary.load(layout.ready(dataset.vocab_from) / "vocabulary.json")
    language = params.corpora[dataset.corpus].language
    if dataset.pieces_from == layout.NONE:
        return kind.build_vocabulary(records, dataset.settings, language)
    build: Callable[..., Vocabulary_] = kind.build_vocabulary  # of an encoding with `reads_pieces`
    return build(records, dataset.settings, language, published=layout.raw(dataset.pieces_from))
