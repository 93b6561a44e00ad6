"""The parts of every metric: statistics per segment, an aggregate of their sum, an interval, a signature.

A family computes one array of statistics with a row per segment, and lists its metrics. A metric maps a sum of rows to
a number: the sum of all rows to the corpus score, a single row to the segment's score, and sums of resampled rows to
the bootstrap. A mean is a ratio of two columns, the second of which counts segments. All numbers are computed in this
way, so corpus scores, segment scores and intervals agree, as in sacreBLEU (Post 2018).
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array, percentile_interval, resampled_sums, share_interval, sums_by_group

#: The largest difference between a value and the same value by a library.
TOLERANCE: Final = 1e-6
#: The most segments that slow libraries score too.
CONFIRMED: Final = 2_000

#: (..., k) summed statistics -> (...) values; NaN where the value is undefined.
Aggregate = Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a family.

    Attributes:
        name: the key in the metrics file; different protocols have different names.
        aggregate: function from summed statistics to the value.
        signature: everything a reader must know to compare the value with another (`signature_of`).
        undefined: the reason for a missing value ("no reference rhymes").
        corpus_level: whether the value is not a function of resampled segments. Such a metric has no interval.
        share: for a share in percent, its numerator and denominator columns, each 0 or 1 for a segment. Its interval
            comes from `espalier.metrics.bootstrap`.
    """

    name: str
    aggregate: Aggregate
    signature: str
    undefined: str = "no segments"
    corpus_level: bool = False
    share: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """A value with its interval. `value` is None if it is undefined; then `undefined` has the reason.

    `low` and `high` are None too if there is no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    signature: str
    segments: int
    undefined: str | None = None


def share_of(name: str, count: int, of: int, signature: str, undefined: str = "no segments") -> Metric:
    """100 times the sum of column `count` over the sum of column `of`. Both columns are 0 or 1 for a segment."""
    return Metric(name, ratio(count, of, scale=100.0), signature, undefined, share=(count, of))


def signature_of(family: str, **parts: object) -> str:
    """The family and its settings in the given order, as in "format|protocol:paper|delta:0"."""
    return "|".join([family, *(f"{key}:{value}" for key, value in parts.items())])


def protocol_of(signature: str) -> str:
    """The metric's part of a score's signature, without the numbers of segments and resamples."""
    return signature.partition("|n:")[0]


# --- Aggregates ------------------------------------------------------------------------------------------------------


def _divide(numerator: Array, denominator: Array) -> Array:
    """Quotients; 0 if the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _defined(values: Array, evidence: Array) -> Array:
    return np.where(evidence > 0, values, np.nan)


def ratio(numerator: int, denominator: int, *, evidence: int | None = None, scale: float = 1.0) -> Aggregate:
    """The quotient of two summed columns; a mean if the denominator counts segments.

    Undefined if the column `evidence` (by default the denominator) sums to 0; 0 if only the denominator does.
    """
    column = denominator if evidence is None else evidence
    return lambda sums: _defined(scale * _divide(sums[..., numerator], sums[..., denominator]), sums[..., column])


def exp_ratio(numerator: int, denominator: int, power: Callable[[Array], Array] = np.exp) -> Aggregate:
    """e (or 2 with `np.exp2`) to the power of the quotient of two summed columns; infinite on overflow."""
    mean = ratio(numerator, denominator)

    def aggregate(sums: Array) -> Array:
        with np.errstate(over="ignore"):  # an infinite value is reported as such, not warned about
            return power(mean(sums))

    return aggregate


def f1(correct: int, produced: int, expected: int, *, evidence: int, scale: float = 1.0) -> Aggregate:
    """Micro-F1 of pooled counts: 2 correct / (produced + expected). Undefined if the column `evidence` sums to 0."""
    return lambda sums: _defined(
        scale * _divide(2.0 * sums[..., correct], sums[..., produced] + sums[..., expected]), sums[..., evidence]
    )


def f1_of_means(precision: int, recall: int, *, evidence: int, scale: float = 1.0) -> Aggregate:
    """F1 of mean precision and mean recall, not the mean of F1 values. `evidence` counts the segments."""

    def aggregate(sums: Array) -> Array:
        p, r, count = sums[..., precision], sums[..., recall], sums[..., evidence]
        return _defined(scale * _divide(2.0 * p * r, (p + r) * count), count)

    return aggregate


# --- Scores ----------------------------------------------------------------------------------------------------------


