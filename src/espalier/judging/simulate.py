"""Simulated raters: answers from planted quality, bias and noise, to test the kit and to estimate its power.

What a rater perceives of a text is

    q_system + u_input + v_text + b_rater + e

with independent normal u, v, b and e, of which e differs from criterion to criterion. On a scale the rater gives the
nearest level. Of a pair the rater prefers the text perceived as better, or neither if the two are nearer than half a
level. Of a set the rater names the extremes. A careless rater answers everything at random, attention checks too.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from operator import add
from typing import Final

import numpy as np
from scipy.special import ndtr

from espalier.judging.answers import Answers
from espalier.judging.protocol import FIRST, SECOND, TIE
from espalier.judging.sample import Item, Sample

#: Two texts nearer than this are a tie.
TIE_WIDTH: Final = 0.5


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviations in levels: between inputs, texts of one input, raters, and single ratings."""

    inputs: float = 0.5
    texts: float = 0.5
    raters: float = 0.3
    noise: float = 0.7

    @property
    def total(self) -> float:
        """The standard deviation of a rating of a random text by a random rater."""
        return float(np.sqrt(self.inputs**2 + self.texts**2 + self.raters**2 + self.noise**2))


def true_mean(quality: float, spread: Spread, values: Sequence[int]) -> float:
    """The mean level over all inputs, texts and raters that there could be, if the perceived quality is rounded."""
    bounds = np.array(values[:-1]) + 0.5
    below = np.diff(ndtr((bounds - quality) / spread.total), prepend=0.0, append=1.0)
    return float(below @ np.array(values))


def simulated(
    sample: Sample,
    quality: Mapping[str, float],
    *,
    seed: int,
    spread: Spread | None = None,
    careless: Collection[str] = (),
) -> dict[str, str]:
    """The files of simulated raters by rater, as a page would save them, marked as simulated.

    The arguments are those of `simulated_answers`.
    """
    files = {}
    for one in simulated_answers(sample, quality, seed=seed, spread=spread, careless=careless):
        answers = [
            {"item": number, "question": question, "answer": answer}
            for (number, question), answer in one.answers.items()
        ]
        head = {"sample": sample.hash, "protocol": sample.name, "rater": one.rater, "simulated": True}
        files[one.rater] = json.dumps({**head, "answers": answers})
    return files


def simulated_answers(
    sample: Sample,
    quality: Mapping[str, float],
    *,
    seed: int,
    spread: Spread | None = None,
    careless: Collection[str] = (),
) -> list[Answers]:
    """The answers of simulated raters.

    Args:
        quality: planted quality of each system, in levels.
        careless: raters who answer at random.
    """
    spread = spread or Spread()
    generator = np.random.default_rng(seed)
    of_input = {one: generator.normal(0, spread.inputs) for one in sorted({item.input for item in sample.items})}
    planted: dict[tuple[str, ...], float] = {}
    for item in sample.items:
        for text, sources in zip(item.texts, item.sources, strict=False):
            mean = float(np.mean([quality[source.system] for source in sources]))
            planted.setdefault((item.input, text), mean + of_input[item.input] + generator.normal(0, spread.texts))
    found = []
    for rater, order in sample.orders.items():
        bias = generator.normal(0, spread.raters)
        texts = sum(len(sample.item(number).texts) for number in order)
        noises = iter(generator.normal(0, spread.noise, texts * len(sample.protocol.criteria)).tolist())
        answers: dict[tuple[int, str], str] = {}
        for number in order:
            item = sample.item(number)
            if rater in careless:
                given = _careless(sample, item, generator)
            else:
                base = [planted.get((item.input, text), 0.0) + bias for text in item.texts]
                noise = {name: [next(noises) for _ in base] for name in sample.protocol.criteria}
                given = _careful(sample, item, {name: list(map(add, base, own)) for name, own in noise.items()})
            answers |= {(number, question): answer for question, answer in given.items()}
        found.append(Answers(rater, f"{rater}.json", answers, simulated=True))
    return found


def _careful(sample: Sample, item: Item, perceived: Mapping[str, Sequence[float]]) -> Mapping[str, str]:
    """The answers by what is perceived of the texts on each criterion, or those that a check asks for."""
    if item.expected:
        return item.expected
    questions = sample.protocol.questions
    return {question: _answer(sample, question, perceived[criterion]) for question, (criterion, _) in questions.items()}


def _careless(sample: Sample, item: Item, generator: np.random.Generator) -> Mapping[str, str]:
    given: dict[str, str] = {}
    for question in sample.protocol.questions:
        given[question] = str(generator.choice(sample.protocol.left(question, len(item.texts), given)))
    return given


def _answer(sample: Sample, question: str, perceived: Sequence[float]) -> str:
    criterion, end = sample.protocol.questions[question]
    if sample.protocol.design == "scale":
        values = sample.protocol.criteria[criterion].values
        return str(min(max(floor(perceived[0] + 0.5), values[0]), values[-1]))
    if sample.protocol.design == "pairs":
        difference = perceived[0] - perceived[1]
        return TIE if abs(difference) < TIE_WIDTH else FIRST if difference > 0 else SECOND
    return str(1 + perceived.index(min(perceived) if end == "worst" else max(perceived)))
