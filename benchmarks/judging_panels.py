"""Simulated panels with planted quality, bias and noise, judged by the kit of docs/judging.md: do its intervals cover?

    python benchmarks/judging_panels.py [PANELS] [DESIGNS] [--record]

Of 1,000 panels for each design: the share whose 95 % interval holds the planted mean (or share of wins) of a system,
and the planted difference; the share in which the better system has the larger mean; the share in which the claim that
it is better holds, beside the power that `espalier judge power` states; and how often the careless rater, one of each
panel, fails the attention checks, and how often another does. It takes about a minute in one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from measuring import Record, arguments
from scipy.special import ndtr

from espalier.judging.draw import draw
from espalier.judging.power import power_of
from espalier.judging.protocol import Protocol
from espalier.judging.sample import Sample
from espalier.judging.score import Panel, rater_lines
from espalier.judging.score import panel as panel_of
from espalier.judging.simulate import TIE_WIDTH, Spread, simulated_answers, true_mean
from espalier.report.benchmarks import BenchmarkTable, Column

#: Planted quality in levels; the third system stands between the others, as `power` has it.
QUALITY: Final = {"better": 3.4, "worse": 3.0, "third": 3.2}
HEADINGS: Final = (
    "mean covered", "difference covered", "order found", "claim holds", "power stated", "careless found",
    "others blamed",
)  # fmt: skip


@dataclass(frozen=True)
class Design:
    """A design, its panel without the careless rater, and the planted spread."""

    name: str
    design: str
    inputs: int
    raters: int
    spread: Spread
    levels: int = 5


DESIGNS: Final = (
    Design("scale of 5, 4 raters, 30 inputs", "scale", 30, 4, Spread()),
    Design("scale of 5, 3 raters, 30 inputs, severe and lenient raters", "scale", 30, 3, Spread(raters=0.8)),
    Design("pairs, 3 raters, 30 inputs", "pairs", 30, 3, Spread()),
    Design("scale of 5, 3 raters, 40 inputs, much noise", "scale", 40, 3, Spread(raters=0.1, noise=1.2)),
    Design("scale of 3, 8 raters, 20 inputs", "scale", 20, 8, Spread(inputs=0.4, texts=0.4, raters=0.3, noise=0.5), 3),
    Design("best and worst of 3, 3 raters, 40 inputs", "best_worst", 40, 3, Spread()),
)


def sample_of(design: Design) -> Sample:
    """A sample of made-up texts, with one rater more than the design has."""
    systems = list(QUALITY)[: 3 if design.design == "best_worst" else 2]
    criterion: dict[str, Any] = {"question": "How good is it?"}
    if design.design == "scale":
        criterion |= {"lowest": 1, "levels": ["bad", *[""] * (design.levels - 2), "good"]}
    protocol = Protocol.model_validate({
        "paper": "none", "title": "Panels", "design": design.design, "criteria": {"quality": criterion},
        "runs": systems, "inputs": design.inputs, "raters": design.raters + 1, "checks": 6, "note": "Judge.",
        "claims": [{"better": "better", "worse": "worse", "criteria": "quality"}],
    })  # fmt: skip
    rows = {run: [{"id": f"r{n}", "text": f"{run} {n}"} for n in range(design.inputs)] for run in systems}
    return draw("panels", protocol, rows, "en")


def truth(design: Design, quality: Mapping[str, float]) -> tuple[float, float]:
    """The true mean of the better system (of pairs, its share of wins in percent), and its true gain."""
    spread = design.spread
    if design.design == "scale":
        values = range(1, design.levels + 1)
        better, worse = (true_mean(quality[system], spread, values) for system in ("better", "worse"))
        return better, better - worse
    if design.design == "pairs":
        deviation = np.sqrt(2 * (spread.texts**2 + spread.noise**2))
        win = float(ndtr((quality["better"] - quality["worse"] - TIE_WIDTH) / deviation))
        loss = float(ndtr((quality["worse"] - quality["better"] - TIE_WIDTH) / deviation))
        return 100 * win, 100 * (win - loss)
    generator = np.random.default_rng(0)
    drawn = np.array(list(quality.values())) + generator.normal(0, np.hypot(spread.texts, spread.noise), (4_000_000, 3))
    best, worst = (np.bincount(part(drawn, axis=1), minlength=3) / len(drawn) for part in (np.argmax, np.argmin))
    scores = best - worst
    return float(scores[0]), float(scores[0] - scores[1])


def shown(panel: Panel, system: str) -> tuple[float, float, float]:
    """The mean of a system with its interval; of pairs, the share of wins of the first system."""
    line = next(line for line in panel.systems if line.system == system)
    estimate = next(iter(line.measures.values()))
    return estimate.value or 0.0, estimate.low or 0.0, estimate.high or 0.0


def measured(design: Design, panels: int) -> list[float]:
    """The row of a design, in percent."""
    sample = sample_of(design)
    middle = (1 + design.levels) / 2 - 3.2
    quality = {system: QUALITY[system] + middle for system in sample.protocol.systems}
    mean, gain = truth(design, quality)
    careless = list(sample.orders)[-1]
    counts = np.zeros(6)
    for seed in range(panels):
        answers = simulated_answers(sample, quality, seed=seed, spread=design.spread, careless=[careless])
        failed = {line.rater for line in rater_lines(sample, answers) if line.failed}
        panel = panel_of(sample, [one for one in answers if one.rater not in failed], resamples=0)
        _, low, high = shown(panel, "worse" if design.design == "pairs" else "better")
        claim = panel.claims[0]
        covered = (
            claim.gain.low is not None and claim.gain.high is not None and claim.gain.low <= gain <= claim.gain.high
        )
        counts += [
            low <= mean <= high, covered, (claim.gain.value or 0) > 0, claim.verdict == "holds", careless in failed,
            bool(failed - {careless}),
        ]  # fmt: skip
    shares = (100 * counts / panels).tolist()
    power = power_of(
        sample.protocol, design.inputs, 0.4, raters=design.raters, spread=design.spread, seed=9, panels=2000
    )
    return [*shares[:4], 100 * power.power, *shares[4:]]


def main() -> None:
    """Measure all designs."""
    panels, designs = arguments(1000, len(DESIGNS))
    rows = {}
    for design in DESIGNS[:designs]:
        row = measured(design, panels)
        rows[design.name] = tuple(row)
        print(design.name, *(f"{value:.1f}" for value in row), file=sys.stderr, flush=True)
    with Record(__file__) as record:
        columns = tuple(Column(heading=f"{heading}, %", digits=1) for heading in HEADINGS)
        record.add(BenchmarkTable(title=f"{panels:,} simulated panels of each design", columns=columns, rows=rows))


if __name__ == "__main__":
    main()
