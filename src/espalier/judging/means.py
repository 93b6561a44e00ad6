"""Means of ratings, and differences of means, whose intervals count that inputs and raters are samples of others.

Every rater judges texts of every input, so ratings vary by input, by rater and by both together (a two-way layout
with random effects). With N ratings y, their mean m, and d_gr the sum of (y - m) / N over the ratings of input g by
rater r, let d_g and d_r be its sums over raters and over inputs, n the numbers of ratings in the same way, and C the
number of cells with any rating, of G inputs and R raters. The variance of m is estimated as

    V = V_input + max(0, V_rater - V_both)
    V_input = G / (G - 1) sum_g d_g^2,   V_rater = R / (R - 1) sum_r d_r^2
    V_both  = C / (C - G - R + 1) sum_gr (d_gr - d_g n_gr / n_g - d_r n_gr / n_r)^2

which are, where each rater rates each input once, the mean squares of the analysis of variance by C: V_input and
V_rater both count the noise of single ratings, V_both counts nothing else. The interval is that of Banerjee (1961), as
in `espalier.metrics.paired`, with G - 1 and R - 1 degrees of freedom: a rater is to an input what a seed is to a
segment. Of a difference of two systems, the d of the second are subtracted before they are squared: what raters and
inputs do to both alike cancels.

`benchmarks/judging_panels.py` measures the coverage on panels with planted effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from espalier.metrics.bootstrap import Array, share_interval
from espalier.metrics.paired import Components

Codes = npt.NDArray[np.int64]
#: Means and standard deviations below this are 0 but for rounding.
_ROUNDING: Final = 1e-10


class Rated(NamedTuple):
    """Ratings of one system: (ratings) their values, and the numbers of their inputs and raters in the panel."""

    values: Array
    inputs: Codes
    raters: Codes


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean or a difference with its 95 % interval.

    Attributes:
        value: None without ratings; then everything else is None too.
        low: lower end; None if there is one input only, or if all ratings of each system are equal, so that their
            variance is unknown. With a single rater the interval is over inputs alone.
        p: two-sided p-value of a mean or difference under the true value 0; None for one input, and for shares. If the
            variance is unknown it is that of a sign test over inputs.
        ratings: number of ratings.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    ratings: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def mean_of(rated: Rated) -> Estimate:
    """The mean of the ratings of a system."""
    return _estimate([(rated, 1.0)])


def difference_of(one: Rated, other: Rated) -> Estimate:
    """The mean of one system minus that of another, judged by the same raters on the same inputs."""
    return _estimate([(one, 1.0), (other, -1.0)])


def share_of(rated: Rated, value: float) -> Estimate:
    """The share of ratings with this value, from 0 to 1.

    If no rating or every one has it, their variance is unknown, and the interval is that of shares in `bootstrap`.
    """
    has = (rated.values == value).astype(np.float64)
    found = _estimate([(rated._replace(values=has), 1.0)], tested=False)
    if found.value in (0.0, 1.0):
        inputs = np.bincount(rated.inputs).astype(np.float64)
        bounds = share_interval(np.asarray(np.bincount(rated.inputs, has)), inputs, 0.95)
    elif found.interval:
        bounds = max(0.0, found.interval[0]), min(1.0, found.interval[1])
    else:
        return found
    low, high = bounds or (None, None)
    return Estimate(found.value, low, high, found.p, found.ratings)


def _estimate(parts: Sequence[tuple[Rated, float]], *, tested: bool = True) -> Estimate:
    """The sum of the means of the parts, each with its sign."""
    ratings = sum(len(rated.values) for rated, _ in parts)
    if not all(len(rated.values) for rated, _ in parts):
        return Estimate(None, None, None, None, ratings)
    means = [float(rated.values.mean()) for rated, _ in parts]
    value = sum(sign * mean for (_, sign), mean in zip(parts, means, strict=True))
    shares = [
        sign * (rated.values - mean) / len(rated.values) for (rated, sign), mean in zip(parts, means, strict=True)
    ]
    inputs = np.concatenate([rated.inputs for rated, _ in parts])
    raters = np.concatenate([rated.raters for rated, _ in parts])
    components = _components(np.concatenate(shares), inputs, raters)
    if components is None:
        return Estimate(value, None, None, None, ratings)
    if max(components.cluster, components.seed) < _ROUNDING**2:
        # The same in every input: the variance is unknown, and a sign test over inputs is all that is left.
        p = 1.0 if abs(value) < _ROUNDING else float(2.0**-components.cluster_df)
        return Estimate(value, None, None, p if tested else None, ratings)
    half = components.half_width(0.05)
    return Estimate(value, value - half, value + half, components.p(value) if tested else None, ratings)


def _components(shares: Array, inputs: Codes, raters: Codes) -> Components | None:
    """V_input and the part of V_rater beyond V_both, from the (y - m) / N of each rating; None for one input."""
    (of_input, inputs), (of_rater, raters) = (np.unique(codes, return_inverse=True) for codes in (inputs, raters))
    several, panel = len(of_input), len(of_rater)
    if several < 2:
        return None
    cells = np.bincount(inputs * panel + raters, shares, several * panel).reshape(several, panel)
    counts = np.bincount(inputs * panel + raters, minlength=several * panel).reshape(several, panel)
    by_input, by_rater = cells.sum(1, keepdims=True), cells.sum(0, keepdims=True)
    input_variance = several / (several - 1) * float((by_input**2).sum())
    if panel < 2:
        return Components(cluster=input_variance, cluster_df=several - 1, seed=0.0, seed_df=1.0)
    rater_variance = panel / (panel - 1) * float((by_rater**2).sum())
    residuals = cells - by_input * counts / counts.sum(1, keepdims=True) - by_rater * counts / counts.sum(0)
    filled = int((counts > 0).sum())
    degrees = filled - several - panel + 1
    both = filled / degrees * float((residuals**2).sum()) if degrees > 0 else 0.0
    beyond = max(0.0, rater_variance - both)
    return Components(cluster=input_variance, cluster_df=several - 1, seed=beyond, seed_df=panel - 1)
