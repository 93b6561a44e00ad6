"""Rhyme and tone accuracy of ci, by the Qinding cipu and by rhyme books.

A poem counts if its reference fits a variant of its tune: the tune is in the book, and the sentences have the lengths
of the variant. The generated text is compared with the variant that it follows itself (`followed`), the same variant
for all measures. A text that fits no variant of the tune counts as wrong in every measure, at all places of the
reference's variant.

A word with several readings has a tone, or rhymes, if any of its readings does. Only places with a fixed tone in the
variant count. A word that is in no book has no tone.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, share_of, signature_of
from espalier.metrics.texts import Verses
from espalier.metrics.verse_format import unit_is_correct
from espalier.verse.books import Books
from espalier.verse.ci_books import open_books
from espalier.verse.text import units_of
from espalier.verse.tune_book import TuneBook
from espalier.verse.variants import Fit, fit_of, has_clauses

_POEMS, _FITS, _WANTED = range(3)
_RHYMES, _TONES, _ALL_TONES, _WHOLE = range(3, 11, 2)  # by the book; by Mandarin in the next column
_REPEATING, _REPEATED, _CLAUSES = 11, 12, 13
_COLUMNS: Final = 14


def prosody_statistics(
    tunes: Sequence[str], references: Sequence[str], hypotheses: Sequence[str], folder: Path
) -> Array:
    """(texts, 14): statistics of each text; zeros if the reference fits no variant of its tune.

    Columns: 1; whether the text fits a variant; places with a fixed tone; whether all rhymes are right, by Cilin and by
    Mandarin; places with the right tone, by the book and by Mandarin; whether all have it, by both; whether format
    (that of the reference), rhyme, tones and repeated lines are all right, by both; whether the variant repeats words
    (叠, 重); whether the text repeats all of them; whether the clauses of the text are those of a variant of the tune.

    Args:
        tunes: the tune name of each reference.
        references: verses in the form of `espalier.verse.text`.
        hypotheses: one per reference.
        folder: folder of the source `couyun`.

    Raises:
        EspalierError: lists of different lengths.
        ArtifactError: the folder lacks a file, or one is damaged.
    """
    require_lengths("references", len(references), tunes=tunes, hypotheses=hypotheses)
    books = open_books(folder)
    wanted: dict[tuple[str, str], Fit | None] = {}
    statistics = np.zeros((len(references), _COLUMNS))
    for row, tune, reference, text in zip(statistics, tunes, references, hypotheses, strict=True):
        if (tune, reference) not in wanted:
            wanted[tune, reference] = books.followed(tune, reference)
        expected = wanted[tune, reference]
        if expected is None:
            continue
        fit = expected if text == reference else books.followed(tune, text)
        row[_POEMS], row[_WANTED] = 1.0, sum(expected.wanted)
        row[_REPEATING] = bool(expected.copies)
        row[_CLAUSES] = any(has_clauses(text, variant) for variant in books.tunes.called(tune))
        if fit is not None:
            row[_FITS], row[_WANTED] = 1.0, sum(fit.wanted)
            _judge(row, text, fit, books.rhyme_books, formed=_has_format(reference, text))
    return statistics


def marked_places(tunes: Sequence[str], texts: Sequence[str], folder: Path) -> dict[str, list[str]]:
    """For each text, the variant that it follows, and one sign for each of its places; "" if it fits none.

    Returns:
        `variant` ("卜算子 1"), `tones` and `letters` as in `Variant`, and `kept` as in `Fit`.
    """
    books = open_books(folder)
    fits = [books.followed(tune, text) for tune, text in zip(tunes, texts, strict=True)]
    return {
        "variant": [f"{fit.variant.tune} {fit.variant.number}" if fit else "" for fit in fits],
        "tones": [fit.variant.tones if fit else "" for fit in fits],
        "letters": [fit.variant.letters if fit else "" for fit in fits],
        "kept": [fit.kept if fit else "" for fit in fits],
    }


def fitting(tunes: Sequence[str], texts: Sequence[str], folder: Path) -> Mapping[str, int]:
    """The numbers of poems, of poems whose tune is in the book, and of poems that fit a variant of it."""
    book = TuneBook(folder)
    return {
        "poems": len(texts),
        "tune in the book": sum(tune in book for tune in tunes),
        "fits a variant": sum(bool(book.fitting(tune, text)) for tune, text in zip(tunes, texts, strict=True)),
    }


def _judge(row: Array, text: str, fit: Fit, books: Books, *, formed: bool) -> None:
    """Fill the columns for a text that follows a variant."""
    mandarin = fit_of(text, fit.variant, books, book="mandarin", by="mandarin")
    for column, each in enumerate((fit, mandarin)):
        row[_RHYMES + column] = each.rhymes_throughout
        row[_TONES + column] = sum(right and wanted for right, wanted in zip(each.tones, each.wanted, strict=True))
        row[_ALL_TONES + column] = all(each.tones)
        row[_WHOLE + column] = formed and each.rhymes_throughout and all(each.tones) and all(each.copies)
    row[_REPEATING], row[_REPEATED] = bool(fit.copies), bool(fit.copies) and all(fit.copies)


def _has_format(reference: str, text: str) -> bool:
    """Whether all units have the lengths and marks of the reference."""
    units, expected = units_of(text), units_of(reference)
    return len(units) == len(expected) and all(
        unit_is_correct(unit, other, "songci") for unit, other in zip(expected, units, strict=True)
    )


def _metrics() -> tuple[Metric, ...]:
    none = "no poem fits a variant of its tune"
    repeating = "no poem fits a variant that repeats words"

    def signature(right: str, by: str, counts: str = "poems") -> str:
        return signature_of(
            "prosody", variants="qinding-cipu", right=right, by=by, readings="dictionary", counts=counts
        )

    def share(name: str, column: int, right: str, by: str) -> Metric:
        return share_of(name, column, _POEMS, signature(right, by), none)

    def accuracy(name: str, column: int, by: str) -> Metric:
        return Metric(name, ratio(column, _WANTED, scale=100.0), signature("tones", by, "places"), none)

    return (
        share("variant_fit", _FITS, "sentences", "variants"),
        share("variant_fit_clauses", _CLAUSES, "clauses", "variants"),
        share("rhyme_cilin", _RHYMES, "rhyme", "cilin"),
        share("rhyme_mandarin", _RHYMES + 1, "rhyme", "mandarin"),
        accuracy("tone_book", _TONES, "book"),
        accuracy("tone_mandarin", _TONES + 1, "mandarin"),
        share("tones_whole_book", _ALL_TONES, "tones", "book"),
        share("tones_whole_mandarin", _ALL_TONES + 1, "tones", "mandarin"),
        share_of("repeated_lines", _REPEATED, _REPEATING, signature("repetitions", "variants"), repeating),
        share("verse_whole_book", _WHOLE, "format+rhyme+tones+repetitions", "cilin+book"),
        share("verse_whole_mandarin", _WHOLE + 1, "format+rhyme+tones+repetitions", "mandarin"),
    )


@checked_call
class Prosody(Family[Verses]):
    """Rhyme and tone accuracy of ci, of verses with tunes and books."""

    name = "prosody"
    metrics = _metrics()

    def statistics(self, verses: Verses, /) -> Array:
        tunes, books = verses.needed("tunes"), verses.needed("books")
        return prosody_statistics(tunes, verses.references, verses.hypotheses, books)
