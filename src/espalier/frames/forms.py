"""Forms that poets know by name: what their rules say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

from espalier.frames.script import read_as
from espalier.io.errors import ConfigError
from espalier.verse.regulated import regulated_ways
from espalier.verse.slots import BLANK, RHYME

#: The forms of regulated verse (近体诗): lines, and words of a line.
REGULATED: Final = {"五言绝句": (4, 5), "七言绝句": (4, 7), "五言律诗": (8, 5), "七言律诗": (8, 7)}
#: The couplets of a lüshi (律诗) whose lines are parallel, by their clauses: the second and the third.
PARALLEL: Final = ((2, 3), (4, 5))
#: English forms, by what their rules say.
ENGLISH: Final[dict[str, dict[str, Any]]] = {
    "haiku": {"syllables": "5/7/5"},
    "limerick": {
        "meter": "/".join(f"anapestic {size}" for size in ("trimeter", "trimeter", "dimeter", "dimeter", "trimeter")),
        "rhyme": "AABBA",
    },
    "common metre": {
        "meter": "/".join(["iambic tetrameter", "iambic trimeter"] * 2),
        "rhyme": "ABAB",
    },
    "Shakespearean sonnet": {"meter": "iambic pentameter", "rhyme": "ABABCDCDEFEFGG"},
    "Petrarchan sonnet": {"meter": "iambic pentameter", "rhyme": "ABBAABBACDECDE"},
}
NAMES: Final = (*REGULATED, *ENGLISH)
#: Other names of forms. Capitals and Traditional characters make no difference.
ALSO: Final = {
    "五绝": "五言绝句", "七绝": "七言绝句", "五律": "五言律诗", "七律": "七言律诗", "common meter": "common metre",
}  # fmt: skip


def form_named(name: str) -> str | None:
    """The form that a name means, under its own name; None if there is none."""
    every = {other.lower(): form for other, form in ({form: form for form in NAMES} | ALSO).items()}
    return every.get(" ".join(read_as(name).lower().split()))


def no_format(name: str) -> ConfigError | None:
    """The error for the name of a form where a format is wanted; None for what is no name of a form."""
    form = form_named(name)
    if form is None:
        return None
    if form in REGULATED:
        return ConfigError(f"{form} is a form", where="format", remedy=f"`espalier generate --form {form}` writes it")
    remedy = f"Form('{form}').processor writes it with any model of transformers (docs/frames.md)"
    return ConfigError(f"{form} is a form that models of ours do not write", where="format", remedy=remedy)


def form_of(name: str) -> list[dict[str, Any]]:
    """What the rules of a form say, in each of its kinds; a text keeps one of them.

    Regulated verse has four kinds, by the tones of its opening. Couplets oppose each other, and the next takes up the
    tones of the last line (粘对); 孤平 and 三平调 do not occur. It rhymes by Pingshui yun on level tones; in two of the
    kinds the first line rhymes too. `ways` has the tones of each line, in one or several ways (`regulated_ways`), and
    `tones` those of the most usual ones. `parallel` has the couplets that should be parallel (对仗); that is only told.

    Raises:
        ConfigError: no form has this name.
    """
    form = form_named(name)
    if form is None:
        raise ConfigError.unknown("form", name, NAMES, where="form")
    if form in ENGLISH:
        return [ENGLISH[form]]
    return [_regulated(ways) for ways in regulated_ways(*REGULATED[form])]


def _regulated(ways: Sequence[Sequence[str]]) -> dict[str, Any]:
    usual = [way for way, *_ in ways]
    slots = [BLANK * (len(tones) - 1) + (RHYME if tones.endswith("平") else BLANK) for tones in usual]
    return {
        "format": "".join(line + "，。"[number % 2] for number, line in enumerate(slots)),
        "rhyme": "A" * (len(ways) // 2), "tones": "".join(usual), "ways": ways, "book": "pingshui",
        "parallel": PARALLEL if len(ways) == 8 else (),
    }  # fmt: skip


def in_each_way(kind: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A kind of a form with its lines in each of their ways, those with the fewest unusual lines first."""
    if "ways" not in kind:
        return [kind]
    chosen = product(*(enumerate(ways) for ways in kind["ways"]))
    by_rarity = sorted(chosen, key=lambda lines: sum(number > 0 for number, _ in lines))
    return [{**kind, "tones": "".join(tones for _, tones in lines)} for lines in by_rarity]
