"""report: a paper's runs beside its printed numbers, as a page, as Markdown and in the terminal."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from espalier.io.errors import ConfigError
from espalier.io.files import atomic_folder, read_json
from espalier.io.tables import read_table
from pipeline import layout
from pipeline.params import Model, Params, Run, load_params

if TYPE_CHECKING:
    import pandas as pd

    from espalier.metrics.metric import Metric
    from espalier.report import Comparison, CorpusResult, Curve, Printed, RunResult, Sample

#: Poems of each run that the report shows.
SAMPLES = 4
#: By metric: itself, and the statistics of which it is made, one row an id.
Statistics: TypeAlias = "dict[str, tuple[Metric, pd.DataFrame]]"

#: Of the bootstrap behind each ordering, and its seed.
RESAMPLES, SEED = 2000, 1


def run(key: str) -> None:
    """Make one paper's report in `reports/<paper>/`, and print its tables."""
    from rich.console import Console

    from espalier.report import build, load_printed, render_console, render_html, render_markdown

    params = load_params()
    if key not in params.reports:
        raise ConfigError.unknown("report", key, params.reports)
    printed = load_printed(layout.ROOT / "report" / "printed" / f"{key}.yaml")
    runs = {name: each for name, each in params.runs.items() if each.paper == key}
    shown = {run_ for each in printed.examples for run_ in each.written}
    shown |= set(printed.sheet.runs) if printed.sheet else set()
    made = build(
        printed,
        [_result(params, name, each, shown) for name, each in runs.items()],
        _curves(params, key),
        [_corpus(params, name) for name in sorted({each.corpus for each in runs.values()})],
        _comparisons(printed, key, {name: each.form for name, each in runs.items()}, params.profile),
    )
    with atomic_folder(layout.report(key)) as folder:
        (folder / "index.html").write_text(render_html(made), encoding="utf-8")
        (folder / "tables.md").write_text(render_markdown(made), encoding="utf-8")
        for name, text in made.sheet.files().items() if made.sheet else ():
            # With a byte order mark, without which some spreadsheets guess another encoding.
            (folder / name).write_text(text, encoding="utf-8-sig")
    render_console(made, Console())


def _result(params: Params, key: str, run_: Run, shown: Collection[str] = ()) -> RunResult:
    from espalier.report import Provenance, RunResult

    elsewhere, written = layout.provenance(run_.model), layout.output(run_.paper, key)
    model = params.models[run_.model]
    return RunResult(
        key=key,
        model=run_.model,
        profile=params.profile,
        title=run_.title or model.title,
        language=params.corpora[run_.corpus].language,
        settings=_settings(run_, model),
        metrics=read_json(layout.metrics(run_.paper, key)),
        samples=_samples(written) if run_.form == "verse" else (),
        rows=_rows(written) if key in shown else (),
        provenance=Provenance(**read_json(elsewhere)) if elsewhere.exists() else None,
    )


def _settings(run_: Run, model: Model) -> dict[str, Any]:
    match run_.form:
        case "verse":
            return _verse_settings(run_)
        case "paraphrase":
            return _pair_settings(run_, model)
        case "dialogue":
            return _dialogue_settings(run_, model)


def _verse_settings(run_: Run) -> dict[str, Any]:
    decoder = run_.decoder
    beam = decoder.get("method") == "beam"
    return {
        "protocol": decoder.get("mode", "free"),
        "decoder": "beam" if beam else "top-k",
        "k": None if beam else decoder.get("top_k", 32),
        "beam": decoder.get("beam", 5) if beam else None,
        "constraints": [name for name in ("marks", "rhyme") if decoder.get(name)],
        "samples": run_.samples if run_.samples > 1 else None,
    }


def _pair_settings(run_: Run, model: Model) -> dict[str, Any]:
    """As the decoder has them; the protocol says what guided a text, or what bound a tree."""
    decoder = run_.decoder
    if model.network.get("writes") == "tree":
        bound = {"tree": "well-formed", "template": "template kept"}
        protocol = bound.get(decoder.get("constraint", ""), "unconstrained")
    elif run_.guidance != layout.NONE:
        protocol = "expanded parse"
    elif _reads_trees(model):
        protocol = "bare template" if decoder.get("guide") == "template" else "target parse"
    else:
        protocol = ""
    return {
        "protocol": protocol,
        "guidance": None if run_.guidance == layout.NONE else run_.guidance,
        **{name: value for name, value in decoder.items() if name not in ("guide", "constraint")},
        "samples": run_.samples if run_.samples > 1 else None,
    }


