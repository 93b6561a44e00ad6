"""How many Song ci follow each variant of their tune. The counts choose the variant of a tune that names none.

    python benchmarks/tune_variants.py MIRROR

MIRROR holds the sources `songci` and `couyun`. It writes `src/espalier/verse/variant_counts.json`: for each tune that
the corpus has, by its first name, the number of poems that follow each variant, up to the last that has any. Poems
under another name of their tune count too (`espalier.frames.tune_names`), and so do those that write a word that is
repeated at once as one sentence (错错错). It takes ten seconds.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

from espalier.corpora.readers.songci import read
from espalier.corpora.records import Verse
from espalier.frames.tune_names import tune_name
from espalier.verse.ci_books import open_books
from espalier.verse.tune_book import COUNTS

REPEATED = re.compile(r"^(\S)\1{1,2}。$", re.MULTILINE)


def parted(text: str) -> str:
    """A poem with a sentence for each time that a word is said, as the book has it: 错。错。错。"""
    return REPEATED.sub(lambda match: "\n".join([f"{match[1]}。"] * (len(match[0]) - 1)), text)


def counts(mirror: Path) -> dict[str, list[int]]:
    """The poems of each variant, by the first name of the tune in the order of the book."""
    books = open_books(mirror / "couyun")
    poems = [poem for poem in read({"songci": mirror / "songci"}) if isinstance(poem, Verse)]
    asked = [(tune_name(poem.tune), poem.target) for poem in poems]
    fits = [
        fit
        for name, text in asked
        if (fit := books.followed(name, text) or books.followed(name, parted(text))) is not None
    ]
    followed = Counter((fit.variant.tune, fit.variant.number) for fit in fits)
    last = {tune: max(number for name, number in followed if name == tune) for tune, _ in followed}
    names = [name for name, *_ in books.tunes.names if name in last]
    return {name: [followed[name, number] for number in range(1, last[name] + 1)] for name in names}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("python benchmarks/tune_variants.py MIRROR: the folder of the sources songci and couyun")
    rows = [
        f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(row)}" for name, row in counts(Path(sys.argv[1])).items()
    ]
    COUNTS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
