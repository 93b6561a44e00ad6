"""Mandarin: the rhyme groups and tones of the readings of Han characters.

The readings are those of a present-day dictionary, 通用规范汉字字典 (2013), or of 现代汉语词典 (1983) for characters
that it lacks, as the Unihan database has them. A character that neither has is read as pypinyin reads it first. Rare
readings, on request, are all that pypinyin knows, such as shà for 接.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Final, Literal

from espalier.verse.rhyme import group_of_final, pypinyin_readings, strict_final

#: A level (平) or an oblique (仄) tone.
Tone = Literal["平", "仄"]
#: The release of the package pypinyin-dict that `mandarin.tsv.gz` was made from, and the fields of Unihan, the better
#: first. A line has the finals that some characters have in all their readings, and these characters.
PYPINYIN_DICT: Final = ("0.9.0", "kTGHZ2013", "kXHC1983")

_TONES: Final[dict[str, Tone]] = {"1": "平", "2": "平", "3": "仄", "4": "仄"}


def mandarin_groups(character: str, *, rare: bool = False) -> frozenset[str]:
    """The rhyme group of each reading: 还 -> {"ai", "an"}."""
    return frozenset(group for group, _ in _readings(character, rare) if group)


def mandarin_tones(character: str, *, rare: bool = False) -> frozenset[Tone]:
    """The tone of each reading. Tones 1 and 2 are level, 3 and 4 oblique, the neutral one neither."""
    return frozenset(tone for _, tone in _readings(character, rare) if tone)


def mandarin_readings(character: str, *, rare: bool = False) -> frozenset[str]:
    """The rhyme group and tone of each reading: 还 -> {"ai平", "an平"}. Neutral tones are left out."""
    return frozenset(f"{group}{tone}" for group, tone in _readings(character, rare) if group and tone)


def mandarin_characters() -> Iterable[str]:
    """All characters that have a reading."""
    return dict.fromkeys([*_dictionary(), *map(chr, pypinyin_readings())])


@lru_cache(maxsize=65536)
def _readings(character: str, rare: bool) -> frozenset[tuple[str | None, Tone | None]]:
    """The rhyme group and tone of each reading."""
    known = None if rare else _dictionary().get(character)
    finals = _finals(character, rare) if known is None else known
    return frozenset((group_of_final(final.rstrip("12345")), _TONES.get(final[-1:])) for final in finals)


def _finals(character: str, rare: bool) -> Iterable[str]:
    """The finals of pypinyin's first reading or, if `rare`, of all."""
    syllables = pypinyin_readings().get(ord(character), "").split(",") if len(character) == 1 else []
    return map(strict_final, filter(None, syllables if rare else syllables[:1]))


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, tuple[str, ...]]:
    """The finals of the readings of each character, with digits for tones."""
    packed = resources.files("espalier.verse").joinpath("mandarin.tsv.gz").read_bytes()
    rows = (line.split("\t") for line in gzip.decompress(packed).decode().splitlines())
    return {character: tuple(finals.split()) for finals, characters in rows for character in characters}
