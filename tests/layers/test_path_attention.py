"""Path attention against copies of the sequence, masked for one path after the other, as the paper describes it."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from espalier.layers.path_attention import PathAttention
from espalier.layers.paths import paths_of
from espalier.syntax.levels import path_mask

WIDTH, HEADS, HEAD_WIDTH = 12, 3, 5
EXAMPLE = [1, 2, 3, 2, 3, 3, 4, 4]
DEEP = [1, 2, 3, 4, 5, 6, 7, 8, 8, 5, 3, 2, 2, 3]
ROWS = [EXAMPLE, DEEP, [1], [1, 2], [1, 2, 2], []]
PROTOCOLS = [(residual, divide) for residual in ("outside", "inside") for divide in ("paths", "coverage")]


def layer(residual: Any = "outside", divide: Any = "paths", dropout: float = 0.0) -> PathAttention:
    torch.manual_seed(1)
    return PathAttention(WIDTH, HEADS, HEAD_WIDTH, dropout, residual=residual, divide=divide)


def levels_of(rows: list[list[int]], before: int = 0, after: int = 0) -> Tensor:
    time = before + max(map(len, rows)) + after
    return torch.tensor([[0] * before + row + [0] * (time - before - len(row)) for row in rows])


def naive(attention: PathAttention, x: Tensor, memory: Tensor, levels: Tensor) -> Tensor:
    """One copy of the sequence for each path; what is not on the path is -inf as a key, and nothing as a query."""
    (wq, wk, wv), (bq, bk, bv) = attention.project.weight.chunk(3), attention.project.bias.chunk(3)
    made = []
    for states, seen, row in zip(x, memory, levels, strict=True):
        total = torch.zeros_like(states)
        real = row.nonzero()[:, 0]
        masks = torch.zeros(0, len(row), dtype=torch.bool)
        if len(real):
            masks = torch.zeros(len(path_mask(row[real].tolist())), len(row), dtype=torch.bool)
            masks[:, real] = torch.from_numpy(path_mask(row[real].tolist()))
        for mask in masks:
            q, k, v = (F.linear(*parts) for parts in ((states, wq, bq), (seen, wk, bk), (seen, wv, bv)))
            heads = []
            for head in range(HEADS):
                part = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)
                scores = q[:, part] @ k[:, part].T / math.sqrt(HEAD_WIDTH)
                heads.append(scores.masked_fill(~mask, -torch.inf).softmax(-1) @ v[:, part])
            term = F.linear(torch.cat(heads, dim=-1), attention.out.weight, attention.out.bias)
            total = total + mask[:, None] * (term + seen if attention.inside else term)
        parts = len(masks) if attention.by_paths else masks.sum(0)[:, None].clamp(min=1)
        made.append(total / max(parts, 1) if isinstance(parts, int) else total / parts)
    return torch.stack(made)


@pytest.mark.parametrize(("residual", "divide"), PROTOCOLS)
@pytest.mark.parametrize("apart", [False, True])
def test_values_and_gradients_are_those_of_masked_copies(residual: str, divide: str, apart: bool) -> None:
    attention = layer(residual, divide)
    levels = levels_of(ROWS, before=1, after=2)
    x, memory, up = (torch.randn(*levels.shape, WIDTH) for _ in range(3))
    found = []
    for slow in (False, True):
        attention.zero_grad()
        a, b = x.clone().requires_grad_(), memory.clone().requires_grad_()
        seen = b if apart else a
        made = naive(attention, a, seen, levels) if slow else attention(a, paths_of(levels), seen if apart else None)
        (made * up).sum().backward()
        gradients = [parameter.grad.clone() for parameter in attention.parameters() if parameter.grad is not None]
        found.append([made.detach(), a.grad, *([b.grad] if apart else []), *gradients])
    assert len(found[0]) == (7 if apart else 6)
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def test_two_passes_are_those_of_masked_copies() -> None:
    attention = layer()
    levels = levels_of([EXAMPLE, DEEP])
    paths = paths_of(levels)
    fast = slow = torch.randn(*levels.shape, WIDTH)
    for _ in range(2):
        fast, slow = fast + attention(fast, paths), slow + naive(attention, slow, slow, levels)
    torch.testing.assert_close(fast, slow, rtol=1e-5, atol=1e-5)


def test_scores_hundreds_apart_neither_overflow_nor_vanish() -> None:
    attention = layer()
    levels = levels_of(ROWS)
    x = (200 * torch.randn(*levels.shape, WIDTH)).requires_grad_()
    made = attention(x, paths_of(levels))
    torch.testing.assert_close(made, naive(attention, x, x, levels), rtol=1e-4, atol=1e-4)
    made.sum().backward()
    assert x.grad is not None and bool(x.grad.isfinite().all())


def test_the_worked_example_is_shared_out_by_hand() -> None:
    attention = layer()
    with torch.no_grad():
        attention.project.weight.zero_()  # every weight within a path is alike, every value 0 but for the bias
        attention.project.bias.zero_()
        attention.out.bias.fill_(1.0)
    made = attention(torch.randn(1, 8, WIDTH), paths_of(levels_of([EXAMPLE])))
    expected = torch.tensor([4, 1, 1, 3, 1, 2, 1, 1]) / 4  # cover / n_p of what each path says: the bias
    torch.testing.assert_close(made[0], expected[:, None].expand(8, WIDTH))


def test_weights_of_equal_scores_are_those_of_the_example() -> None:
    attention = layer()
    weights = attention._weights(torch.zeros(1, HEADS, 8, 8), paths_of(levels_of([EXAMPLE])))[0, 0]
    third, quarter = 1 / 3, 1 / 4
    # NP, node 5, is on the two paths of four nodes, 0-3-5-6 and 0-3-5-7; VP, node 3, on these and on 0-3-4.
    torch.testing.assert_close(weights[5], torch.tensor([quarter, 0, 0, quarter, 0, quarter, 1 / 8, 1 / 8]))
    above = (third + 2 * quarter) / 3
    torch.testing.assert_close(weights[3], torch.tensor([above, 0, 0, above, third / 3, 1 / 6, 1 / 12, 1 / 12]))


@pytest.mark.parametrize(("residual", "divide"), PROTOCOLS)
def test_a_chain_is_ordinary_self_attention(residual: str, divide: str) -> None:
    attention = layer(residual, divide)
    x = torch.randn(2, 6, WIDTH)
    made = attention(x, paths_of(levels_of([[1, 2, 3, 4, 5, 6]] * 2)))
    q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in attention.project(x).chunk(3, -1))
    expected = attention.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
    torch.testing.assert_close(made, expected + x if residual == "inside" else expected)


def test_a_node_off_the_paths_is_heard_of_in_the_second_pass_only() -> None:
    attention, paths = layer(), paths_of(levels_of([EXAMPLE]))
    x = torch.randn(1, 8, WIDTH)
    for node in range(8):
        mask = torch.from_numpy(path_mask(EXAMPLE))
        related = mask[mask[:, node]].any(0)
        changed = torch.where(related[:, None], x, torch.randn(1, 8, WIDTH))
        once, once_changed = attention(x, paths), attention(changed, paths)
        assert torch.equal(once[0, node], once_changed[0, node])
        if not bool(related.all()):
            twice, twice_changed = (attention(h + first, paths) for h, first in ((x, once), (changed, once_changed)))
            assert not torch.allclose(twice[0, node], twice_changed[0, node])


@pytest.mark.parametrize(("residual", "divide"), PROTOCOLS)
def test_padding_changes_nothing_and_stays_nothing(residual: str, divide: str) -> None:
    attention = layer(residual, divide)
    x = torch.randn(1, 8, WIDTH)
    alone = attention(x, paths_of(levels_of([EXAMPLE])))
    levels = levels_of([EXAMPLE, DEEP], before=1, after=3)
    wide = torch.randn(*levels.shape, WIDTH)
    wide[0, 1:9] = x[0]
    made = attention(wide, paths_of(levels))
    torch.testing.assert_close(made[0, 1:9], alone[0], rtol=1e-6, atol=1e-6)
    assert not bool(made[levels == 0].any())


def test_a_batch_without_nodes_is_all_zero() -> None:
    x = torch.randn(2, 3, WIDTH, requires_grad=True)
    made = layer("inside")(x, paths_of(torch.zeros(2, 3, dtype=torch.long)))
    made.sum().backward()
    assert not bool(made.any()) and x.grad is not None and not bool(x.grad.any())


def test_levels_of_no_tree_give_finite_results() -> None:
    levels = torch.tensor([[1, 2, 4, 3], [3, 1, 0, 1], [1, 1, 9, 2]])
    assert bool(layer()(torch.randn(3, 4, WIDTH), paths_of(levels)).isfinite().all())


def test_half_precision_softmaxes_in_single() -> None:
    attention, levels = layer(), levels_of(ROWS)
    x, paths = torch.randn(*levels.shape, WIDTH), paths_of(levels)
    with torch.autocast("cpu", torch.bfloat16):
        made = attention(x, paths)
    assert made.dtype == torch.bfloat16
    torch.testing.assert_close(made.float(), attention(x, paths), rtol=0.05, atol=0.02)


def test_dropout_keeps_the_mean_and_is_drawn_for_each_path() -> None:
    attention, paths = layer(dropout=0.4).train(), paths_of(levels_of([[1, 2, 2]]))
    scores = torch.zeros(1, HEADS, 3, 3)
    torch.manual_seed(0)
    drawn = torch.stack([attention._weights(scores, paths) for _ in range(400)])
    kept = attention.eval()._weights(scores, paths)
    torch.testing.assert_close(drawn.mean((0, 1, 2)), kept[0, 0], rtol=0.1, atol=0.02)
    # The root is on both paths: its weight of itself is a mean of two draws, so half of it may be dropped.
    assert len(drawn[..., 0, 0].unique()) == 3


def test_dropout_of_the_term_leaves_the_inner_residual_alone() -> None:
    attention = PathAttention(WIDTH, HEADS, HEAD_WIDTH, residual="inside", residual_dropout=0.5)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.zero_()
    x = torch.randn(1, 3, WIDTH)
    torch.testing.assert_close(attention(x, paths_of(levels_of([[1, 2, 3]]))), x)


class Largest(TorchDispatchMode):
    """Notes the size of the largest tensor that any operation makes."""

    numel = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        sizes = [t.untyped_storage().nbytes() // t.element_size() for t in tree_leaves(made) if isinstance(t, Tensor)]
        self.numel = max(self.numel, *sizes, 0)
        return made


@pytest.mark.parametrize("siblings", [0, 12, 32])
def test_nothing_grows_with_copies_of_the_sequence(siblings: int) -> None:
    batch, nodes, width, heads, head_width = 3, 40, 64, 2, 32
    # The more leaves right under the root, the more paths; the nodes stay as many.
    levels = torch.tensor([[1, *(2 + i % 7 for i in range(nodes - 1 - siblings)), *[2] * siblings]] * batch)
    attention = PathAttention(width, heads, head_width)
    x = torch.randn(batch, nodes, width, requires_grad=True)
    with Largest() as largest:
        paths = paths_of(levels)
        attention(x, paths).sum().backward()
    depth, most = int(levels.max()), int(paths.count.max())
    projected = nodes * 3 * heads * head_width
    tables, scores = heads * most * depth**2, heads * nodes**2
    assert tables <= heads * depth * (nodes * depth)
    assert largest.numel <= batch * max(projected, tables, scores)
    assert most < 8 or largest.numel < batch * most * nodes * width / 2, "half of what one copy for each path takes"
