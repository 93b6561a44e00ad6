"""A training step of C-DNPG with R*S against one of the Transformer, both in one run.

    python benchmarks/granularity_attention.py [rounds] [--record]

A step is forward, backward, clipping and AdamW; batches are of 20 tokens at most, as in the paper. The forms take turns
step by step on equal batches. On a CPU the time is that of the process, which other processes change less.
"""

from __future__ import annotations

from typing import Any

import torch
from measuring import Record, arguments, step_table
from question_pairs import corpus, stepper

from espalier.datasets.batch import batch_plan
from espalier.models.cdnpg import CDNPG
from espalier.models.cdnpg_config import CDNPGConfig
from espalier.training.config import TrainingConfig
from espalier.training.optimization import precision_of

CONFIG = TrainingConfig(steps=1, rate=5e-5, weight_decay=0.01)
SHAPES: dict[str, tuple[int, int, dict[str, Any]]] = {
    "small: 2 + 3 layers of 128, 4 heads, 14,725 pieces": (
        14_725, 4096, {"encoder_layers": 2, "layers": 3, "width": 128, "heads": 4, "inner": 512},
    ),
    "paper: 3 + 3 layers of 450, 9 heads, 14,725 pieces": (14_725, 1024, {}),
}  # fmt: skip
FORMS: dict[str, dict[str, Any]] = {
    "R*S, as written": {"granularity": "product"},
    "R*S, renormalised": {"granularity": "product", "renormalise": True},
    "R*S, as released": {
        "granularity": "product", "renormalise": True, "first_layer": 1, "scope_length": "padded",
        "cross_resonance": True,
    },
    "Transformer": {"granularity": "none"},
}  # fmt: skip


def race(name: str, count: int, device: torch.device, record: Record) -> None:
    pieces, budget, shape = SHAPES[name]
    data = corpus(pieces, 2000)
    view = CDNPGConfig().view
    plan = batch_plan(data.sizes(view), budget=budget, seed=1, epoch=0)[:4]
    batches = [data.batch(indices, view, grain=data.GRAIN).to(device) for indices in plan]
    bf16 = precision_of(CONFIG, device) == "bf16"
    steps = {}
    for form, settings in FORMS.items():
        torch.manual_seed(0)
        model = CDNPG(CDNPGConfig(**shape, **settings), data.vocabulary).train().to(device)
        steps[form] = stepper(model, CONFIG, bf16)
    seconds: dict[str, list[float]] = {form: [] for form in FORMS}
    for turn in range(1 + count):
        for batch in batches:
            for form, step in steps.items():
                taken = step(batch)
                if turn:  # the first is to warm up
                    seconds[form].append(taken)
    precision = "bf16 autocast" if bf16 else "fp32"
    title = (
        f"{name}; {sum(map(len, batches)) / len(batches):.0f} pairs a batch; {precision}; {device.type}; "
        f"{torch.get_num_threads()} threads"
    )
    record.add(step_table(title, seconds, "Transformer"))


def main() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    [count] = arguments(10)
    with Record(__file__) as record:
        for name in SHAPES:
            race(name, count, device, record)


if __name__ == "__main__":
    main()
