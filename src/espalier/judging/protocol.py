"""A protocol of human judgment: what raters are shown, what they are asked, and what is claimed of the answers.

Three designs. In `scale` a rater gives each text a level on each criterion. In `pairs` a rater says which of two
systems' texts for one input is better, or that neither is. In `best_worst` a rater names the best and the worst of the
texts of several systems (Louviere and Woodworth 1990; Kiritchenko and Mohammad 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from espalier.io.validation import Strict, listed, repeated, require_known

Design = Literal["scale", "pairs", "best_worst"]
#: The key of the reference among the systems. Its texts are the references of the runs' inputs.
REFERENCE: Final = "reference"
#: Answers about a pair: the first text is better, neither is, the second is.
FIRST, TIE, SECOND = "1", "0", "2"


def _no_measure(name: str) -> str:
    end = name.rpartition("_")[2]
    if "_" in name and (end.isdecimal() or end == "kappa"):
        raise ValueError(f"a criterion's name does not end in _{end}, as the share of a level or a kappa does")
    return name


#: The name of a criterion.
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$"), AfterValidator(_no_measure)]


class Criterion(Strict):
    """One question about a text, a pair or a set of texts.

    Attributes:
        question: what the rater reads.
        lowest: value of the first level of a scale; the next ones follow by 1.
        levels: what each level means, from the lowest; "" for one between two that have a meaning.
        stand_ins: automatic metrics of the same texts that come nearest to it, the nearest first.
    """

    question: str = Field(min_length=1)
    lowest: int = Field(default=1, ge=0, le=1)
    levels: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[int, ...]:
        """The values of the levels."""
        return tuple(range(self.lowest, self.lowest + len(self.levels)))

    @property
    def named(self) -> list[tuple[str, str]]:
        """(value, meaning) of each level."""
        return list(zip(map(str, self.values), self.levels, strict=True))


class Claim(Strict):
    """One system is better than another, by each of these criteria.

    With a `level`, the share of that level is compared and not the mean.
    """

    better: str
    worse: str
    criteria: Annotated[tuple[str, ...], BeforeValidator(listed)] = Field(min_length=1)
    level: int | None = None


class Protocol(Strict):
    """An entry of `protocols` in params.yaml.

    Attributes:
        paper: paper in whose report the result stands.
        runs: judged runs. In pairs the first is compared with each of the others.
        reference: whether the reference is judged among them.
        given: columns of the outputs shown above the texts, by their labels.
        one: column whose value names the input; rows that share it are one input.
        best: number of texts of each run for an input, the best ones.
        together: whether the texts for one input stand on one screen; else each has a screen.
        spread: column over whose values the inputs are spread evenly; "" for none.
        inputs: number of inputs.
        raters: number of raters.
        per_input: number of raters of each input; None for all.
        repeated: number of texts, pairs or sets that each rater is shown twice.
        checks: number of attention checks, whose answer is given in the text.
        size: number of texts in a set of best-worst scaling.
        note: instructions to raters.
    """

    paper: str
    title: str
    design: Design
    criteria: dict[Name, Criterion] = Field(min_length=1)
    runs: tuple[str, ...] = Field(min_length=1)
    reference: bool = False
    given: dict[str, str] = Field(default_factory=dict)
    one: str = "id"
    best: int = Field(default=1, ge=1)
    together: bool = False
    spread: str = ""
    inputs: int = Field(ge=2, le=100_000)
    raters: int = Field(ge=1, le=1000)
    per_input: int | None = Field(default=None, ge=1)
    repeated: int = Field(default=0, ge=0)
    checks: int = Field(default=0, ge=0)
    size: int = Field(default=4, ge=3, le=9)
    seed: int = Field(default=1, ge=0)
    note: str
    claims: tuple[Claim, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """The judged systems."""
        return (*self.runs, REFERENCE) if self.reference else self.runs

    @property
    def questions(self) -> dict[str, tuple[str, str]]:
        """What is asked of each item: (criterion, "best", "worst" or "") by the name of the question."""
        if self.design == "best_worst":
            return {f"{name}_{end}": (name, end) for name in self.criteria for end in ("best", "worst")}
        return {name: (name, "") for name in self.criteria}

    def answers(self, question: str, texts: int) -> list[str]:
        """The possible answers to a question about an item with this number of texts, in order."""
        if self.design == "scale":
            return list(map(str, self.criteria[question].values))
        return [FIRST, TIE, SECOND] if self.design == "pairs" else [str(place) for place in range(1, texts + 1)]

    def left(self, question: str, texts: int, given: Mapping[str, str]) -> list[str]:
        """The answers that are left beside given ones: the worst of a set is another than the best."""
        criterion, end = self.questions[question]
        taken = given.get(f"{criterion}_best") if end == "worst" else None
        return [answer for answer in self.answers(question, texts) if answer != taken]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if twice := sorted(repeated(self.systems)):
            raise ValueError(f"runs: {twice[0]} stands twice")
        needed = {"scale": 1, "pairs": 2, "best_worst": 3}[self.design]
        if len(self.systems) < needed:
            what = (
                "pairs compare a run with another" if self.design == "pairs" else "the best and the worst are of three"
            )
            raise ValueError(f"runs: {what}; name {needed} or more, or set reference: true")
        for name, criterion in self.criteria.items():
            if (self.design == "scale") != bool(criterion.levels):
                raise ValueError(
                    f"criteria.{name}.levels: {'a scale has some' if not criterion.levels else 'only a scale has them'}"
                )
            if self.design == "scale" and not 2 <= len(criterion.levels) <= 9:
                raise ValueError(f"criteria.{name}.levels: a scale has 2 to 9, each with a key of its own")
        if self.design != "scale" and self.best > 1:
            raise ValueError("best: pairs and sets take one text of each system")
        if self.per_input is not None and self.per_input > self.raters:
            raise ValueError(f"per_input: {self.per_input} of {self.raters} raters")
        for place, claim in enumerate(self.claims):
            require_known(f"claims.{place}", (claim.better, claim.worse), self.systems)
            require_known(f"claims.{place}.criteria", claim.criteria, self.criteria)
            if self.design == "pairs" and self.systems[0] not in (claim.better, claim.worse):
                raise ValueError(f"claims.{place}: pairs compare {self.systems[0]} with the others alone")
            for name in claim.criteria:
                if claim.level is not None and claim.level not in self.criteria[name].values:
                    raise ValueError(f"claims.{place}.level: no level {claim.level} of {name}")
        return self
