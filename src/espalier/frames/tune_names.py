"""Other names of tunes than those in the book of tunes, for all who name a tune.

Of the 817 tunes in the source `couyun`, 796 have a single name. `other_names.yaml` adds names that the Qinding cipu
notes at them (又名). Corpora, their scores and the stages of the pipeline know the names of the book alone.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import yaml

from espalier.frames.script import read_as
from espalier.verse.tune_book import TuneBook
from espalier.verse.tunes import tunes


@lru_cache(maxsize=1)
def other_names() -> dict[str, str]:
    """The name in the book of tunes by each other name, in Simplified characters."""
    text = resources.files("espalier.verse").joinpath("other_names.yaml").read_text(encoding="utf-8")
    rows: dict[str, list[str]] = yaml.safe_load(text)
    return {read_as(other): name for name, others in rows.items() for other in others}


def tune_name(name: str) -> str:
    """The name in the book of tunes by another name, in Simplified or Traditional characters; else the name itself."""
    return other_names().get(read_as(name), name)


def is_tune(name: str, book: TuneBook | None) -> bool:
    """Whether the catalogue or the book has a tune by this name or another of its names."""
    named = tune_name(name)
    return named in tunes() or (book is not None and named in book)
