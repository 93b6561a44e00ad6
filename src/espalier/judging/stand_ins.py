"""Automatic stand-ins: the nearest automatic metrics of the judged texts, and how they go with the ratings.

They stand in while there are no ratings, and are named so wherever they are shown. Of each system they count the best
text for an input, which is the one that automatic metrics score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from espalier.judging.answers import Answers
from espalier.judging.sample import Sample
from espalier.judging.score import cells_of
from espalier.metrics.bootstrap import Array, percentile_interval

#: Values of a metric by system and record id.
Values = Mapping[str, Mapping[str, float]]
#: Number of resamples of inputs, and their seed.
RESAMPLES: Final = 1000
SEED: Final = 1


@dataclass(frozen=True, slots=True)
class StandIn:
    """A metric beside a criterion.

    Attributes:
        means: mean over the judged texts of each system; systems without the metric are missing.
        correlation: Spearman's, of the metric with the mean rating of a text; of pairs, of the difference of the metric
            with the mean preference. None without ratings, or if either is constant.
        interval: 95 % interval over inputs.
        texts: number of texts or pairs in the correlation.
    """

    criterion: str
    metric: str
    means: Mapping[str, float]
    correlation: float | None
    interval: tuple[float, float] | None
    texts: int


def stand_ins(sample: Sample, values: Mapping[str, Values], answers: Sequence[Answers] = ()) -> list[StandIn]:
    """The stand-ins of each criterion, in the order of its protocol; those without any value are left out."""
    ids = {
        (source.system, item.input): source.id
        for item in sample.items
        for sources in item.sources
        for source in sources
        if source.rank == 1
    }
    rated = _ratings(sample, answers)
    found = []
    for criterion, settings in sample.protocol.criteria.items():
        for metric in settings.stand_ins:
            known = {
                (system, one): value
                for (system, one), id_ in ids.items()
                if (value := values.get(metric, {}).get(system, {}).get(id_)) is not None
            }
            if known:
                found.append(_stand_in(sample, criterion, metric, known, rated.get(criterion, {})))
    return found


def _stand_in(
    sample: Sample,
    criterion: str,
    metric: str,
    known: Mapping[tuple[str, str], float],
    rated: Mapping[tuple[str, str], float],
) -> StandIn:
    means = {
        system: float(np.mean([value for (own, _), value in known.items() if own == system]))
        for system in sample.protocol.systems
        if any(own == system for own, _ in known)
    }
    rows: list[tuple[str, float, float]] = []
    for (system, one), rating in rated.items():
        value = known.get((system, one))
        if sample.protocol.design == "pairs":  # the rating is how much better the first system's text is
            first = known.get((sample.protocol.systems[0], one))
            value = None if value is None or first is None else first - value
        if value is not None:
            rows.append((one, rating, value))
    table = np.array([row[1:] for row in rows]).reshape(-1, 2)
    value = _spearman(table)
    interval = None if value is None else _interval(table, [row[0] for row in rows])
    return StandIn(criterion, metric, means, value, interval, len(rows))


def _ratings(sample: Sample, answers: Sequence[Answers]) -> dict[str, dict[tuple[str, str], float]]:
    """The mean rating of the best text of each system for each input, by criterion."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for cell in cells_of(sample, answers):
        if cell.source.rank == 1:
            rating = float(np.mean(list(cell.values.values())))
            found.setdefault(cell.criterion, {})[cell.source.system, cell.input] = rating
    return found


def _spearman(table: Array) -> float | None:
    """The correlation of the ranks of two columns; None if one is constant."""
    if len(table) < 3 or np.ptp(table[:, 0]) == 0 or np.ptp(table[:, 1]) == 0:
        return None
    from scipy.stats import rankdata  # takes a second

    return float(np.corrcoef(*rankdata(table, axis=0).T)[0, 1])


def _interval(table: Array, inputs: Sequence[str]) -> tuple[float, float] | None:
    """The interval over resamples of inputs, with all texts of each."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(inputs):
        places.setdefault(one, []).append(place)
    groups = [np.array(own) for own in places.values()]
    if len(groups) < 2:
        return None
    generator = np.random.default_rng(SEED)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = generator.integers(0, len(groups), len(groups))
        drawn.append(_spearman(table[np.concatenate([groups[place] for place in chosen])]))
    return percentile_interval(np.array([value for value in drawn if value is not None]), 0.95)
