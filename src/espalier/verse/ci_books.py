"""The books for judging ci, from one source: the rhyme books and the variants of tunes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from espalier.io.calls import checked_call
from espalier.verse.books import Books, read_books
from espalier.verse.tune_book import TuneBook
from espalier.verse.variants import Fit, followed


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
    """Open the books in a folder of the source `couyun`, as written by `download`.

    Raises:
        ArtifactError: a book is missing or damaged.
    """
    return CiBooks(read_books(Path(folder)), TuneBook(Path(folder)))
