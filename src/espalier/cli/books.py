"""The rhyme books and the variants of tunes that requests for verse need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from espalier.inference.requests import VerseRequest
from espalier.io.errors import ArtifactError
from espalier.verse.books import REMEDY
from espalier.verse.ci_books import open_books
from espalier.verse.tunes import tunes


def books_for(requests: Sequence[VerseRequest], options: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """The options `books` and `tunes` of a writer of verse, where requests or other options need them.

    Args:
        folder: the folder of the books; None if it is missing.

    Raises:
        ArtifactError: the books are needed, and missing.
    """
    other_book = options.get("book", "mandarin") != "mandarin"
    by_variant = other_book or "tone" in options or any(request.variant is not None for request in requests)
    named = {request.tune for request in requests if request.tune and request.format is None}
    if not (other_book or (named and by_variant) or (folder and named - tunes().keys())):
        return {}
    if folder is None:
        raise ArtifactError("no rhyme books and variants of tunes", where="data/raw/forms/couyun", remedy=REMEDY)
    books = open_books(folder)
    return {"tunes": books.tunes} | ({"books": books.rhyme_books} if other_book else {})
