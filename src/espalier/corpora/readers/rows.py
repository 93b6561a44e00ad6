"""Rows that readers produce: records of pairs and sentences, and quarantined rows."""

from __future__ import annotations

from espalier.corpora.records import Pair, Quarantined, Sentence

#: Replaces bytes that are not UTF-8.
REPLACEMENT = "\ufffd"


def quarantined(id: str, reason: str, text: str) -> Quarantined:
    """A raw row that its reader cannot use."""
    return Quarantined(id=id, stage="read", reason=reason, text=text)


def pair_of(id: str, source: str, target: str, *, origin: str, language: str, group: str = "") -> Pair | Quarantined:
    """A pair with single spaces for white space, or quarantined as "empty side" or "damaged character"."""
    source, target = " ".join(source.split()), " ".join(target.split())
    if not source or not target:
        return quarantined(id, "empty side", f"{source}\t{target}")
    if REPLACEMENT in source + target:
        return quarantined(id, "damaged character", f"{source}\t{target}")
    return Pair(id=id, origin=origin, language=language, source=source, target=target, group=group)


def sentence_of(id: str, text: str, *, origin: str, language: str) -> Sentence | Quarantined:
    """A sentence with single spaces for white space, or quarantined as "empty line" or "damaged character"."""
    text = " ".join(text.split())
    if not text:
        return quarantined(id, "empty line", text)
    if REPLACEMENT in text:
        return quarantined(id, "damaged character", text)
    return Sentence(id=id, origin=origin, language=language, target=text)
