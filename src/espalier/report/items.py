"""All test items of the runs of a paper: inputs, references, and each run's output with scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from espalier.metrics.metric import Metric
from espalier.report.comparisons import RunSegments
from espalier.report.printed import Column, Printed
from espalier.text.language import Language
from espalier.text.words import join_words

if TYPE_CHECKING:
    import pandas as pd

Value = TypeVar("Value")
#: Columns of outputs that belong to an item, with their labels: texts, and constituency trees.
GIVEN: Final = {
    "tune": "tune", "format": "format", "rhyme": "rhyme", "template": "template",
    "source": "source", "reference": "reference",
}  # fmt: skip
GIVEN_TREES: Final = {"source_tree": "source", "reference_tree": "reference"}
#: Constituency trees of an output: the requested one, and its own parse.
OUTPUT_TREES: Final = {"template": "template", "guide": "guide", "tree": "output"}
#: The most scores of an output, and the most characters of all texts and trees on a page.
MAX_SCORES: Final = 6
MAX_CHARACTERS: Final = 3_000_000


@dataclass(frozen=True, slots=True)
class RunTexts:
    """The texts written by one run.

    Attributes:
        outputs: one row per text: `id`, `seed`, `sample`, `text`, and further columns, some of which are shown.
        segments: statistics of the same texts, and optionally their trees.
    """

    key: str
    title: str
    language: Language
    outputs: pd.DataFrame
    segments: RunSegments


class Output(NamedTuple):
    """The output of a run for one item.

    Attributes:
        texts: texts, the best first.
        trees: constituency trees of the first text, by label.
        heads: dependency tree of the first text, "word/head word/head ...", or "".
        scores: scores of the first text, one for each score of the items; None if missing.
    """

    texts: tuple[str, ...]
    trees: Mapping[str, str]
    heads: str
    scores: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """The items, and the outputs of each run in the same order; None if a run has no output.

    Attributes:
        given: given texts of each item, by label.
        trees: constituency trees of each item, by label.
        runs: (key, title) of each run; `languages` has the language of each.
        scores: columns of scores. Each has a score for at least one item.
        of_reference: headings of scores that belong to the reference, not to the output.
        total: number of all items; `ids` are a sample at even distances.
    """

    ids: tuple[str, ...] = ()
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    trees: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runs: tuple[tuple[str, str], ...] = ()
    languages: tuple[Language, ...] = ()
    outputs: tuple[tuple[Output | None, ...], ...] = ()
    scores: tuple[Column, ...] = ()
    of_reference: tuple[str, ...] = ()
    total: int = 0

    @property
    def several(self) -> bool:
        """Whether any run wrote several texts for an item."""
        return any(output and len(output.texts) > 1 for outputs in self.outputs for output in outputs)


def items_of(printed: Printed, runs: Sequence[RunTexts], characters: int = MAX_CHARACTERS) -> Items:
    """All items with outputs. The outputs of each run are those of its first seed.

    Args:
        printed: its columns determine the scores and their order. Columns with the same heading are merged: a run shows
            the first of their metrics that it has.
        runs: runs in the order of display.
        characters: largest number of characters in all texts and trees; beyond it, items are dropped at even distances.
    """
    # Metrics that are defined for single segments, by name.
    metrics = [
        {metric.name: (metric, columns) for metric, columns in run.segments.metrics if not metric.corpus_level}
        for run in runs
    ]
    columns: dict[str, Column] = {}
    named: dict[str, list[str]] = {}
    for column in printed.columns.values():
        if column.better and column.ours:
            columns.setdefault(column.heading, column)
            named.setdefault(column.heading, []).append(column.metric)
    segments = [_first_segments(run) for run in runs]
    scores = [_scores(rows, known, named) for rows, known in zip(segments, metrics, strict=True)]
    shown = [heading for heading in columns if any(known.get(heading) for known in scores)][:MAX_SCORES]
    given, trees = dict[str, dict[str, str]](), dict[str, dict[str, str]]()
    by_run = list[dict[str, Output]]()
    for run, rows, known in zip(runs, segments, scores, strict=True):
        table = run.outputs[run.outputs["seed"] == run.outputs["seed"].min()].sort_values("sample", kind="stable")
        first = _first_of(table)
        for name, label in GIVEN.items():
            texts = _texts(first, name, run.language)
            given.setdefault(label, {}).update({id_: texts[id_] for id_ in texts.keys() - _trees(texts).keys()})
        for name, label in GIVEN_TREES.items():
            trees.setdefault(label, {}).update(_texts(first, name))
        by_run.append(_outputs(run, rows, table, [known.get(heading, {}) for heading in shown]))
    ids = list(dict.fromkeys(id_ for outputs in by_run for id_ in outputs))
    kept = _within(ids, [*given.values(), *trees.values()], by_run, characters)
    return Items(
        ids=tuple(kept),
        given={label: tuple(texts.get(id_, "") for id_ in kept) for label, texts in given.items() if texts},
        trees={label: tuple(texts.get(id_, "") for id_ in kept) for label, texts in trees.items() if texts},
        runs=tuple((run.key, title) for run, title in zip(runs, _titles(runs), strict=True)),
        languages=tuple(run.language for run in runs),
        outputs=tuple(tuple(outputs.get(id_) for id_ in kept) for outputs in by_run),
        scores=tuple(columns[heading] for heading in shown),
        of_reference=tuple(heading for heading in shown if _of_reference(named[heading], metrics)),
        total=len(ids),
    )


def trees_of(items: Items, place: int) -> list[tuple[str, str]]:
    """The distinct constituency trees of an item and its outputs, each with all its labels."""
    named = [(label, column[place]) for label, column in items.trees.items()]
    for (_, title), outputs in zip(items.runs, items.outputs, strict=True):
        if output := outputs[place]:
            named += [(f"{title}: {label}", text) for label, text in output.trees.items()]
    labels = dict[str, list[str]]()
    for label, text in named:
        if text:
            labels.setdefault(text, []).append(label)
    return [(", ".join(names), text) for text, names in labels.items()]


def _outputs(
    run: RunTexts, rows: pd.DataFrame, table: pd.DataFrame, scores: Sequence[Mapping[str, float]]
) -> dict[str, Output]:
    """Outputs of one seed by id.

    Args:
        rows: the statistics of the first sample of each id.
        table: all samples in order.
    """
    first = _first_of(table)
    texts: dict[str, list[str]] = {}
    for id_, text in zip(table["id"], table["text"], strict=True):
        texts.setdefault(id_, []).append(_joined(str(text), run.language))
    trees = {label: _trees({**_texts(rows, name), **_texts(first, name)}) for name, label in OUTPUT_TREES.items()}
    heads = _texts(first, "heads")
    return {
        id_: Output(
            tuple(written),
            {label: text for label, known in trees.items() if (text := known.get(id_, ""))},
            _paired(str(first["text"][id_]), heads.get(id_, "")),
            tuple(known.get(id_) for known in scores),
        )
        for id_, written in texts.items()
    }


def _titles(runs: Sequence[RunTexts]) -> list[str]:
    """A title for each run, with its key if several runs share the title."""
    counts = Counter(run.title for run in runs)
    return [run.title if counts[run.title] == 1 and run.title else f"{run.title} {run.key}".strip() for run in runs]


def _scores(
    rows: pd.DataFrame, known: Mapping[str, tuple[Metric, list[str]]], named: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Scores by heading and id. A run uses the first metric of each heading that it has; `rows` are its segments."""
    found = {heading: next((known[name] for name in names if name in known), None) for heading, names in named.items()}
    return {heading: values_of(*metric, rows) for heading, metric in found.items() if metric}


