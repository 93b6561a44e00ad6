"""The input of a report as plain data, which the caller reads from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from espalier.text.language import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One generated verse. `text` and `reference` are verses as `espalier.verse.text` writes them.

    `format` is the format of the text, in the grammar of `espalier.verse.grammar`; `rhyme` has one letter per unit, "."
    for none. `tune` is the title, or "".

    Of a ci that follows a variant of its tune, `variant` names it; `tones`, `letters` and `kept` have a sign for each
    word: the tone that is asked for, the letter of its rhyme, and what is wrong ("t" tone, "r" rhyme, "b" both, "."
    nothing).
    """

    id: str
    text: str
    format: str = ""
    rhyme: str = ""
    tune: str = ""
    reference: str = ""
    variant: str = ""
    tones: str = ""
    letters: str = ""
    kept: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The origin of a model that was not trained by `dvc repro` here.

    Attributes:
        hours: wall-clock hours, summed over seeds.
        weights: whether its weights are here too.
    """

    hardware: str = ""
    hours: float | None = None
    steps: int | None = None
    steps_asked: int | None = None
    commit: str = ""
    weights: bool = True

    @property
    def shortened(self) -> bool:
        """Whether training ended before the steps of its settings."""
        return self.steps is not None and self.steps_asked is not None and self.steps < self.steps_asked

    def __str__(self) -> str:
        """One line: hardware, hours, steps of the settings' steps, commit, weights; unknown facts are left out."""
        facts = [self.hardware]
        if self.hours is not None:
            facts.append(f"{self.hours:.1f} h")
        if self.steps is not None:
            planned = f" of {self.steps_asked:,}" if self.steps_asked is not None else ""
            facts.append(f"{self.steps:,}{planned} steps")
        if self.commit:
            facts.append(f"commit {self.commit[:10]}")
        if not self.weights:
            facts.append("without its weights")
        return ", ".join(fact for fact in facts if fact)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One run of one profile, or one row without a trained model, with its scores.

    Attributes:
        dataset: the dataset whose texts are scored.
        ids: of the records that are scored.
        row: the name of a row without a trained model, such as "copy"; "" for a run.
        trivial: whether a run should be better than this row. References are not trivial.
        given: the metrics whose value follows from how the row is made.
        structures: those of the text to come that the run or the row is given; "topic" if it is given topic words.
        settings: of the decoding, in the order of display (`protocol`, `decoder`, `k`, ...).
        metrics: the run's JSON: `scores` {key: number or None}, `intervals` {key: [low, high] or None}, `signatures`
            {key: text}, `undefined` {key: reason}; parts may be missing.
        samples: generated verses.
        rows: outputs as text by column, such as `id`, `text` and `source`, for the examples of a paper.
        measured: what the training of its model took here, in one line.
    """

    key: str
    model: str
    profile: str
    title: str = ""
    language: Language = "zh"
    dataset: str = ""
    ids: frozenset[str] = frozenset()
    row: str = ""
    trivial: bool = False
    given: frozenset[str] = frozenset()
    structures: frozenset[str] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    samples: Sequence[Sample] = ()
    rows: Sequence[Mapping[str, str]] = ()
    provenance: Provenance | None = None
    measured: str = ""

    @property
    def scores(self) -> Mapping[str, float | None]:
        """The scores by metric key."""
        return self.metrics.get("scores") or {}

    @property
    def intervals(self) -> Mapping[str, Sequence[float] | None]:
        """The intervals by metric key, for those that have one."""
        return self.metrics.get("intervals") or {}

    @property
    def undefined(self) -> Mapping[str, str]:
        """The reason for each undefined score, by metric key."""
        return self.metrics.get("undefined") or {}

    @property
    def signatures(self) -> Mapping[str, str]:
        """How each score was computed, by metric key."""
        return self.metrics.get("signatures") or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusResult:
    """One corpus of one profile.

    Attributes:
        counts: of rows, by name (train, dev, ...), in the order of display.
        quarantined: counts by reason, in the order of display.
        origins: for each split the number of rows of each source.
        measures: measurements of the texts: {name: {quantity: {column: value}}}.
    """

    key: str
    profile: str
    title: str = ""
    counts: Mapping[str, float] = field(default_factory=dict)
    quarantined: Mapping[str, int] = field(default_factory=dict)
    origins: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    measures: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """What the training of one model of one profile takes.

    Attributes:
        machine: hardware, threads and precision of the training whose hours are known; "" if there is none.
        scores: `hours` and `tokens_per_second` of that training, a mean over its seeds; `step_ratio`, the time of a
            step as a multiple of another model's, measured side by side.
        undefined: the reason for each undefined score.
    """

    key: str
    profile: str
    machine: str = ""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A model's losses in nats per token.

    Points are (optimizer step, training loss, development loss), with None where a loss was not measured.
    """

    model: str
    profile: str = ""
    points: Sequence[tuple[int, float | None, float | None]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs of one profile by one metric, over the segments that both have, whose clusters are resampled together.

    Attributes:
        difference: the score of `one` less that of `other`, each the mean over its seeds; None if there is none.
        low: of the interval of the difference, as `high`.
        p: the two-sided probability of a difference at least as far from `null`, if that were the true one.
        null: 0, or the difference at which `one` is worse by the margin of a claim.
        seeds: the seeds of `one` and of `other`.
        clusters: that were resampled.
        segments: that both runs have under every seed.
        left_out: segments that only some have.
        why: the reason for no difference, or for no p.
    """

    one: str
    other: str
    metric: str
    profile: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    null: float = 0.0
    seeds: tuple[int, int] = (0, 0)
    clusters: int = 0
    segments: int = 0
    left_out: int = 0
    why: str = ""


def in_words(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """(name, value) of the settings that have a value."""
    found = {name: value for name, value in settings.items() if value not in (None, "", [], ())}
    return tuple(
        (name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
        for name, value in found.items()
    )
