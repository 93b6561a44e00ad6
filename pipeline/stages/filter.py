"""filter: the rows of a corpus that pass its rules, split; the others aside with a reason; all of them counted."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from espalier.corpora.filters import require, screen
from espalier.corpora.leakage import leakage
from espalier.corpora.records import RECORDS, Quarantined, Verse, records_of, table_of
from espalier.corpora.splits import split_of
from espalier.io.files import atomic_folder, write_json
from espalier.io.tables import read_table, write_table
from pipeline import layout
from pipeline.params import entry, load_params
from pipeline.progress import counted, say

SPLITS = ("train", "dev", "test")


def run(key: str) -> None:
    """Make `data/corpora/<key>/` from what was parsed, and count every row that came in."""
    corpus = entry("corpus", load_params().corpora, key)
    kind = RECORDS[corpus.records]
    read = records_of(read_table(layout.parsed(key) / "records.parquet"), kind)
    unread = read_table(layout.parsed(key) / "quarantine.parquet")
    kept, dropped = screen(read, corpus.filters)
    aside = pd.concat([unread, table_of(dropped, Quarantined)], ignore_index=True)
    require(len(kept), len(aside), corpus.filters, corpus=key)
    table = table_of(kept, kind)
    split = split_of(table, corpus.split, where=f"corpora.{key}.split")
    parts = {name: table[split == name].reset_index(drop=True) for name in SPLITS}
    with atomic_folder(layout.corpus(key)) as folder:
        for name, part in parts.items():
            write_table(folder / f"{name}.parquet", part)
        write_table(folder / "quarantine.parquet", aside)
    counts = {name: len(part) for name, part in parts.items()}
    write_json(
        layout.corpus_metrics(key),
        {
            "rows": {"read": len(read) + len(unread), **counts, "quarantined": len(aside)},
            **({"tunes": {name: int(part["tune"].nunique()) for name, part in parts.items()}} if kind is Verse else {}),
            "origins": {
                name: part["origin"].value_counts(sort=False).sort_index().to_dict() for name, part in parts.items()
            },
            "quarantined": dict(sorted(Counter(aside["reason"]).items(), key=lambda item: (-item[1], item[0]))),
            "leakage": leakage(parts, kind),
        },
    )
    say(counted([*counts.items(), ("quarantined", len(aside))]))