def scores(
    metrics: Sequence[Metric],
    statistics: Array,
    *,
    seed: int,
    resamples: int = 1000,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
) -> dict[str, Score]:
    """Corpus scores of one family with percentile intervals from the same resamples; shares have their own intervals.

    Args:
        metrics: the family's metrics, in the order of the result.
        statistics: (segments, k), float.
        resamples: number of resamples; 0 for no intervals.
        groups: one label per segment; segments with the same label (several samples of one poem) are resampled
            together.
    """
    segments = len(statistics)
    if groups is not None:
        require_lengths("segments", segments, groups=groups)
        statistics = sums_by_group(statistics, groups)
    total = statistics.sum(axis=0)
    sums = resampled_sums(statistics, seed=seed, resamples=resamples)
    count = f"|n:{segments}"
    grouped = f"|groups:{len(statistics)}" if groups is not None else ""
    level = f"|ci:{100 * confidence:g}"
    results = {}
    for metric in metrics:
        value = float(metric.aggregate(total))
        signature = metric.signature + count
        if not metric.corpus_level:
            signature += grouped
            if resamples:
                signature += (
                    f"{level}|interval:korn-graubard" if metric.share else f"|bs:{resamples}|seed:{seed}{level}"
                )
        if not math.isfinite(value):
            reason = "too large" if math.isinf(value) else metric.undefined
            results[metric.name] = Score(None, None, None, signature, segments, reason)
            continue
        low, high = _interval(metric, statistics, sums, confidence) or (None, None)
        results[metric.name] = Score(value, low, high, signature, segments)
    return results


def _interval(metric: Metric, statistics: Array, sums: Array, confidence: float) -> tuple[float, float] | None:
    """The interval from the statistics of clusters and the sums of resamples; None for fewer than two clusters."""
    if metric.corpus_level or not len(sums) or len(statistics) < 2:
        return None
    if metric.share is None:
        return percentile_interval(metric.aggregate(sums), confidence)
    count, of = metric.share
    bounds = share_interval(statistics[:, count], statistics[:, of], confidence)
    return None if bounds is None else (100.0 * bounds[0], 100.0 * bounds[1])


def confirmed_rows(segments: int, seed: int) -> list[int] | None:
    """The segments that slow libraries score too: None for all, up to `CONFIRMED`; of more, a sample of so many.

    A fault in a share q of the segments stays out of the sample with a chance below (1 - q)^2000, 1 % for 0.23 %.
    """
    if segments <= CONFIRMED:
        return None
    return sorted(np.random.default_rng(seed).choice(segments, CONFIRMED, replace=False).tolist())


def confirmed(scores: Mapping[str, Score], library: Mapping[str, float]) -> dict[str, Score]:
    """Scores with the values of published libraries in place of our own, after checking that they are equal.

    Args:
        scores: scores by metric.
        library: library values by metric; other metrics keep their values.

    Raises:
        EspalierError: two values differ by more than `TOLERANCE`.
    """
    results = dict(scores)
    for key, value in library.items():
        own = scores[key].value
        if own is None or not abs(own - value) <= TOLERANCE:
            raise EspalierError(
                f"{key} is {own} by the statistics of its segments, and {value} by its library",
                where="scoring",
                remedy=f"hold what is installed ({scores[key].signature}) against constraints.txt",
            )
        results[key] = replace(scores[key], value=value)
    return results


def details_json(scores: Mapping[str, Score]) -> dict[str, dict[str, Any]]:
    """Scores as JSON values with 6 significant digits; undefined values are null, never NaN.

    Returns:
        `scores` {key: value or null}, `intervals` {key: [low, high] or null}, `signatures` {key: text} with the same
        keys each, and `undefined` {key: reason} for the nulls among the scores.
    """
    return {
        "scores": {key: rounded(score.value) for key, score in scores.items()},
        "intervals": {
            key: None if score.low is None else [rounded(score.low), rounded(score.high)]
            for key, score in scores.items()
        },
        "signatures": {key: score.signature for key, score in scores.items()},
        "undefined": {key: score.undefined for key, score in scores.items() if score.undefined is not None},
    }


def headline_json(scores: Mapping[str, Score], headline: Mapping[str, str]) -> dict[str, float]:
    """The numbers that `dvc metrics show` prints, with 5 significant digits and at most 4 decimals.

    Args:
        scores: scores by metric.
        headline: {short name: metric}.

    Returns:
        The values by short name, in the order of `headline`. A metric without a value is left out.
    """
    values = {name: scores[metric].value for name, metric in headline.items() if metric in scores}
    return {name: round(float(f"{value:.5g}"), 4) for name, value in values.items() if value is not None}


def rounded(value: float | None) -> float | None:
    """A value rounded to 6 significant digits, as in files."""
    return None if value is None else float(f"{value:.6g}")


def require_lengths(what: str, expected: int, **lists: Sequence[object]) -> None:
    """Raise an error unless every list has as many entries as `what`, so that outputs and references stay aligned."""
    for name, entries in lists.items():
        if len(entries) != expected:
            raise EspalierError(
                f"{len(entries)} {name} for {expected} {what}", where="scoring", remedy="pair them by id before scoring"
            )
