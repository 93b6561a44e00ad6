"""parse: from raw files, or a nursery's grammar, to records; with a parser, to records with trees."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from espalier.corpora.readers import reader
from espalier.corpora.records import RECORDS, Quarantined, Record, table_of
from espalier.io.errors import ConfigError, DataError
from espalier.io.files import atomic_folder, read_json, write_json
from espalier.io.hashing import digest
from espalier.io.tables import write_table
from espalier.syntax.parse import columns_of
from espalier.syntax.parsers.parser import Refused
from pipeline import layout
from pipeline.params import Corpus, Params, entry, load_params
from pipeline.progress import counted, say
from pipeline.shards import parse_all

Kind = TypeVar("Kind", bound=Record)


def run(key: str) -> None:
    """Read one corpus into `data/parsed/<key>/`: what can be read and parsed, and what cannot with the reason."""
    params = load_params()
    corpus = entry("corpus", params.corpora, key)
    kind = RECORDS[corpus.records]
    records: list[Record] = []
    aside: list[Quarantined] = []
    for row in _rows(params, corpus, key):
        if isinstance(row, Quarantined):
            aside.append(row)
        elif type(row) is kind:
            records.append(row)
        else:
            raise ConfigError(
                f"reader {corpus.reader} gives other records", where=f"corpora.{key}.records", remedy="correct it"
            )
    read, parser, scratch = len(records), "none", layout.scratch("parse", key)
    speed: dict[str, Any] = {}
    if corpus.parser != layout.NONE:
        parser = str(read_json(layout.parser(corpus.parser) / "parser.json")["signature"])
        scratch = layout.scratch("parse", key, digest(parser))
        records, unparsed, speed["speed"] = _parsed(records, corpus, key, scratch)
        aside += unparsed
    with atomic_folder(layout.parsed(key)) as folder:
        write_table(folder / "records.parquet", table_of(records, kind))
        write_table(folder / "quarantine.parquet", table_of(aside, Quarantined))
    write_json(
        layout.parsing_metrics(key),
        {
            "rows": {"read": read, "kept": len(records), "quarantined": len(aside)},
            "quarantined": dict(sorted(Counter(row.reason for row in aside).items())),
            "parser": parser,
            **speed,
        },
    )
    shutil.rmtree(scratch, ignore_errors=True)
    say(counted([("read", len(records)), ("quarantined", len(aside))]))


def _parsed(
    records: Sequence[Kind], corpus: Corpus, key: str, scratch: Path
) -> tuple[list[Kind], list[Quarantined], dict[str, float]]:
    """The records with the grammar of all their sides, those aside of which a side cannot be parsed, and the speed."""
    sides = RECORDS[corpus.records].sides
    if corpus.records == "verse":
        raise ConfigError("verse is not parsed", where=f"corpora.{key}.parser", remedy="none")
    if not records:
        raise DataError("nothing to parse", file=f"corpora.{key}", remedy="check its sources")
    texts = [getattr(row, side) for row in records for side in sides]
    parsed = parse_all(texts, layout.parser(corpus.parser), scratch)
    answers = iter(parsed.answers)
    done: list[Kind] = []
    aside: list[Quarantined] = []
    for row in records:
        found = {side: next(answers) for side in sides}
        refused = [(side, answer.reason) for side, answer in found.items() if isinstance(answer, Refused)]
        if refused:
            side, reason = refused[0]
            aside.append(Quarantined(id=row.id, stage="parse", reason=reason, text=getattr(row, side)))
            continue
        columns: dict[str, str] = {}
        for side, answer in found.items():
            if not isinstance(answer, Refused):
                columns |= columns_of(answer, side)
        done.append(replace(row, **columns))
    return done, aside, parsed.speed


def _rows(params: Params, corpus: Corpus, key: str) -> Iterator[Record | Quarantined]:
    where = f"corpora.{key}"
    folders = {name: path for shelf in corpus.shelves for name, path in params.sources.folders(shelf).items()}
    source = reader(corpus.reader, RECORDS[corpus.records], where=where)
    return source.rows(folders, corpus.options, language=corpus.language, where=where)
