"""parse: from raw files, or a nursery's grammar, to records; with a parser, to records with trees."""

from __future__ import annotations

from collections.abc import Iterator

from espalier.corpora.records import Quarantined, Verse, table_of
from espalier.io.errors import ConfigError
from espalier.io.files import atomic_folder
from espalier.io.tables import write_table
from pipeline import layout
from pipeline.params import Corpus, entry, load_params
from pipeline.stage import counted, say


def run(key: str) -> None:
    """Read one corpus into `data/parsed/<key>/`: what can be read, and what cannot with the reason."""
    corpus = entry("corpus", load_params().corpora, key)
    records: list[Verse] = []
    aside: list[Quarantined] = []
    for row in _rows(corpus, key):
        (aside if isinstance(row, Quarantined) else records).append(row)  # type: ignore[arg-type]
    with atomic_folder(layout.parsed(key)) as folder:
        write_table(folder / "records.parquet", table_of(records, Verse))
        write_table(folder / "quarantine.parquet", table_of(aside, Quarantined))
    say(counted([("read", len(records)), ("quarantined", len(aside))]))


def _rows(corpus: Corpus, key: str) -> Iterator[Verse | Quarantined]:
    from espalier.corpora.readers import READERS
    from espalier.nursery import NURSERIES

    try:
        if corpus.reader in NURSERIES:
            yield from NURSERIES[corpus.reader](**corpus.options)
        elif corpus.reader in READERS:
            names = [name for name in (corpus.source_1, corpus.source_2) if name != layout.NONE]
            yield from READERS[corpus.reader]({name: layout.raw(name) for name in names}, **corpus.options)
        else:
            raise ConfigError.unknown("reader", corpus.reader, [*READERS, *NURSERIES], where=f"corpora.{key}.reader")
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise ConfigError(f"{error}", where=f"corpora.{key}.options") from error
