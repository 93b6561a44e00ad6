"""Format accuracy (SongNet, section 4.3): which units of a text have the length and marks that the format requires.

The reference defines the format. Units are aligned from the start. A unit is correct if (1) its length in tokens (words
and marks) differs by at most delta, and (2) its marks are the same, if the rules require that. If n' of n generated
units are correct and the format has m units, then p = n'/n and r = n'/m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, f1, f1_of_means, ratio, signature_of
from espalier.metrics.texts import Verses
from espalier.text.language import Language, is_mark
from espalier.verse.text import tokens_by_unit

Rules = Literal["songci", "sonnet"]

#: For each rule set: delta of rule (1), and whether rule (2) holds (section 4.3).
RULES: dict[Rules, tuple[int, bool]] = {"songci": (0, True), "sonnet": (1, False)}

#: The only marks that the released code knows.
RELEASED_MARKS = frozenset(",.?!:，。？！：")

_CORRECT, _GENERATED, _EXPECTED, _P, _R, _F1 = range(6)
_RELEASED = 6  # the same five columns again, without F1, by the released protocol
_TEXTS = 11


def unit_is_correct(reference: Sequence[str], hypothesis: Sequence[str], rules: Rules) -> bool:
    """Rules (1) and (2) for the tokens of one unit.

    The paper's rule (2), "the punctuation characters must be same", is read as: the same marks at the same places. A
    format fixes the place of a mark like that of a word: a comma after the third character instead of the fifth makes
    another line.
    """
    delta, with_marks = RULES[rules]
    if abs(len(reference) - len(hypothesis)) > delta:
        return False
    return not with_marks or [is_mark(token) and token for token in reference] == [
        is_mark(token) and token for token in hypothesis
    ]


def unit_is_correct_released(reference: Sequence[str], hypothesis: Sequence[str], rules: Rules) -> bool:
    """The reading of the released code: equal length, and the same sequence of marks at any places.

    There is no released code for sonnets; they follow the paper's rules.
    """
    delta, with_marks = RULES[rules]
    if abs(len(reference) - len(hypothesis)) > delta:
        return False
    return not with_marks or [token for token in reference if token in RELEASED_MARKS] == [
        token for token in hypothesis if token in RELEASED_MARKS
    ]


def with_quotients(correct: int, generated: int, expected: int) -> tuple[float, float, float, float, float]:
    """The three counts, precision and recall. A quotient with denominator 0 is 0."""
    p = correct / generated if generated else 0.0
    r = correct / expected if expected else 0.0
    return float(correct), float(generated), float(expected), p, r


def format_statistics(
    references: Sequence[str], hypotheses: Sequence[str], *, language: Language, rules: Rules
) -> Array:
    """(texts, 12): n', n, m, p, r, F1 by the paper; n', n, m, p, r by the released code; 1. Quotients by 0 are 0.

    The released protocol cuts the reference to the length of the hypothesis, so m = min(m, n) and missing units are not
    punished. It also drops empty units.
    """
    statistics = np.zeros((len(references), _TEXTS + 1))
    for row, reference, hypothesis in zip(statistics, references, hypotheses, strict=True):
        reference_units = tokens_by_unit(reference, language)
        hypothesis_units = tokens_by_unit(hypothesis, language)
        correct = sum(unit_is_correct(a, b, rules) for a, b in zip(reference_units, hypothesis_units, strict=False))
        row[:_F1] = with_quotients(correct, len(hypothesis_units), len(reference_units))
        row[_F1] = (
            2 * correct / (len(hypothesis_units) + len(reference_units)) if hypothesis_units or reference_units else 0.0
        )

        reference_units = [unit for unit in reference_units if unit]
        hypothesis_units = [unit for unit in hypothesis_units if unit]
        correct = sum(
            unit_is_correct_released(a, b, rules) for a, b in zip(reference_units, hypothesis_units, strict=False)
        )
        row[_RELEASED:_TEXTS] = with_quotients(
            correct, len(hypothesis_units), min(len(reference_units), len(hypothesis_units))
        )
        row[_TEXTS] = 1.0
    return statistics


@checked_call
@dataclass(frozen=True)
class FormatAccuracy(Family[Verses]):
    """Format accuracy by a set of rules."""

    name = "format"
    in_parts = ("format_macro_f1", "format_micro_f1")
    rules: Rules

    def statistics(self, verses: Verses, /) -> Array:
        return format_statistics(verses.references, verses.hypotheses, language=verses.language, rules=self.rules)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, all times 100.

        Macro-F1 is the mean F1 over texts in the paper's protocol, and the F1 of mean p and mean r in the released one.
        """
        delta, with_marks = RULES[self.rules]
        details = {"rules": self.rules, "delta": delta, "length": "words+marks"}
        paper = signature_of(
            "format", protocol="paper", **details, marks="placed" if with_marks else "ignored", r="n'/m"
        )
        released = signature_of(
            "format", protocol="released", **details, marks="sequence" if with_marks else "ignored", r="n'/min(m,n)"
        )
        return (
            Metric("format_macro_p", ratio(_P, _TEXTS, scale=100.0), f"{paper}|mean:macro"),
            Metric("format_macro_r", ratio(_R, _TEXTS, scale=100.0), f"{paper}|mean:macro"),
            Metric("format_macro_f1", ratio(_F1, _TEXTS, scale=100.0), f"{paper}|mean:macro"),
            Metric("format_micro_p", ratio(_CORRECT, _GENERATED, evidence=_TEXTS, scale=100.0), f"{paper}|mean:micro"),
            Metric("format_micro_r", ratio(_CORRECT, _EXPECTED, evidence=_TEXTS, scale=100.0), f"{paper}|mean:micro"),
            Metric(
                "format_micro_f1",
                f1(_CORRECT, _GENERATED, _EXPECTED, evidence=_TEXTS, scale=100.0),
                f"{paper}|mean:micro",
            ),
            Metric(
                "format_released_macro_f1",
                f1_of_means(_RELEASED + _P, _RELEASED + _R, evidence=_TEXTS, scale=100.0),
                f"{released}|mean:macro|f1:of-means",
            ),
            Metric(
                "format_released_micro_f1",
                f1(_RELEASED + _CORRECT, _RELEASED + _GENERATED, _RELEASED + _EXPECTED, evidence=_TEXTS, scale=100.0),
                f"{released}|mean:micro",
            ),
        )
