"""What a panel of raters says of the systems: means, shares, agreement and claims, with and without careless raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from espalier.judging.agreement import COEFFICIENTS, RESAMPLES, Agreement, Counts, agreement
from espalier.judging.answers import Answers
from espalier.judging.means import Estimate, Rated, difference_of, mean_of, share_of
from espalier.judging.protocol import FIRST, SECOND, TIE, Claim
from espalier.judging.sample import Item, Sample, Source
from espalier.metrics.holm import holm

#: A rater fails who answers more than this share of the attention checks otherwise than they ask.
MAY_FAIL: Final = 0.25
#: A claim is decided where its adjusted p is below this.
SIGNIFICANT: Final = 0.05
#: The names of the values of a pair, from the side of the first system.
OUTCOMES: Final = {1: "win", 0: "tie", -1: "loss"}

Verdict = Literal["holds", "reversed", "undecided", "not computed"]


@dataclass(frozen=True, slots=True)
class RaterLine:
    """What is known of a rater.

    Attributes:
        answers: number of answers, with those to copies and checks.
        checks: number of attention checks with an answer; `wrong` of them were answered otherwise than asked.
        again: number of answers to copies; `same` of them equal the first answer.
        with_others: correlation of the rater's answers with the mean of the others'; None if undefined.
    """

    rater: str
    file: str
    answers: int
    checks: int
    wrong: int
    again: int
    same: int
    with_others: float | None

    @property
    def failed(self) -> bool:
        """Whether the rater failed the attention checks."""
        return self.wrong > MAY_FAIL * self.checks


@dataclass(frozen=True, slots=True)
class SystemLine:
    """The ratings of one system; in pairs, of the first system beside this one.

    Attributes:
        texts: number of its rated texts, pairs or sets.
        empty: number of its texts without words, which are not rated.
        measures: by name, as `measure_names` lists them. Shares are in percent.
        kappa: Fleiss' kappa over its texts, by criterion.
    """

    system: str
    texts: int
    empty: int
    measures: Mapping[str, Estimate]
    kappa: Mapping[str, Agreement]


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim on one criterion: the better system's gain, with p adjusted by Holm over all claims of the protocol."""

    claim: Claim
    criterion: str
    gain: Estimate
    p_holm: float | None

    @property
    def verdict(self) -> Verdict:
        """Whether the claim is borne out."""
        if self.p_holm is None or self.gain.value is None:
            return "not computed"
        if self.p_holm >= SIGNIFICANT:
            return "undecided"
        return "holds" if self.gain.value > 0 else "reversed"


