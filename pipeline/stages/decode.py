"""decode: texts of a model for the rows of a split, and likelihoods of the references."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from espalier.cli.progress import followed, say
from espalier.datasets.encoding import Vocabulary
from espalier.datasets.registry import ENCODINGS
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.registry import entry
from espalier.models.serialization import load_model
from espalier.tasks.data import Ready, RunOptions
from espalier.tasks.decode import Decoding, judged
from espalier.tasks.registry import TASKS
from pipeline import layout
from pipeline.graph.stage_inputs import record_of
from pipeline.params.entries import Params, Run
from pipeline.params.read import load_params
from pipeline.records.artifacts import lexicon_of, read_judge, read_ready, read_texts, require_rows
from pipeline.records.machine import device
from pipeline.records.measured import Clock
from pipeline.records.outputs import write_outputs


def run(key: str) -> None:
    """Decode one run into `data/outputs/<paper>/<key>.parquet`, once for each seed of its model and guidance.

    There is one row per record, seed and sample: `id`, `cluster` (records that are resampled together), `seed`,
    `sample`, the columns of the task, the likelihood of the reference, and the values of the run's judge for both
    texts. The metadata of the table has "unfit", the number of quarantined records of the split; "dev", the likelihoods
    of the dev references as JSON, if the task needs them; and the facts of the task.
    """
    clock, params = Clock(), load_params()
    run_ = entry("run", params.runs, key)
    kind = TASKS[run_.task]
    guidance = read_texts(*run_.guide) if run_.guide else None
    options = RunOptions(run_.samples, run_.seed, guidance, lexicon_of(run_.lexicon))
    judge = read_judge(run_.lm, params)
    tables, dev, facts = [], [], dict[str, str]()
    for seed in _seeds(key, run_, params.models[run_.model].seeds, guidance):
        model, vocabulary = load_model(layout.model(run_.model), seed)
        model = model.to(device())
        ready = _ready(run_, run_.split, vocabulary, params)
        require_rows(ready.data, run_.dataset, run_.split)
        dev_ready = _ready(run_, "dev", vocabulary, params) if kind.dev_likelihood else None
        decoding = Decoding(kind, model, run_.decoder, options, seed, device(), followed)
        table = decoding.outputs(ready)
        dev.append(decoding.likelihoods(dev_ready))
        tables.append(table if judge is None else judged(kind.judge, judge, table, device(), followed))
        facts = {"unfit": str(ready.unfit), **kind.facts(model)}
    write_outputs(layout.output(run_.paper, key), tables, dev, facts)
    counts = {"records": int(tables[0]["id"].nunique()), "texts": sum(map(len, tables))}
    clock.write("decode", key, {**counts, "made_of": record_of("decode", key)})
    say(f"{key}: {sum(map(len, tables)):,} texts, {facts['unfit']} records unfit")


def _seeds(key: str, run_: Run, seeds: Sequence[int], guidance: pd.DataFrame | None) -> list[int]:
    """The seeds to decode. Each needs its own seed of the guidance, since one expander must not count as several."""
    guiding = set(seeds if guidance is None else guidance["seed"])
    if not (common := [seed for seed in seeds if seed in guiding]):
        raise ConfigError(
            f"no seed of {run_.model} is a seed of {run_.guidance}",
            where=f"params.yaml: runs.{key}.guidance",
            remedy=f"train {run_.model} with one of the seeds {', '.join(map(str, sorted(guiding)))}",
        )
    return common


def _ready(run_: Run, split: str, vocabulary: Vocabulary, params: Params) -> Ready[Any, Any]:
    """A split that the model can read.

    Raises:
        ArtifactError: the vocabularies of dataset and model differ.
    """
    kind = ENCODINGS[params.datasets.every[run_.dataset].encoding]
    ready = read_ready(run_.dataset, split, kind)
    if ready.data.vocabulary != vocabulary:
        raise ArtifactError(
            f"the vocabulary of dataset {run_.dataset} is not that of model {run_.model}",
            where=layout.ready(run_.dataset),
            remedy=f"give the dataset vocab_from: {params.models[run_.model].dataset}",
        )
    return ready
