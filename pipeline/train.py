"""train: a model on its dataset, once for each of its seeds; killed, it goes on where it was."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from espalier.corpora.batches import GRAIN
from espalier.corpora.verse_data import VerseBatch, VerseData, View
from espalier.corpora.vocabulary import Vocabulary
from espalier.io.errors import ArtifactError, ConfigError, DataError
from espalier.io.files import atomic_file, atomic_folder, read_json, write_json
from espalier.io.hashing import digest, file_sha256
from pipeline import layout
from pipeline.params import Model, entry, load_params, validated
from pipeline.stage import progress_bar, say


@dataclass(frozen=True)
class Examples:
    """A split as a model with this view reads it."""

    data: VerseData
    view: View

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """(examples,) tokens of each."""
        return self.data.lengths

    def collate(self, indices: npt.NDArray[np.int64], rng: np.random.Generator | None) -> VerseBatch:
        """The batch of these examples."""
        return self.data.batch(indices, self.view, rng, grain=GRAIN)


def run(key: str) -> None:
    """Train one model into `models/<key>/`, with its losses in `curves/<paper>/<key>.csv`."""
    from espalier.training.config import TrainingConfig

    model = entry("model", load_params().models, key)
    config = validated(TrainingConfig, model.training, f"params.yaml: models.{key}.training")
    done = []
    with atomic_folder(layout.model(key)) as folder:
        for seed in model.seeds:
            done.append(_train_seed(key, model, config, seed, folder))
        write_json(
            folder / "training.json", {f"seed{seed}": state for seed, (state, _) in zip(model.seeds, done, strict=True)}
        )
        _write_curve(layout.curve(model.paper, key), model, [state for state, _ in done])
    for _, scratch in done:
        shutil.rmtree(scratch, ignore_errors=True)


def _train_seed(key: str, model: Model, config: Any, seed: int, folder: Path) -> tuple[dict[str, Any], Path]:
    import torch

    from espalier.models.registry import architecture, load_weights, save_model
    from espalier.training.loop import Progress, train

    vocabulary = Vocabulary.load(layout.ready(model.dataset) / "vocabulary.json")
    kind = architecture(model.arch, where=f"models.{key}.arch")
    network = validated(kind.config, model.network, f"params.yaml: models.{key}.network")
    torch.manual_seed(seed)
    built = kind.build(network, vocabulary)
    if model.init != layout.NONE:
        _same_vocabulary(model, vocabulary)
        load_weights(built, layout.model(model.init) / f"seed{read_first_seed(layout.model(model.init))}.safetensors")
    view: View = network.view  # type: ignore[attr-defined]
    splits = {
        name: Examples(VerseData.load(layout.ready(model.dataset) / f"{name}.parquet", vocabulary), view)
        for name in ("train", "dev")
    }
    for name, examples in splits.items():
        if not len(examples.data):
            raise DataError(
                "no examples",
                file=layout.ready(model.dataset) / f"{name}.parquet",
                remedy="check the corpus's filters and split",
            )
    longest = max(int(examples.lengths.max()) for examples in splits.values())
    if longest > network.positions:  # type: ignore[attr-defined]
        raise ConfigError(
            f"the longest text of dataset {model.dataset} has {longest} tokens",
            where=f"params.yaml: models.{key}.network.positions",
            remedy=f"raise it to {longest}, or lower the dataset's max_tokens",
        )
    scratch = layout.scratch("train", key, _identity(key, model, seed))
    log = layout.scratch("logs", f"{key}.seed{seed}.jsonl")
    log.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with progress_bar() as bar:
        task = bar.add_task(f"{key} seed {seed}", total=config.steps, note="")

        def watch(progress: Progress) -> None:
            nonlocal written
            last = progress.history[-1] if progress.history else {}
            note = f"{progress.tokens_per_second:,.0f} tokens/s" + (
                f", dev loss {last['dev_loss']:.3f}" if last else ""
            )
            bar.update(task, completed=progress.step, note=note)
            if len(progress.history) > written:
                written = len(progress.history)
                line = {
                    **last,
                    "seconds": round(progress.seconds, 1),
                    "tokens_per_second": round(progress.tokens_per_second),
                }
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"time": round(time.time()), **line}) + "\n")

        progress = train(
            built, splits["train"], splits["dev"], config,
            width=network.width, seed=seed, scratch=scratch, watch=watch,  # type: ignore[attr-defined]
            cpu=os.environ.get("ESPALIER_DEVICE") == "cpu",
        )  # fmt: skip
    save_model(folder, model.arch, built, vocabulary, seed)
    say(
        f"{key}, seed {seed}: {progress.step:,} steps, {progress.tokens:,} tokens, "
        f"{progress.tokens_per_second:,.0f} a second; "
        f"best dev perplexity {math.exp(progress.best_loss):.2f} at step {progress.best_step:,}"
    )
    state = {
        "parameters": sum(parameter.numel() for parameter in built.parameters()),
        "steps": progress.step,
        "tokens": progress.tokens,
        "best_step": progress.best_step,
        "best_dev_loss": round(progress.best_loss, 6),
        "history": progress.history,
    }
    return state, scratch


def read_first_seed(folder: Path) -> int:
    """The first seed that a model was trained with."""
    found = sorted(folder.glob("seed*.safetensors"))
    if not found:
        raise ArtifactError("no weights", where=folder, remedy="train the model")
    return int(found[0].stem.removeprefix("seed"))


def _same_vocabulary(model: Model, vocabulary: Vocabulary) -> None:
    if Vocabulary.load(layout.model(model.init) / "vocabulary.json") != vocabulary:
        raise ArtifactError(
            f"the vocabulary of dataset {model.dataset} is not that of model {model.init}",
            where=layout.ready(model.dataset),
            remedy=f"give the dataset vocab_from: the dataset of {model.init}",
        )


def _identity(key: str, model: Model, seed: int) -> str:
    """Names everything that the weights follow from, so that no checkpoint of another training is ever resumed."""
    inputs = [*sorted(layout.ready(model.dataset).iterdir())]
    if model.init != layout.NONE:
        inputs += sorted(layout.model(model.init).iterdir())
    settings = model.model_dump(mode="json", include={"arch", "dataset", "init", "network", "training"})
    versions = read_versions()
    return digest(key, seed, settings, versions, [(path.name, file_sha256(path)) for path in inputs])


def read_versions() -> dict[str, Any]:
    """versions.yaml."""
    import yaml

    versions: dict[str, Any] = yaml.safe_load((layout.ROOT / "versions.yaml").read_text(encoding="utf-8"))
    return versions


def _write_curve(path: Path, model: Model, states: list[dict[str, Any]]) -> None:
    with atomic_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["seed", "step", "train_loss", "dev_loss"])
        for seed, state in zip(model.seeds, states, strict=True):
            table.writerows([seed, line["step"], line["train_loss"], line["dev_loss"]] for line in state["history"])


def training_of(key: str) -> dict[str, Any]:
    """What was written down of a training, by seed."""
    found: dict[str, Any] = read_json(layout.model(key) / "training.json")
    return found
