"""decode: what a model writes for the rows of a ready split, and how probable it finds their references."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from espalier.cli.progress import followed, say
from espalier.datasets.batching import length_batches
from espalier.datasets.registry import encoding
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.hashing import file_sha256, files_sha256, seed_from
from espalier.io.registry import entry
from espalier.io.tables import write_table
from espalier.models.serialization import load_model
from espalier.tasks.registry import task
from espalier.tasks.task import Inputs, Judge, Ready, RunOptions, Task
from pipeline import layout
from pipeline.params.entries import Params, Run, decoder_of
from pipeline.params.read import load_params
from pipeline.records.artifacts import lexicon_of, read_ready, read_texts, require_rows, version_of
from pipeline.records.machine import device
from pipeline.records.measured import Clock

#: Prefixes that are searched together, and tokens whose likelihood is measured together. Both change the speed and
#: the memory, and a score by rounding alone.
PREFIXES, TOKENS = 512, 8192


def run(key: str) -> None:
    """Decode one run into `data/outputs/<paper>/<key>.parquet`, once a seed that its model and its guidance have.

    A row for each record, seed and sample: `id`, `cluster` (the records that are resampled together), `seed`,
    `sample`, the task's columns, the likelihood of the reference, and what the run's judge says of both texts. The
    table's metadata holds under "unfit" how many records of the split the dataset has quarantined, under "dev", as
    JSON, the likelihoods of the dev split's references where the task asks for them, and the task's facts.
    """
    clock, params = Clock(), load_params()
    run_ = entry("run", params.runs, key)
    kind = task(run_.task)
    decoder = decoder_of(run_)
    guidance = read_texts(*run_.guide) if run_.guide else None
    options = RunOptions(run_.samples, run_.seed, guidance, lexicon_of(run_.lexicon))
    judge = judge_model(run_.lm, params)
    tables, dev, facts = [], [], dict[str, str]()
    for seed in _seeds(key, run_, params.models[run_.model].seeds, guidance):
        model = load_model(layout.model(run_.model), seed)[0].to(device())
        ready = _ready(run_, run_.split, model, params)
        require_rows(ready.data, run_.dataset, run_.split)
        dev_ready = _ready(run_, "dev", model, params) if kind.dev_likelihood else None
        table, own = decoded(kind, model, ready, dev_ready, decoder, options, seed)
        tables.append(table if judge is None else judged(kind.judge, judge, table))
        dev.append(own)
        facts = {"unfit": str(ready.unfit), **kind.facts(model)}
    write_outputs(layout.output(run_.paper, key), tables, dev, facts)
    counts = {"records": int(tables[0]["id"].nunique()), "texts": sum(map(len, tables))}
    clock.write("decode", key, {**counts, "made_of": made_of(run_)})
    say(f"{key}: {sum(map(len, tables)):,} texts, {facts['unfit']} records unfit")


def _seeds(key: str, run_: Run, seeds: Sequence[int], guidance: pd.DataFrame | None) -> list[int]:
    """The seeds to decode. Under guidance, one of a seed of its own: else one expander would pass for several."""
    guiding = set(seeds if guidance is None else guidance["seed"])
    if not (common := [seed for seed in seeds if seed in guiding]):
        raise ConfigError(
            f"no seed of {run_.model} is a seed of {run_.guidance}",
            where=f"params.yaml: runs.{key}.guidance",
            remedy=f"train {run_.model} with one of the seeds {', '.join(map(str, sorted(guiding)))}",
        )
    return common


def made_of(run_: Run, folder: Path = Path()) -> dict[str, Any]:
    """What the outputs of a run depend on, as `pipeline.stages.train.made_of` says it of a model.

    Args:
        folder: in which the model lies.
    """
    guide = file_sha256(layout.output(*run_.guide)) if run_.guide else None
    judge = {} if run_.lm == layout.NONE else {"judge": files_sha256(folder / layout.model(run_.lm))}
    decoder = decoder_of(run_)
    lexicon = {"lexicon": files_sha256(layout.raw(run_.lexicon))} if decoder.needs_lexicon else {}
    return {
        **judge,
        **lexicon,
        "model": files_sha256(folder / layout.model(run_.model)),
        "data": files_sha256(layout.ready(run_.dataset)),
        "guidance": guide,
        "settings": run_.model_dump(mode="json", include={"task", "split", "decoder", "samples", "seed"}),
        "versions": version_of("decoding", run_.task),
    }


def decoded(
    kind: Task, model: Any, ready: Ready, dev: Ready | None, decoder: Any, options: RunOptions, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """The output rows of a model, and the likelihoods of the dev split's references where that split has any."""
    inputs = kind.inputs(ready, model, decoder, options, seed)
    table = pd.concat([_rows_of(kind, model, part, decoder, options, seed) for part in inputs], ignore_index=True)
    if dev is None or not len(dev.data):
        return table, None
    own = _likelihoods(kind.likelihood, model, dev.data, np.arange(len(dev.data)))
    prompts = (rows[0] for part in kind.inputs(dev, model, decoder, options, seed) for rows in part.rows)
    clusters = {row["id"]: row["cluster"] for row in prompts}
    return table, own.assign(cluster=own["id"].map(clusters), seed=seed, sample=0)


def judge_model(key: str, params: Params) -> Any:
    """The model that judges a run, of its lowest seed; None if the run names none."""
    return None if key == layout.NONE else load_model(layout.model(key), min(params.models[key].seeds))[0].to(device())


