"""The words of the pastiche ci: those of all poems, and those of a season and a theme."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from pypinyin import Style, lazy_pinyin

from espalier.nursery.data import load
from espalier.verse.rhyme import rhyme_group

SEASONS = ("spring", "summer", "autumn", "winter")
#: The boudoir and its waiting; roads and partings; fishermen and recluses; the frontier and its ruins.
THEMES = ("bower", "parting", "hermit", "frontier")

#: How a character sounds where it rhymes: its group with ü read as u, its group with ü read as i, and its tone. Words
#: of one key rhyme under either reading, so a poem's rhymes are right by every protocol that the project knows.
Sound = tuple[str, str, str]

#: Characters whose default reading is not, or not always, what a poem means at the end of a line (还 as hái, 长 as
#: zhǎng), and toneless ones. They have the tone "?" and so never rhyme.
_TWO_READINGS = "还长重更塞曲骑了子裳兴只薄发札咽和"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one season and one theme.

    Attributes:
        scenery: class ("bloom") -> field ("two", "does3") -> words.
        deeds: kind ("lean") -> field ("head", "verb", "two", "three") -> words.
        loose: field ("when", "where", "place", "short2", "short3") -> words.
    """

    scenery: dict[str, dict[str, tuple[str, ...]]]
    deeds: dict[str, dict[str, tuple[str, ...]]]
    loose: dict[str, tuple[str, ...]]


@cache
def lexicon(season: str, theme: str) -> Lexicon:
    """The lexicon of a season and a theme, in the order of the files."""
    raw = _raw()
    tags = ("any", season, theme)
    return Lexicon(
        scenery=_classes(raw["scenery"], tags),
        deeds=_classes(raw["deeds"], tags),
        loose={name: _words(raw[name], (*tags, "oblique")) for name in ("when", "where", "place", "short2", "short3")},
    )


@cache
def sound(character: str) -> Sound | None:
    """The sound of a character for rhyming, by its default Mandarin reading; None if unknown."""
    as_u, as_i = rhyme_group(character), rhyme_group(character, u_umlaut="i")
    if as_u is None or as_i is None:
        return None
    tone = lazy_pinyin(character, style=Style.TONE3)[0][-1]
    known = tone in "1234" and character not in _TWO_READINGS
    return as_u, as_i, ("平" if tone in "12" else "仄") if known else "?"


@cache
def by_sound(words: tuple[str, ...]) -> dict[Sound | None, tuple[str, ...]]:
    """The words grouped by the sound of their last character, in order of first appearance."""
    groups: dict[Sound | None, list[str]] = {}
    for word in words:
        groups.setdefault(sound(word[-1]), []).append(word)
    return {key: tuple(group) for key, group in groups.items()}


@cache
def supply(season: str, theme: str) -> dict[Sound, int]:
    """The number of characters of each sound that can end a clause."""
    words = lexicon(season, theme)
    characters: dict[str, None] = {}
    for table, fields in ((words.scenery, ("does2", "does3", "state")), (words.deeds, ("two", "three"))):
        for entry in table.values():
            characters.update(dict.fromkeys(word[-1] for field in fields for word in entry[field]))
    for name in ("place", "short2", "short3"):
        characters.update(dict.fromkeys(word[-1] for word in words.loose[name]))
    counts: dict[Sound, int] = {}
    for character in characters:
        key = sound(character)
        if key is not None:
            counts[key] = counts.get(key, 0) + 1
    return counts


@cache
def _raw() -> dict[str, Any]:
    return {**load("lexicon_zh.yaml"), **load("lexicon_zh_people.yaml")}


def _classes(raw: dict[str, dict[str, Any]], tags: tuple[str, ...]) -> dict[str, dict[str, tuple[str, ...]]]:
    classes = {}
    for name, fields in raw.items():
        themes = fields.get("themes", "any").split()
        if "any" in themes or tags[2] in themes:
            classes[name] = {field: _words(fields[field], tags) for field in fields if field != "themes"}
    return classes


def _words(field: dict[str, str], tags: tuple[str, ...]) -> tuple[str, ...]:
    # dict.fromkeys, not a set: the order must be the file's on every machine.
    return tuple(dict.fromkeys(word for tag in tags for word in field.get(tag, "").split()))
