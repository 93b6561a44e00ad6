"""The books for judging ci, from one source: the rhyme books and the variants of tunes.

They lie in a folder of the source `couyun`, or in one archive of its files, which a model can have with it.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from espalier.io.calls import checked_call
from espalier.io.files import atomic_file
from espalier.verse.books import RHYME_BOOK, Books, read_books, source_of
from espalier.verse.tune_book import FORMS, TuneBook, without_words
from espalier.verse.variants import Fit, followed

#: The terms of the source, which ask to stay with its files.
_LICENCE: Final = "LICENSE"
#: The time of each file in an archive, so that equal books give equal bytes.
_TIME: Final = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class CiBooks:
    """The rhyme books and the book of tunes."""

    rhyme_books: Books
    tunes: TuneBook

    def followed(self, tune: str, text: str) -> Fit | None:
        """The variant of its tune that a poem follows, with its fit; None if the poem fits no variant."""
        return followed(text, self.tunes.fitting(tune, text), self.rhyme_books)


@checked_call
def open_books(folder: str | Path) -> CiBooks:
    """Open the books in a folder of the source `couyun`, as written by `download`, or in an archive of `pack_books`.

    Raises:
        ArtifactError: a book is missing or damaged.
    """
    return CiBooks(read_books(Path(folder)), TuneBook(Path(folder)))


def pack_books(folder: Path, out: Path) -> None:
    """Write an archive of what `open_books` reads, with the licence. Equal books give equal bytes.

    Of the poems that are examples of the variants, it has the marks, and which words are equal.

    Args:
        folder: the folder of the source, or another archive.

    Raises:
        ArtifactError: a book is missing or damaged.
    """
    source = source_of(folder)
    open_books(folder)
    with atomic_file(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in _contents(source):
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED, 9)


def _contents(source: Traversable) -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of each file of an archive."""
    for name in (_LICENCE, RHYME_BOOK, f"{FORMS}/ci_index.json"):
        if (file := source.joinpath(*name.split("/"))).is_file():
            yield name, file.read_bytes()
    forms = [file for file in source.joinpath(*FORMS.split("/"), "ci_list").iterdir() if file.name.endswith(".json")]
    for file in sorted(forms, key=lambda file: [int(number) for number in re.findall(r"\d+", file.name)]):
        yield f"{FORMS}/ci_list/{file.name}", without_words(file)