def judged(kind: Judge | None, model: Any, table: pd.DataFrame) -> pd.DataFrame:
    """The output rows with what a judge says of their texts and, after `reference_`, of their references."""
    if kind is None:  # params.yaml was checked
        raise TypeError("a task without a judge")
    texts = pd.unique(pd.concat([table["text"], table["reference"]]))
    data = kind.read(texts.tolist(), model.vocabulary)
    _require_positions(data, model, "a judge")
    said = _likelihoods(kind.measure, model, data, np.arange(len(texts)), "judge").drop(columns="id")
    rows = pd.Index(texts)
    parts = [
        said.iloc[rows.get_indexer(table[column])].add_prefix(prefix).reset_index(drop=True)
        for column, prefix in (("text", ""), ("reference", "reference_"))
    ]
    return pd.concat([table.reset_index(drop=True), *parts], axis=1)


def write_outputs(
    path: Path, tables: Sequence[pd.DataFrame], dev: Sequence[pd.DataFrame | None], facts: Mapping[str, str]
) -> None:
    """Write the output rows of all seeds as one table, and in its metadata the dev split's likelihoods and `facts`."""
    others = [table for table in dev if table is not None]
    more = {"dev": json.dumps(pd.concat(others, ignore_index=True).to_dict("list"))} if others else {}
    write_table(path, pd.concat(tables, ignore_index=True), {**facts, **more})


def _ready(run_: Run, split: str, model: Any, params: Params) -> Ready:
    """A split that the model can read.

    Raises:
        ArtifactError: the dataset has another vocabulary than the model.
    """
    kind = encoding(params.datasets.every[run_.dataset].encoding)
    ready = read_ready(run_.dataset, split, kind)
    if ready.data.vocabulary != model.vocabulary:
        raise ArtifactError(
            f"the vocabulary of dataset {run_.dataset} is not that of model {run_.model}",
            where=layout.ready(run_.dataset),
            remedy=f"give the dataset vocab_from: {params.models[run_.model].dataset}",
        )
    return ready


def _rows_of(kind: Task, model: Any, inputs: Inputs, decoder: Any, options: RunOptions, seed: int) -> pd.DataFrame:
    """The output rows of all prompts, ordered by id and sample."""
    data, view = inputs.data, model.config.view
    _require_positions(data, model, "a model")
    if inputs.check:
        inputs.check()
    order = np.argsort(data.sizes(view)[inputs.prompts], kind="stable")
    size = max(1, PREFIXES // kind.prefixes(decoder))
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    rows = list[dict[str, Any]]()
    for part in followed(parts, "decode"):
        batch = data.batch(inputs.prompts[part], view).to(device())
        first = [inputs.rows[prompt][0] for prompt in part]
        seeds = [seed_from(options.seed, seed, row["id"], row["sample"]) for row in first]
        found = kind.generate(model, batch, decoder, seeds, **inputs.given)
        if inputs.rerank:
            found = inputs.rerank(inputs.prompts[part], found)
        for prompt, hypotheses in zip(part, found, strict=True):
            rows += _filled(kind, inputs, prompt, hypotheses, model, decoder, seed)
    table = pd.DataFrame(rows).sort_values(["id", "sample"], kind="stable", ignore_index=True)
    needed = np.flatnonzero(np.isin(data.ids, table["id"].unique()))
    likelihoods = _likelihoods(kind.likelihood, model, data, needed)
    if inputs.measure:
        likelihoods = likelihoods.assign(**inputs.measure(needed))
    return _rounded(table.merge(likelihoods, on="id", validate="many_to_one"))


def _require_positions(data: Any, model: Any, what: str) -> None:
    if (longest := data.longest(model.config.view)) > model.config.positions:
        raise ConfigError(
            f"a row of {longest} ids, of {what} that has {model.config.positions} positions",
            where="network.positions",
            remedy="raise it, or have the dataset quarantine longer rows",
        )


def _filled(
    kind: Task, inputs: Inputs, prompt: int, hypotheses: list[Any], model: Any, decoder: Any, seed: int
) -> Iterator[dict[str, Any]]:
    """The output rows that the hypotheses of one prompt fill."""
    for row in inputs.rows[prompt]:
        for rank in range(inputs.kept):
            hypothesis = hypotheses[rank] if rank < len(hypotheses) else None
            numbered = {**row, "seed": seed, "sample": row["sample"] + rank}
            yield numbered | kind.columns(hypothesis, row, model, decoder)


def _likelihoods(
    measure: Callable[[Any, Any], dict[str, torch.Tensor]], model: Any, data: Any, places: Any, what: str = "likelihood"
) -> pd.DataFrame:
    """`id` and what is measured of a model and a batch, for the rows at these places."""
    columns: dict[str, Any] = {}
    with torch.inference_mode():
        batches = length_batches(data.sizes(model.config.view)[places], budget=TOKENS)
        for part in followed(batches, what):
            batch = data.batch(places[part], model.config.view).to(device())
            for name, values in measure(model, batch).items():
                column = columns.setdefault(name, np.zeros(len(places), values.cpu().numpy().dtype))
                column[part] = values.cpu().numpy()
    return _rounded(pd.DataFrame({"id": [data.ids[place] for place in places], **columns}))


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Log-probabilities to 6 digits after the point: what another batch size would change is left out."""
    return table.round(dict.fromkeys(table.select_dtypes("float"), 6))