def _first_segments(run: RunTexts) -> pd.DataFrame:
    """Statistics of the first seed and sample of each item, by id."""
    table, outputs = run.segments.table, run.outputs
    rows = table[(table["seed"] == outputs["seed"].min()) & table["id"].isin(outputs["id"])]
    return _first_of(rows.sort_values("sample", kind="stable"))


def _first_of(table: pd.DataFrame) -> pd.DataFrame:
    """The first row of each id, by id."""
    return table.drop_duplicates("id").set_index("id")


def values_of(metric: Metric, columns: list[str], rows: pd.DataFrame) -> dict[str, float]:
    """Scores by id, with four significant digits. Undefined scores are left out."""
    statistics = rows[columns].dropna(how="all")
    values = metric.aggregate(statistics.to_numpy(dtype="float64")).tolist()
    found = zip(statistics.index, values, strict=True)
    return {id_: float(f"{value:.4g}") for id_, value in found if math.isfinite(value)}


def _of_reference(names: Sequence[str], metrics: Sequence[Mapping[str, tuple[Metric, list[str]]]]) -> bool:
    """Whether these metrics are perplexities, which belong to the reference."""
    found = [known[name][0] for known in metrics for name in names if name in known]
    return all(metric.signature.startswith("perplexity|") for metric in found)


def _texts(rows: pd.DataFrame, name: str, language: Language = "en") -> dict[str, str]:
    """A column by id, without empty texts."""
    if name not in rows:
        return {}
    return {str(id_): _joined(text, language) for id_, text in rows[name].astype(str).items() if text}


def _trees(texts: Mapping[str, str]) -> dict[str, str]:
    """Those of the texts that are trees: a template to be expanded is one, a template to be polished is not."""
    return {id_: text for id_, text in texts.items() if text.startswith("(")}


def _joined(text: str, language: Language) -> str:
    return join_words(text.split(" "), language) if language == "zh" else text


def _paired(text: str, heads: str) -> str:
    words, numbers = text.split(), heads.split()
    return " ".join(map("/".join, zip(words, numbers, strict=True))) if len(words) == len(numbers) else ""


def _within(
    ids: Sequence[str], columns: Sequence[Mapping[str, str]], by_run: Sequence[Mapping[str, Output]], characters: int
) -> list[str]:
    """Ids at even distances, as many as fit into the given number of characters."""
    size = sum(len(text) for texts in columns for text in texts.values())
    for outputs in by_run:
        size += sum(sum(map(len, (*each.texts, *each.trees.values(), each.heads))) for each in outputs.values())
    return spread(ids, len(ids) if size <= characters else len(ids) * characters // size)


def spread(values: Sequence[Value], count: int) -> list[Value]:
    """`count` of the values, or all, at even distances."""
    count = min(count, len(values))
    return [values[number * len(values) // count] for number in range(count)]
