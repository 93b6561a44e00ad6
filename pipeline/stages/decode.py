"""decode: texts of a model for the rows of a split, and likelihoods of the references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from espalier.cli.progress import followed, say
from espalier.corpora.keys import Keys, key_array, key_of
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
from pipeline.records.machine import chunk_rows, device
from pipeline.records.measured import Clock
from pipeline.records.outputs import OutputParts


def run(key: str) -> None:
    """Decode one run into `data/outputs/<paper>/<key>.parquet`, once for each seed of its model and guidance.

    There is one row per record, seed and sample: `id`, `cluster` (records that are resampled together), `seed`,
    `sample`, the columns of the task, the likelihood of the reference, and the values of the run's judge for both
    texts. The metadata of the table has "unfit", the number of quarantined records of the split; "dev", the likelihoods
    of the dev references as JSON, if the task needs them; and the facts of the task.
    """
    clock, params = Clock(), load_params()
    run_ = entry("run", params.runs, key)
    counts = Counter[str]()
    with OutputParts(layout.scratch("decode", key)) as parts:

        def add(rows: pd.DataFrame) -> None:
            parts.add(rows)
            counts["texts"] += len(rows)

        found = decoded(key, run_, layout.model(run_.model), params, add)
        parts.write(layout.output(run_.paper, key), found.dev, found.facts, chunk_rows())
    clock.write("decode", key, {"records": found.records, **counts, "made_of": record_of("decode", key)})
    say(f"{key}: {counts['texts']:,} texts, {found.facts['unfit']} records unfit")


@dataclass(frozen=True)
class Decoded:
    """What is known of the output rows of all seeds.

    Attributes:
        records: the number of records that have rows.
        dev: the likelihoods of the dev references by seed.
        facts: the metadata of the table.
    """

    records: int
    dev: list[pd.DataFrame | None]
    facts: Mapping[str, str]


def decoded(key: str, run_: Run, folder: Path, params: Params, add: Callable[[pd.DataFrame], object]) -> Decoded:
    """Decode a run, with the weights of a folder that are those of its model, or made of them.

    Args:
        add: takes the output rows, those of `chunk_rows` records at a time, seed by seed.
    """
    kind = TASKS[run_.task]
    guidance = read_texts(*run_.guide) if run_.guide else None
    options = RunOptions(run_.samples, run_.seed, guidance, lexicon_of(run_.lexicon), chunk_rows())
    judge = read_judge(run_.lm, params)
    dev, facts, ids = [], dict[str, str](), list[Keys]()
    seeds = _seeds(key, run_, params.models[run_.model].seeds, guidance)
    for seed in seeds:
        model, vocabulary = load_model(folder, seed)
        model = model.to(device())
        ready = _ready(run_, run_.split, vocabulary, params)
        require_rows(ready.data, run_.dataset, run_.split)
        dev_ready = _ready(run_, "dev", vocabulary, params) if kind.dev_likelihood else None
        decoding = Decoding(kind, model, run_.decoder, options, seed, device(), followed)
        for table in decoding.parts(ready):
            add(table if judge is None else judged(kind.judge, judge, table, device(), followed))
            if seed == seeds[0]:
                ids.append(key_array(map(key_of, table["id"].unique())))
        dev.append(decoding.likelihoods(dev_ready))
        facts = {"unfit": str(ready.unfit), **kind.facts(model)}
    return Decoded(len(np.unique(np.concatenate(ids))), dev, facts)


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
    ready = read_ready(run_.dataset, split, kind, chunk_rows())
    if ready.data.vocabulary != vocabulary:
        raise ArtifactError(
            f"the vocabulary of dataset {run_.dataset} is not that of model {run_.model}",
            where=layout.ready(run_.dataset),
            remedy=f"give the dataset vocab_from: {params.models[run_.model].dataset}",
        )
    return ready
