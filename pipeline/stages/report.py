"""report: a paper's runs beside its printed numbers, as pages, as Markdown and as CSV.

From params.yaml it uses `profile`, and the paper's entries of `runs`, `baselines` and `models` with their `presets`.
All other inputs are the paper's printed numbers and the files of those entries, so that a report does not depend on
other papers. Training times come from `metrics/measured/`, which DVC does not track: after `espalier adopt`, `dvc repro
-f -s report@<paper>` shows them. Reports of the nursery show no times, so that a clean clone reproduces the committed
bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from espalier.cli.progress import say
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import atomic_folder, read_json, together, write_json
from espalier.io.tables import table_sha256
from espalier.report.build import build
from espalier.report.comparisons import RunSegments, comparisons_of
from espalier.report.html import render_html, render_items
from espalier.report.hyperparameters import hyperparameters_of
from espalier.report.items import RunTexts, items_of
from espalier.report.judged import judgings_of, with_judged
from espalier.report.links import Links
from espalier.report.markdown import render_markdown
from espalier.report.numbers_files import WrittenOrderings, orderings_from, orderings_json, render_csv
from espalier.report.orderings import Ordering
from espalier.report.printed import Printed, load_printed
from espalier.report.results import CorpusResult, Provenance, RunResult, Sample
from espalier.report.summary import summary_json, summary_of
from espalier.tasks.candidates import taken
from espalier.tasks.data import SEGMENT_COLUMNS
from pipeline import layout
from pipeline.params.entries import Baseline, Params, Run, reads_of
from pipeline.params.read import load_params
from pipeline.records.artifacts import (
    DatasetDetails,
    decoding_settings,
    ids_of,
    own_segments,
    read_details,
    read_segments,
    read_texts,
)
from pipeline.records.baseline_rows import DATASET, place_of, read_rows, row_folder, rows_of_fewer
from pipeline.records.elsewhere import runs_elsewhere
from pipeline.records.studies import read_studies
from pipeline.records.trainings import curves_of, measurement_of, trainings_of

if TYPE_CHECKING:
    import pandas as pd

#: Samples of each run that the report shows, and the columns of outputs that are texts in given formats.
SAMPLES = 4
SAMPLE_COLUMNS = ("id", "text", "format", "rhyme", "tune", "reference")
#: What the segments say of the places of a text, if it was held against a variant.
PLACE_COLUMNS = ("variant", "tones", "letters", "kept")
#: What the segments say of a text that was tagged again.
PARSE_COLUMNS = ("text_words", "text_tags")

_Entry = TypeVar("_Entry", Run, Baseline)


def run(key: str) -> None:
    """Make one paper's report in `reports/<paper>/`, with its summary and the numbers behind its claims."""
    params = load_params()
    if key not in params.reports:
        raise ConfigError.unknown("report", key, params.reports)
    printed = load_printed(layout.printed(key))
    runs = _made(key, params.runs, _files_of_run)
    baselines = _made(key, params.baselines, _files_of_baseline)
    datasets = {
        row.dataset: read_json(_files_of_baseline(key, name)[0], DatasetDetails) for name, row in baselines.items()
    }
    written = {name: _written(name, run_, params) for name, run_ in runs.items()}
    shown = _runs_with_rows(printed)
    results = [_result(params, texts, with_rows=name in shown) for name, texts in written.items()]
    for name, baseline in baselines.items():
        results += read_rows(name, baseline, params.profile, datasets[baseline.dataset]["language"])
    results += rows_of_fewer(results, baselines)
    studies = read_studies(key)
    present = {run: table_sha256(layout.output(key, run)) for study in studies for run in study.outputs if run in runs}
    results = with_judged(printed, results, studies, present)
    elsewhere = runs_elsewhere(key, params, results)
    report = build(
        printed,
        results,
        curves_of(params, key),
        [_dataset(name, details, params.profile) for name, details in datasets.items()],
        comparisons_of(
            printed,
            {name: texts.segments for name, texts in written.items()} | _claimed_rows(printed, baselines),
            params.profile,
        ),
        earlier=_earlier(key, printed, [*results, *elsewhere]),
        elsewhere=elsewhere,
        hyperparameters=hyperparameters_of(printed, model_settings(printed, params), params.profile),
        trainings=trainings_of(params, key, printed),
        judged=judgings_of(studies, present),
    )
    items, links = items_of(printed, list(written.values())), Links.below(params.root)
    pages = {"index.html": render_html(report, items, links), "tables.md": render_markdown(report)}
    pages |= render_items(report, items, links) if items.ids else {}
    with together():
        with atomic_folder(layout.report(key)) as folder:
            for name, text in pages.items():
                (folder / name).write_text(text, encoding="utf-8")
            # With a byte order mark, without which some spreadsheets guess another encoding.
            (folder / "tables.csv").write_text(render_csv(report), encoding="utf-8-sig")
        write_json(layout.report_summary(key), summary_json(summary_of(report, items)))
        write_json(layout.details("orderings", key), orderings_json(report))
    say(f"{key}: {len(results)} rows in {len(report.tables)} tables, {layout.report(key) / 'index.html'}")


