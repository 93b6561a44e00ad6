"""Claims of the paper about two systems, and whether our numbers support them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from espalier.report.comparisons import null_of
from espalier.report.printed import Column, Printed, PrintedOrdering
from espalier.report.results import Comparison, RunResult
from espalier.report.tables import Reading, number, reading_of
from espalier.report.trivial import comparable_rows, is_below, rows_of
from espalier.report.verdicts import SEEDS, Measure, Verdict, adjusted, claim_p, verdict_of


@dataclass(frozen=True, slots=True)
class Ordering:
    """A claim in one profile.

    Attributes:
        margin: margin by which the better run may be worse, or None.
        seeds: numbers of seeds of the better and the worse run.
        clusters: number of resampled clusters.
        segments: number of segments that both runs have for all seeds.
        left_out: number of other segments.
        p: p-value over all measures.
        steps: training steps of the better and the worse model; "" if unknown.
        adjusted: p corrected for all claims of the paper in this profile with a p-value.
        why: reason for a missing p.
    """

    claim: str
    better: str
    worse: str
    profile: str
    margin: float | None
    measures: tuple[Measure, ...]
    seeds: tuple[int, int]
    clusters: int
    segments: int
    left_out: int
    p: float | None
    steps: tuple[str, str] = ("", "")
    adjusted: float | None = None
    verdict: Verdict = "not computed"
    why: str = ""

    @property
    def evidence(self) -> str:
        """The evidence for the verdict in one line: "3 seeds, 40 texts in 32 clusters"."""
        if not self.segments:
            return self.why
        seeds = str(self.seeds[0]) if len(set(self.seeds)) == 1 else f"{self.seeds[0]} and {self.seeds[1]}"
        texts = f"{number(self.segments, 0)} texts in {_counted(self.clusters, 'cluster')}"
        apart = f", {number(self.left_out, 0)} not of both" if self.left_out else ""
        facts = [f"{seeds} {'seed' if seeds == '1' else 'seeds'}, {texts}{apart}", self.why]
        if all(self.steps) and self.steps[0] != self.steps[1]:
            facts.append(f"trained for {self.steps[0]} and {self.steps[1]} steps")
        facts += [
            f"{row} is at least as good as both"
            for row in dict.fromkeys(each.beaten_by for each in self.measures)
            if row
        ]
        excluded = [each.column.heading for each in self.measures if self.excludes(each)]
        if excluded:
            of = f" of {', '.join(excluded)}" if len(self.measures) > 1 else ""
            facts.append(f"printed effect{of} excluded")
        return "; ".join(fact for fact in facts if fact)

    def excludes(self, measure: Measure) -> bool:
        """Whether the interval, from enough seeds, excludes the printed effect."""
        return min(self.seeds) >= SEEDS and measure.excluded


def orderings_of(
    printed: Printed,
    runs: Sequence[RunResult],
    comparisons: Sequence[Comparison],
    earlier: Sequence[Ordering] = (),
    elsewhere: Sequence[RunResult] = (),
) -> tuple[Ordering, ...]:
    """Every claim, once per profile that has either run; once without a profile if neither run exists.

    A claim about a run that is not among `runs` is taken from `earlier`, if it is there. All claims are corrected
    together.

    Args:
        elsewhere: runs that have scores, but whose texts are not here to be compared.
    """
    scored = [*runs, *elsewhere]
    found = [
        _ordering(ordering, printed, scored, comparisons, profile)
        for ordering in printed.orderings
        for profile in dict.fromkeys(run.profile for run in scored if run.key in (ordering.better, ordering.worse))
        or [""]
    ]
    found = [_earlier(one, runs, earlier) or _with_reason(one, runs, elsewhere) for one in found]
    corrected = dict[int, float | None]()
    for profile in {ordering.profile for ordering in found}:
        places = [place for place, ordering in enumerate(found) if ordering.profile == profile]
        corrected |= dict(zip(places, adjusted([found[place].p for place in places]), strict=True))
    return tuple(
        replace(
            one,
            adjusted=corrected[place],
            verdict=verdict_of(one.measures, one.margin or 0.0, min(one.seeds), corrected[place]),
        )
        for place, one in enumerate(found)
    )


def _earlier(one: Ordering, runs: Sequence[RunResult], earlier: Sequence[Ordering]) -> Ordering | None:
    """The earlier ordering of the same claim if a run of it is missing in its profile; else None.

    A row that is at least as good as both runs today counts, though the earlier report did not have it.
    """
    here = {run.key for run in runs if run.profile == one.profile}
    if {one.better, one.worse} <= here:
        return None
    same = (each for each in earlier if (each.claim, each.better, each.worse) == (one.claim, one.better, one.worse))
    kept = next((each for each in same if each.profile == one.profile or not one.profile), None)
    if kept is None:
        return None
    now = zip(kept.measures, one.measures, strict=True)
    return replace(kept, measures=tuple(replace(old, beaten_by=new.beaten_by or old.beaten_by) for old, new in now))


def _with_reason(one: Ordering, runs: Sequence[RunResult], elsewhere: Sequence[RunResult]) -> Ordering:
    """The ordering, with the reason if both runs are scored, but the texts of one are elsewhere."""
    here, away = ({run.key for run in each} for each in (runs, elsewhere))
    pair = (one.better, one.worse)
    keys = [key for key in pair if key in away and key not in here]
    return replace(one, why=f"texts not here: {', '.join(keys)}") if keys and here | away >= {*pair} else one


def _ordering(
    claim: PrintedOrdering, printed: Printed, runs: Sequence[RunResult], comparisons: Sequence[Comparison], profile: str
) -> Ordering:
    pair = (claim.better, claim.worse)
    here = [run for run in runs if run.profile == profile]
    measures, compared = list[Measure](), list[Comparison]()
    for name in claim.columns:
        column = printed.columns[name]
        metric = column.metric
        by_metric = {
            c.metric: c
            for c in comparisons
            if (c.one, c.other, c.profile, c.null) == (*pair, profile, null_of(column, claim.margin))
        }
        none = Comparison(one=pair[0], other=pair[1], metric=metric, profile=profile, why=_absent(pair, here))
        comparison = by_metric.get(metric, none)
        compared.append(comparison)
        ours = (_reading(pair[0], metric, here), _reading(pair[1], metric, here))
        measures.append(
            Measure(
                column,
                (printed_reading(printed, pair[0], name), printed_reading(printed, pair[1], name)),
                ours,
                _gain(comparison, column),
                comparison.p,
                _gain(by_metric.get(column.compared[-1], none), column),
                _beaten_by(column, pair, here),
            )
        )
    least = min(compared, key=lambda comparison: comparison.segments)
    return Ordering(
        claim.words,
        *pair,
        profile,
        claim.margin,
        tuple(measures),
        least.seeds,
        least.clusters,
        least.segments,
        least.left_out,
        claim_p(measures, claim.margin or 0.0),
        (_steps(pair[0], here), _steps(pair[1], here)),
        why=next((comparison.why for comparison in compared if comparison.why), ""),
    )


def _absent(pair: tuple[str, str], runs: Sequence[RunResult]) -> str:
    missing = [key for key in pair if key not in {run.key for run in runs}]
    return f"not run: {', '.join(missing)}" if missing else "not computed"


def _reading(key: str, metric: str, runs: Sequence[RunResult]) -> Reading:
    run = next((run for run in runs if run.key == key), None)
    return Reading(None, why="not run") if run is None else reading_of(metric, run)


def _steps(key: str, runs: Sequence[RunResult]) -> str:
    """The training steps of the run's model over all seeds: "2,500", or "2,000 to 2,500"."""
    counts = [
        int(steps)
        for run in runs
        if run.key == key
        for steps in (run.metrics.get("settings", {}).get("steps") or {}).values()
    ]
    return " to ".join(number(count, 0) for count in sorted({min(counts), max(counts)})) if counts else ""


