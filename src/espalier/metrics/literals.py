"""Polishing (SongNet, sections 2, 3.3 and 5.5): whether a text keeps the given words of its format at their places.

The paper shows polished texts without measuring them. Units are aligned from the start, and so are the words and marks
within a unit.
"""

from collections.abc import Sequence

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, share_of, signature_of
from espalier.metrics.texts import Verses
from espalier.text.language import Language, is_mark
from espalier.verse.slots import BLANKS
from espalier.verse.text import tokens_by_unit

_KEPT, _LITERALS, _WHOLE, _TEXTS = range(4)


def literal_statistics(templates: Sequence[str], texts: Sequence[str], language: Language) -> Array:
    """(texts, 4): literals kept at their places, literals, whether all are kept, and whether there are any.

    Args:
        templates: templates as written by `espalier.verse.literals.template_of`.
    """
    rows = []
    for template, text in zip(templates, texts, strict=True):
        units = tokens_by_unit(text, language)
        kept = literals = 0
        for row, slots in enumerate(tokens_by_unit(template, language)):
            unit = units[row] if row < len(units) else []
            for place, slot in enumerate(slots):
                if slot in BLANKS or is_mark(slot):
                    continue
                literals += 1
                kept += place < len(unit) and unit[place] == slot
        rows.append((kept, literals, literals > 0 and kept == literals, literals > 0))
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


@checked_call
class Literals(Family[Verses]):
    """Kept words, of verses with templates."""

    name = "literals"
    metrics = (
        Metric(
            "literals_kept",
            ratio(_KEPT, _LITERALS, scale=100.0),
            signature_of("literals", of="words", at="the same place"),
            "no format keeps words",
        ),
        share_of(
            "literals_all_kept",
            _WHOLE,
            _TEXTS,
            signature_of("literals", of="texts", at="the same place"),
            "no format keeps words",
        ),
    )

    def statistics(self, verses: Verses, /) -> Array:
        return literal_statistics(verses.needed("templates"), verses.hypotheses, verses.language)
