"""train: train a model on its dataset, once for each seed; a killed training resumes."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from espalier.cli.progress import progress_bar, say
from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Encoding, Split, Vocabulary
from espalier.datasets.registry import ENCODINGS
from espalier.io.errors import ArtifactError, ConfigError, DataError
from espalier.io.files import atomic_file, atomic_folder, together, write_json
from espalier.io.hashing import digest, file_sha256, files_sha256
from espalier.io.registry import entry
from espalier.io.tables import table_sha256
from espalier.models.contract import check_model
from espalier.models.output_check import check_outputs
from espalier.models.registry import ARCHITECTURES
from espalier.models.serialization import load_weights, map_weights, save_model, weights_of
from espalier.training import loop
from espalier.training.optimization import precision_of
from espalier.training.ranks import joined
from pipeline import layout
from pipeline.graph.seeds import Show, side_by_side
from pipeline.graph.stage_inputs import inputs_of, record_of
from pipeline.params.entries import Model
from pipeline.params.read import load_params
from pipeline.records.artifacts import read_extras, read_split
from pipeline.records.machine import compiles, cores, device, workers
from pipeline.records.measured import Clock
from pipeline.records.systems import describe

if TYPE_CHECKING:
    import rich.progress
    from torch import nn

    from espalier.training.loop import Progress

Vocabulary_ = TypeVar("Vocabulary_", bound=Vocabulary)


@dataclass(frozen=True)
class Examples:
    """A split in the form of a model's view."""

    data: Split[Any, Any, Batch]
    view: object
    lengths: npt.NDArray[np.int64]

    def collate(self, indices: npt.NDArray[np.int64], rng: np.random.Generator | None) -> Batch:
        """The batch of these examples."""
        return self.data.batch(indices, self.view, rng, grain=self.data.GRAIN)


@dataclass(frozen=True)
class Trained:
    """A model after training, and facts about the training.

    Attributes:
        precision: "bf16", "tf32" or "fp32"; with the setting "auto" it depends on the hardware.
        init_rows: with `init_vocab: mapped`, the numbers of ids whose rows were "copied" from the first model, and of
            "new" ones.
    """

    seed: int
    model: nn.Module
    vocabulary: Any
    progress: Progress
    scratch: Path
    precision: str
    init_rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def summary(self) -> dict[str, Any]:
        """The reproducible facts, equal for every run with the same threads, precision, processes and compiler."""
        return {
            "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
            "threads": torch.get_num_threads(),
            "precision": self.precision,
            **_made_by(self.progress),
            "steps": self.progress.step,
            "tokens": self.progress.tokens,
            "best_step": self.progress.best_step,
            "best_dev_loss": round(self.progress.best_loss, 6),
            "history": self.progress.history,
            **({"init_rows": dict(self.init_rows)} if self.init_rows else {}),
        }

    @property
    def measured(self) -> dict[str, Any]:
        """The facts that differ between runs, such as times."""
        return {
            "steps": self.progress.step,
            "tokens": self.progress.tokens,
            "seconds": round(self.progress.seconds, 2),
            "tokens_per_second": round(self.progress.tokens_per_second, 1),
            "precision": self.precision,
            **_made_by(self.progress),
        }


