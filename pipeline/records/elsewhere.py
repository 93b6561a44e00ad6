"""The scores in Git of runs and rows whose texts are not here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from espalier.report.results import RunResult
from pipeline import layout
from pipeline.params.entries import Params, reads_of
from pipeline.records.artifacts import read_details
from pipeline.records.baseline_rows import row_folder, row_names, scored_row


def runs_elsewhere(paper: str, params: Params, here: Sequence[RunResult]) -> list[RunResult]:
    """The scores in Git of the paper's runs and of rows without a model, which are not here.

    A run has the ids of a row of its dataset with the same texts. Those of a row are the hash that stands for them.
    """
    present = {result.key for result in here}
    rows = [
        replace(row, ids=frozenset({row.metrics["ids"]} if "ids" in row.metrics else ()))
        for key, baseline in params.baselines.items()
        if baseline.paper == paper
        for name in row_names(row_folder(layout.details, paper, key))
        if f"{key}/{name}" not in present
        for row in (scored_row(key, name, baseline, params.profile),)
    ]
    runs = [
        RunResult(
            key=key,
            model="",
            profile=params.profile,
            dataset=run_.dataset,
            structures=frozenset(reads_of(params.models[run_.model].network.view)),
            method=getattr(run_.decoder, "method", ""),
            metrics=read_details(paper, key),
        )
        for key, run_ in params.runs.items()
        if run_.paper == paper and key not in present and layout.details(paper, key).exists()
    ]
    return [*(replace(run, ids=_ids_of_rows(run, [*here, *rows])) for run in runs), *rows]


def _ids_of_rows(run: RunResult, results: Sequence[RunResult]) -> frozenset[str]:
    """The ids of a row without a model of the run's dataset with the same hash of ids; empty for none.

    Details of an earlier version have no hash: then a row of the same split with as many records is taken.
    """
    rows = (row for row in results if row.row and row.ids and row.dataset == run.dataset)
    return next((row.ids for row in rows if _same_texts(row.metrics, run.metrics)), frozenset())


def _same_texts(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two details are of the same texts."""
    if "ids" in one and "ids" in other:
        return bool(one["ids"] == other["ids"])
    first, second = ((each["settings"].get("split"), each.get("counts", {}).get("records")) for each in (one, other))
    return first == second
