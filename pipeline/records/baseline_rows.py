"""The rows without a trained model as a report reads them: over all records of a split, or over those of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from espalier.io.errors import ArtifactError
from espalier.metrics.metric import Score, details_json
from espalier.metrics.metric import scores as scores_of
from espalier.metrics.registry import families_of
from espalier.report.results import RunResult
from espalier.text.language import Language
from pipeline import layout
from pipeline.params.entries import Baseline
from pipeline.records.artifacts import ids_of, read_details, read_segments

#: The file of the dataset's details, beside those of the rows.
DATASET = "dataset"


def place_of(key: str, name: str) -> str:
    """The key of the files of a row of a `baselines` entry, in the folder of its paper."""
    return f"baselines/{key}/{name}"


def row_folder(of: Callable[[str, str], Path], paper: str, key: str) -> Path:
    """The folder of the rows of a `baselines` entry. `of` is a function of `layout`, such as `layout.details`."""
    return of(paper, place_of(key, DATASET)).parent


def row_names(*folders: Path) -> list[str]:
    """The rows that have files in one of these folders."""
    return sorted({file.stem for folder in folders for file in folder.glob("*.json")} - {DATASET})


def read_rows(key: str, baseline: Baseline, profile: str, language: Language) -> list[RunResult]:
    """The rows of one `baselines` entry, whose files are in one folder.

    Raises:
        ArtifactError: the details of a row were written by an older version and lack its description.
    """
    # The rows of both folders: a row that is missing in one of them is an error, not skipped.
    names = row_names(*(row_folder(of, baseline.paper, key) for of in (layout.details, layout.metrics)))
    ids = {name: ids_of(read_segments(baseline.paper, place_of(key, name))) for name in names}
    return [replace(scored_row(key, name, baseline, profile), ids=ids[name], language=language) for name in names]


def scored_row(key: str, name: str, baseline: Baseline, profile: str) -> RunResult:
    """A row by its details alone, which Git has.

    Raises:
        ArtifactError: the details of a row were written by an older version and lack its description.
    """
    details = read_details(baseline.paper, place_of(key, name))
    settings = details["settings"]
    if lacking := {"dataset", "row", "title", "trivial", "given"} - {*settings}:
        raise ArtifactError(
            f"no {min(lacking)} in the settings",
            where=layout.details(baseline.paper, place_of(key, name)),
            remedy=f"run baselines@{key} again",
        )
    return RunResult(
        key=f"{key}/{name}",
        model="",
        profile=profile,
        title=settings["title"],
        dataset=settings["dataset"],
        row=name,
        trivial=settings["trivial"],
        structures=frozenset(settings.get("structures", ())),
        method=settings.get("method", ""),
        given=frozenset(settings["given"]),
        settings={"protocol": "published texts" if name in baseline.texts else "baseline"},
        metrics=details,
    )


def rows_of_fewer(results: Sequence[RunResult], baselines: Mapping[str, Baseline]) -> list[RunResult]:
    """Rows for runs that are scored on fewer records than any `baselines` entry.

    For such a run, the first entry with all its records is scored again, only on these records. So is the first with
    rows of another method of decoding.

    Args:
        results: runs, and rows of the entries.
    """
    rows = [result for result in results if result.row]
    whole = {(row.dataset, row.ids) for row in rows}
    wanted = dict.fromkeys((run.dataset, run.ids) for run in results if not run.row)
    found = []
    for dataset, ids in wanted:
        if (dataset, ids) in whole:
            continue
        wider = [row for row in rows if row.dataset == dataset and row.ids > ids]
        first: dict[str, str] = {}
        for row in wider:
            entry = row.key.rpartition("/")[0]
            if first.setdefault(row.method, entry) == entry:
                scores = _scores(ids, baselines[entry], f"baselines/{row.key}")
                key = f"{row.key}, {len(ids):,} records"
                found.append(replace(row, key=key, ids=ids, metrics=details_json(scores)))
    return found


def _scores(ids: frozenset[str], baseline: Baseline, place: str) -> dict[str, Score]:
    """The scores of some records, computed from the statistics of their segments.

    A corpus-level metric, such as pooled Distinct, has no score, since it is not a sum over segments.
    """
    table = read_segments(baseline.paper, place)
    table = table[table["id"].isin(ids)]
    scores: dict[str, Score] = {}
    for family, columns in families_of(table.columns, baseline.task).items():
        rows = table.dropna(how="all", subset=columns)
        metrics = [metric for metric in family.metrics if not metric.corpus_level]
        statistics = rows[columns].to_numpy(dtype="float64")
        scores |= scores_of(metrics, statistics, seed=baseline.seed, groups=rows["cluster"].tolist())
    return scores
