"""Paired comparison of two systems: the difference of their scores over the same clusters of segments.

Both systems are scored on the same resamples of the clusters, so that the difficulty of segments cancels (Koehn 2004).
If each system has several seeds, its score is the mean over seeds, and interval and p account for the variance between
seeds, as below. If a system has only one seed, that variance is unknown. Let d be the difference on all clusters, d_1
... d_B the differences on the resamples where it is defined, and d_0 the difference under the null hypothesis. Then the
interval is the percentile interval, and

    p = min(1, 2 (1 + #{b: d_b <= d_0}) / (B + 1))    if d > d_0, with >= if d < d_0; p = 1 if d = d_0

is two-sided. The 1 counts the observed sample itself, so p is never 0 (Davison and Hinkley 1997, 4.2.3). With
several seeds p is no smaller than the least of these, 2 / (B + 1).

With several seeds, all are scored on the same clusters of segments, and the effect is the difference of the systems'
means over seeds. Its variance is the sum of two independent estimates:

    V_seed     = s_1^2 / S_1 + s_2^2 / S_2                       s^2: between the scores of a system's S seeds
    V_cluster  = max(0, c (Var* effect - I_1 - I_2))             Var*: over resamples of the G clusters
    I          = E* s^2(deviations of a resample's scores) / S   interaction of clusters and seeds

The interaction I also contributes to the differences between seeds, so V_seed already includes it. V_seed has the
degrees of freedom of Welch (1947). The degrees of freedom of V_cluster and its correction c follow from the shares w_g
of the clusters in all segments, as in Bell and McCaffrey (2002, Survey Methodology 28), if the effects of clusters are
independent, with one variance. Var* is then the quadratic form of the matrix A, and with d_g = w_g^2

    A = (I - 1 w')^T diag(d) (I - 1 w'),   c = sum d / tr A,   df = (tr A)^2 / tr A^2,

that is, G / (G - 1) and G - 1 for clusters of equal size; df is smaller if a few clusters hold most segments.

A percentile bootstrap over three seeds is far too liberal: resamples of three values vary too little, and only ten are
distinct. Instead the half-width of the interval is that of Banerjee (1961, Sankhya A 23), with one Student quantile for
each variance,

    h(a)^2 = t(1 - a/2; df_cluster)^2 V_cluster + t(1 - a/2; df_seed)^2 V_seed,

which covers at least 1 - a of independent normal components whatever their ratio. p is the a for which h(a) equals the
effect. Welch's degrees of freedom are only estimates: if all variance is between seeds and one system has five times
the spread of the other, the true level with three seeds is .056 for a nominal .05.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array, percentile_interval, resampled_sums, sums_by_group
from espalier.metrics.metric import Metric, require_lengths


@dataclass(frozen=True, slots=True)
class Components:
    """The two variances of an effect, with their degrees of freedom."""

    cluster: float
    cluster_df: float
    seed: float
    seed_df: float

    def half_width(self, alpha: float) -> float:
        """Half the width of the interval with error probability `alpha`."""
        from scipy.special import stdtrit

        if not alpha:
            return float("inf")
        quantiles = stdtrit(np.array([self.cluster_df, self.seed_df]), alpha / 2)
        return float(np.sqrt(quantiles**2 @ np.array([self.cluster, self.seed])))

    def p(self, distance: float) -> float:
        """The two-sided p-value of an effect at least `distance` from the true one."""
        low, high = 0.0, 1.0
        for _ in range(60):  # The half-width falls as alpha grows.
            middle = (low + high) / 2
            low, high = (middle, high) if self.half_width(middle) > abs(distance) else (low, middle)
        return high


def components(scores: tuple[Array, Array], resampled: tuple[Array, Array], sizes: Array) -> Components:
    """The variance components of the difference of two systems' mean scores.

    Args:
        scores: (seeds,) scores of each system, with at least two seeds each.
        resampled: (resamples, seeds) the scores on each resample of the clusters; both systems use the same resamples.
        sizes: (clusters,) number of segments of each resampled cluster; at least two clusters.
    """
    effects = resampled[0].mean(axis=1) - resampled[1].mean(axis=1)
    by_chance = sum(float(_of_mean(values - values.mean(axis=0)).mean()) for values in resampled)
    between = np.array([float(_of_mean(values)) for values in scores])
    degrees = np.array([len(values) - 1 for values in scores])
    seed = float(between.sum())
    correction, cluster_df = _of_clusters(sizes / sizes.sum())
    return Components(
        cluster=correction * max(0.0, float(effects.var()) - by_chance),
        cluster_df=cluster_df,
        seed=seed,
        seed_df=seed**2 / float((between**2 / degrees).sum()) if seed else float(degrees.sum()),
    )


def _of_clusters(w: Array) -> tuple[float, float]:
    """The correction c of the variance over resamples of clusters with shares w, and its degrees of freedom."""
    d, s = w**2, float(w @ w)
    trace = s - 2 * float(d @ w) + s**2
    # A = diag(d) + L with L = s w w' - d w' - w d', so that tr A^2 = sum d^2 + 2 sum d L_gg + |L|^2.
    diagonal = s * d - 2 * d * w
    low_rank = s**4 - 4 * s**2 * float(d @ w) + 2 * s * float(d @ d) + 2 * float(d @ w) ** 2
    return s / trace, trace**2 / (float(d @ d) + 2 * float(d @ diagonal) + low_rank)


def _of_mean(values: Array) -> Array:
    """The variance of the mean over the last axis."""
    variance: Array = values.var(axis=-1, ddof=1) / values.shape[-1]
    return variance


@dataclass(frozen=True, slots=True)
class Paired:
    """The value of one system minus that of another. All attributes are None if a value is undefined.

    Attributes:
        difference: the difference on all segments; positive if the first system has the larger value.
        low: lower end of the interval. `low`, `high` and `p` are None without resamples or with a single cluster.
        high: upper end of the interval.
        p: two-sided p-value, from 2 / (resamples + 1) to 1.
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None


