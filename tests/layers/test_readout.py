"""The readout's loss and its gradients against torch's own cross entropy."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from espalier.datasets.vocabulary import PAD
from espalier.layers.readout import readout_loss, target_scores

Parts = tuple[Tensor, Tensor, Tensor]


def parts(rows: int = 37, width: int = 8, vocabulary: int = 50) -> tuple[Parts, Parts, Tensor]:
    """Two equal sets of leaves, and targets."""
    torch.manual_seed(2)
    ours = (torch.randn(rows, width), torch.randn(vocabulary, width), torch.randn(vocabulary))
    theirs = tuple(part.clone().requires_grad_() for part in ours)
    return tuple(part.requires_grad_() for part in ours), theirs, torch.randint(0, vocabulary, (rows,))  # type: ignore[return-value]


def plain(x: Tensor, weight: Tensor, bias: Tensor, target: Tensor, smoothing: float) -> Tensor:
    return F.cross_entropy(F.linear(x, weight, bias).float(), target, reduction="sum", label_smoothing=smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [1, 16, 37])  # with one slice or several, the last one short
def test_loss_and_gradients_are_those_of_cross_entropy(smoothing: float, rows: int) -> None:
    ours, theirs, target = parts(rows)
    found, wanted = readout_loss(*ours, target, smoothing, rows=16), plain(*theirs, target, smoothing)
    assert torch.allclose(found, wanted, rtol=1e-5)
    (3 * found).backward()
    (3 * wanted).backward()
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.grad is not None and other.grad is not None
        assert torch.allclose(mine.grad, other.grad, atol=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_under_autocast_they_agree_as_far_as_bfloat16_goes(smoothing: float) -> None:
    ours, theirs, target = parts()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found, wanted = readout_loss(*ours, target, smoothing), plain(*theirs, target, smoothing)
    assert found.dtype == torch.float32
    assert torch.allclose(found, wanted, rtol=1e-3)
    found.backward()
    exact, _, _ = parts()
    plain(*exact, target, smoothing).backward()
    wanted.backward()
    for mine, other, true in zip(ours, theirs, exact, strict=True):
        assert mine.grad is not None and other.grad is not None and true.grad is not None
        assert mine.grad.dtype == torch.float32
        # No further from the 32-bit gradient than torch's own autocast is, give or take.
        own = (other.grad - true.grad).norm()
        assert (mine.grad - true.grad).norm() <= 1.5 * own + 1e-3 * true.grad.norm()


def divergence(x: Tensor, weight: Tensor, bias: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """The released loss as its code has it: a dense target, and torch's own divergence."""
    words = len(weight)
    wanted = torch.full((len(x), words), smoothing / (words - 2))
    wanted[:, PAD] = 0
    wanted[torch.arange(len(x)), target] = 1 - smoothing
    assert torch.allclose(wanted.sum(1), torch.ones(len(x)))
    return F.kl_div(F.linear(x, weight, bias).log_softmax(1), wanted, reduction="sum")


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("rows", [1, 16, 37])
def test_released_smoothing_is_the_divergence_from_a_dense_target(smoothing: float, rows: int) -> None:
    ours, theirs, target = parts(rows)
    target = target.clamp(min=PAD + 1)
    found = readout_loss(*ours, target, smoothing, form="released", rows=16)
    wanted = divergence(*theirs, target, smoothing)
    assert torch.allclose(found, wanted, rtol=1e-4)
    found.backward()
    wanted.backward()
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.grad is not None and other.grad is not None
        assert torch.allclose(mine.grad, other.grad, atol=1e-5)


def test_released_smoothing_is_0_for_the_smoothed_target_itself_and_uniform_smoothing_is_not() -> None:
    """Six words, 0.9 for the target and 0.025 for each of four others; padding as good as impossible."""
    bias = torch.tensor([-60.0, *(math.log(p) for p in (0.025, 0.9, 0.025, 0.025, 0.025))])
    ours = torch.zeros(3, 2), torch.zeros(6, 2), bias
    assert readout_loss(*ours, torch.full((3,), 2), 0.1, form="released").item() == pytest.approx(0, abs=1e-5)
    assert readout_loss(*ours, torch.full((3,), 2), 0.1).item() > 3


