"""How many inputs a difference needs: the share of simulated panels in which it is found.

The panels are those of `simulate`: two systems whose perceived qualities differ by the given number of levels, the
other systems of a set between them, and the spread between inputs, texts, raters and single ratings. A difference is
found where its p, adjusted for the number of claims as the smallest by Holm, is below 0.05 and its sign is right.

What an input and a rater do to all texts alike cancels in pairs and sets, so only `texts` and `noise` matter there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from espalier.judging.means import Estimate, Rated, difference_of, mean_of
from espalier.judging.protocol import Design, Protocol
from espalier.judging.score import OUTCOMES, SIGNIFICANT
from espalier.judging.simulate import TIE_WIDTH, Spread
from espalier.metrics.bootstrap import Array

#: Simulated panels for each number of inputs.
PANELS: Final = 400
#: Power that is usually asked for, and the largest number of inputs that is tried.
WANTED: Final = 0.8
LARGEST: Final = 5000
#: The parts of the spread that do not cancel.
PARTS: Final[dict[Design, tuple[str, ...]]] = {
    "scale": ("inputs", "texts", "raters", "noise"),
    "pairs": ("texts", "noise"),
    "best_worst": ("texts", "noise"),
}
#: Simulated inputs of the expected answers.
MANY: Final = 20_000


@dataclass(frozen=True, slots=True)
class Power:
    """The share of panels with this number of inputs in which the difference is found, and its standard error."""

    inputs: int
    power: float
    error: float


def power_of(
    protocol: Protocol,
    inputs: int,
    difference: float,
    *,
    raters: int | None = None,
    spread: Spread | None = None,
    claims: int | None = None,
    seed: int = 1,
    panels: int = PANELS,
) -> Power:
    """The power of a panel.

    Args:
        inputs: number of inputs, each with one text of either system.
        difference: difference of the systems' qualities in levels, around the middle of the scale.
        raters: number of raters; None for that of the protocol.
        claims: number of claims that are tested together; None for those of the protocol.
    """
    raters = raters or protocol.raters
    claims = claims_of(protocol) if claims is None else claims
    generator = np.random.default_rng([seed, inputs])
    found = 0
    for _ in range(panels):
        estimate = _gain(_ratings(protocol, inputs, raters, difference, spread or Spread(), generator), protocol)
        found += estimate.p is not None and estimate.p * claims < SIGNIFICANT and (estimate.value or 0) > 0
    share = found / panels
    return Power(inputs, share, float(np.sqrt(share * (1 - share) / panels)))


def claims_of(protocol: Protocol) -> int:
    """The number of claims that are tested together, 1 or more."""
    return max(1, sum(len(claim.criteria) for claim in protocol.claims))


def inputs_for(
    protocol: Protocol,
    difference: float,
    *,
    raters: int | None = None,
    spread: Spread | None = None,
    panels: int = PANELS,
) -> tuple[Power, ...]:
    """The powers that were tried in search of the least number of inputs that reaches the power `WANTED`.

    Numbers double until one reaches it, then halve the distance to within a tenth. The last is the answer; if not even
    `LARGEST` inputs reach it, it is that of `LARGEST`.
    """

    def tried(inputs: int) -> Power:
        return power_of(protocol, inputs, difference, raters=raters, spread=spread, panels=panels)

    powers = [tried(10)]
    while powers[-1].power < WANTED and powers[-1].inputs < LARGEST:
        powers.append(tried(min(2 * powers[-1].inputs, LARGEST)))
    if powers[-1].power < WANTED:
        return tuple(powers)
    enough = powers[-1]
    short = powers[-2].inputs if len(powers) > 1 else 2
    while enough.inputs - short > max(1, enough.inputs // 10):
        middle = tried((short + enough.inputs) // 2)
        powers.append(middle)
        short, enough = (short, middle) if middle.power >= WANTED else (middle.inputs, enough)
    return (*(each for each in powers if each != enough), enough)


def expected(protocol: Protocol, difference: float, spread: Spread) -> dict[str, float]:
    """What the answers are expected to be: of the better system the percent of win, tie and loss, or both scores.

    On a scale there is nothing to say beyond the difference, so it is empty.
    """
    if protocol.design == "scale":
        return {}
    ratings = _ratings(protocol, MANY, 1, difference, spread, np.random.default_rng(1))
    if protocol.design == "pairs":
        return {name: 100 * float((ratings[0].values == value).mean()) for value, name in OUTCOMES.items()}
    return {name: float(each.values.mean()) for name, each in zip(("better", "worse"), ratings, strict=False)}


def _gain(ratings: Sequence[Rated], protocol: Protocol) -> Estimate:
    return mean_of(ratings[0]) if protocol.design == "pairs" else difference_of(ratings[0], ratings[1])


def _ratings(
    protocol: Protocol, inputs: int, raters: int, difference: float, spread: Spread, generator: np.random.Generator
) -> list[Rated]:
    """The ratings of the better system and of the worse one; of pairs, of the better one beside the worse."""
    values = _scale(protocol)
    systems = len(protocol.systems) if protocol.design == "best_worst" else 2
    quality = np.full((systems, 1, 1), (values[0] + values[-1]) / 2)
    quality[0] += difference / 2
    quality[1] -= difference / 2
    shared = generator.normal(0, spread.inputs, (inputs, 1)) + generator.normal(0, spread.raters, (1, raters))
    own = generator.normal(0, spread.texts, (systems, inputs, 1))
    perceived = quality + shared + own + generator.normal(0, spread.noise, (systems, inputs, raters))
    is_shown = np.ones((systems, inputs), dtype=bool)
    if systems > protocol.size:
        is_shown = generator.random((systems, inputs)).argsort(0) < protocol.size
    rows, columns = np.indices((inputs, raters))
    # As in a drawn sample, each input has the next raters in turn.
    has = (columns - rows) % raters < min(protocol.per_input or raters, raters)
    answers = answered(perceived, protocol.design, values, is_shown)
    return [
        Rated(answer[mask], rows[mask], columns[mask])
        for answer, shown in zip(answers[:2], is_shown, strict=False)
        for mask in (has & shown[:, None],)
    ]


def answered(
    perceived: Array, design: Design, values: Sequence[int], is_shown: npt.NDArray[np.bool_] | None = None
) -> Array:
    """What raters answer by the rules of `simulate`.

    Args:
        perceived: (systems, inputs, raters) perceived quality in levels.
        values: levels of a scale.
        is_shown: (systems, inputs) which texts stand in the set of an input; None for all.

    Returns:
        (systems, inputs, raters) levels; of pairs (1, inputs, raters) how much better the first text is; of sets 1 for
        the best text, -1 for the worst and 0 for others.
    """
    if design == "scale":
        return np.clip(np.floor(perceived + 0.5), values[0], values[-1])
    if design == "pairs":
        better = perceived[:1] - perceived[1:2]
        return np.asarray(np.where(np.abs(better) < TIE_WIDTH, 0.0, np.sign(better)))
    shown = np.True_ if is_shown is None else is_shown[:, :, None]
    best, worst = np.where(shown, perceived, -np.inf).argmax(0), np.where(shown, perceived, np.inf).argmin(0)
    places = np.arange(len(perceived))[:, None, None]
    return np.asarray((places == best).astype(np.float64) - (places == worst))


def _scale(protocol: Protocol) -> tuple[int, ...]:
    """The levels of the longest scale; (0,) if there is none, where only differences count."""
    return max((criterion.values for criterion in protocol.criteria.values()), key=len) or (0,)
