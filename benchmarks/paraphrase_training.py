"""C-DNPG's table 5 by step: the training time of each model of paraphrases, as a multiple of the Transformer's.

    python benchmarks/paraphrase_training.py [rounds] [--record]

A step is forward, backward, clipping and AdamW. The models take turns step by step on equal batches, so that a machine
that slows down slows all; on a CPU the time is that of the process. A model whose architecture is not registered is
left out. Equal steps are what the pipeline gives all models; the table's hours are until convergence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from measuring import Record, arguments, step_table
from question_pairs import corpus, stepper

from espalier.datasets.batching import batch_plan
from espalier.datasets.pairs.data import PairView
from espalier.models.registry import ARCHITECTURES
from espalier.training.config import TrainingConfig
from espalier.training.optimization import precision_of

VIEW = PairView(("source",), "text")
CONFIG = TrainingConfig(steps=1, rate=5e-5, weight_decay=0.01)


@dataclass(frozen=True)
class Shape:
    """What the models share. Its recurrent baselines have as many layers as the Transformer."""

    name: str
    encoder_layers: int
    layers: int
    width: int
    heads: int
    inner: int
    pieces: int
    budget: int

    def __str__(self) -> str:
        size = f"{self.encoder_layers} + {self.layers} layers of {self.width}"
        return f"{self.name}: {size}, {self.heads} heads, {self.pieces:,} pieces"


SHAPES = (
    Shape("small", encoder_layers=2, layers=3, width=128, heads=4, inner=512, pieces=14_725, budget=4096),
    Shape("paper", encoder_layers=3, layers=3, width=450, heads=9, inner=1024, pieces=14_725, budget=1056),
)


def contestants(shape: Shape) -> dict[str, tuple[str, dict[str, Any]]]:
    """Architecture and network of each row whose architecture is registered, the one that is the measure first."""
    stack = {"encoder_layers": shape.encoder_layers, "layers": shape.layers, "width": shape.width}
    transformer = {**stack, "heads": shape.heads, "inner": shape.inner}
    recurrent = {**stack, "word": shape.width}
    pointer = {**recurrent, "residual": 0, "bidirectional": True, "attention": True, "copying": True}
    encoder = {
        "reads": ("source",), "layers": shape.encoder_layers, "heads": shape.heads, "cross_heads": shape.heads
    }  # fmt: skip
    guig = {"layers": shape.layers, "width": shape.width, "heads": shape.heads, "inner": shape.inner,
            "encoders": [encoder], "head_width": shape.width // shape.heads}  # fmt: skip
    rows: dict[str, tuple[str, dict[str, Any]]] = {
        "Transformer": ("cdnpg", {**transformer, "granularity": "none"}),
        "Transformer (GuiG's)": ("guig", guig),
        "Transformer + copy": ("cdnpg", {**transformer, "granularity": "none", "copying": True}),
        "residual LSTM": ("pair_seq2seq", {**recurrent, "residual": 1}),
        "pointer-generator": ("pair_seq2seq", pointer),
        "pointer-generator with coverage": ("pair_seq2seq", {**pointer, "coverage": 1.0}),
        "DNPG": ("dnpg", transformer),
        "C-DNPG (R*S)": ("cdnpg", {**transformer, "granularity": "product"}),
    }
    return {name: row for name, row in rows.items() if row[0] in ARCHITECTURES}


def race(shape: Shape, count: int, device: torch.device, record: Record) -> None:
    data = corpus(shape.pieces, 2000)
    plan = batch_plan(data.sizes(VIEW), budget=shape.budget, seed=1, epoch=0)[:4]
    batches = [data.batch(indices, VIEW, grain=data.GRAIN).to(device) for indices in plan]
    bf16 = precision_of(CONFIG, device) == "bf16"
    steps, sizes = {}, {}
    for name, (arch, network) in contestants(shape).items():
        torch.manual_seed(0)
        entry = ARCHITECTURES[arch]
        model = entry.build(entry.config.model_validate(network), data.vocabulary).train().to(device)
        steps[name], sizes[name] = stepper(model, CONFIG, bf16), sum(part.numel() for part in model.parameters())
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(1 + count):
        for batch in batches:
            for name, step in steps.items():
                taken = step(batch)
                if turn:  # the first is to warm up
                    seconds[name].append(taken)
    precision = "bf16 autocast" if bf16 else "fp32"
    title = (
        f"{shape}; {sum(map(len, batches)) / len(batches):.0f} pairs a batch; {precision}; {device.type}; "
        f"{torch.get_num_threads()} threads"
    )
    record.add(step_table(title, seconds, "Transformer", parameters=sizes))


def main() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    [count] = arguments(5)
    with Record(__file__) as record:
        for shape in SHAPES:
            race(shape, count, device, record)


if __name__ == "__main__":
    main()