def _files_of_run(paper: str, name: str) -> tuple[Path, Path]:
    return layout.details(paper, name), layout.segments(paper, name)


def _files_of_baseline(paper: str, name: str) -> tuple[Path, Path]:
    return layout.details(paper, place_of(name, DATASET)), row_folder(layout.segments, paper, name)


def _made(
    paper: str, entries: Mapping[str, _Entry], files_of: Callable[[str, str], tuple[Path, Path]]
) -> dict[str, _Entry]:
    """The paper's entries with details and segments. All entries have them, unless single stages were run by hand.

    Git contains the details of all scored runs but no segments, so after cloning, a scored run may lack segments.

    Raises:
        ArtifactError: no entry has both.
    """
    own = {name: entry_ for name, entry_ in entries.items() if entry_.paper == paper}
    files = {name: files_of(paper, name) for name in own}
    made = {name: entry_ for name, entry_ in own.items() if all(path.exists() for path in files[name])}
    if left := [name for name in own if name not in made]:
        if not made:
            missing = next(path for path in files[left[0]] if not path.exists())
            raise ArtifactError("not scored", where=missing, remedy="run its stage")
        say(f"{paper}: not here, so left out, but for claims: {', '.join(left)}")
    return made


def _earlier(paper: str, printed: Printed, results: Sequence[RunResult]) -> list[Ordering]:
    """The claims of the last report whose runs still have the scores that it compared.

    Args:
        results: all scored runs and rows, here or elsewhere.
    """
    path, scores = layout.details("orderings", paper), {result.key: result.scores for result in results}
    if not path.exists():
        return []
    return orderings_from(read_json(path, WrittenOrderings), printed, lambda key, name: scores.get(key, {}).get(name))


def _written(key: str, run_: Run, params: Params) -> RunTexts:
    """The texts of a run with the statistics of their segments."""
    title = run_.title or params.models[run_.model].title
    language = params.language_of(run_.dataset)
    segments = RunSegments(read_segments(run_.paper, key), run_.task)
    texts = taken(read_texts(run_.paper, key), own_segments(segments.table))
    return RunTexts(key, title, language, texts, segments)


def _claimed_rows(printed: Printed, baselines: Mapping[str, Baseline]) -> dict[str, RunSegments]:
    """The statistics of the rows without a trained model that claims name, by ENTRY/ROW."""
    named = {key for ordering in printed.orderings for key in (ordering.better, ordering.worse) if "/" in key}
    found = {}
    for key in sorted(named):
        name, _, row = key.partition("/")
        if name in baselines:
            table = read_segments(baselines[name].paper, place_of(name, row))
            found[key] = RunSegments(table, baselines[name].task, trained=False)
    return found


