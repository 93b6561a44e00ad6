"""Readers: from the files of published sources to typed rows, one small module a corpus.

A reader is `read(folders, **options)`: `folders` maps each source's name to its folder under data/raw, and every raw
item comes back as a record or as a quarantined row with a reason; none is lost. Options are keywords with defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from espalier.corpora.readers import (
    brown,
    conllu,
    mrpc,
    paranmt,
    paraphrases,
    parasci,
    penn,
    qcpg,
    quora,
    songci,
    sonnets,
    weibo,
    xdailydialog,
)
from espalier.corpora.records import Quarantined, Record

Reader = Callable[..., Iterator[Record | Quarantined]]

READERS: Final[dict[str, Reader]] = {
    "brown": brown.read,
    "conllu": conllu.read,
    "mrpc": mrpc.read,
    "paranmt": paranmt.read,
    "paraphrases": paraphrases.read,
    "parasci": parasci.read,
    "penn": penn.read,
    "qcpg": qcpg.read,
    "quora": quora.read,
    "songci": songci.read,
    "sonnets": sonnets.read,
    "weibo": weibo.read,
    "xdailydialog": xdailydialog.read,
}
