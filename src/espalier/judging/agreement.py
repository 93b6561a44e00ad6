"""Agreement between raters beyond chance: Krippendorff's alpha, Gwet's AC1 and Fleiss' kappa, with intervals.

A unit is what raters answer one question about. Of a unit only the number of raters who chose each answer matters, so
each coefficient is a function of statistics that are summed over units, and all resamples of a bootstrap are computed
at once. Units may have different numbers of raters; those with fewer than two tell nothing of agreement.

With c_uk raters of the m_u of unit u who chose answer k of K, p_uk = c_uk / m_u, and U units with a rater, P of which
have two or more:

    a    = 1/P sum_u sum_k c_uk (c_uk - 1) / (m_u (m_u - 1))        the share of pairs of raters who agree
    q_k  = 1/U sum_u p_uk
    kappa = (a - e) / (1 - e),  e = sum_k q_k^2                      Fleiss (1971), by Gwet (2014) if m_u differs
    AC1   = (a - e) / (1 - e),  e = sum_k q_k (1 - q_k) / (K - 1)    Gwet (2008)
    alpha = 1 - sum_kl o_kl d_kl / sum_kl e_kl d_kl                  Krippendorff (2011)

where o_kl sums c_uk (c_ul - [k = l]) / (m_u - 1) over units with two raters or more, n_k = sum_l o_kl, n = sum_k n_k,
e_kl = n_k n_l / (n - 1), and d_kl is 1 for k != l (nominal), or (n_k / 2 + sum_{k < g < l} n_g + n_l / 2)^2 (ordinal).

The library krippendorff is under the GPL, and irrCAC names no licence and needs scipy 1.12 exactly, so the coefficients
are computed here; the tests hold them against NLTK, and against what both libraries printed for the same tables.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from espalier.metrics.bootstrap import Array, percentile_interval, resampled_sums, sums_by_group

Counts = npt.NDArray[np.int64]
Coefficient = Literal["alpha", "ac1", "kappa"]

#: The coefficients in the order of display, with their names.
COEFFICIENTS: Final[dict[Coefficient, str]] = {
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
    "kappa": "Fleiss' kappa",
}
#: Number of resamples of inputs, and their seed.
RESAMPLES: Final = 2000
SEED: Final = 1
#: The words of Landis and Koch (1977) for kappa and AC1, and those of Krippendorff (2004) for alpha, by lower bounds.
_KAPPA: Final = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"), (0.0, "slight"))
_ALPHA: Final = ((0.8, "reliable"), (0.667, "good for tentative conclusions only"))


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient over some units. `value` is None if it is undefined, `interval` also if there is one input only.

    Attributes:
        interval: 95 % interval over inputs; the raters are those of the panel.
        units: number of units with two raters or more.
    """

    coefficient: Coefficient
    value: float | None
    interval: tuple[float, float] | None
    units: int

    @property
    def meaning(self) -> str:
        """The value in the words that its field uses; "" if it is undefined."""
        if self.value is None:
            return ""
        if self.coefficient == "alpha":
            return next((words for bound, words in _ALPHA if self.value >= bound), "not reliable")
        return next((words for bound, words in _KAPPA if self.value > bound), "no better than chance")


def agreement(
    coefficient: Coefficient,
    counts: Counts,
    inputs: Sequence[Hashable],
    *,
    ordered: bool,
    resamples: int = RESAMPLES,
) -> Agreement:
    """A coefficient and its 95 % interval, from a bootstrap that draws the units of one input together.

    Args:
        counts: (units, answers) number of raters who chose each answer, in the order of the answers.
        inputs: (units) the input of each unit.
        ordered: whether the answers are a scale, so that alpha is ordinal. The others are nominal always.
        resamples: number of resamples; 0 for no interval.
    """
    statistics, of_sums = _PARTS[coefficient](counts, ordered)
    units = int((counts.sum(1) >= 2).sum())
    value = float(of_sums(statistics.sum(0)))
    if not np.isfinite(value):
        return Agreement(coefficient, None, None, units)
    by_input = sums_by_group(statistics, inputs)
    if len(by_input) < 2:
        return Agreement(coefficient, value, None, units)
    drawn = of_sums(resampled_sums(by_input, seed=SEED, resamples=resamples))
    return Agreement(coefficient, value, percentile_interval(drawn, 0.95), units)


_Parts = tuple[Array, Callable[[Array], Array]]


def _chance_corrected(counts: Counts, expected: Callable[[Array], Array]) -> _Parts:
    """The statistics of kappa or AC1 for each unit, and the coefficient of their sum."""
    raters = counts.sum(1, keepdims=True)
    pairs = raters * (raters - 1)
    agreeing = (counts * (counts - 1)).sum(1, keepdims=True) / np.maximum(pairs, 1)
    shares = counts / np.maximum(raters, 1)
    statistics = np.hstack([agreeing, raters >= 2, raters >= 1, shares]).astype(np.float64)

    def of_sums(sums: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = sums[..., 0] / sums[..., 1]
            chance = expected(sums[..., 3:] / sums[..., 2:3])
            return np.asarray((observed - chance) / (1 - chance))

    return statistics, of_sums


def _kappa(counts: Counts, ordered: bool) -> _Parts:
    return _chance_corrected(counts, lambda shares: (shares**2).sum(-1))


def _ac1(counts: Counts, ordered: bool) -> _Parts:
    answers = counts.shape[1]
    return _chance_corrected(counts, lambda shares: (shares * (1 - shares)).sum(-1) / (answers - 1))


def _alpha(counts: Counts, ordered: bool) -> _Parts:
    """The coincidences of each unit, flat, and alpha of their sum."""
    answers = counts.shape[1]
    raters = counts.sum(1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(answers, dtype=np.int64)
    weights = np.where(raters >= 2, 1 / np.maximum(raters - 1, 1), 0.0)
    statistics = np.asarray(pairs * weights[:, None, None], dtype=np.float64).reshape(len(counts), answers**2)

    def of_sums(sums: Array) -> Array:
        coincidences = sums.reshape(*sums.shape[:-1], answers, answers)
        totals = coincidences.sum(-1)
        distances = _ordinal(totals) if ordered else 1.0 - np.eye(answers)
        expected = totals[..., :, None] * totals[..., None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            disagreement = (coincidences * distances).sum((-1, -2)) * (totals.sum(-1) - 1)
            return np.asarray(1 - disagreement / (expected * distances).sum((-1, -2)))

    return statistics, of_sums


def _ordinal(totals: Array) -> Array:
    """(..., answers) -> (..., answers, answers): the squared number of ratings between the middles of two answers."""
    middles = np.cumsum(totals, -1) - totals / 2
    return np.asarray((middles[..., :, None] - middles[..., None, :]) ** 2)


_PARTS: Final[dict[Coefficient, Callable[[Counts, bool], _Parts]]] = {"alpha": _alpha, "ac1": _ac1, "kappa": _kappa}
