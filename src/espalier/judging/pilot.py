"""The spread of ratings in a pilot, of which `power` simulates panels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from espalier.io.errors import ConfigError
from espalier.judging.answers import Answers
from espalier.judging.power import MANY, answered
from espalier.judging.protocol import Design
from espalier.judging.sample import Sample
from espalier.judging.score import cells_of
from espalier.judging.simulate import TIE_WIDTH, Spread
from espalier.metrics.bootstrap import Array


def spread_of(sample: Sample, answers: Sequence[Answers], criterion: str) -> Spread:
    """The spread in a pilot.

    Raises:
        ConfigError: there are fewer than two raters, or than two inputs that all raters judged; or no system has
            wins, ties and losses.
    """
    by_design = {"scale": _of_scale, "pairs": _of_pairs, "best_worst": _of_sets}
    return by_design[sample.protocol.design](_ratings(sample, answers, criterion))


def _ratings(sample: Sample, answers: Sequence[Answers], criterion: str) -> Array:
    """(systems, inputs, raters) ratings of each system's best text, of inputs that all raters judged.

    Of a set that lacks a system, its ratings are nan.
    """
    known = [cell for cell in cells_of(sample, answers) if cell.criterion == criterion and cell.source.rank == 1]
    systems = sorted({cell.source.system for cell in known})
    rows = {one: place for place, one in enumerate(sorted({cell.input for cell in known}))}
    ratings = np.full((len(systems), len(rows), len(answers)), np.nan)
    for cell in known:
        own = [cell.values.get(one.rater, np.nan) for one in answers]
        ratings[systems.index(cell.source.system), rows[cell.input]] = own
    lacks = np.isnan(ratings)
    is_whole = ~lacks.any(2)
    if sample.protocol.design == "best_worst":
        is_whole |= lacks.all(2)
    complete = ratings[:, is_whole.all(0), :]
    several, panel = complete.shape[1:]
    if several < 2 or panel < 2:
        raise ConfigError(
            f"{several} inputs that all of {panel} raters judged on {criterion}",
            where="--pilot",
            remedy="a spread needs two raters of two inputs or more",
        )
    return complete[~np.isnan(complete).all((1, 2))]  # without a system that is in none of them


def _of_scale(ratings: Array) -> Spread:
    """The spread by the mean squares of the crossed layout.

    Texts of one system differ between inputs by `inputs` and `texts` together; what all systems share of an input is
    `inputs`. Estimates below 0 are 0. Rounding to levels is counted as noise.
    """
    several, panel = ratings.shape[1:]
    texts, shared, biases, noises = [], [], [], []
    for table in ratings:
        by_input, by_rater = table.mean(1, keepdims=True), table.mean(0, keepdims=True)
        noise = ((table - by_input - by_rater + table.mean()) ** 2).sum() / ((several - 1) * (panel - 1))
        noises.append(noise)
        texts.append(by_input.var(ddof=1) - noise / panel)
        biases.append(by_rater.var(ddof=1) - noise / several)
    means = ratings.mean(2)
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


def _of_pairs(ratings: Array) -> Spread:
    """The spread by the shares of win and loss, and by how raters agree.

    If two texts differ in quality by q, and what is perceived of that by s = sqrt(2 texts^2 + 2 noise^2), then win and
    loss have the probabilities Phi((q - w) / s) and Phi((-q - w) / s), where w is the width of a tie. So

        s = -2 w / (z_win + z_loss),  q = s (z_win - z_loss) / 2

    A system without a win, a tie or a loss tells nothing.
    """
    squares, alike = [], []
    for table in ratings:
        win, loss = (float((table == value).mean()) for value in (1, -1))
        if min(win, loss, 1 - win - loss) <= 0:
            continue
        ends = float(ndtri(win)), float(ndtri(loss))
        deviation = -2 * TIE_WIDTH / sum(ends)
        quality = (deviation * (ends[0] - ends[1]) / 2, 0.0)
        squares.append(deviation**2 / 2)
        alike.append(_share_of_texts(table[None], "pairs", quality, deviation / np.sqrt(2)))
    if not squares:
        raise ConfigError(
            "no system with wins, ties and losses on a criterion",
            where="--pilot",
            remedy="a spread needs all three; ask for more inputs, or state it by --sd",
        )
    return _spread(float(np.sqrt(np.mean(squares))), float(np.mean(alike)))


def _of_sets(ratings: Array) -> Spread:
    """The spread by how raters agree.

    Sets do not tell levels: twice the difference and twice the spread give the same answers. So the deviation of what
    is perceived of a text is that of the default, and a pilot tells the share of it that lies in the texts.
    """
    size = int((~np.isnan(ratings).all(2)).sum(0).max())
    deviation = float(np.hypot(Spread().texts, Spread().noise))
    return _spread(deviation, _share_of_texts(ratings, "best_worst", (0.0,) * size, deviation))


def _spread(deviation: float, share: float) -> Spread:
    texts, noise = deviation * np.sqrt(share), deviation * np.sqrt(1 - share)
    return Spread(inputs=0.0, texts=float(texts), raters=0.0, noise=float(noise))


def _share_of_texts(ratings: Array, design: Design, quality: Sequence[float], deviation: float) -> float:
    """The share of `texts` in the variance of what is perceived with which simulated raters agree as these do."""
    generator = np.random.default_rng(1)
    own = generator.normal(0, deviation, (len(quality), MANY, 1))
    noise = generator.normal(0, deviation, (len(quality), MANY, 2))
    planted = np.array(quality)[:, None, None]

    def beyond(share: float) -> float:
        perceived = planted + np.sqrt(share) * own + np.sqrt(1 - share) * noise
        return _likeness(answered(perceived, design, ())) - wanted

    wanted = _likeness(ratings)
    if beyond(0.0) >= 0:
        return 0.0
    return 1.0 if beyond(1.0) <= 0 else float(brentq(beyond, 0.0, 1.0, xtol=1e-4))


def _likeness(ratings: Array) -> float:
    """The correlation of two raters' ratings of a text, around the mean of its system."""
    own = ratings - np.nanmean(ratings, axis=(1, 2), keepdims=True)
    own = own[~np.isnan(own).any(2)]
    raters = own.shape[1]
    squares = (own**2).sum(1)
    return float(((own.sum(1) ** 2 - squares) / (raters - 1)).sum() / max(float(squares.sum()), 1e-12))
