"""What every chain model must satisfy, whatever its architecture; each model's tests call these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.vocabulary import BOS, UNK
from espalier.layers.shared_memory import shared_pasts
from espalier.training.optimization import computes_bfloat16


def batch_of(data: PairData, model: Any, rows: list[int] | None = None, grain: int = 1) -> PairBatch:
    """Four pairs, or the rows named, as the model reads them."""
    return data.batch(np.array([0, 1, 2, 3] if rows is None else rows), model.config.view, grain=grain)


def check_autocast(model: Any, batch: PairBatch) -> None:
    """Under autocast the loss is that of 32 bits as far as bfloat16 goes, and can be differentiated."""
    if not computes_bfloat16(torch.device("cpu")):
        pytest.skip("bfloat16 needs AVX512")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = model(batch, 0.1)
    found.total.backward()
    assert found.total.dtype == torch.float32
    assert torch.allclose(found.total, model(batch, 0.1).total, rtol=0.03)


@torch.no_grad()
def check_later_tokens(model: Any, data: PairData) -> None:
    """Later tokens change nothing before them."""
    batch = batch_of(data, model)
    before, inputs = model.token_losses(batch), batch.inputs.clone()
    inputs[:, 2:] = UNK
    after = model.token_losses(replace(batch, inputs=inputs))
    assert torch.equal(before[:, :2], after[:, :2]) and not torch.equal(before[:, 2:], after[:, 2:])


@torch.no_grad()
def check_padding(model: Any, data: PairData) -> None:
    """Neither padding nor the other rows of a batch change a row, and padding costs nothing."""
    whole = model.token_losses(batch_of(data, model, grain=32))
    for row in range(4):
        alone = model.token_losses(batch_of(data, model, [row]))[0]
        assert torch.allclose(whole[row, : len(alone)], alone, atol=1e-5)
        assert not whole[row, len(alone) :].any()


@torch.no_grad()
def check_selection(model: Any, data: PairData, *, sums_to_one: bool = False) -> None:
    """Selected rows go on as if each had been alone.

    Args:
        sums_to_one: whether each step's probabilities sum to 1, which those of "released" mixtures do not.
    """
    batch = batch_of(data, model)
    wanted, state = model.token_losses(batch), model.start(batch)
    order = torch.arange(4)
    # As many prefixes for each source, some sources gone, uneven, one alone, and mixed up.
    for t, index in enumerate([[0, 1, 2, 3], [0, 0, 1, 1, 3, 3], [1, 0, 5, 4], [3, 0, 2, 2, 1], [4, 4], [1, 0, 1]]):
        chosen = torch.tensor(index)
        order, state = order[chosen], state.select(chosen)
        if t >= batch.target.shape[1]:
            break
        scores, state = model.step(batch.inputs[order, t], state)
        real = batch.real[order, t]
        found = -scores.gather(1, batch.target[order, t][:, None])[:, 0]
        assert torch.allclose(found[real], wanted[order, t][real], atol=1e-5)
        if sums_to_one:
            assert torch.allclose(scores.exp().sum(1), torch.ones(len(order)), atol=1e-5)


@torch.inference_mode()
def check_shared_pasts(model: Any, batch: Any, *, beam: int = 5, steps: int = 10) -> None:
    """In a search, whose sources end one after another, prefixes score what they score with pasts of their own.

    The default has more than 32 slots of a source, so some are given up.
    """
    draw, start = torch.Generator().manual_seed(1), model.start(batch)
    rows = torch.arange(len(batch)).repeat_interleave(beam)
    own = start.select(rows)
    with shared_pasts():
        shared = start.select(rows)
    tokens = torch.full_like(rows, BOS)
    for step in range(steps):
        (wanted, own), (found, shared) = model.step(tokens, own), model.step(tokens, shared)
        assert torch.allclose(found, wanted, atol=1e-4), step
        sources = torch.randperm(len(tokens) // beam, generator=draw)
        sources = sources[: -1 if step % 3 == 1 and len(sources) > 1 else None, None]
        index = (sources * beam + torch.randint(beam, (len(sources), beam), generator=draw)).flatten()
        own, shared = own.select(index), shared.select(index)
        tokens = torch.randint(UNK, wanted.shape[1], (len(index),), generator=draw)
