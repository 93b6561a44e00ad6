"""The variance of an effect over training seeds and test clusters, with interval and p-value.

Each system is trained with a few seeds of its own, and all are scored on the same clusters of segments. The effect is
the difference of the systems' means over seeds. Its variance is the sum of two independent estimates:

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

from dataclasses import dataclass

import numpy as np

from espalier.metrics.bootstrap import Array


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
