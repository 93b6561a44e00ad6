"""Verdicts on claims: one per claim, over all its measures, corrected for all claims of its table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from espalier.metrics.holm import holm
from espalier.report.printed import Column
from espalier.report.tables import BLANK, Reading

#: A difference counts where its adjusted p is below this.
SIGNIFICANT: Final = 0.05
#: A claim needs this many seeds of either run.
SEEDS: Final = 3

Verdict = Literal["holds", "reversed", "undecided", "too few seeds", "not interpretable", "not computed"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One column of a claim, with the numbers of both runs as (better, worse) in the paper's order.

    Attributes:
        printed: printed values; missing for a run without one.
        ours: scores of the runs.
        gain: our gain of the better run over the worse, in the unit of the metric; negative if it is worse.
        p: p-value of the gain, if the true gain were 0, or minus the margin of the claim.
        beaten_by: name of a row without a trained model that is at least as good as both runs, or "".
        as_printed: our gain by the metric that compares with the printed values; its value is missing if it is not
            computed.
    """

    column: Column
    printed: tuple[Reading, Reading]
    ours: tuple[Reading, Reading]
    gain: Reading
    p: float | None
    as_printed: Reading
    beaten_by: str = ""

    @property
    def printed_gain(self) -> float | None:
        """The gain of the better run over the worse in the printed numbers."""
        better, worse = (reading.value for reading in self.printed)
        if better is None or worse is None:
            return None
        return better - worse if self.column.better == "higher" else worse - better

    @property
    def excluded(self) -> bool:
        """Whether the interval of our gain, by the metric that compares with it, excludes the printed gain."""
        printed, low, high = self.printed_gain, self.as_printed.low, self.as_printed.high
        return printed is not None and low is not None and high is not None and not low <= printed <= high


def claim_p(measures: Sequence[Measure], margin: float) -> float | None:
    """The p-value of a claim that needs all its measures: the largest p, or 1 if the measures disagree in direction.

    None if a measure has no p. Since all measures must hold, no correction among them is needed (Berger 1982).
    """
    known = [(measure.gain.value, measure.p) for measure in measures]
    ways = {value + margin > 0 for value, _ in known if value is not None}
    probabilities = [p for value, p in known if value is not None and p is not None]
    if len(probabilities) < len(measures):
        return None
    return max(probabilities) if len(ways) == 1 else 1.0


def adjusted(probabilities: Sequence[float | None]) -> list[float | None]:
    """Holm's correction of the known p-values."""
    corrected = iter(holm([p for p in probabilities if p is not None]))
    return [None if p is None else next(corrected) for p in probabilities]


def verdict_of(measures: Sequence[Measure], margin: float, seeds: int, p: float | None) -> Verdict:
    """The verdict on a claim.

    Args:
        margin: margin by which the better run may be worse.
        seeds: the smaller number of seeds of the two runs.
        p: p-value adjusted for all claims of the table.
    """
    gains = [measure.gain.value for measure in measures if measure.gain.value is not None]
    if p is None or len(gains) < len(measures):
        return "not computed"
    if any(measure.beaten_by for measure in measures):
        return "not interpretable"
    if seeds < SEEDS:
        return "too few seeds"
    if p >= SIGNIFICANT:
        return "undecided"
    return "holds" if gains[0] + margin > 0 else "reversed"


def probability(p: float | None) -> str:
    """A p-value as text: three digits, and never 0."""
    if p is None:
        return BLANK
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