def run(key: str, seed: int | None = None) -> None:
    """Train one model into `data/models/<key>/`, with its losses in `data/curves/<paper>/<key>.csv`.

    With a `seed`, train this one alone up to its last checkpoint; a training of all seeds goes on from there.

    Seeds are trained in parallel, `ESPALIER_WORKERS` at once; the default is one on a GPU, and one per core on a CPU.
    The processes of a launch by `torchrun` share each batch, and the first one writes.
    """
    params = load_params()
    model = entry("model", params.models, key)
    clock, launch = Clock(), joined(cpu=device().type == "cpu")
    at_once = cores() // torch.get_num_threads() if device().type == "cpu" else 1
    processes = workers(at_once) if launch.num_processes == 1 else 1
    with progress_bar(silent=not launch.is_main_process) as bar:
        show = _bars(bar, key, model)
        if seed is not None:
            if seed not in model.seeds:
                allowed = ", ".join(map(str, model.seeds))
                raise ConfigError(f"no seed {seed}", where=f"models.{key}.seeds", remedy=f"allowed: {allowed}")
            _trained(key, model, seed, show)
            return
        if len(model.seeds) > 1 and processes > 1:
            side_by_side(train_seed, key, model.seeds, processes, show)
        # A training that is over begins and ends with its last checkpoint.
        results = [_trained(key, model, seed, show) for seed in model.seeds]
    launch.destroy_process_group()
    if not launch.is_main_process:
        return
    data = table_sha256(layout.ready(model.dataset) / "train.parquet")
    with together():
        with atomic_folder(layout.model(key)) as folder:
            for result in results:
                save_model(folder, model.arch, result.model, result.vocabulary, result.seed)
            describe(folder, key, params, read_extras(model.dataset).get("templates", ()))
            summaries = {f"seed{result.seed}": {**result.summary, "data": data} for result in results}
            write_json(folder / "training.json", summaries)
        _write_curve(layout.curve(model.paper, key), results)
    measured = {f"seed{result.seed}": result.measured for result in results}
    made_of = record_of("train", key) | _made_by(*(result.progress for result in results))
    facts = {"seeds": measured, "made_of": made_of, "model": files_sha256(layout.model(key))}
    clock.write("train", key, facts)
    layout.provenance(key).unlink(missing_ok=True)  # of a training elsewhere that this one replaces
    for result in results:
        shutil.rmtree(result.scratch, ignore_errors=True)
        say(
            f"{key}, seed {result.seed}: {result.progress.step:,} steps, {result.progress.tokens:,} tokens, "
            f"{result.progress.tokens_per_second:,.0f} a second; "
            f"best dev perplexity {math.exp(result.progress.best_loss):.2f} at step {result.progress.best_step:,}"
        )


def _made_by(*trainings: Progress) -> dict[str, Any]:
    """The steps by each number of processes, unless one made all, and the number of compiled ones, unless it is 0."""
    total = sum((Counter(progress.processes) for progress in trainings), Counter[str]())
    compiled = sum(progress.compiled for progress in trainings)
    return ({"processes": dict(total)} if {*total} - {"1"} else {}) | ({"compiled": compiled} if compiled else {})


def train_seed(key: str, seed: int, show: Show) -> Trained:
    """Train with one seed in a separate process, which must read params.yaml and import the plugins again."""
    return _trained(key, entry("model", load_params().models, key), seed, show)


def _trained(key: str, model: Model, seed: int, show: Show) -> Trained:
    """A model after training with one seed."""
    kind = ARCHITECTURES.find(model.arch, where=f"models.{key}.arch")
    form = ENCODINGS[kind.encoding]
    vocabulary = form.vocabulary.load(layout.ready(model.dataset) / "vocabulary.json")
    torch.manual_seed(seed)
    built = kind.build(model.network, vocabulary)
    check_model(built, model.arch)
    init_rows: Mapping[str, int] = {}
    if model.training.init_vocab == "mapped":
        init_rows = map_weights(built, vocabulary, layout.model(model.init))
    elif model.init != layout.NONE:
        _same_vocabulary(model, form, vocabulary)
        load_weights(built, weights_of(layout.model(model.init)))
    splits = {name: _examples(key, model, name, form, vocabulary) for name in ("train", "dev")}
    check_outputs(built, splits["dev"].collate(np.arange(min(2, len(splits["dev"].lengths))), None), model.arch)
    scratch = layout.scratch("train", key, _identity(key, seed))
    progress = loop.train(
        built, splits["train"], splits["dev"], model.training,
        width=model.network.width, seed=seed, scratch=scratch, watch=_watcher(key, seed, show),
        cpu=os.environ.get("ESPALIER_DEVICE") == "cpu", compiles=compiles(),
    )  # fmt: skip
    asked = model.training.precision
    precision = asked if asked == "tf32" else "bf16" if precision_of(model.training, device()) == "bf16" else "fp32"
    return Trained(seed, built, vocabulary, progress, scratch, precision, init_rows)


