"""Rows that readers yield: records of pairs and sentences, neighbouring utterances as pairs, quarantined rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from espalier.corpora.records import Pair, Quarantined, Record, Sentence, values_of
from espalier.text.language import Language

#: Replaces bytes that are not UTF-8.
REPLACEMENT = "\ufffd"
#: Characters that a text may have. Only a damaged file has longer ones, and parsers need more than memory has for them.
MAX_CHARACTERS = 100_000


def quarantined(id: str, reason: str, text: str) -> Quarantined:
    """A raw row that its reader cannot use."""
    return Quarantined(id=id, stage="read", reason=reason, text=text)


def pair_of(
    id: str, source: str, target: str, *, origin: str, language: Language, group: str = ""
) -> Pair | Quarantined:
    """A pair with white space reduced to single spaces, or quarantined as "empty side" or by `fault_of`."""
    source, target = " ".join(source.split()), " ".join(target.split())
    if not source or not target:
        return quarantined(id, "empty side", f"{source}\t{target}")
    if reason := fault_of(source) or fault_of(target):
        return quarantined(id, reason, f"{source}\t{target}")
    return Pair(id=id, origin=origin, language=language, source=source, target=target, group=group)


def sentence_of(id: str, text: str, *, origin: str, language: Language, group: str = "") -> Sentence | Quarantined:
    """A sentence with white space reduced to single spaces, or quarantined as "empty line" or by `fault_of`."""
    text = " ".join(text.split())
    if not text:
        return quarantined(id, "empty line", text)
    if reason := fault_of(text):
        return quarantined(id, reason, text)
    return Sentence(id=id, origin=origin, language=language, target=text, group=group)


def fault_of(text: str) -> str | None:
    """The reason why a text cannot be used: "too long", "NUL character", "damaged character" (U+FFFD); else None."""
    if len(text) > MAX_CHARACTERS:
        return "too long"
    if "\0" in text:
        return "NUL character"
    return "damaged character" if REPLACEMENT in text else None


def writable(text: str) -> str:
    """The text with surrogates, which no file can hold, replaced by escapes: \\ud800."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def checked(row: Record | Quarantined) -> Record | Quarantined:
    """Check that any reader's row can be written, and quarantine it if not.

    A record is quarantined if a side is too long, or if a column has a NUL or a surrogate. Readers check for U+FFFD.
    """
    values = values_of(row)
    if isinstance(row, Quarantined):
        return replace(row, **{name: writable(value) for name, value in values.items()})
    sides = [values[side] for side in row.sides]
    text = "".join(values.values())
    if any(len(side) > MAX_CHARACTERS for side in sides):
        reason = "too long"
    elif "\0" in text:
        reason = "NUL character"
    elif writable(text) != text:
        reason = "damaged character"
    else:
        return row
    return quarantined(writable(row.id), reason, writable("\t".join(sides)))


def adjacent(id: str, utterances: Sequence[str], *, origin: str, language: Language) -> Iterator[Pair | Quarantined]:
    """The pairs of one dialogue, which is their `group`: n utterances give n - 1 pairs, ids ending in ".0", ".1" ...

    A dialogue of fewer than two utterances is quarantined as "no response".
    """
    if len(utterances) < 2:
        yield quarantined(id, "no response", "".join(utterances))
    for number, (post, response) in enumerate(pairwise(utterances)):
        yield pair_of(f"{id}.{number}", post, response, origin=origin, language=language, group=id)
