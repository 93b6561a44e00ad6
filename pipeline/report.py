"""report: a paper's runs beside its printed numbers, as a page, as Markdown and in the terminal."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.io.errors import ConfigError
from espalier.io.files import atomic_folder, read_json
from espalier.io.tables import read_table
from pipeline import layout
from pipeline.params import Params, Run, load_params

if TYPE_CHECKING:
    from espalier.report import CorpusResult, Curve, RunResult, Sample

#: Poems of each run that the report shows.
SAMPLES = 4


def run(key: str) -> None:
    """Make one paper's report in `reports/<paper>/`, and print its tables."""
    from rich.console import Console

    from espalier.report import build, load_printed, render_console, render_html, render_markdown

    params = load_params()
    if key not in params.reports:
        raise ConfigError.unknown("report", key, params.reports)
    printed = load_printed(layout.ROOT / "report" / "printed" / f"{key}.yaml")
    runs = {name: each for name, each in params.runs.items() if each.paper == key}
    made = build(
        printed,
        [_result(params, name, each) for name, each in runs.items()],
        _curves(params, key),
        [_corpus(params, name) for name in sorted({each.corpus for each in runs.values()})],
    )
    with atomic_folder(layout.report(key)) as folder:
        (folder / "index.html").write_text(render_html(made), encoding="utf-8")
        (folder / "tables.md").write_text(render_markdown(made), encoding="utf-8")
    render_console(made, Console())


def _result(params: Params, key: str, run_: Run) -> RunResult:
    from espalier.report import Provenance, RunResult

    elsewhere = layout.provenance(run_.model)
    return RunResult(
        key=key,
        model=run_.model,
        profile=params.profile,
        title=run_.title or params.models[run_.model].title,
        language=params.corpora[run_.corpus].language,
        settings=_settings(run_.decoder, run_.samples),
        metrics=read_json(layout.metrics(run_.paper, key)),
        samples=_samples(layout.output(run_.paper, key)),
        provenance=Provenance(**read_json(elsewhere)) if elsewhere.exists() else None,
    )


def _settings(decoder: dict[str, Any], samples: int) -> dict[str, Any]:
    beam = decoder.get("method") == "beam"
    return {
        "protocol": decoder.get("mode", "free"),
        "decoder": "beam" if beam else "top-k",
        "k": None if beam else decoder.get("top_k", 32),
        "beam": decoder.get("beam", 5) if beam else None,
        "constraints": [name for name in ("marks", "rhyme") if decoder.get(name)],
        "samples": samples if samples > 1 else None,
    }


def _samples(path: Path) -> list[Sample]:
    """Poems spread evenly over the table, the same for every run of a corpus."""
    from espalier.report import Sample

    table = read_table(path)
    table = table[table["sample"] == 0].drop_duplicates("id")
    chosen = table.iloc[:: max(1, len(table) // SAMPLES)].head(SAMPLES)
    names = ["id", "text", "format", "rhyme", "tune", "reference"]
    return [
        Sample(**{str(name): str(value) for name, value in row.items()}) for row in chosen[names].to_dict("records")
    ]


def _curves(params: Params, paper: str) -> list[Curve]:
    from espalier.report import Curve

    curves = []
    for key, model in params.models.items():
        if model.paper != paper or not layout.curve(paper, key).exists():
            continue
        with layout.curve(paper, key).open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if int(row["seed"]) == model.seeds[0]]
        points = [(int(row["step"]), float(row["train_loss"]), float(row["dev_loss"])) for row in rows]
        curves.append(Curve(model=key, profile=params.profile, points=points))
    return curves


def _corpus(params: Params, key: str) -> CorpusResult:
    from espalier.report import CorpusResult

    found = read_json(layout.corpus_metrics(key))
    datasets = [name for name, dataset in params.datasets.linearize.items() if dataset.corpus == key]
    words = {"vocabulary": read_json(layout.dataset_metrics(datasets[0]))["vocabulary"]} if datasets else {}
    return CorpusResult(
        key=key, profile=params.profile, counts={**found["rows"], **words}, quarantined=found["quarantined"]
    )
