"""What English verse must satisfy in each line: syllables, meter and rhyme."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from espalier.frames.meters import patterns_of
from espalier.io.errors import ConfigError

#: The most lines of a frame, and the most syllables of a line.
MOST = 200


@dataclass(frozen=True)
class Lines:
    """The lines of a text.

    Attributes:
        patterns: for each line, the patterns that it may have, of s (strong), w (weak) and x (either) syllables.
        names: what each line wants, in words: "5 syllables", "iambic pentameter".
        rhyme: one letter per line, "." for none.
        metrical: whether stress counts, not only the number of syllables.
        initials: the letter with which each line begins, small; "" for any.
        words: words that occur somewhere, in small letters.
    """

    patterns: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    rhyme: str
    metrical: bool
    initials: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def lines_of(said: Mapping[str, Any], count: int | None = None) -> Lines:
    """The lines of what the rules say.

    Args:
        count: the number of lines, where no rule says it; None if it is not known.

    Raises:
        ConfigError: the rules contradict each other, or do not say how many lines there are.
    """
    if other := next((name for name in ("format", "tones", "tune") if name in said), None):
        what = f"{other} beside {'syllables' if 'syllables' in said else 'meter'}"
        raise ConfigError(
            what, where=other, remedy="English lines have syllables, a meter, a rhyme, an acrostic and words alone"
        )
    counts = _counts(said["syllables"]) if "syllables" in said else None
    meters = [each.strip() for each in said["meter"].split("/")] if "meter" in said else None
    letters = re.sub(r"[\s/]", "", said["rhyme"]).upper() if said.get("rhyme") else None
    sizes = {name: len(each) for name, each in (("syllables", counts), ("rhyme", letters)) if each is not None}
    if meters and len(meters) > 1:
        sizes["meter"] = len(meters)
    if len(set(sizes.values())) > 1:
        said_ = ", ".join(f"{name} has {size} lines" for name, size in sizes.items())
        raise ConfigError(
            f"rules contradict each other: {said_}", where="rhyme", remedy="give all of them as many lines"
        )
    size = next(iter(sizes.values()), count)
    if size is None:
        raise ConfigError("how many lines?", where="meter", remedy="give a meter for each line (a/b), or a rhyme: AABB")
    if letters is not None and not re.fullmatch(r"[A-Z.]+", letters):
        raise ConfigError(f"'{said['rhyme']}' has more than letters and dots", where="rhyme", remedy="for example ABAB")
    patterns, names = [], []
    for line in range(size):
        meter = None if meters is None else meters[line if len(meters) > 1 else 0]
        own = ("x" * counts[line],) if meter is None and counts else patterns_of(meter or "")
        if meter is not None and counts:
            own = tuple(each for each in own if len(each) == counts[line])
            if not own:
                what = f"line {line + 1} has {counts[line]} syllables, {meter} never has"
                raise ConfigError(f"rules contradict each other: {what}", where="meter", remedy="leave out one of them")
        patterns.append(own)
        syllables = f"{counts[line]} syllable{'s' * (counts[line] != 1)}" if counts else ""
        names.append(" of ".join(filter(None, [syllables, meter or ""])))
    default = "A" * size if said.get("rhymes") else "." * size
    initials, words = initials_of(said, size), words_of(said)
    return Lines(tuple(patterns), tuple(names), letters or default, meters is not None, initials, words)


def words_of(said: Mapping[str, Any]) -> tuple[str, ...]:
    """The words that must occur."""
    words = tuple(word.lower().replace("’", "'") for word in said.get("words", ()))
    if bad := next((word for word in words if not re.fullmatch("[a-z']+", word)), None):
        raise ConfigError(f"'{bad}' is no English word", where="words", remedy="give words one by one: lamp, river")
    return words


def initials_of(said: Mapping[str, Any], size: int) -> tuple[str, ...]:
    """The first letters of the lines, of an acrostic that may have fewer."""
    letters = re.sub(r"\s", "", said.get("acrostic", "")).lower()
    if "acrostic" in said and not re.fullmatch("[a-z]+", letters):
        what = f"'{said['acrostic']}' has more than letters"
        raise ConfigError(what, where="acrostic", remedy="English lines begin with its letters: LAMP")
    if len(letters) > size:
        what = f"rules contradict each other: {len(letters)} letters for {size} lines"
        raise ConfigError(what, where="acrostic", remedy="give one letter for each line, or fewer")
    return (*letters, *[""] * (size - len(letters)))


def _counts(text: str) -> list[int]:
    parts = [part.strip() for part in re.split(r"[/,\n]", text) if part.strip()]
    if not parts or not all(part.isdecimal() and any(map(int, part)) for part in parts):
        raise ConfigError(f"'{text[:40]}' are no counts", where="syllables", remedy="one for each line: 5/7/5")
    if long := next((part for part in parts if len(part) > len(str(MOST)) or int(part) > MOST), None):
        raise ConfigError(f"a line of {long[:40]} syllables", where="syllables", remedy=f"at most {MOST}")
    if len(parts) > MOST:
        raise ConfigError(f"{len(parts)} lines", where="syllables", remedy=f"at most {MOST}")
    return [int(part) for part in parts]
