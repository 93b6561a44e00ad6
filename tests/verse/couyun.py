"""A small book in the format of the source couyun, written by hand: facts about characters, and made-up tunes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

#: List: characters, tone, Pingshui rhyme, part of Cilin, number of the rhyme among the 106.
RHYMES = """
\"\"\"A note, which is no data.\"\"\"

ds1 = ["中东風\\n风空", 1, 1, 1, 1]
yc18 = ["高桃", 1, 19, 8, 19]
ds31 = ["孔动", 2, -1, -1, 31]
ss60 = ["中洞梦", 3, -1, -1, 60]
xc77 = ["笑照", 3, -18, -8, 77]
wu90 = ["木竹", 4, -1, 15, 90]
"""


#: For the names of each tune its variants: counts and marks, the tones that its places want, and its rhyme groups, in
#: which a place of the other tone is negative; for one that repeats words, also its clauses in signs and its example.
Tunes = Mapping[tuple[str, ...], Sequence[tuple[Any, ...]]]

TUNES: Tunes = {
    ("试灯词", "灯词"): [
        ("3，3。3，3。", "中仄仄仄平平中平仄仄中平", [[5, 11]]),
        ("3，3。3，3。", "中仄仄仄平仄中平仄仄中仄", [[5, 11]]),
        ("2，4。3，3。", "中仄仄仄平平中平仄仄中平", [[5, 11]]),
        ("6。6。2。", "中仄仄仄平平中平仄仄中平平平", [[5, 11, 13]]),
    ],
    ("转韵词",): [("2。2。2。2。", "中平中平中仄中仄", [[5, 7], [1, 3]])],
    ("通叶词",): [("2。2、2。2。", "中平中平中平中仄", [[1, 5, -7]])],
}


def write_couyun(
    folder: Path,
    rhymes: str = RHYMES,
    tunes: Tunes = TUNES,
    kinds: Mapping[str, tuple[str, int]] = MappingProxyType({}),
) -> Path:
    """Write a rhyme book and a form book. Kinds of tunes, and the words of their first variants, are by first names."""
    (folder / "couyun/hanzi").mkdir(parents=True)
    (folder / "couyun/hanzi/hanzi_class.py").write_text(rhymes, "utf-8")
    forms = folder / "couyun/ci_pu"
    (forms / "ci_list").mkdir(parents=True)
    index: list[dict[str, Any]] = [
        {"idx": n, "names": list(names), "names_trad": [names[0]]} for n, names in enumerate(tunes)
    ]
    typed = [
        each | {"type": [*kinds[name], []]} if (name := each["names_trad"][0]) in kinds else each for each in index
    ]
    (forms / "ci_index.json").write_text(json.dumps(typed), "utf-8")
    for number, variants in enumerate(tunes.values()):
        (forms / f"ci_list/cipai_{number}.json").write_text(json.dumps([_form(*each) for each in variants]), "utf-8")
    return folder


def _form(
    pattern: str, tones: str, groups: list[list[int]], written: Sequence[str] = (), example: str = ""
) -> dict[str, Any]:
    return {
        "ge_lyu_str": tones,
        "ge_lyu_sep": list(written),
        "rhyme_pos": sorted(abs(place) for group in groups for place in group),
        "yun_classify": {str(number): group for number, group in enumerate(groups)},
        "origin": example or re.sub(r"\d+", lambda count: "字" * int(count[0]), pattern),
    }


def link_couyun(folder: Path) -> None:
    """The whole books of the mirror, at `folder`."""
    folder.parent.mkdir(parents=True)
    folder.symlink_to(Path(os.environ["ESPALIER_MIRROR"]).resolve() / "couyun")
