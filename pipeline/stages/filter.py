"""filter: filter and split the rows of a corpus, quarantine the others with a reason, and count all."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

from espalier.cli.progress import counted, say
from espalier.corpora.filters import require, screen, why_none
from espalier.corpora.leakage import leakage
from espalier.corpora.records import RECORDS, Quarantined, Record, optional_columns, records_of, table_of
from espalier.corpora.splits import LEFT_OUT, SPLITS, split_of
from espalier.io.files import atomic_folder, together
from espalier.io.registry import entry
from espalier.io.tables import write_table
from pipeline import layout
from pipeline.params.read import load_params
from pipeline.records.artifacts import read_quarantine, read_records, write_metrics


def run(key: str) -> None:
    """Make `data/corpora/<key>/` from the parsed records, and count every row that was read."""
    corpus = entry("corpus", load_params().corpora, key)
    kind = RECORDS[corpus.records]
    records, unread = read_records(layout.parsed(key), "records", kind), read_quarantine(layout.parsed(key))
    kept, dropped = screen(records, corpus.filters)
    why = "" if kept else why_none([*records_of(unread, Quarantined), *dropped])
    require(len(kept), len(unread) + len(dropped), corpus.filters, corpus=key, why=why)
    table = table_of(kept, kind)
    split = split_of(table, corpus.split, where=f"corpora.{key}.split")
    # A choice of the split says nothing about the quality of the data, which `require` limits.
    out = zip(table.loc[split == "", "id"], table.loc[split == "", "target"], strict=True)
    dropped += [Quarantined(id=id_, stage="filter", reason=LEFT_OUT, text=text) for id_, text in out]
    quarantined = pd.concat([unread, table_of(dropped, Quarantined)], ignore_index=True)
    parts = {name: table[split == name].reset_index(drop=True) for name in SPLITS}
    counts = {**{name: len(part) for name, part in parts.items()}, "quarantined": len(quarantined)}
    reasons = Counter(quarantined["reason"])
    rows = {"read": len(records) + len(unread), **counts}
    details = {
        "rows": rows,
        "distinct": {
            column: {name: int(part[column].nunique()) for name, part in parts.items()} for column in kind.counted
        },
        "origins": {
            name: part["origin"].value_counts(sort=False).sort_index().to_dict() for name, part in parts.items()
        },
        **_filled(parts, kind),
        "quarantined": dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        "leakage": leakage(parts, kind),
    }
    with together():
        with atomic_folder(layout.corpus(key)) as folder:
            for name, part in parts.items():
                write_table(folder / f"{name}.parquet", part)
            write_table(folder / "quarantine.parquet", quarantined)
        write_metrics("corpora", key, rows, details)
    say(counted(list(counts.items())))


def _filled(parts: Mapping[str, pd.DataFrame], kind: type[Record]) -> dict[str, Any]:
    """For each optional column of the records, the number of rows of each split that fill it."""
    names = [name for name in optional_columns(kind) if name in parts["train"]]
    filled = {name: {split: int((part[name] != "").sum()) for split, part in parts.items()} for name in names}
    return {"filled": filled} if filled else {}
