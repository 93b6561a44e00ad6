"""Training tokens a second: our plain decoder against others of the same shape and weights, on the same batches.

    pip install x-transformers                                                  # what is compared as well
    python benchmarks/train_decoder.py [rounds] [--record]

The others are Hugging Face's GPT-2, a plain module of PyTorch in the style of nanoGPT, as it is written and compiled by
`torch.compile`, and the decoder of x-transformers. All batches are met before steps are timed, so compiling is not
counted; the title says how long it takes, with the first steps. Without a C++ compiler or x-transformers their rows are
left out. The norms and the attention of x-transformers have no biases; ours begin at 0, so losses are equal. The last
row is ours if all but the matrix products took no time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import torch
import torch.nn.functional as F
from measuring import PRODUCTS, Record, arguments, can_compile, only, rate_table, rounds
from peers import NURSERY, SMALL, Shape, collated, corpus, pair, peer_inputs, plain_decoder, x_transformer
from torch import Tensor, nn
from training_steps import contestant, fused

from espalier.datasets.batch import batch_plan
from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.vocabulary import PAD
from espalier.training.config import TrainingConfig
from espalier.training.optimization import Optimizer, precision_of

BUDGET, BATCHES, STEPS = 4096, 12, 3

Loss = Callable[[nn.Module, VerseBatch], Tensor]


def tokens(batch: VerseBatch) -> Tensor:
    return batch.real.sum()


def our_loss(model: nn.Module, batch: VerseBatch) -> Tensor:
    found = model(batch)
    return found.total / found.targets


def peer_loss(model: nn.Module, batch: VerseBatch) -> Tensor:
    return model(**peer_inputs(batch)).loss


def plain_loss(model: nn.Module, batch: VerseBatch) -> Tensor:
    return model(batch.inputs, batch.target)


def logits_loss(model: nn.Module, batch: VerseBatch) -> Tensor:
    return F.cross_entropy(model(batch.inputs).flatten(0, 1), batch.target.flatten(), ignore_index=PAD)


def models(shape: Shape, dropout: float) -> dict[str, tuple[nn.Module, Loss]]:
    """Ours at first, and the others, all with equal weights."""
    ours, gpt2 = pair(shape, dropout)
    found = {
        "Espalier plain decoder": (ours, our_loss),
        "GPT2LMHeadModel": (gpt2, peer_loss),
        "Plain PyTorch": (plain_decoder(ours, shape, dropout), plain_loss),
    }
    if find_spec("x_transformers"):
        found["x-transformers"] = (x_transformer(ours, shape, dropout), logits_loss)
    return found


def race(shape: Shape, count: int, record: Record) -> None:
    data = corpus(shape, 2000)
    plan = batch_plan(data.lengths, budget=BUDGET, seed=1, epoch=0)[:BATCHES]
    batches = [collated(data, indices) for indices in plan]
    with torch.no_grad():
        losses = [float(loss(model.eval(), batches[0])) for model, loss in models(shape, dropout=0.0).values()]
    apart = max(losses) - min(losses)
    assert apart < 1e-4, f"the models are not the same: losses {losses}"
    config = TrainingConfig(steps=1, rate=1e-3, weight_decay=0.01)
    bf16 = precision_of(config, torch.device("cpu")) == "bf16"
    half = "bf16, fused" if bf16 else "fp32 (no bf16 here), fused"
    enter = partial(contestant, batches=batches, steps=STEPS, tokens=tokens)
    gpt2 = pair(shape, dropout=0.1)[1].train()
    plain = torch.optim.AdamW(gpt2.parameters(), lr=1e-3)
    runs = {"GPT2LMHeadModel, fp32, AdamW": enter(gpt2, plain, peer_loss, bf16=False)}
    for name, (model, loss) in models(shape, dropout=0.1).items():
        optimizer = Optimizer(model, config) if loss is our_loss else fused(model)
        runs[f"{name}, {half} AdamW"] = enter(model.train(), optimizer, loss, bf16=bf16)
    title = f"{shape}; losses of copied weights {apart:.1e} apart; {torch.get_num_threads()} threads"
    if can_compile():
        started = time.perf_counter()
        model = models(shape, dropout=0.1)["Plain PyTorch"][0].train()
        runs[f"Plain PyTorch, compiled, {half} AdamW"] = enter(
            torch.compile(model), fused(model), plain_loss, bf16=bf16
        )
        title += f"; compiled in {time.perf_counter() - started:.0f} s"
    ours = f"Espalier plain decoder, {half} AdamW"
    runs["Espalier, products alone"] = only(PRODUCTS, runs[ours])
    found = rounds({ours: runs.pop(ours), **runs}, count, warm_up=1)
    record.add(rate_table(title, found, ours))


def main() -> None:
    [count] = arguments(7)
    with Record(__file__) as record:
        for shape in (SMALL, NURSERY):
            race(shape, count, record)


if __name__ == "__main__":
    main()
