"""Rules for punctuation marks in a unit of verse, and for the end of a Chinese unit."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from espalier.text.language import Language, is_mark, join_tokens, tokens_of
from espalier.verse.text import TERMINALS, join_units

HYPHENS = frozenset("-‐‑‒–")
_QUESTIONS = frozenset("！？!?")
#: Marks that follow a word; two of them in a row are a mistake, unless both are of `_QUESTIONS`.
_STOPS = frozenset("，、；：。,;:.") | _QUESTIONS


def is_opening(token: str) -> bool:
    """Whether a mark opens a quotation, a title or a parenthesis: “ ‘ 《 （ 「."""
    return unicodedata.category(token[0]) in ("Ps", "Pi")


def is_closing(token: str) -> bool:
    """Whether a mark closes a quotation, a title or a parenthesis: ” ’ 》 ） 」."""
    return unicodedata.category(token[0]) in ("Pe", "Pf")


def misplaced_mark(unit: Sequence[str]) -> str | None:
    """The first misplaced mark of a unit, or None.

    A stop or closing mark needs a word before it. A stop may not follow another stop (，，), except ！ and ？ in any
    order. Opening marks, straight quotes, dashes and ellipses may be anywhere, also doubled (……, ——).
    """
    has_words = False
    for before, slot in zip(("", *unit), unit, strict=False):
        if not is_mark(slot):
            has_words = True
        elif slot in _STOPS or is_closing(slot):
            doubled = slot in _STOPS and before in _STOPS and not {slot, before} <= _QUESTIONS
            if not has_words or is_opening(before) or doubled:
                return slot
    return None


def sentences_of(slots: Iterable[str]) -> list[tuple[str, ...]]:
    """Chinese slots, split into units: each ends after 。！？ and the marks that belong to them (？！, 。”, ！……)."""
    units: list[list[str]] = [[]]
    ended = False
    for slot in slots:
        if ended and not _belongs(slot, units[-1]):
            units.append([])
            ended = False
        units[-1].append(slot)
        ended = ended or slot in TERMINALS
    return [tuple(unit) for unit in units if unit]


def verse_of_line(line: str, language: Language) -> str:
    """A verse written on one line: `/` ends a unit, and in Chinese 。！？ do so too."""
    units = [tokens_of(part, language) for part in line.split("/") if part.strip()]
    if language == "zh":
        units = [list(sentence) for unit in units for sentence in sentences_of(unit)]
    return join_units(join_tokens(unit, language) for unit in units)


def _belongs(slot: str, unit: list[str]) -> bool:
    """Whether a slot after the end of a sentence still belongs to it. A straight quote does if another one is open."""
    if slot == '"':
        return unit.count('"') % 2 == 1
    return slot in TERMINALS or slot == "…" or (is_mark(slot) and is_closing(slot))
