"""The output layer and its loss: cross entropy over a large vocabulary, computed in slices of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.vocabulary import PAD
from espalier.layers.device import on_host
from espalier.layers.linear import linear
from espalier.layers.options import Smoothing

#: The rows of a slice on a CPU, where its logits then stay in cache.
ROWS = 256
#: The logits of a slice on another device: 1 GiB in float32. Most batches are one slice.
LOGITS = 1 << 28


class Readout(nn.Linear):
    """A softmax over a vocabulary of words: (rows, width) features to (rows, words)."""

    def loss(self, x: Tensor, target: Tensor, smoothing: float = 0.0) -> Tensor:
        """Summed cross entropy against `target`, (rows,); see `readout_loss`."""
        return readout_loss(x, self.weight, self.bias, target, smoothing)

    def target_scores(self, x: Tensor, target: Tensor) -> TargetScores:
        """Log-probabilities of `target`, (rows,), as in the function `target_scores`."""
        return target_scores(x, self.weight, self.bias, target)

    def log_probabilities(self, x: Tensor) -> Tensor:
        """(rows, words) log-probabilities."""
        return F.log_softmax(linear(x, self.weight, self.bias), dim=-1)


def readout_loss(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    smoothing: float = 0.0,
    *,
    form: Smoothing = "uniform",
    rows: int | None = None,
) -> Tensor:
    """Summed cross entropy of softmax(x W^T + b) against `target`, with label smoothing.

    Equal to `F.cross_entropy(F.linear(x, weight, bias), target, reduction="sum", label_smoothing=smoothing)`, but the
    (rows, vocabulary) logits and their gradient exist for `rows` rows at a time: less memory, and about 1.7 times the
    speed on a CPU at 5,000 words. Under autocast the products are in its precision and the softmax in 32 bits.

    Args:
        x: (rows, width).
        weight: (vocabulary, width).
        bias: (vocabulary,), or none.
        target: (rows,) int64, without `PAD`.
        form: "uniform" spreads `smoothing` over all V words. "released" (SongNet's code) spreads it over the V - 2 that
            are neither the target nor `PAD`, and gives the Kullback-Leibler divergence: the cross entropy minus the
            entropy of the smoothed target, so that the best loss is 0.
        rows: the rows of a slice; None for those of `slice_rows`.

    Returns:
        A float32 scalar that can be differentiated once.
    """
    device, dtype = x.device.type, _precision(x)
    needed = torch.is_grad_enabled() and any(part is not None and part.requires_grad for part in (x, weight, bias))
    size = rows or slice_rows(x, len(weight))
    with torch.autocast(device, enabled=False):
        return _ReadoutLoss.apply(x, weight, bias, target, _smoothed(smoothing, len(weight), form), dtype, needed, size)


class TargetScores(NamedTuple):
    """(rows,) log-probabilities of the targets, and mean log-probabilities of all words at the targets' places.

    They are float64 if the features are, else float32.
    """

    chosen: Tensor
    mean: Tensor


def target_scores(
    x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, *, rows: int | None = None
) -> TargetScores:
    """The log-probability of each target under softmax(x W^T + b), for losses that mix it with other distributions.

    As in `readout_loss`, the logits exist for `rows` rows at a time. The backward pass computes them again.

    Args:
        x: (rows, width).
        weight: (vocabulary, width).
        bias: (vocabulary,), or none.
        target: (rows,) int64.
        rows: the rows of a slice; None for those of `slice_rows`.

    Returns:
        Scores that can be differentiated once. Label smoothing uses the mean.
    """
    dtype, size = _precision(x), rows or slice_rows(x, len(weight))
    with torch.autocast(x.device.type, enabled=False):
        return TargetScores(*_TargetScores.apply(x, weight, bias, target, dtype, size))


def slice_rows(x: Tensor, words: int) -> int:
    """The rows of a slice: on a CPU `ROWS`, elsewhere as many as have `LOGITS` logits, so that few kernels start."""
    if on_host(x):
        return ROWS
    rows, most = len(x), LOGITS // words
    return max(1, rows if rows < most else most)  # `min` of rows would be a part of each later shape of a graph


def _precision(x: Tensor) -> torch.dtype:
    """The type of the products: autocast's if it is enabled."""
    device = x.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.dtype


class _Smoothed(NamedTuple):
    """A smoothed target: `spread` on every word, `peak` added on the target, and 0 on `PAD` if `unpadded`."""

    peak: float
    spread: float
    unpadded: bool
    entropy: float


def _smoothed(smoothing: float, words: int, form: Smoothing) -> _Smoothed:
    if form == "uniform" or not smoothing:
        return _Smoothed(1 - smoothing, smoothing / words, False, 0.0)
    spread = smoothing / (words - 2)
    entropy = -(1 - smoothing) * math.log(1 - smoothing) - smoothing * math.log(spread)
    return _Smoothed(1 - smoothing - spread, spread, True, entropy)


class _Slices:
    """The rows of x in slices of `size`. The last slice is padded, so that kernels are compiled for one shape.

    All slices reuse the same memory, since most of the time for a fresh large tensor goes into mapping its pages.

    Attributes:
        rows: (rows + padding, width).
        short: number of padding rows.
    """

    def __init__(self, x: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype, size: int) -> None:
        self.size, self.short = size, -len(x) % size
        self.rows = F.pad(x.to(dtype), (0, 0, 0, self.short))
        self.matrix, self.offset = weight.to(dtype), None if bias is None else bias.to(dtype)
        self.products = self.rows.new_empty(size, len(weight))
        wide = torch.promote_types(dtype, torch.float32)
        self.values = self.products if dtype == wide else self.products.new_empty(self.products.shape, dtype=wide)

    def logits(self) -> Iterator[tuple[slice, Tensor]]:
        """Each slice of the rows, and its (size, words) logits in 32 bits or more, which may be changed in place."""
        for number in range(len(self.rows) // self.size):
            part = slice(number * self.size, (number + 1) * self.size)
            if self.offset is None:
                torch.mm(self.rows[part], self.matrix.t(), out=self.products)
            else:
                torch.addmm(self.offset, self.rows[part], self.matrix.t(), out=self.products)
            yield part, self.values.copy_(self.products)


class _Gradients:
    """The gradients of x (with its padding), the weight and the bias, summed over slices."""

    def __init__(self, slices: _Slices, weight: Tensor, bias: Tensor | None) -> None:
        self.slices, matrix = slices, slices.matrix
        self.x, self.weight = torch.empty_like(slices.rows), torch.zeros_like(weight)
        self.bias = None if bias is None else torch.zeros_like(bias)
        # The product of one slice, and the same in the weight's precision.
        self.product = torch.empty_like(matrix)
        self.addend = self.product if matrix.dtype == weight.dtype else torch.empty_like(weight)

    def add(self, part: slice, d_logits: Tensor) -> None:
        """Add the gradients of the slice `part`, given the gradients `d_logits`, (size, words), of its logits."""
        slices = self.slices
        if self.bias is not None:
            self.bias += d_logits.sum(0)
        d_products = slices.products.copy_(d_logits)
        torch.mm(d_products, slices.matrix, out=self.x[part])
        self.weight += self.addend.copy_(torch.mm(d_products.t(), slices.rows[part], out=self.product))


class _Context(Protocol):
    """What a forward pass saves for the backward pass, as torch gives it."""

    saved_tensors: tuple[Any, ...]
    dtype: torch.dtype
    size: int

    def save_for_backward(self, *tensors: Tensor | None) -> None: ...


class _ReadoutLoss(torch.autograd.Function):
    """Computes the gradient in the forward pass, from each slice's probabilities."""

    @staticmethod
    def forward(
        ctx: _Context,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        smoothed: _Smoothed,
        dtype: torch.dtype,
        needed: bool,
        size: int,
    ) -> Tensor:
        count, slices = len(x), _Slices(x, weight, bias, dtype, size)
        gradients = _Gradients(slices, weight, bias) if needed else None
        targets = F.pad(target, (0, slices.short))[:, None]
        real = torch.arange(len(targets), device=x.device)[:, None] < count
        peak, spread, unpadded, entropy = smoothed
        total = torch.full((), -entropy * count, device=x.device)
        for part, values in slices.logits():
            classes, counts = targets[part], real[part]
            total -= peak * (counts * values.gather(1, classes)).sum()
            if spread:
                total -= spread * (counts * values.sum(-1, keepdim=True)).sum()
            if unpadded:
                total += spread * (counts[:, 0] * values[:, PAD]).sum()
            largest = values.amax(-1, keepdim=True)
            mass = values.sub_(largest).exp_().sum(-1, keepdim=True)
            total += (counts * (largest + mass.log())).sum()
            if gradients is not None:
                # The gradient of the logits: softmax, then minus the target; 0 in the rows of padding.
                values.mul_(counts / mass)
                if spread:
                    values.sub_(spread * counts)
                if unpadded:
                    values[:, PAD] += spread * counts[:, 0]
                gradients.add(part, values.scatter_add_(1, classes, -peak * counts.to(values.dtype)))
        if gradients is not None:
            ctx.save_for_backward(gradients.x[:count].to(x.dtype), gradients.weight, gradients.bias)
        return total

    @staticmethod
    def backward(ctx: _Context, slope: Tensor) -> tuple[Tensor | None, ...]:
        # In place, since there is only one backward pass.
        parts = (None if part is None else part.mul_(slope) for part in ctx.saved_tensors)
        return *parts, None, None, None, None, None


class _TargetScores(torch.autograd.Function):
    """Recomputes the logits of each slice in the backward pass, when the gradient of each row is known."""

    @staticmethod
    def forward(
        ctx: _Context, x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, dtype: torch.dtype, size: int
    ) -> tuple[Tensor, Tensor]:
        count, slices = len(x), _Slices(x, weight, bias, dtype, size)
        targets = F.pad(target, (0, slices.short))[:, None]
        chosen, mean, norms = slices.values.new_empty((3, len(targets), 1))
        for part, values in slices.logits():
            chosen[part], mean[part] = values.gather(1, targets[part]), values.mean(-1, keepdim=True)
            largest = values.amax(-1, keepdim=True)
            norms[part] = largest + values.sub_(largest).exp_().sum(-1, keepdim=True).log()
        ctx.save_for_backward(x, weight, bias, targets, norms)
        ctx.dtype, ctx.size = dtype, size
        return (chosen - norms)[:count, 0], (mean - norms)[:count, 0]

    @staticmethod
    def backward(ctx: _Context, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, bias, targets, norms = ctx.saved_tensors
        slices = _Slices(x, weight, bias, ctx.dtype, ctx.size)
        gradients = _Gradients(slices, weight, bias)
        chosen, mean = (F.pad(slope, (0, slices.short))[:, None] for slope in slopes)
        for part, values in slices.logits():
            # The gradient of the logits: of both scores' norm, of the mean, and of the target's own logit.
            values.sub_(norms[part]).exp_().mul_(-(chosen[part] + mean[part])).add_(mean[part] / len(weight))
            gradients.add(part, values.scatter_add_(1, targets[part], chosen[part]))
        return gradients.x[: len(x)].to(x.dtype), gradients.weight, gradients.bias, None, None, None
