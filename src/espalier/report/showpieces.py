"""The best texts of a system, for the page over all papers: chosen by scores, never by hand."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from espalier.report.items import Items, Output
from espalier.report.poems import Poem, mark
from espalier.report.results import Sample
from espalier.text.language import Language

#: So many texts of each system.
COUNT: Final = 3


@dataclass(frozen=True, slots=True)
class Piece:
    """A text with what it was written for.

    Attributes:
        given: (label, text) of all that the item gives, the reference included.
        tree: the constituency tree that guided the text, in brackets, or "".
        heads: the dependency tree of the text, "word/head word/head ...", or "".
        poem: the text with its rhymes marked, if it has a format.
    """

    id: str
    given: tuple[tuple[str, str], ...]
    text: str
    tree: str = ""
    heads: str = ""
    poem: Poem | None = None


@dataclass(frozen=True, slots=True)
class Showpieces:
    """The best texts of the run with this title, of `total` items, by `scores`."""

    title: str
    language: Language
    scores: tuple[str, ...]
    total: int
    pieces: tuple[Piece, ...]


def showpieces_of(items: Items, keys: Sequence[str]) -> Showpieces | None:
    """The best texts of the first of the runs `keys` that has scored texts; None if none has.

    Best is the smallest sum of ranks over all scores of the text that are not of the reference. Left out are texts that
    repeat their source, and any with as many words, or characters, as a better one: such texts repeat one pattern.
    """
    runs = {key: place for place, (key, _) in enumerate(items.runs)}
    for run in (runs[key] for key in keys if key in runs):
        language, title = items.languages[run], items.runs[run][1]
        written = {
            place: output for place, output in enumerate(items.outputs[run]) if output and _is_new(items, place, output)
        }
        scores = [at for at, column in enumerate(items.scores) if column.heading not in items.of_reference]
        scores = [at for at in scores if any(output.scores[at] is not None for output in written.values())]
        if scores:
            best = dict[int, int]()  # places by length
            for place in sorted(written, key=_sums_of_ranks(items, written, scores).__getitem__):
                best.setdefault(_length(written[place].texts[0], language), place)
            pieces = (_piece(items, place, written[place], language) for place in [*best.values()][:COUNT])
            headings = tuple(items.scores[at].heading for at in scores)
            return Showpieces(title, language, headings, len(written), tuple(pieces))
    return None


def _is_new(items: Items, place: int, output: Output) -> bool:
    """Whether there is a text that does not repeat its source."""
    return output.texts[0] not in ("", *(texts[place] for label, texts in items.given.items() if label == "source"))


def _sums_of_ranks(items: Items, written: Mapping[int, Output], scores: Sequence[int]) -> dict[int, int]:
    """For each place, the number of places that are better, summed over the scores. No score is the worst."""
    sums = dict.fromkeys(written, 0)
    for at in scores:
        sign = 1 if items.scores[at].better == "lower" else -1
        values = {
            place: math.inf if (value := output.scores[at]) is None else sign * value
            for place, output in written.items()
        }
        order = sorted(values.values())
        for place, value in values.items():
            sums[place] += bisect_left(order, value)
    return sums


def _length(text: str, language: Language) -> int:
    return len(text) if language == "zh" else len(text.split())


def _piece(items: Items, place: int, output: Output, language: Language) -> Piece:
    given = {label: texts[place] for label, texts in items.given.items() if texts[place]}
    text, poem = output.texts[0], None
    if "format" in given:
        sample = Sample(
            id=items.ids[place],
            text=text,
            format=given.pop("format"),
            rhyme=given.pop("rhyme", ""),
            tune=given.pop("tune", ""),
        )
        poem = mark(sample, language)
    return Piece(items.ids[place], tuple(given.items()), text, output.trees.get("guide", ""), output.heads, poem)
