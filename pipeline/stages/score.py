"""score: a run's outputs as a few numbers, their details, and the statistics of each segment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import pandas as pd

from espalier.cli.progress import say
from espalier.datasets.registry import encoding
from espalier.io.hashing import digest
from espalier.io.registry import entry
from espalier.io.tables import read_table, table_metadata, write_table
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Score, confirmed, details_json, family_scores, headline_json
from espalier.metrics.registry import own_names, own_or, own_statistics, require_own_names
from espalier.tasks.registry import task
from espalier.tasks.task import SEGMENT_COLUMNS, Outputs, Segments, Task
from pipeline import layout
from pipeline.params.entries import Params, Run
from pipeline.params.read import load_params
from pipeline.records.artifacts import (
    grammar_of,
    lexicon_of,
    read_extras,
    read_texts,
    read_train,
    run_settings,
    write_metrics,
)
from pipeline.records.dev_scores import without_dev_score


def run(key: str) -> None:
    """Score one run into `metrics/<paper>/<key>.json`, `metrics/details/...` and `data/segments/...`."""
    params = load_params()
    run_ = entry("run", params.runs, key)
    runs = {name: other for name, other in params.runs.items() if other.paper == run_.paper}
    scored = {name for name in runs if name == key or layout.metrics(run_.paper, name).exists()}
    # Where a paper has no run on dev, as in the nursery, nothing is chosen there.
    chosen = any(other.split == "dev" for other in runs.values())
    if chosen and key in without_dev_score(runs, scored):
        say(f"{key} is scored on test, and no run of {run_.model} is scored on dev; choose settings on dev first")
    outputs = read_outputs(key, run_, params)
    write_scores(run_.paper, key, task(run_.task), outputs, run_.scoring, run_settings(key, params))


def write_scores(
    group: str, key: str, kind: Task, outputs: Outputs, scoring: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Score outputs, and write their metrics, details and segments."""
    options = kind.scoring.model_validate(scoring)
    own = own_statistics(outputs, options.own_metrics)
    first, *others = kind.statistics(outputs, options)
    blocks = [_with_own(first, own, outputs.table), *others]
    metrics_of = own_or(kind.metrics)
    require_own_names([family for block in blocks for family in block.families], metrics_of)
    scores: dict[str, Score] = {}
    for block in blocks:
        groups = block.rows["cluster"].tolist()
        scores |= confirmed(family_scores(block.families, metrics_of, seed=outputs.seed, groups=groups), block.library)
    write_table(layout.segments(group, key), _table(blocks))
    table = outputs.table
    counts = {
        "records": int(table["id"].nunique()),
        "texts": len(table),
        "empty": int((table["text"] == "").sum()),
        "unfit": int(outputs.facts["unfit"]),
        **kind.counts(outputs, options),
    }
    audits = {name: dict(value) for block in blocks for name, value in block.audits.items()}
    # Scores compare if they are of the same records.
    ids = digest(*sorted(set(table["id"])))
    details = {**details_json(scores), **audits, "ids": ids, "counts": counts, "settings": settings}
    headline = {**kind.headline(outputs), **{name: name for name in own_names(options.own_metrics)}}
    numbers = headline_json(scores, headline)
    write_metrics(group, key, numbers, details)
    say(f"{key}: {', '.join(f'{name} {value:,}' for name, value in numbers.items())}")


def read_outputs(key: str, run_: Run, params: Params) -> Outputs:
    """What a run wrote, with the parses of its texts where it names some."""
    path = layout.output(run_.paper, key)
    facts = table_metadata(path)
    dataset = params.datasets.every[run_.dataset]
    corpus = params.corpora[dataset.corpus]
    annotated = run_.annotation != layout.NONE
    return Outputs(
        read_texts(run_.paper, key),
        corpus.language,
        run_.seed,
        annotations=read_table(layout.annotation(run_.annotation)) if annotated else None,
        dev=pd.DataFrame(json.loads(facts["dev"])) if "dev" in facts else None,
        lexicon=lexicon_of(run_.lexicon),
        is_grammatical=grammar_of(corpus),
        facts=facts,
        train=cache(partial(read_train, run_.dataset, encoding(dataset.encoding))),
        extras=partial(read_extras, run_.dataset),
    )


def _with_own(block: Segments, own: Mapping[str, Array], table: pd.DataFrame) -> Segments:
    """A task's segments with the statistics of own metrics, which have a row for each text.

    Where a segment is all samples of a record, as in dialogue, the rows of its samples are summed.
    """
    keys = list(SEGMENT_COLUMNS) if len(block.rows) == len(table) else ["id", "seed"]
    for name, rows in own.items():
        sums = pd.DataFrame(rows).groupby([table[key].to_numpy() for key in keys], sort=False).sum()
        rows = sums.loc[pd.MultiIndex.from_frame(block.rows[keys])].to_numpy()
        block = block._replace(families={**block.families, name: rows})
    return block


def _table(blocks: list[Segments]) -> pd.DataFrame:
    """One column for each statistic; empty where a family has none of the row's segment."""
    tables = []
    for block in blocks:
        columns: dict[str, Any] = {
            f"{family}.{place}": values[:, place]
            for family, values in block.families.items()
            for place in range(values.shape[1])
        }
        tables.append(pd.concat([block.rows.reset_index(drop=True), pd.DataFrame(columns)], axis=1))
    return pd.concat(tables, ignore_index=True)
