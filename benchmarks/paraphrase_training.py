"""C-DNPG's table 5 by step: the training time of each model of paraphrases, as a multiple of the Transformer's.

    python benchmarks/paraphrase_training.py [rounds] [--record]

The networks and the batches are those of the profiles small and paper. A step is forward, backward, clipping and AdamW.
The models take turns step by step on equal batches, so that a machine that slows down slows all; on a CPU the time is
that of the process. Equal steps are what the pipeline gives all models; the table's hours are until convergence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from measuring import Record, arguments, step_table
from question_pairs import corpus, stepper

from espalier.datasets.batch import batch_plan
from espalier.datasets.pairs.data import PairView
from espalier.models.registry import ARCHITECTURES
from espalier.training.config import TrainingConfig
from espalier.training.optimization import precision_of
from pipeline.params.read import load_params

VIEW = PairView(("source",), "text")
CONFIG = TrainingConfig(steps=1, rate=5e-5, weight_decay=0.01)
PROFILES = ("small", "paper")
#: The ids of `quora_pairs`.
PIECES = 14_725
#: The models of params.yaml; the first is the measure, and the report finds each by its title.
MODELS = ("transformer", "transformer_copy", "residual_lstm", "pointer_generator", "dnpg", "r", "s", "rs", "r_plus_s")


def contestants(profile: str) -> tuple[dict[str, tuple[str, Any]], int]:
    """Architecture and settings of each row by the model's title, and the places of a batch."""
    every = load_params(Path("profiles", profile, "params.yaml")).models
    models = {name: every[f"cdnpg_{name}"] for name in MODELS}
    rows = {model.title: (model.arch, model.network) for model in models.values()}
    pointer = models["pointer_generator"]
    coverage = pointer.network.model_copy(update={"coverage": 1.0})
    rows[f"{pointer.title} with coverage"] = (pointer.arch, coverage)
    return rows, models["transformer"].training.batch_tokens


def race(profile: str, count: int, device: torch.device, record: Record) -> None:
    rows, budget = contestants(profile)
    data = corpus(PIECES, 2000)
    plan = batch_plan(data.sizes(VIEW), budget=budget, seed=1, epoch=0)[:4]
    batches = [data.batch(indices, VIEW, grain=data.GRAIN).to(device) for indices in plan]
    bf16 = precision_of(CONFIG, device) == "bf16"
    steps, sizes = {}, {}
    for name, (arch, config) in rows.items():
        torch.manual_seed(0)
        model = ARCHITECTURES[arch].build(config, data.vocabulary).train().to(device)
        steps[name], sizes[name] = stepper(model, CONFIG, bf16), sum(part.numel() for part in model.parameters())
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(1 + count):
        for batch in batches:
            for name, step in steps.items():
                taken = step(batch)
                if turn:  # the first is to warm up
                    seconds[name].append(taken)
    precision = "bf16 autocast" if bf16 else "fp32"
    pairs = sum(map(len, batches)) / len(batches)
    unit, (_, first) = next(iter(rows.items()))
    shape = f"{first.encoder_layers} + {first.layers} layers of {first.width}, {first.heads} heads"
    title = (
        f"{profile}: {shape}, {PIECES:,} pieces; {pairs:.0f} pairs a batch; {precision}; {device.type}; "
        f"{torch.get_num_threads()} threads"
    )
    record.add(step_table(title, seconds, unit, parameters=sizes))


def main() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    [count] = arguments(5)
    with Record(__file__) as record:
        for profile in PROFILES:
            race(profile, count, device, record)


if __name__ == "__main__":
    main()
