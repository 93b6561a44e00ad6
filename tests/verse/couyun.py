"""A small book in the format of the source couyun, written by hand: facts about characters, and two made-up tunes."""

from __future__ import annotations

import json
from pathlib import Path
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


def write_couyun(folder: Path, tunes: list[tuple[list[str], list[dict[str, Any]]]] = ()) -> Path:  # type: ignore[assignment]
    """Write the rhyme book, and a form book with `tunes`: the names of each, and its variants."""
    (folder / "couyun/hanzi").mkdir(parents=True)
    (folder / "couyun/hanzi/hanzi_class.py").write_text(RHYMES, "utf-8")
    forms = folder / "couyun/ci_pu"
    (forms / "ci_list").mkdir(parents=True)
    index = [{"idx": number, "names": names, "names_trad": names} for number, (names, _) in enumerate(tunes)]
    (forms / "ci_index.json").write_text(json.dumps(index), "utf-8")
    for number, (_, variants) in enumerate(tunes):
        (forms / f"ci_list/cipai_{number}.json").write_text(json.dumps(variants), "utf-8")
    return folder
