"""Estimates for the whole of a profile, computed from its rehearsal."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from espalier.corpora.records import RECORDS
from espalier.io.files import read_json
from pipeline import layout
from pipeline.graph.rehearsal.cut import ROWS, limit_of
from pipeline.graph.rehearsal.readers import counts_file
from pipeline.layout import NONE
from pipeline.params.entries import Params, Run
from pipeline.records.artifacts import read_training
from pipeline.records.stage_times import HOUR

#: Numbers of 4 bytes that a training keeps for each parameter: its value, its gradient, two moments, the best so far.
COPIES: Final = 5


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of a stage of the whole profile on this machine.

    Attributes:
        rate: tokens, sentences or records per second, according to the unit.
        memory: memory in bytes; None if unknown.
        hours: None if the number of rows is unknown.
    """

    stage: tuple[str, str]
    rate: float
    unit: str
    hours: float | None
    memory: float | None = None


def estimates(params: Params, folder: Path, made: Iterable[tuple[str, str]]) -> Iterator[Estimate]:
    """An estimate for each long stage that succeeded in the rehearsal.

    Args:
        params: params of the profile, not reduced.
        folder: folder of the rehearsal.
        made: the successful stages.
    """
    for stage, key in made:
        if stage == "train_parser" and params.parsers[key].treebank != NONE:
            yield _parser_training(key, params, read_json(folder / layout.measured(stage, key)), folder)
        elif stage == "parse" and (estimate := _parsing(key, params, folder)) is not None:
            yield estimate
        elif stage == "train":
            yield _training(key, params, read_json(folder / layout.measured(stage, key)), folder)
        elif stage == "decode":
            yield _decoding(key, params, read_json(folder / layout.measured(stage, key)), folder)


def training_memory(measured: Mapping[str, Any], parameters: int, batch_tokens: int) -> float:
    """The memory, in bytes, of training with batches of `batch_tokens` tokens.

    The part that does not depend on the batch is known: the process before training, and `COPIES` of the parameters.
    The rest is proportional to the tokens of a batch.
    """
    seeds = list(measured["seeds"].values())
    used = seeds[0]["tokens"] / seeds[0]["steps"]
    gpu = measured["peak_gpu_memory"]
    fixed = 4 * COPIES * parameters + (measured["memory_before"] if gpu is None else 0)
    peak = measured["peak_memory"] if gpu is None else gpu
    return float(max(peak, fixed + max(0, peak - fixed) * max(1.0, batch_tokens / used)))


def _training(key: str, params: Params, measured: Mapping[str, Any], folder: Path) -> Estimate:
    model = params.models[key]
    config = model.training
    (facts,) = measured["seeds"].values()
    (summary,) = read_training(key, folder).values()
    rate = facts["tokens_per_second"]
    hours = len(model.seeds) * config.steps * config.batch_tokens / rate / HOUR
    memory = training_memory(measured, summary["parameters"], config.batch_tokens)
    return Estimate(("train", key), rate, "tokens/s", hours, memory)


def _decoding(key: str, params: Params, measured: Mapping[str, Any], folder: Path) -> Estimate:
    run = params.runs[key]
    done = measured["records"]
    rate = done / measured["seconds"]
    asked = _records(run, params, folder)
    # The rehearsal draws one sample where the records of a task cannot be limited.
    samples = run.samples if limit_of(run.task) is None else 1
    seeds = len(params.models[run.model].seeds)
    hours = None if asked is None else seeds * asked * samples / rate / HOUR
    return Estimate(("decode", key), rate, "records/s", hours, measured["peak_gpu_memory"] or measured["peak_memory"])


def _parsing(key: str, params: Params, folder: Path) -> Estimate | None:
    corpus = params.corpora[key]
    if corpus.parser == NONE:
        return None
    rate = read_json(folder / layout.measured("parse", key))["sentences_per_second"]
    rows = read_json(folder / counts_file(key))["rows"]
    hours = rows * len(RECORDS[corpus.records].sides) / rate / HOUR if rate else None
    return Estimate(("parse", key), rate, "sentences/s", hours)


def _parser_training(key: str, params: Params, measured: Mapping[str, Any], folder: Path) -> Estimate:
    parser = params.parsers[key]
    rows = read_json(folder / counts_file(parser.treebank))["rows"]
    rate = min(ROWS, rows) / measured["seconds"]
    return Estimate(
        ("train_parser", key), rate, "sentences/s", getattr(parser.settings, "epochs", 1) * rows / rate / HOUR
    )


def _records(run: Run, params: Params, folder: Path) -> int | None:
    """The number of records that the whole run decodes; None if unknown before the corpus is read."""
    if limit := run.written["decoder"].get(limit_of(run.task) or ""):
        return int(limit)
    corpus = params.datasets.every[run.dataset].corpus
    split: Any = params.corpora[corpus].split
    if split.kind == "published":
        counts, of_split = folder / counts_file(corpus), getattr(split, run.split)
        return sum(read_json(counts)["parts"].get(name, 0) for name in of_split) if counts.exists() else None
    size = getattr(split, run.split, None)
    return getattr(split, f"{run.split}_size", None) if size is None else int(size)
