"""Path attention, forward and backward: ours against one masked copy of the sequence for each path, as released.

python benchmarks/path_attention.py [rounds] [--record]
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from measuring import Record, arguments, rate_table, rounds, timed
from torch import Tensor

from espalier.layers.attention import Attention
from espalier.layers.path_attention import PathAttention
from espalier.layers.paths import paths_of

BATCH, NODES, WIDTH, HEAD_WIDTH, DEPTH = 64, 40, 256, 64, 8


def trees(count: int) -> Tensor:
    """(count, NODES) levels of made-up trees: like parses, a little over half of their nodes are leaves."""
    rng = np.random.default_rng(0)
    levels = np.ones((count, NODES), dtype=np.int64)
    for place in range(1, NODES):
        last = levels[:, place - 1]
        opened = (last < DEPTH) & (rng.random(count) < np.where(last <= 2, 0.9, 0.5))
        closed = np.maximum(last - rng.exponential(1.0, count).astype(int), 2)
        levels[:, place] = np.where(opened | (last == 1), last + 1, closed)
    return torch.from_numpy(levels)


def masks_of(levels: Tensor) -> Tensor:
    """(batch, paths, nodes) bool."""
    paths = paths_of(levels)
    on = torch.zeros(*paths.nodes.shape[:2], levels.shape[1])
    return on.scatter_add(2, paths.nodes, paths.on.float()).bool()


def copies(layer: PathAttention, x: Tensor, masks: Tensor) -> Tensor:
    """The same with the same weights as the released code computes it: n_p copies, all of them through the layer."""
    rows, paths, _ = masks.shape
    copied = (x[:, None] * masks[..., None]).flatten(0, 1)
    on = masks.flatten(0, 1)
    seen = on | ~on.any(1, keepdim=True)  # a path that does not exist sees all, and is taken away below
    projected = layer.project(copied).unflatten(-1, (3, layer.heads, HEAD_WIDTH)).permute(2, 0, 3, 1, 4)
    mixed = F.scaled_dot_product_attention(*projected.unbind(0), seen[:, None, None])
    terms = layer.out(mixed.transpose(1, 2).flatten(2)) * on[..., None]
    return terms.unflatten(0, (rows, paths)).sum(1) / masks.any(2).sum(1)[:, None, None]


def race(heads: int, count: int, bf16: bool, record: Record) -> None:
    torch.manual_seed(0)
    layer = PathAttention(WIDTH, heads, HEAD_WIDTH)
    levels = trees(BATCH)
    paths, masks = paths_of(levels), masks_of(levels)
    x, up = torch.randn(2, BATCH, NODES, WIDTH).unbind(0)

    def step(attend: Callable[[Tensor], Tensor]) -> list[Tensor]:
        layer.zero_grad()
        given = x.clone().requires_grad_()
        with torch.autocast("cpu", torch.bfloat16) if bf16 else nullcontext():
            made = attend(given)
        made.float().backward(up)
        return [made.detach(), given.grad]

    forms: dict[str, Callable[[Tensor], Tensor]] = {
        "Espalier": lambda given: layer(given, paths_of(levels)),
        "Masked copies": lambda given: copies(layer, given, masks),
        "Plain self-attention, for comparison": Attention(WIDTH, heads, head_width=HEAD_WIDTH),
    }
    apart = max(float((a - b).abs().max()) for a, b in zip(*map(step, list(forms.values())[:2]), strict=True))
    assert bf16 or apart < 1e-5, f"the two are not the same: {apart} apart"

    def run(attend: Callable[[Tensor], Tensor]) -> int:
        step(attend)
        return levels.numel()

    precision = "bf16 autocast" if bf16 else "fp32"
    title = (
        f"{heads} heads of {HEAD_WIDTH}, width {WIDTH}, {BATCH} trees of {NODES} nodes (the tokens below) with "
        f"{float(paths.count.float().mean()):.1f} paths, {DEPTH} levels; {precision}; {apart:.1e} apart; "
        f"{torch.get_num_threads()} threads"
    )
    runs = {name: timed(partial(run, attend)) for name, attend in forms.items()}
    record.add(rate_table(title, rounds(runs, count, warm_up=1), "Espalier"))


def main() -> None:
    [count] = arguments(5)
    with Record(__file__) as record:
        for heads in (4, 6):
            for bf16 in (False, True):
                race(heads, count, bf16, record)


if __name__ == "__main__":
    main()
