"""Meters of English verse: the stress of the syllables of a line."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from espalier.io.errors import ConfigError

#: A foot, by its name: s is a strong syllable, w a weak one.
FEET: Final = {"iambic": "ws", "trochaic": "sw", "anapestic": "wws", "dactylic": "sww"}
#: How many feet a line has.
SIZES: Final = {
    name: size for size, name in enumerate(("dimeter", "trimeter", "tetrameter", "pentameter", "hexameter"), start=2)
}


def patterns_of(meter: str) -> tuple[str, ...]:
    """The patterns of a meter, each a syllable's s or w: the regular one first, then those that poets allow.

    An iambic line may begin with a trochee, and end with one more weak syllable. A trochaic or dactylic line may lack
    weak syllables at its end. The first foot of an anapestic line may be an iamb.

    Raises:
        ConfigError: it is no meter.
    """
    foot, _, size = meter.strip().lower().partition(" ")
    if foot not in FEET or size not in SIZES:
        remedy = f"write one of {', '.join(FEET)}, and one of {', '.join(SIZES)}: iambic pentameter"
        raise ConfigError(f"'{meter}' is no meter", where="meter", remedy=remedy)
    line = FEET[foot] * SIZES[size]
    match foot:
        case "iambic":
            return (line, line + "w", "sw" + line[2:], "sw" + line[2:] + "w")
        case "anapestic":
            return (line, line[1:])
        case "trochaic":
            return (line, line[:-1])
    return (line, line[:-1], line[:-2])


def fits(shape: str, pattern: str, place: int) -> bool:
    """Whether the syllables of a word fit a pattern from a place on. x fits any syllable, and any stress fits x."""
    wanted = pattern[place : place + len(shape)]
    return len(wanted) == len(shape) and all(
        "x" in (stress, want) or (stress == "1") == (want == "s") for stress, want in zip(shape, wanted, strict=True)
    )


@lru_cache(maxsize=65536)
def after(
    places: frozenset[tuple[int, int]], shapes: frozenset[str], patterns: tuple[str, ...]
) -> frozenset[tuple[int, int]]:
    """The places in patterns after a word, each with the index of its pattern; empty if the word fits nowhere."""
    return frozenset(
        (index, place + len(shape))
        for index, place in places
        for shape in shapes
        if fits(shape, patterns[index], place)
    )
