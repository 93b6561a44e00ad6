"""Writing step by step with caches: the same numbers as the whole forward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch, VerseData
from espalier.datasets.vocabulary import BOS
from espalier.models.songnet import SongNet
from tests.models.chain_checks import check_shared_pasts

Build = Callable[..., SongNet]
VARIANTS: list[dict[str, Any]] = [
    {},
    {"title": True, "block": "released", "embedding_norm": True, "head": "released", "marks": "one"},
    {"norm": "pre", "head": "linear", "order": "ascending"},
    {"core": "gru", "block": "released", "embedding_norm": True},
    {"symbols": (), "global_attention": False},
    {"symbols": ("p",)},
]


def whole(model: SongNet, batch: VerseBatch) -> Tensor:
    """(batch, time, text size) log-probabilities of the full forward pass."""
    return model._logits(model._hidden(batch)).log_softmax(-1)


@pytest.mark.parametrize("changes", VARIANTS)
@torch.no_grad()
def test_steps_equal_the_whole_at_every_place(build: Build, data: VerseData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = data.batch(np.arange(4), model.config.view)
    wanted, state = whole(model, batch), model.start(batch)
    for t in range(batch.c.shape[1]):
        found, state = model.step(batch.inputs[:, t], state)
        assert found.shape == (4, model.vocabulary.text_size)
        real = batch.real[:, t]
        assert torch.allclose(found[real], wanted[real, t], atol=2e-5)


@pytest.mark.parametrize("changes", VARIANTS[:4])
@torch.no_grad()
def test_selected_rows_go_on_as_if_alone(build: Build, data: VerseData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = data.batch(np.arange(4), model.config.view)
    state, order = model.start(batch), torch.arange(4)
    wanted = whole(model, batch)
    for t, index in enumerate([[0, 1, 2, 3], [2, 0, 2, 3], [0, 0, 3, 1, 2], [4], [0, 0, 0]]):
        chosen = torch.tensor(index)
        order, state = order[chosen], state.select(chosen)
        found, state = model.step(batch.inputs[order, t], state)
        real = batch.real[order, t]
        assert torch.allclose(found[real], wanted[order, t][real], atol=2e-5)


@pytest.mark.parametrize("changes", VARIANTS)
def test_prefixes_that_share_slots_score_as_if_they_did_not(
    build: Build, data: VerseData, changes: dict[str, Any]
) -> None:
    model = build(**changes)
    check_shared_pasts(model, data.batch(np.arange(4), model.config.view))


@torch.no_grad()
def test_a_selected_state_is_a_branch_of_its_own(build: Build, data: VerseData) -> None:
    model = build()
    batch = data.batch(np.array([0]), model.config.view)
    begin = torch.tensor([BOS])
    _, state = model.step(begin, model.start(batch))
    branch = state.select(torch.tensor([0]))
    one, two = torch.tensor([7]), torch.tensor([9])
    _, state = model.step(one, state)
    _, branch = model.step(two, branch)
    first, _ = model.step(one, state)
    second, _ = model.step(one, branch)
    assert not torch.allclose(first, second, atol=1e-4)

    def afresh(tokens: list[Tensor]) -> Tensor:
        state = model.start(batch)
        for token in tokens:
            found, state = model.step(token, state)
        return found

    assert torch.allclose(first, afresh([begin, one, one]), atol=2e-5)
    assert torch.allclose(second, afresh([begin, two, one]), atol=2e-5)


@torch.no_grad()
def test_a_text_that_outgrows_its_frame_goes_on_until_the_positions_end(build: Build, data: VerseData) -> None:
    model = build(positions=20)
    batch = data.batch(np.arange(4), model.config.view)
    state, tokens = model.start(batch), torch.full((4,), 7)
    for _ in range(20):
        found, state = model.step(tokens, state)
        assert found.exp().sum(1).tolist() == pytest.approx([1.0] * 4, abs=1e-4)
    with pytest.raises(ValueError, match="longer than the 20 positions"):
        model.step(tokens, state)