def test_no_rows_have_no_loss() -> None:
    ours, _, _ = parts()
    found = readout_loss(ours[0][:0], *ours[1:], torch.zeros(0, dtype=torch.long))
    found.backward()
    assert found.item() == 0 and ours[1].grad is not None and not ours[1].grad.any()


def test_without_gradients_nothing_is_kept() -> None:
    ours, theirs, target = parts()
    with torch.no_grad():
        found = readout_loss(*ours, target)
    assert not found.requires_grad
    assert torch.allclose(found, plain(*theirs, target, 0.0), rtol=1e-5)


def plain_scores(x: Tensor, weight: Tensor, bias: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    scores = F.linear(x, weight, bias).float().log_softmax(-1)
    return scores.gather(1, target[:, None])[:, 0], scores.mean(-1)


@pytest.mark.parametrize("rows", [1, 16, 37])
def test_target_scores_and_their_gradients_are_those_of_log_softmax(rows: int) -> None:
    ours, theirs, target = parts(rows)
    found, wanted = target_scores(*ours, target, rows=16), plain_scores(*theirs, target)
    slopes = torch.rand(2, rows)
    for mine, other, slope in zip(found, wanted, slopes, strict=True):
        assert torch.allclose(mine, other, atol=1e-5)
        (slope * mine).sum().backward(retain_graph=True)
        (slope * other).sum().backward(retain_graph=True)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.grad is not None and other.grad is not None
        assert torch.allclose(mine.grad, other.grad, atol=1e-5)


@pytest.mark.parametrize("within", [False, True])  # a training's backward pass may lie within autocast or outside
def test_target_scores_under_autocast_agree_as_far_as_bfloat16_goes(within: bool) -> None:
    ours, theirs, target = parts()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found, wanted = target_scores(*ours, target), plain_scores(*theirs, target)
        assert found.chosen.dtype == found.mean.dtype == torch.float32
        with torch.autocast("cpu", enabled=within):
            (found.chosen - 2 * found.mean).sum().backward()
    (wanted[0] - 2 * wanted[1]).sum().backward()
    exact, _, _ = parts()
    chosen, mean = plain_scores(*exact, target)
    (chosen - 2 * mean).sum().backward()
    # The products are those of bfloat16, neither better nor worse.
    for mine, other, true in zip(found, wanted, (chosen, mean), strict=True):
        assert torch.allclose(mine, other, atol=1e-5) and not torch.allclose(mine, true, atol=1e-3)
    for part, other_part, true_part in zip(ours, theirs, exact, strict=True):
        assert part.grad is not None and other_part.grad is not None and true_part.grad is not None
        own = (other_part.grad - true_part.grad).norm()
        assert (part.grad - true_part.grad).norm() <= 1.5 * own + 1e-3 * true_part.grad.norm()


def test_without_a_bias_both_are_those_of_a_bias_of_zeros() -> None:
    (x, weight, bias), _, target = parts()
    zeros = torch.zeros_like(bias)
    assert torch.equal(readout_loss(x, weight, None, target, 0.1), readout_loss(x, weight, zeros, target, 0.1))
    scores = [target_scores(x, weight, each, target) for each in (None, zeros)]
    for one, other in zip(*scores, strict=True):
        assert torch.equal(one, other)
    grads = [torch.autograd.grad(each.chosen.sum(), (x, weight)) for each in scores]
    for one, other in zip(*grads, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_no_rows_have_a_loss_of_zero_and_no_scores() -> None:
    (x, weight, bias), _, target = parts()
    assert readout_loss(x[:0], weight, bias, target[:0]).item() == 0
    scores = target_scores(x[:0], weight, bias, target[:0])
    assert scores.chosen.shape == scores.mean.shape == (0,)
    scores.chosen.sum().backward()
    assert weight.grad is not None and not weight.grad.any()
