"""Outputs of several runs side by side, for the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from espalier.io.errors import EspalierError
from espalier.judging.lists import Row, best_of
from espalier.report.printed import PrintedExamples
from espalier.report.results import RunResult
from espalier.syntax.constituency import read_tree
from espalier.syntax.levels import linearize


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text with a label: an input (`written` is False) or the output of a run."""

    label: str
    text: str
    written: bool


@dataclass(frozen=True, slots=True)
class Example:
    """The inputs, followed by the outputs of each run."""

    id: str
    lines: tuple[LabelledText, ...]


@dataclass(frozen=True, slots=True)
class ExampleGroup:
    """Examples of one profile, written for one tree: `nodes` and `levels` as printed in the paper, () for no tree."""

    profile: str
    nodes: tuple[str, ...]
    levels: tuple[int, ...]
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class ExampleTable:
    """Examples for a report. `missing` are the keys of runs without outputs."""

    printed: PrintedExamples
    groups: tuple[ExampleGroup, ...]
    missing: tuple[str, ...]


def examples_of(printed: PrintedExamples, runs: Sequence[RunResult]) -> ExampleTable:
    """A few rows that all runs have: first those named in `printed`, then others at even distances."""
    written = [run for key in printed.written for run in runs if run.key == key and run.rows]
    groups = [
        group
        for profile in dict.fromkeys(run.profile for run in written)
        for group in _groups(printed, [run for run in written if run.profile == profile])
    ]
    missing = tuple(key for key in printed.written if key not in {run.key for run in written})
    return ExampleTable(printed, tuple(groups), missing)


def _groups(printed: PrintedExamples, runs: Sequence[RunResult]) -> list[ExampleGroup]:
    rows_of_runs: list[tuple[RunResult, dict[str, dict[str, list[Row]]]]] = []
    for run in runs:
        trees: dict[str, list[Row]] = {}
        for row in run.rows:
            trees.setdefault(row.get(printed.by, "") if printed.by else "", []).append(row)
        rows_of_runs.append(
            (run, {tree: best_of(rows, printed.one, printed.best, "papers/printed") for tree, rows in trees.items()})
        )
    groups = []
    for tree, first in rows_of_runs[0][1].items():
        shared = [id_ for id_ in first if all(id_ in trees.get(tree, {}) for _, trees in rows_of_runs)]
        named = [id_ for id_ in printed.first if id_ in shared][: printed.count]
        others, count = [id_ for id_ in shared if id_ not in named], printed.count - len(named)
        chosen = named + (others[:: max(1, len(others) // count)][:count] if count else [])
        examples = []
        for id_ in chosen:
            inputs = [
                LabelledText(label, first[id_][0].get(column, ""), False) for column, label in printed.given.items()
            ]
            written = [
                LabelledText(printed.written[run.key] + (f" {rank}" if printed.best > 1 else ""), row["text"], True)
                for run, trees in rows_of_runs
                for rank, row in enumerate(trees[tree][id_], start=1)
            ]
            examples.append(Example(id_, (*(line for line in inputs if line.text), *written)))
        if examples:
            groups.append(ExampleGroup(runs[0].profile, *_node_level(tree), tuple(examples)))
    return groups


def _node_level(tree: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The tree in the paper's form. A tree that cannot be parsed stays unchanged, without levels."""
    try:
        return linearize(read_tree(tree, words=False)) if tree else ((), ())
    except EspalierError:
        return (tree,), ()
