"""Couplets: the units of shi that have two clauses, as sentences joined by a comma; a free corpus for SAT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from espalier.corpora.readers import shi
from espalier.corpora.readers.rows import quarantined
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ConfigError
from espalier.io.hashing import seed_from
from espalier.text.language import LINE_JOINT
from espalier.verse.text import units_of


def read(folders: Mapping[str, Path], *, count: int | None = None, seed: int = 1) -> Iterator[Sentence | Quarantined]:
    """The couplets of every poem that the reader `shi` keeps: "白日依山尽，黄河入海流", without the mark at the end.

    The id is that of the poem with the unit's number from 0, `shi/tang/0/3.1`; the group is the poem. Poems that `shi`
    quarantines are quarantined for its reasons. A unit is quarantined if it does not have two clauses of one length, or
    occurred before. Of the others, `count` are kept ("not drawn").

    Args:
        folders: names and folders of the sources, as for `shi`.
        count: number of couplets, drawn by the hashes of their ids; None for all.
        seed: seed of the draw.

    Raises:
        ConfigError: not exactly one source of poems, or `count` is under 1.
        ArtifactError, DataError: raised by the reader `shi`.
    """
    if count is not None and count < 1:
        raise ConfigError(f"count {count}", where="reader couplets", remedy="at least 1")
    couplets: dict[str, Sentence] = {}  # by text
    for poem in shi.read(folders):
        if isinstance(poem, Quarantined):
            yield poem
            continue
        for number, unit in enumerate(units_of(poem.target)):
            id, text = f"{poem.id}.{number}", unit.removesuffix("。")
            clauses = text.split(LINE_JOINT)
            if len(clauses) != 2 or len(clauses[0]) != len(clauses[1]):
                yield quarantined(id, "not a couplet", unit)
            elif text in couplets:
                yield quarantined(id, "duplicate", f"of {couplets[text].id}: {unit}")
            else:
                couplets[text] = Sentence(id=id, origin=poem.origin, language="zh", target=text, group=poem.id)
    drawn = sorted(couplets.values(), key=lambda row: (seed_from(seed, row.id), row.id))[:count]
    kept = {row.id for row in drawn}
    for row in couplets.values():
        yield row if row.id in kept else quarantined(row.id, "not drawn", row.target)
