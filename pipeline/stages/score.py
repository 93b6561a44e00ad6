"""score: the scores of a run's outputs, their details, and the statistics of each segment."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import Any

import pandas as pd

from espalier.cli.progress import say
from espalier.datasets.registry import ENCODINGS
from espalier.io.registry import entry
from espalier.io.tables import read_table, table_metadata
from espalier.tasks.candidates import chosen
from espalier.tasks.data import Outputs
from espalier.tasks.registry import TASKS
from pipeline import layout
from pipeline.params.entries import Params, Run
from pipeline.params.read import load_params
from pipeline.records.artifacts import grammar_of, lexicon_of, read_extras, read_texts, read_train, run_settings
from pipeline.records.dev_scores import without_dev_score
from pipeline.records.outputs import write_scores


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
    write_scores(run_.paper, key, TASKS[run_.task], outputs, run_.scoring, run_settings(key, params))


def read_outputs(key: str, run_: Run, params: Params) -> Outputs[Any]:
    """The outputs of a run, with the parses of its texts if the run names some. Of candidates, those that are taken."""
    path = layout.output(run_.paper, key)
    facts = table_metadata(path)
    dataset = params.datasets.every[run_.dataset]
    corpus = params.corpora[dataset.corpus]
    annotated = run_.annotation != layout.NONE
    outputs = Outputs(
        read_texts(run_.paper, key),
        corpus.language,
        run_.seed,
        annotations=read_table(layout.annotation(run_.annotation)) if annotated else None,
        dev=pd.DataFrame(json.loads(facts["dev"])) if "dev" in facts else None,
        lexicon=lexicon_of(run_.lexicon),
        is_grammatical=grammar_of(corpus),
        facts=facts,
        train=cache(partial(read_train, run_.dataset, ENCODINGS[dataset.encoding])),
        extras=partial(read_extras, run_.dataset),
    )
    return chosen(outputs)
