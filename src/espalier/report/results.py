"""The input of a report as plain data, which the caller reads from files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from espalier.text.language import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A generated verse. `text` and `reference` are verses in the form of `espalier.verse.text`.

    `format` is the format of the text, in the grammar of `espalier.verse.grammar`; `rhyme` has one letter per unit, "."
    for none. `tune` is the title, or "".

    For a ci that follows a variant of its tune, `variant` names the variant, and `tones`, `letters` and `kept` have one
    sign per word: the required tone, the rhyme letter, and the fault ("t" tone, "r" rhyme, "b" both, "c" no
    repetition, "." none).
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
    """The origin of a model that was not trained here by `dvc repro`.

    Attributes:
        hours: wall-clock hours, summed over seeds.
        weights: whether its weights are present.
        processes: the steps that were made by each number of processes; empty if all were made by one.
        compiled: the steps that a compiled graph made, summed over seeds.
    """

    hardware: str = ""
    hours: float | None = None
    steps: int | None = None
    steps_asked: int | None = None
    commit: str = ""
    weights: bool = True
    processes: Mapping[str, int] = field(default_factory=dict)
    compiled: int = 0

    @property
    def shortened(self) -> bool:
        """Whether training ended before the number of steps in its settings."""
        return self.steps is not None and self.steps_asked is not None and self.steps < self.steps_asked

    def __str__(self) -> str:
        """One line: hardware, hours, steps done of steps set, commit, weights. Unknown facts are left out."""
        facts = [self.hardware]
        if self.processes:
            facts.append(f"{' and '.join(sorted(self.processes, key=int))} processes")
        if self.compiled:
            facts.append("compiled")
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
    """A run of a profile, or a row without a trained model, with its scores.

    Attributes:
        dataset: dataset of the scored texts.
        ids: ids of the scored records.
        row: name of a row without a trained model, such as "copy"; "" for a run.
        trivial: whether every run should be better than this row. References are not trivial.
        given: metrics whose value follows from the construction of the row.
        structures: structures of the text to come that are given to the run or row; "topic" if topic words are given.
        method: `decoder.method`, such as "beam", of a run whose task has several; of a row unless it is the default.
        settings: settings of the decoding, in the order of display (`protocol`, `decoder`, `k`, ...).
        metrics: the run's JSON: `scores` {key: number or None}, `intervals` {key: [low, high] or None}, `signatures`
            {key: text}, `undefined` {key: reason}; parts may be missing.
        samples: generated verses.
        rows: outputs as text, by column such as `id`, `text` and `source`, for examples.
        measured: cost of training its model here, in one line.
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
    method: str = ""
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
        """The intervals by metric key. Metrics without an interval are missing."""
        return self.metrics.get("intervals") or {}

    @property
    def undefined(self) -> Mapping[str, str]:
        """The reason for each undefined score, by metric key."""
        return self.metrics.get("undefined") or {}

    @property
    def signatures(self) -> Mapping[str, str]:
        """The computation of each score, by metric key."""
        return self.metrics.get("signatures") or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusResult:
    """One corpus of one profile.

    Attributes:
        counts: numbers of rows by name (train, dev, ...), in the order of display.
        quarantined: numbers of quarantined rows by reason, in the order of display.
        origins: for each split, the number of rows of each source.
        measures: measurements of the texts: {name: {quantity: {column: value}}}.
    """

    key: str
    profile: str
    counts: Mapping[str, float] = field(default_factory=dict)
    quarantined: Mapping[str, int] = field(default_factory=dict)
    origins: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    measures: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)

    @property
    def sources(self) -> dict[str, list[int]]:
        """The rows of each source in each split of `origins`; empty for a single source."""
        names = dict.fromkeys(name for rows in self.origins.values() for name in rows)
        return {name: [rows.get(name, 0) for rows in self.origins.values()] for name in names} if len(names) > 1 else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """The cost of training one model of one profile.

    Attributes:
        machine: hardware, threads and precision of the training with known hours; "" if there is none.
        scores: `hours` and `tokens_per_second` of that training, averaged over seeds; `step_ratio`, the time per step
            relative to another model, measured side by side.
    """

    key: str
    profile: str
    machine: str = ""
    scores: Mapping[str, float | None] = field(default_factory=dict)


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
    """Two runs of one profile compared by one metric over their common segments, with resampled clusters.

    Attributes:
        difference: the score of `one` minus the score of `other`, each a mean over seeds; None if undefined.
        low, high: interval of the difference.
        p: two-sided probability, under the true difference `null`, of a difference at least as far from it.
        null: 0, or the difference at which `one` is worse by exactly the margin of a claim.
        seeds: numbers of seeds of `one` and `other`.
        clusters: number of resampled clusters.
        segments: number of segments that both runs have for all seeds.
        left_out: number of other segments.
        why: reason for a missing difference or p.
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
    """(name, value) of the settings with a value."""
    found = {name: value for name, value in settings.items() if value not in (None, "", [], ())}
    return tuple(
        (name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
        for name, value in found.items()
    )