def paired(
    metric: Metric,
    one: Array,
    other: Array,
    *,
    seed: int,
    resamples: int = 10_000,
    confidence: float = 0.95,
    groups: Sequence[Hashable] | None = None,
    null: float = 0.0,
) -> Paired:
    """Compare two systems by one metric.

    Args:
        metric: the metric, computed from the statistics.
        one: (seeds, segments, k), statistics of the first system for each of its seeds; or (segments, k).
        other: the same for the second system and its own seeds; rows are the same segments.
        seed: seed of the resampling; the seed of `scores` gives the same resamples.
        resamples: number of resamples, an upper limit for B.
        confidence: confidence level of the interval.
        groups: one label per segment; segments with the same label form a cluster and are resampled together.
        null: the difference under the null hypothesis, d_0.

    Raises:
        EspalierError: the systems have different numbers of segments.
    """
    one, other = (rows[None] if rows.ndim == 2 else rows for rows in (one, other))
    segments, width = one.shape[1:]
    if segments != other.shape[1]:
        raise EspalierError(
            f"{segments} and {other.shape[1]} segments", where="paired comparison", remedy="pair them by id before"
        )
    seeds = len(one) + len(other)
    every = np.hstack([*one, *other])  # (segments, seeds * k)
    sizes = np.ones(segments)
    if groups is not None:
        require_lengths("segments", segments, groups=groups)
        every, sizes = sums_by_group(every, groups), sums_by_group(sizes[:, None], groups)[:, 0]

    def values(sums: Array) -> tuple[Array, Array]:
        by_seed = metric.aggregate(sums.reshape(*sums.shape[:-1], seeds, width))
        return by_seed[..., : len(one)], by_seed[..., len(one) :]

    scores = values(every.sum(axis=0))
    observed = float(scores[0].mean() - scores[1].mean())
    if not math.isfinite(observed):
        return Paired(None, None, None, None)
    drawn = values(resampled_sums(every, seed=seed, resamples=resamples if len(every) > 1 else 0))
    defined = np.isfinite(np.hstack(drawn)).all(axis=1)
    drawn = (drawn[0][defined], drawn[1][defined])
    count = int(defined.sum())
    if not count:
        return Paired(observed, None, None, None)
    least = 2 / (count + 1)
    if min(len(one), len(other)) > 1:
        parts = components(scores, drawn, sizes)
        half = parts.half_width(1.0 - confidence)
        return Paired(observed, observed - half, observed + half, max(least, parts.p(observed - null)))
    differences = drawn[0].mean(axis=1) - drawn[1].mean(axis=1)
    interval = percentile_interval(differences, confidence)
    assert interval is not None  # every difference is defined
    against = int(np.count_nonzero((differences - null) * np.sign(observed - null) <= 0))
    return Paired(observed, *interval, min(1.0, least * (1 + against)))