def _beaten_by(column: Column, pair: tuple[str, str], runs: Sequence[RunResult]) -> str:
    """A row without a trained model that is at least as good as both runs on the texts of both; "" for none.

    All structures given to the row are also given to one of the runs. Datasets of the same texts, such as those that
    differ in their parser, have a row of their own each; the first one is named.
    """
    both = [run for run in runs if run.key in pair]
    better = [
        {
            (row.key.rpartition("/")[2], row.ids): row.key
            for row in comparable_rows(rows_of(run, runs), *both)
            if is_below(column.metric, column.better, run, [row], ties=True)
        }
        for run in both
    ]
    return next((key for row, key in better[0].items() if row in better[1]), "") if len(both) == 2 else ""


def _gain(comparison: Comparison, column: Column) -> Reading:
    if comparison.difference is None:
        return Reading(None, why=comparison.why)
    sign = 1.0 if column.better == "higher" else -1.0
    if comparison.low is None or comparison.high is None:
        return Reading(sign * comparison.difference)
    low, high = sorted(sign * bound + 0.0 for bound in (comparison.low, comparison.high))  # -0.0 + 0.0 is 0.0
    return Reading(sign * comparison.difference, low, high)


def printed_reading(printed: Printed, run: str, column: str) -> Reading:
    """The printed value of a run in a column; without a value if none is printed."""
    value = printed.value_of(run, column)
    return Reading(value.value, spread=value.spread) if value else Reading(None)


def _counted(count: int, noun: str) -> str:
    return f"{number(count, 0)} {noun}{'' if count == 1 else 's'}"