def _dialogue_settings(run_: Run, model: Model) -> dict[str, Any]:
    """As the decoder has them; what is for trees alone is left out of a run that writes chains."""
    grown = model.arch == "x2tree"
    of_trees = () if grown else ("local", "depth", "order", "stop")
    return {
        "protocol": "tree beam" if grown else "chain beam",
        "K": model.network.get("arity") if grown else None,
        "context": model.network.get("context"),
        **{name: value for name, value in run_.decoder.items() if name not in of_trees},
        "replies": run_.samples,
    }


def _reads_trees(model: Model) -> bool:
    encoders = model.network.get("encoders", ())
    return not encoders or any("target_tree" in encoder.get("reads", ()) for encoder in encoders)


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


def _rows(path: Path) -> list[dict[str, str]]:
    """What a run wrote, as text by column."""
    table = read_table(path)
    return [{str(name): str(value) for name, value in row.items()} for row in table.to_dict("records")]


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
    datasets = [name for name, dataset in params.datasets.every.items() if dataset.corpus == key]
    made = read_json(layout.dataset_metrics(datasets[0])) if datasets else {}
    words = made.get("vocabulary", {})
    of_dialogue = bool(datasets) and params.datasets.every[datasets[0]].form == "dialogue"
    return CorpusResult(
        key=key,
        profile=params.profile,
        counts={
            **found["rows"],
            **(words if isinstance(words, dict) else {"vocabulary": words}),
            **(_dialogue_counts(made, params.corpora[key].parser) if of_dialogue else {}),
        },
        quarantined={**found["quarantined"], **(made["quarantined"] if of_dialogue else {})},
        origins=found["origins"] if params.corpora[key].task == "pairs" else {},
        measures={"steps": made["steps"]} if of_dialogue else {},
    )


def _dialogue_counts(made: Mapping[str, Any], parser: str) -> dict[str, float]:
    """Words that the vocabulary has, in percent; trees made projective; and how good the parser was that made them."""
    unknown = made["unknown"]["train"]
    judged = read_json(layout.parser_metrics(parser))["scores"] if parser != layout.NONE else {}
    return {
        "unfit": made["rows"]["quarantined"],
        "known posts": round(100 - unknown["source"], 2),
        "known responses": round(100 - unknown["target"], 2),
        "lifted": sum(made["lifted"].values()),
        **{name: judged[name] for name in ("uas", "las") if name in judged},
    }


# --- Orderings -------------------------------------------------------------------------------------------------------


def _comparisons(printed: Printed, paper: str, forms: Mapping[str, str], profile: str) -> list[Comparison]:
    """Of every ordering whose two runs were scored by its metric; `forms` has the form of each run that was made."""
    from espalier.metrics.paired import paired
    from espalier.report import Comparison

    made, held = [], dict[str, Statistics]()
    for ordering in printed.orderings:
        metric, pair = printed.columns[ordering.column].ours[0].metric, (ordering.better, ordering.worse)
        if not all(key in forms and layout.segments(paper, key).exists() for key in pair):
            continue
        for key in pair:
            if key not in held:
                held[key] = _statistics(layout.segments(paper, key), forms[key])
        one, other = (held[key].get(metric) for key in pair)
        if one is None or other is None or one[0].signature != other[0].signature:
            continue
        ids = one[1].index.intersection(other[1].index)
        sums = [table.loc[ids].to_numpy(dtype="float64") for _, table in (one, other)]
        clusters = list(ids.get_level_values("cluster"))
        found = paired(one[0], *sums, seed=SEED, resamples=RESAMPLES, groups=clusters)
        if found.difference is None or found.p is None:
            continue
        made.append(
            Comparison(
                one=pair[0],
                other=pair[1],
                metric=metric,
                profile=profile,
                difference=found.difference,
                low=found.low,
                high=found.high,
                p=found.p,
                segments=len(ids),
            )
        )
    return made


def _statistics(path: Path, form: str) -> Statistics:
    """By metric: the metric, and its family's statistics summed over samples, a row for each id with its cluster."""
    from espalier.metrics import dialogue, paraphrase

    metrics_of = dialogue.metrics_of if form == "dialogue" else paraphrase.metrics_of
    table = read_table(path)
    columns = [str(name) for name in table.columns if str(name) not in ("id", "cluster", "seed", "sample")]
    sums = table.groupby(["id", "cluster"], sort=True)[columns].sum()
    found: Statistics = {}
    for family in dict.fromkeys(name.rpartition(".")[0] for name in columns):
        own = sums[[name for name in columns if name.rpartition(".")[0] == family]]
        found |= {metric.name: (metric, own) for metric in metrics_of(family)}
    return found
