"""Training tokens a second: our Transformer against Hugging Face's Marian and PyTorch's layers of the same shape.

    python benchmarks/train_transformer.py [rounds] [--record]

Marian runs twice: as it is mostly run (32 bits, AdamW as it comes, batches drawn at random and padded to the longest),
and on our batches with our precision and optimizer. So do the layers of `torch.nn.Transformer`, as they come and
compiled by `torch.compile` where there is a C++ compiler. All batches are met before steps are timed, so compiling is
not counted; the title says how long it takes, with the first steps. All weights are equal at first. Tokens are those of
sources and of targets, end marks counted, padding not.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import torch
from marian import PAPER, SMALL, VIEW, Shape, corpus, our_loss, pair, peer_loss
from measuring import Record, arguments, can_compile, rate_table, rounds
from torch import Tensor, nn
from torch_transformer import torch_transformer
from training_steps import contestant, fused

from espalier.datasets.batch import batch_plan
from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.vocabulary import PAD
from espalier.training.config import TrainingConfig
from espalier.training.optimization import Optimizer, precision_of

BUDGET, BATCHES, STEPS = 4096, 8, 4


def tokens(batch: PairBatch) -> Tensor:
    return batch.real.sum() + (batch.source != PAD).sum()


def our_batches(data: PairData) -> list[PairBatch]:
    """Of like length, as the training loop plans and collates them."""
    sizes = data.sizes(VIEW)
    plan = batch_plan(sizes, budget=BUDGET, seed=1, epoch=0)[:BATCHES]
    return [data.batch(indices, VIEW, grain=data.GRAIN) for indices in plan]


def their_batches(data: PairData, size: int) -> list[PairBatch]:
    """As many examples, drawn at random."""
    order = np.random.default_rng(2).permutation(len(data))
    return [data.batch(order[n * size : (n + 1) * size], VIEW) for n in range(BATCHES)]


def torch_loss(model: nn.Module, batch: PairBatch) -> Tensor:
    return model(batch.source, batch.inputs, batch.target)


def race(shape: Shape, count: int, record: Record) -> None:
    data = corpus(shape, 20_000)
    batches = our_batches(data)
    drawn = their_batches(data, round(sum(map(len, batches)) / BATCHES))
    ours, peer = (model.eval() for model in pair(shape, dropout=0.0))
    layers = torch_transformer(ours, shape, dropout=0.0).eval()
    equal = ((ours, our_loss), (peer, peer_loss), (layers, torch_loss))
    with torch.no_grad():
        losses = [[float(loss(model, batch)) for model, loss in equal] for batch in batches]
    apart = max(max(each) - min(each) for each in losses)
    assert apart < 1e-4, f"the models are not the same: losses {apart} apart"
    config = TrainingConfig(steps=1, rate=1e-3, weight_decay=0.01)
    bf16 = precision_of(config, torch.device("cpu")) == "bf16"
    half = "bf16, fused" if bf16 else "fp32 (no bf16 here), fused"
    ours, peer = (model.train() for model in pair(shape, dropout=0.1))
    tuned = pair(shape, dropout=0.1)[1].train()
    layers, compiled = (torch_transformer(ours, shape, dropout=0.1).train() for _ in range(2))
    name = f"Espalier Transformer, {half} AdamW"
    plain = torch.optim.AdamW(peer.parameters(), lr=1e-3)
    enter = partial(contestant, steps=STEPS, tokens=tokens)
    runs = {
        name: enter(ours, Optimizer(ours, config), our_loss, batches, bf16),
        "MarianMTModel, fp32, AdamW, random batches": enter(peer, plain, peer_loss, drawn, False),
        f"MarianMTModel, {half} AdamW, our batches": enter(tuned, fused(tuned), peer_loss, batches, bf16),
        f"nn.Transformer, {half} AdamW, our batches": enter(layers, fused(layers), torch_loss, batches, bf16),
    }
    title = f"{shape}; losses of copied weights {apart:.1e} apart; {torch.get_num_threads()} threads"
    if can_compile():
        started = time.perf_counter()
        runs[f"nn.Transformer, compiled, {half} AdamW, our batches"] = enter(
            torch.compile(compiled), fused(compiled), torch_loss, batches, bf16
        )
        title += f"; compiled in {time.perf_counter() - started:.0f} s"
    found = rounds(runs, count, warm_up=1)
    record.add(rate_table(title, found, name))


def main() -> None:
    [count] = arguments(7)
    with Record(__file__) as record:
        for shape in (SMALL, PAPER):
            race(shape, count, record)


if __name__ == "__main__":
    main()
