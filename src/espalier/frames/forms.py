"""Forms that poets know by name: what their rules say."""

from __future__ import annotations

from typing import Any, Final

from espalier.io.errors import ConfigError
from espalier.verse.regulated import regulated_forms

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


def form_of(name: str) -> list[dict[str, Any]]:
    """What the rules of a form say, in each of its kinds; a text keeps one of them.

    Regulated verse has four kinds, by the tones of its opening. Couplets oppose each other, and the next takes up the
    tones of the last line (粘对); 孤平 and 三平调 do not occur. It rhymes by Pingshui yun on level tones; in two of the
    kinds the first line rhymes too. `parallel` has the couplets that should be parallel (对仗); that is only told.

    Raises:
        ConfigError: no form has this name.
    """
    if name in ENGLISH:
        return [ENGLISH[name]]
    if name not in REGULATED:
        raise ConfigError.unknown("form", name, NAMES, where="form")
    lines, words = REGULATED[name]
    return [_regulated(tones, lines, words) for tones in regulated_forms(lines, words)]


def _regulated(tones: str, lines: int, words: int) -> dict[str, Any]:
    first = tones[words - 1] == "平"  # a line that ends on a level tone rhymes
    marks = ["。" if line % 2 or (first and not line) else "，" for line in range(lines)]
    format_ = "".join(f"{words}{mark}" for mark in marks)
    return {
        "format": format_, "rhyme": "A" * format_.count("。"), "tones": tones, "book": "pingshui", "marks": False,
        "parallel": PARALLEL if lines == 8 else (),
    }  # fmt: skip