@dataclass(frozen=True, slots=True)
class Panel:
    """The result of some raters. `agreement` has all coefficients of each criterion, over all texts."""

    raters: tuple[str, ...]
    systems: tuple[SystemLine, ...]
    agreement: Mapping[str, tuple[Agreement, ...]]
    claims: tuple[ClaimLine, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of all raters, and that of those who passed the checks; None if all passed, or none did."""

    raters: tuple[RaterLine, ...]
    everyone: Panel
    passed: Panel | None


@dataclass(frozen=True, slots=True)
class Cell:
    """What raters said of one text on one criterion, without copies and checks.

    Attributes:
        item: number of the item.
        first: whether it is the first text of its item. A text that several systems wrote has a cell for each.
        values: by rater, the level; of a pair, how much better the first system's text is (1, 0, -1); of a set, 1 for
            the best text and -1 for the worst.
    """

    criterion: str
    source: Source
    item: int
    input: str
    first: bool
    values: Mapping[str, int]


def judged(sample: Sample, answers: Sequence[Answers], *, resamples: int = RESAMPLES) -> Judged:
    """The result of checked answers (`espalier.judging.answers.merged`).

    Args:
        resamples: number of resamples for the intervals of agreement; 0 for none.
    """
    lines = rater_lines(sample, answers)
    failed = {line.rater for line in lines if line.failed}
    rest = [one for one in answers if one.rater not in failed]
    passed = panel(sample, rest, resamples=resamples) if failed and rest else None
    return Judged(lines, panel(sample, answers, resamples=resamples), passed)


def panel(sample: Sample, answers: Sequence[Answers], *, resamples: int = RESAMPLES) -> Panel:
    """The result of these raters alone."""
    protocol = sample.protocol
    cells = cells_of(sample, answers)
    raters = {one.rater: place for place, one in enumerate(answers)}
    rated = _rated(sample, cells, raters)
    systems = protocol.systems[1:] if protocol.design == "pairs" else protocol.systems
    return Panel(
        tuple(raters),
        tuple(_system_line(sample, system, rated, cells, resamples) for system in systems),
        {criterion: _agreement(sample, criterion, cells, answers, resamples) for criterion in protocol.criteria},
        _claims(sample, rated),
    )


def cells_of(sample: Sample, answers: Sequence[Answers]) -> list[Cell]:
    """The ratings of all texts, by criterion, item and system."""
    found = []
    for item in sample.items:
        if not item.sources or item.repeats is not None:
            continue
        for criterion in sample.protocol.criteria:
            given: dict[Source, dict[str, int]] = {}
            for one in answers:
                for source, value in _values(sample, item, criterion, one):
                    given.setdefault(source, {})[one.rater] = value
            for place, (source, values) in enumerate(given.items()):
                found.append(Cell(criterion, source, item.number, item.input, place == 0, values))
    return found


def _values(sample: Sample, item: Item, criterion: str, answers: Answers) -> list[tuple[Source, int]]:
    """The value that a rater gave to each text of an item; none where the answer is missing."""
    given = answers.answers
    if sample.protocol.design == "scale":
        answer = given.get((item.number, criterion))
        return [] if answer is None else [(source, int(answer)) for source in item.sources[0]]
    if sample.protocol.design == "pairs":
        answer = given.get((item.number, criterion))
        # The side of the first system, and whose text stands on the other.
        side = FIRST if item.sources[0][0].system == sample.protocol.systems[0] else SECOND
        other = item.sources[1 if side == FIRST else 0][0]
        return [] if answer is None else [(other, 0 if answer == TIE else 1 if answer == side else -1)]
    best, worst = (given.get((item.number, f"{criterion}_{end}")) for end in ("best", "worst"))
    if best is None or worst is None:
        return []
    value = {best: 1, worst: -1}
    return [(sources[0], value.get(str(place), 0)) for place, sources in enumerate(item.sources, start=1)]


def _rated(sample: Sample, cells: Sequence[Cell], raters: Mapping[str, int]) -> dict[tuple[str, str], Rated]:
    """The ratings by criterion and system."""
    inputs = {one: place for place, one in enumerate(sorted({item.input for item in sample.items}))}
    rows: dict[tuple[str, str], list[tuple[int, int, int]]] = {
        (criterion, system): [] for criterion in sample.protocol.criteria for system in sample.protocol.systems
    }
    for cell in cells:
        own, one = rows[cell.criterion, cell.source.system], inputs[cell.input]
        own += [(value, one, raters[rater]) for rater, value in cell.values.items()]
    tables = {place: np.array(own, dtype=np.int64).reshape(-1, 3) for place, own in rows.items()}
    return {place: Rated(table[:, 0].astype(np.float64), table[:, 1], table[:, 2]) for place, table in tables.items()}


def measure_names(sample: Sample, criterion: str) -> dict[str, int | None]:
    """The names of the measures of a criterion, each with the value whose share it is; None for the mean."""
    if sample.protocol.design == "pairs":
        return {f"{criterion}_{name}": value for value, name in OUTCOMES.items()}
    shares = {f"{criterion}_{value}": value for value in sample.protocol.criteria[criterion].values}
    return {criterion: None, **shares}


def _system_line(
    sample: Sample, system: str, rated: Mapping[tuple[str, str], Rated], cells: Sequence[Cell], resamples: int
) -> SystemLine:
    measures: dict[str, Estimate] = {}
    kappa: dict[str, Agreement] = {}
    own = [cell for cell in cells if cell.source.system == system]
    for criterion in sample.protocol.criteria:
        ratings = rated[criterion, system]
        for name, value in measure_names(sample, criterion).items():
            if value is None:
                # That a mean is not 0 is no question; only claims are tested.
                measures[name] = replace(_within(mean_of(ratings), _range(sample, criterion)), p=None)
            else:
                measures[name] = _percent(share_of(ratings, value))
        if sample.protocol.design != "best_worst":
            counts, inputs = _counts(sample, criterion, [cell for cell in own if cell.criterion == criterion])
            kappa[criterion] = agreement("kappa", counts, inputs, ordered=True, resamples=resamples)
    texts = sum(source.system == system for item in sample.items if item.repeats is None
                for sources in item.sources for source in sources)  # fmt: skip
    return SystemLine(system, texts, sample.empty.get(system, 0), measures, kappa)


def _range(sample: Sample, criterion: str) -> tuple[int, int]:
    """The least and the largest value of a rating."""
    values = sample.protocol.criteria[criterion].values or (-1, 1)
    return values[0], values[-1]


def _within(estimate: Estimate, bounds: tuple[int, int]) -> Estimate:
    """The estimate of a mean or a difference, whose interval has nothing that it cannot be."""
    if estimate.interval is None:
        return estimate
    low, high = estimate.interval
    return replace(estimate, low=max(low, bounds[0]), high=min(high, bounds[1]))


def _percent(estimate: Estimate) -> Estimate:
    value, low, high = (None if x is None else 100 * x for x in (estimate.value, estimate.low, estimate.high))
    return replace(estimate, value=value, low=low, high=high)


def _agreement(
    sample: Sample, criterion: str, cells: Sequence[Cell], answers: Sequence[Answers], resamples: int
) -> tuple[Agreement, ...]:
    """All coefficients over all texts."""
    is_set = sample.protocol.design == "best_worst"
    own = [cell for cell in cells if cell.criterion == criterion and cell.first]
    counts, inputs = _places(sample, criterion, answers) if is_set else _counts(sample, criterion, own)
    return tuple(agreement(name, counts, inputs, ordered=not is_set, resamples=resamples) for name in COEFFICIENTS)


def _counts(sample: Sample, criterion: str, cells: Sequence[Cell]) -> tuple[Counts, list[str]]:
    """(texts, values) number of raters who gave each value, and the inputs of the texts."""
    is_pair = sample.protocol.design == "pairs"
    values = list(OUTCOMES) if is_pair else list(sample.protocol.criteria[criterion].values)
    given = (list(cell.values.values()) for cell in cells)
    counts = [[own.count(value) for value in values] for own in given]
    return np.array(counts, dtype=np.int64).reshape(-1, len(values)), [cell.input for cell in cells]


def _places(sample: Sample, criterion: str, answers: Sequence[Answers]) -> tuple[Counts, list[str]]:
    """(2 x sets, places) number of raters who named each place as the best, and as the worst, of a set."""
    sets = [item for item in sample.items if item.sources and item.repeats is None]
    places = [str(place) for place in range(1, max(len(item.texts) for item in sets) + 1)]
    counts, inputs = [], []
    for item in sets:
        for end in ("best", "worst"):
            named = [one.answers.get((item.number, f"{criterion}_{end}")) for one in answers]
            counts.append([named.count(place) for place in places])
            inputs.append(item.input)
    return np.array(counts, dtype=np.int64), inputs


def _claims(sample: Sample, rated: Mapping[tuple[str, str], Rated]) -> tuple[ClaimLine, ...]:
    lines = [
        ClaimLine(claim, criterion, _gain(sample, claim, criterion, rated), None)
        for claim in sample.protocol.claims
        for criterion in claim.criteria
    ]
    adjusted = iter(holm([line.gain.p for line in lines if line.gain.p is not None]))
    return tuple(line if line.gain.p is None else replace(line, p_holm=next(adjusted)) for line in lines)


def _gain(sample: Sample, claim: Claim, criterion: str, rated: Mapping[tuple[str, str], Rated]) -> Estimate:
    """The better system's mean minus the worse's; of shares and pairs in percentage points."""
    if sample.protocol.design == "pairs":
        ours = claim.better == sample.protocol.systems[0]
        own = rated[criterion, claim.worse if ours else claim.better]
        return _percent(_within(mean_of(own if ours else own._replace(values=-own.values)), (-1, 1)))
    pair = [rated[criterion, system] for system in (claim.better, claim.worse)]
    if claim.level is None:
        low, high = _range(sample, criterion)
        return _within(difference_of(*pair), (low - high, high - low))
    shares = (own._replace(values=(own.values == claim.level).astype(float)) for own in pair)
    return _percent(_within(difference_of(*shares), (-1, 1)))


def rater_lines(sample: Sample, answers: Sequence[Answers]) -> tuple[RaterLine, ...]:
    """What is known of each rater."""
    together = _with_others(sample, answers)
    return tuple(_rater_line(sample, one, together[one.rater]) for one in answers)


def _rater_line(sample: Sample, one: Answers, with_others: float | None) -> RaterLine:
    own = [sample.item(number) for number in sample.orders[one.rater]]
    checks = [
        item
        for item in own
        if item.expected and any((item.number, question) in one.answers for question in item.expected)
    ]
    wrong = sum(
        any(one.answers.get((item.number, question)) != answer for question, answer in item.expected.items())
        for item in checks
    )
    pairs = [
        (one.answers.get((item.number, question)), one.answers.get((item.repeats, question)))
        for item in own
        if item.repeats is not None
        for question in sample.protocol.questions
    ]
    both = [(again, first) for again, first in pairs if again is not None and first is not None]
    same = sum(again == first for again, first in both)
    return RaterLine(one.rater, one.file, len(one.answers), len(checks), wrong, len(both), same, with_others)


def _with_others(sample: Sample, answers: Sequence[Answers]) -> dict[str, float | None]:
    """For each rater, the mean over criteria of the correlation with the mean of the other raters."""
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for cell in cells_of(sample, answers):
        total, raters = sum(cell.values.values()), len(cell.values)
        for rater, value in cell.values.items():
            if raters > 1:
                pairs.setdefault((rater, cell.criterion), []).append((value, (total - value) / (raters - 1)))
    found: dict[str, float | None] = {}
    for one in answers:
        tables = [np.array(pairs.get((one.rater, criterion), [])) for criterion in sample.protocol.criteria]
        varied = [table for table in tables if len(table) and np.ptp(table[:, 0]) and np.ptp(table[:, 1])]
        correlations = [float(np.corrcoef(table.T)[0, 1]) for table in varied]
        found[one.rater] = float(np.mean(correlations)) if correlations else None
    return found
