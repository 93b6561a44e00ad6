"""What a check finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Violation:
    """A place where a text does not keep a rule.

    Attributes:
        rule: the name of the rule.
        start, end: the characters of the text, from `start` up to `end`; equal where something is missing.
        found: what stands there.
        wanted: what would be right.
    """

    rule: str
    start: int
    end: int
    found: str
    wanted: str


@dataclass(frozen=True)
class Score:
    """How much of one rule is kept.

    Attributes:
        kept, of: the number of places that keep the rule, and of those that it binds.
        binding: whether the text must keep it; else it is only reported.
        score: the share of the places that keep the rule, from 0 to 1.
    """

    rule: str
    kept: int
    of: int
    binding: bool = True
    score: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", self.kept / self.of if self.of else 1.0)


@dataclass(frozen=True)
class Report:
    """The result of a check.

    Attributes:
        kept: whether all binding rules are kept throughout.
        score: the mean of the scores of the binding rules, from 0 to 1.
        variant: the tune and its variant, where a tune is checked; "" otherwise.
        others: the other variants of the tune and the scores of the text by them, the best first.
        notes: what the reader should know.
        stanza: the character of the text at which the second of a tune's two stanzas begins; 0 if there is one stanza,
            or if it is not known where they part.
    """

    text: str
    kept: bool = field(init=False)
    score: float = field(init=False)
    scores: tuple[Score, ...]
    violations: tuple[Violation, ...]
    variant: str = ""
    others: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()
    stanza: int = 0

    @property
    def faults(self) -> int:
        """The number of places that do not keep a binding rule."""
        return sum(score.of - score.kept for score in self.scores if score.binding)

    def __post_init__(self) -> None:
        binding = [score for score in self.scores if score.binding]
        mean = sum(score.score for score in binding) / len(binding) if binding else 1.0
        object.__setattr__(self, "kept", all(score.kept == score.of for score in binding))
        object.__setattr__(self, "score", mean)

    def with_rule(self, score: Score, violations: Iterable[Violation]) -> Report:
        """The report with one more rule."""
        return replace(self, scores=(*self.scores, score), violations=_in_order((*self.violations, *violations)))

    def with_notes(self, *notes: str) -> Report:
        """The report with more notes."""
        return replace(self, notes=(*self.notes, *notes))


#: What a check finds of one rule.
Result = tuple[Score, list[Violation]]


def report_of(text: str, results: Iterable[Result], notes: Iterable[str] = ()) -> Report:
    """The report of what was found of each rule. Rules that bind no place are left out."""
    found = list(results)
    violations = _in_order(each for _, own in found for each in own)
    return Report(text, tuple(score for score, _ in found if score.of), violations, notes=tuple(notes))


def _in_order(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    return tuple(sorted(violations, key=lambda each: (each.start, each.end)))
