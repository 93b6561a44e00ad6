"""How many Song ci follow each variant of their tune. The counts choose the variant of a tune that names none.

    python benchmarks/tune_variants.py MIRROR

MIRROR holds the sources `songci` and `couyun`. It writes `src/espalier/verse/variant_counts.json`: for each tune that
the corpus has, by its first name, the number of poems that follow each variant, up to the last that has any. Poems
under another name of their tune count too (`espalier.frames.tune_names`). It takes ten seconds.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from espalier.corpora.readers.songci import read
from espalier.corpora.records import Verse
from espalier.frames.tune_names import tune_name
from espalier.verse.ci_books import open_books
from espalier.verse.tune_book import COUNTS


def counts(mirror: Path) -> dict[str, list[int]]:
    """The poems of each variant, by the first name of the tune in the order of the book."""
    books = open_books(mirror / "couyun")
    poems = [poem for poem in read({"songci": mirror / "songci"}) if isinstance(poem, Verse)]
    fits = [fit for poem in poems if (fit := books.followed(tune_name(poem.tune), poem.target)) is not None]
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