def _result(params: Params, texts: RunTexts, *, with_rows: bool) -> RunResult:
    key, run_ = texts.key, params.runs[texts.key]
    model = params.models[run_.model]
    table, segments = texts.outputs, texts.segments.table
    details = read_details(run_.paper, key)
    provenance = details["settings"].get("provenance")
    return RunResult(
        key=key,
        model=run_.model,
        profile=params.profile,
        title=texts.title,
        language=texts.language,
        dataset=run_.dataset,
        ids=ids_of(segments),
        structures=frozenset(reads_of(model.network.view)),
        method=getattr(run_.decoder, "method", ""),
        settings=decoding_settings(run_, model),
        metrics=details,
        samples=_samples(table, segments),
        rows=_rows(_with_parses(table, segments)) if with_rows else (),
        provenance=Provenance(**provenance) if provenance else None,
        measured=str(measurement_of(run_.model, params) or ""),
    )


def model_settings(printed: Printed, params: Params) -> dict[str, dict[str, Any]]:
    """All settings, including defaults, of each model of the profile that a printed table of hyperparameters lists."""
    named = {key: run for system in printed.hyperparameters for key, run in system.models.items()}
    settings = {}
    for key, run in named.items():
        if key not in params.models:
            continue
        model, run_ = params.models[key], params.runs.get(run)
        settings[key] = {
            "network": model.network.model_dump(),
            "training": model.training.model_dump(),
            "dataset": params.datasets.every[model.dataset].settings.model_dump(),
            "decoder": {**run_.decoder.model_dump(), "samples": run_.samples} if run_ else {},
        }
    return settings


def _runs_with_rows(printed: Printed) -> set[str]:
    """The runs whose texts are shown as examples or drawn."""
    shown = {key for examples in printed.examples for key in examples.written}
    return shown | {key for drawings in printed.drawings for key in drawings.runs}


def _samples(table: pd.DataFrame, segments: pd.DataFrame) -> list[Sample]:
    """Texts in given formats, at even distances in the table, the same for all runs of a corpus; else empty."""
    if not set(SAMPLE_COLUMNS) <= set(table.columns):
        return []
    table = table[table["sample"] == 0].drop_duplicates("id")
    chosen = table.iloc[:: max(1, len(table) // SAMPLES)].head(SAMPLES)
    places = [name for name in PLACE_COLUMNS if name in segments]
    own = own_segments(segments)[[*SEGMENT_COLUMNS, *places]]
    marked = chosen.merge(own, on=[*SEGMENT_COLUMNS], how="left", validate="1:1")
    return [Sample(**row) for row in _rows(marked[[*SAMPLE_COLUMNS, *places]])]


def _with_parses(table: pd.DataFrame, segments: pd.DataFrame) -> pd.DataFrame:
    """The texts with the words and tags of their parses, if the segments have them."""
    if not set(PARSE_COLUMNS) <= set(segments.columns):
        return table
    parses = segments[[*SEGMENT_COLUMNS, *PARSE_COLUMNS]].dropna()
    return table.merge(parses, on=[*SEGMENT_COLUMNS], how="left", validate="1:1").fillna(
        dict.fromkeys(PARSE_COLUMNS, "")
    )


def _rows(table: pd.DataFrame) -> list[dict[str, str]]:
    """The outputs of a run as text, by column."""
    return [{str(name): str(value) for name, value in row.items()} for row in table.to_dict("records")]


def _dataset(key: str, details: Mapping[str, Any], profile: str) -> CorpusResult:
    """The counts of a dataset, and the rows quarantined on the way to it.

    Rows are those of its corpus. The result also has the sizes of the vocabulary, counts of the training split, and the
    scores of the corpus's parser.
    """
    filtered, splits = details["filtered"], details["splits"]
    sizes = {name: value for name, value in details["rows"].items() if name not in (*splits, "quarantined")}
    counts = {**splits["train"], **sizes, "unfit": details["rows"]["quarantined"]}
    counts |= details["parsed"].get("parser_scores", {})
    return CorpusResult(
        key=key,
        profile=profile,
        counts={**filtered["rows"], **counts},
        quarantined={**filtered["quarantined"], **details["quarantined"]},
        origins=filtered["origins"],
        measures=details["measures"],
    )
