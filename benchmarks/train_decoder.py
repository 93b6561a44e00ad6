"""Training tokens a second: our plain decoder against Hugging Face's GPT-2 of the same shape, on the same batches.

python benchmarks/train_decoder.py [rounds] [--record]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import cycle

import torch
from measuring import Record, arguments, rate_table, rounds, timed
from peers import NURSERY, SMALL, Shape, collated, corpus, pair, peer_inputs
from torch import nn

from espalier.datasets.batch import batch_plan
from espalier.training.config import TrainingConfig
from espalier.training.optimization import Optimizer, precision_of

BUDGET = 4096


def contestant(
    model: nn.Module, optimizer: torch.optim.Optimizer | Optimizer, loss: Callable, batches: Iterator, bf16: bool
) -> Callable[[], float]:
    """One round: three steps."""

    def run() -> int:
        tokens = 0
        for _ in range(3):
            batch = next(batches)
            with torch.autocast("cpu", torch.bfloat16) if bf16 else nullcontext():
                value = loss(model, batch)
            value.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            tokens += int(batch.real.sum())
        return tokens

    return timed(run)


def our_loss(model, batch):
    found = model(batch)
    return found.total / found.targets


def peer_loss(model, batch):
    return model(**peer_inputs(batch)).loss


def race(shape: Shape, count: int, record: Record) -> None:
    data = corpus(shape, 2000)
    batches = [collated(data, indices) for indices in batch_plan(data.lengths, budget=BUDGET, seed=1, epoch=0)]
    ours, peer = (model.eval() for model in pair(shape, dropout=0.0))
    with torch.no_grad():
        apart = abs(float(our_loss(ours, batches[0])) - float(peer_loss(peer, batches[0])))
    assert apart < 1e-4, f"the two models are not the same: losses {apart} apart"
    config = TrainingConfig(steps=1, rate=1e-3, weight_decay=0.01)
    bf16 = precision_of(config, torch.device("cpu")) == "bf16"
    ours, peer = (model.train() for model in pair(shape, dropout=0.1))
    tuned = pair(shape, dropout=0.1)[1].train()
    half = "bf16, fused" if bf16 else "fp32 (no bf16 here), fused"
    name = f"Espalier plain decoder, {half} AdamW"
    plain = torch.optim.AdamW(peer.parameters(), lr=1e-3)
    fused = torch.optim.AdamW(tuned.parameters(), lr=1e-3, fused=True)
    runs = {
        name: contestant(ours, Optimizer(ours, config), our_loss, cycle(batches), bf16),
        "GPT2LMHeadModel, fp32, AdamW": contestant(peer, plain, peer_loss, cycle(batches), False),
        f"GPT2LMHeadModel, {half} AdamW": contestant(tuned, fused, peer_loss, cycle(batches), bf16),
    }
    found = rounds(runs, count)
    title = f"{shape}; losses of copied weights {apart:.1e} apart; {torch.get_num_threads()} threads"
    record.add(rate_table(title, found, name))


def main() -> None:
    [count] = arguments(7)
    with Record(__file__) as record:
        for shape in (SMALL, NURSERY):
            race(shape, count, record)


if __name__ == "__main__":
    main()