def _examples(
    key: str, model: Model, split: str, form: Encoding[Any, Any, Vocabulary_, Any], vocabulary: Vocabulary_
) -> Examples:
    data = read_split(model.dataset, split, form, vocabulary)
    if not len(data):
        file = layout.ready(model.dataset) / f"{split}.parquet"
        raise DataError("no examples", file=file, remedy="check the corpus's filters and split")
    network = model.network
    longest = data.longest(network.view)
    if longest > network.positions:
        raise ConfigError(
            f"the longest row of dataset {model.dataset} has {longest} ids",
            where=f"params.yaml: models.{key}.network.positions",
            remedy=f"raise it to {longest}, or have the dataset quarantine longer rows",
        )
    return Examples(data, network.view, data.sizes(network.view))


def _bars(bar: rich.progress.Progress, key: str, model: Model) -> Show:
    """A progress bar for each seed."""
    tasks = {seed: bar.add_task(f"{key} seed {seed}", total=model.training.steps) for seed in model.seeds}

    def show(seed: int, step: int, rate: float, loss: float) -> None:
        dev_loss = "" if math.isnan(loss) else f", dev loss {loss:.3f}"
        bar.update(tasks[seed], completed=step, note=f"{rate:,.0f} tokens/s{dev_loss}")

    return show


def _watcher(key: str, seed: int, show: Show) -> Callable[[Progress], None]:
    """A function that shows each step, and logs evaluations with times to `.scratch/logs/<key>.seed<seed>.jsonl`."""
    log = layout.scratch("logs", f"{key}.seed{seed}.jsonl")
    log.parent.mkdir(parents=True, exist_ok=True)
    written = 0

    def watch(progress: Progress) -> None:
        nonlocal written
        last = progress.history[-1] if progress.history else None
        rate = progress.tokens_per_second
        show(seed, progress.step, rate, last["dev_loss"] if last else math.nan)
        if progress.step == 1 and compiles() and not progress.compiled:
            say(f"{key}, seed {seed}: not compiled, since a compiler would unroll its recurrent layers")
        if last and len(progress.history) > written:
            written = len(progress.history)
            line = {"time": round(time.time()), **last, "seconds": round(progress.seconds, 1), "rate": round(rate)}
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    return watch


def _same_vocabulary(model: Model, form: Encoding[Any, Any, Vocabulary_, Any], vocabulary: Vocabulary_) -> None:
    if form.vocabulary.load(layout.model(model.init) / "vocabulary.json") != vocabulary:
        raise ArtifactError(
            f"the vocabulary of dataset {model.dataset} is not that of model {model.init}",
            where=layout.ready(model.dataset),
            remedy=f"give the dataset vocab_from: the dataset of {model.init}, or the training init_vocab: mapped",
        )


def _identity(key: str, seed: int) -> str:
    """A string that identifies all inputs of the weights, so that checkpoints of other trainings are never resumed."""
    inputs = inputs_of("train", key)
    settings = {name: value for name, value in inputs.settings.items() if name != "seeds"}
    files = [file for folder in inputs.paths.values() if folder is not None for file in sorted(folder.iterdir())]
    return digest(key, seed, settings, inputs.versions, [(file.name, file_sha256(file)) for file in files])


def _write_curve(path: Path, results: list[Trained]) -> None:
    with atomic_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(layout.CURVE_COLUMNS)
        for result in results:
            table.writerows(
                [result.seed, line["step"], line["train_loss"], line["dev_loss"]] for line in result.progress.history
            )
