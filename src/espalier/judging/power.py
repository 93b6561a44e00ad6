"""How many inputs a difference needs: the share of simulated panels in which it is found.

The panels are those of `simulate`: two systems whose mean ratings differ by the given number of levels, and the spread
between inputs, texts, raters and single ratings. A difference is found where its p, adjusted for the number of claims
as the smallest by Holm, is below 0.05 and its sign is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from espalier.io.errors import ConfigError
from espalier.judging.answers import Answers
from espalier.judging.means import Rated, difference_of
from espalier.judging.sample import Sample
from espalier.judging.score import SIGNIFICANT, cells_of
from espalier.judging.simulate import Spread

#: Simulated panels for each number of inputs.
PANELS: Final = 400
#: Power that is usually asked for, and the largest number of inputs that is tried.
WANTED: Final = 0.8
LARGEST: Final = 5000


@dataclass(frozen=True, slots=True)
class Power:
    """The share of panels with this number of inputs in which the difference is found, and its standard error."""

    inputs: int
    power: float
    error: float


def power_of(
    inputs: int,
    raters: int,
    difference: float,
    values: Sequence[int],
    *,
    spread: Spread | None = None,
    claims: int = 1,
    seed: int = 1,
    panels: int = PANELS,
) -> Power:
    """The power of a panel on a scale.

    Args:
        inputs: number of inputs, each with one text of either system.
        difference: difference of the systems' qualities in levels, around the middle of the scale.
        values: the levels.
        claims: number of claims that are tested together.
    """
    spread = spread or Spread()
    generator = np.random.default_rng([seed, inputs])
    middle = (values[0] + values[-1]) / 2
    rows, columns = (each.ravel() for each in np.indices((inputs, raters)))
    found = 0
    for _ in range(panels):
        shared = generator.normal(0, spread.inputs, (inputs, 1)) + generator.normal(0, spread.raters, (1, raters))
        tables = []
        for side in (0.5, -0.5):
            own = generator.normal(0, spread.texts, (inputs, 1)) + generator.normal(0, spread.noise, (inputs, raters))
            perceived = middle + side * difference + shared + own
            tables.append(np.clip(np.floor(perceived + 0.5), values[0], values[-1]))
        estimate = difference_of(*(Rated(table.ravel(), rows, columns) for table in tables))
        found += estimate.p is not None and estimate.p * claims < SIGNIFICANT and (estimate.value or 0) > 0
    share = found / panels
    return Power(inputs, share, float(np.sqrt(share * (1 - share) / panels)))


def inputs_for(
    raters: int,
    difference: float,
    values: Sequence[int],
    *,
    spread: Spread | None = None,
    claims: int = 1,
    wanted: float = WANTED,
    seed: int = 1,
    panels: int = PANELS,
) -> tuple[Power, ...]:
    """The powers that were tried in search of the least number of inputs that reaches the wanted power.

    Numbers double until one reaches it, then halve the distance to within a tenth. The last is the answer; if not even
    `LARGEST` inputs reach the wanted power, it is that of `LARGEST`.
    """

    def tried(inputs: int) -> Power:
        return power_of(inputs, raters, difference, values, spread=spread, claims=claims, seed=seed, panels=panels)

    powers = [tried(10)]
    while powers[-1].power < wanted and powers[-1].inputs < LARGEST:
        powers.append(tried(min(2 * powers[-1].inputs, LARGEST)))
    if powers[-1].power < wanted:
        return tuple(powers)
    enough = powers[-1]
    short = powers[-2].inputs if len(powers) > 1 else 2
    while enough.inputs - short > max(1, enough.inputs // 10):
        middle = tried((short + enough.inputs) // 2)
        powers.append(middle)
        short, enough = (short, middle) if middle.power >= wanted else (middle.inputs, enough)
    return (*(each for each in powers if each != enough), enough)


def spread_of(sample: Sample, answers: Sequence[Answers], criterion: str) -> Spread:
    """The spread in a pilot on a scale, by the mean squares of its crossed layout.

    Texts of one system differ between inputs by `inputs` and `texts` together; what all systems share of an input is
    `inputs`. Estimates below 0 are 0. Rounding to levels is counted as noise.

    Raises:
        ConfigError: there are fewer than two raters, or than two inputs that all raters judged.
    """
    known = [cell for cell in cells_of(sample, answers) if cell.criterion == criterion and cell.source.rank == 1]
    systems = sorted({cell.source.system for cell in known})
    rows = {one: place for place, one in enumerate(sorted({cell.input for cell in known}))}
    ratings = np.full((len(systems), len(rows), len(answers)), np.nan)
    for cell in known:
        own = [cell.values.get(one.rater, np.nan) for one in answers]
        ratings[systems.index(cell.source.system), rows[cell.input]] = own
    complete = ratings[:, ~np.isnan(ratings).any((0, 2)), :]
    several, panel = complete.shape[1:]
    if several < 2 or panel < 2:
        raise ConfigError(
            f"{several} inputs that all of {panel} raters judged on {criterion}",
            where="--pilot",
            remedy="a spread needs two raters of two inputs or more",
        )
    texts, shared, biases, noises = [], [], [], []
    for table in complete:
        by_input, by_rater = table.mean(1, keepdims=True), table.mean(0, keepdims=True)
        noise = ((table - by_input - by_rater + table.mean()) ** 2).sum() / ((several - 1) * (panel - 1))
        noises.append(noise)
        texts.append(by_input.var(ddof=1) - noise / panel)
        biases.append(by_rater.var(ddof=1) - noise / several)
    means = complete.mean(2)
    if len(means) > 1:
        together = np.cov(means)
        shared = [together[one, other] for one in range(len(means)) for other in range(one)]
    of_inputs = max(0.0, float(np.mean(shared))) if shared else 0.0
    return Spread(
        inputs=float(np.sqrt(of_inputs)),
        texts=float(np.sqrt(max(0.0, float(np.mean(texts)) - of_inputs))),
        raters=float(np.sqrt(max(0.0, float(np.mean(biases))))),
        noise=float(np.sqrt(np.mean(noises))),
    )
