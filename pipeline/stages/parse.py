"""parse: convert raw files, or the output of a grammar of the nursery, to records; with a parser, to parsed records."""

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from espalier.cli.progress import counted, say
from espalier.corpora.filters import why_none
from espalier.corpora.readers import READERS
from espalier.corpora.records import RECORDS, Quarantined, Record, table_of
from espalier.io.errors import DataError
from espalier.io.files import atomic_folder, read_json, together
from espalier.io.registry import entry
from espalier.io.tables import write_table
from espalier.syntax.parse import columns_of
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.registry import parser_signature
from pipeline import layout
from pipeline.graph.shards import parse_all
from pipeline.params.entries import Corpus, Params
from pipeline.params.read import load_params
from pipeline.records.artifacts import write_metrics
from pipeline.records.measured import Clock

R = TypeVar("R", bound=Record)


def run(key: str) -> None:
    """Read one corpus into `data/parsed/<key>/`: its records, and the quarantined rows with reasons."""
    params = load_params()
    corpus = entry("corpus", params.corpora, key)
    kind, where = RECORDS[corpus.records], f"corpora.{key}"
    rows = list(
        READERS[corpus.reader].rows(
            source_folders(corpus, params), corpus.options, language=corpus.language, where=where
        )
    )
    records = [row for row in rows if isinstance(row, Record)]
    quarantined = [row for row in rows if isinstance(row, Quarantined)]
    read, scratch = len(rows), layout.scratch("parse", key)
    details: dict[str, Any] = {"parser": "none"}
    if corpus.parser != layout.NONE:
        if not records:
            with atomic_folder(layout.parsed(key)) as folder:  # for a look at what was quarantined
                write_table(folder / "quarantine.parquet", table_of(quarantined, Quarantined))
            what = f"no records to parse: {why_none(quarantined)}"
            raise DataError(what, file=where, remedy="check its sources, and its reader's options")
        parser = layout.parser(corpus.parser)
        signature = parser_signature(parser)
        trained = params.parsers[corpus.parser].treebank != layout.NONE
        scores = read_json(parser / "scores.json", dict[str, float]) if trained else {}
        clock = Clock()
        records, unparsed, speed = with_trees(records, parser, scratch)
        clock.write("parse", key, speed)
        quarantined += unparsed
        details = {"parser": signature, "parser_scores": scores}
    numbers = {"read": read, "kept": len(records), "quarantined": len(quarantined)}
    reasons = dict(sorted(Counter(row.reason for row in quarantined).items()))
    with together():
        with atomic_folder(layout.parsed(key)) as folder:
            write_table(folder / "records.parquet", table_of(records, kind))
            write_table(folder / "quarantine.parquet", table_of(quarantined, Quarantined))
        write_metrics("parsing", key, numbers, {"quarantined": reasons, **details})
    shutil.rmtree(scratch, ignore_errors=True)
    say(counted(list(numbers.items())))


def source_folders(corpus: Corpus, params: Params) -> dict[str, Path]:
    """The folders that a corpus reads: sources on its shelves, in the order of params.yaml, and other corpora."""
    folders: dict[str, Path] = {}
    for shelf in corpus.shelves:
        folders |= params.sources.folders(shelf)
    return folders | {name: layout.corpus(name) for name in corpus.corpora}


def with_trees(
    records: Sequence[R], parser: Path, scratch: Path
) -> tuple[list[R], list[Quarantined], dict[str, float]]:
    """Records with the grammar of all sides, records with a side that cannot be parsed, and the speed."""
    parsed = parse_all([getattr(row, side) for row in records for side in row.sides], parser, scratch)
    answers = iter(parsed.answers)
    kept: list[R] = []
    quarantined: list[Quarantined] = []
    for row in records:
        columns: dict[str, str] = {}
        refused: Quarantined | None = None
        for side, answer in zip(row.sides, answers, strict=False):
            if not isinstance(answer, Refused):
                columns |= columns_of(answer, side)
            elif refused is None:
                refused = Quarantined(id=row.id, stage="parse", reason=answer.reason, text=getattr(row, side))
        if refused is not None:
            quarantined.append(refused)
        else:
            kept.append(replace(row, **columns))
    return kept, quarantined, parsed.speed
