"""The rhyme books and the variants of tunes that requests for verse need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from espalier.cli.models import models
from espalier.cli.requests import are_all
from espalier.frames.tune_names import tune_name
from espalier.inference.requests import VerseRequest
from espalier.verse.ci_books import open_books
from espalier.verse.tunes import tunes


def books_for(requests: Sequence[VerseRequest], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options `books` and `tunes` of a writer of verse, where requests or other options may need them.

    They are those of the source; without it none, and the writer takes those of its model.

    Raises:
        ArtifactError: the books are damaged.
    """
    other_book = options.get("book", "mandarin") != "mandarin"
    by_variant = other_book or "tone" in options or any(request.variant is not None for request in requests)
    named = {tune_name(request.tune) for request in requests if request.tune and request.format is None}
    needed = other_book or (named and by_variant) or named - tunes().keys() or not are_all(requests)
    if not needed or (folder := models().books()) is None:
        return {}
    books = open_books(folder)
    return {"tunes": books.tunes} | ({"books": books.rhyme_books} if other_book else {})
