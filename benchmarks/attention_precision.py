"""Attention in bfloat16 on a CPU, forward and backward: through float32, and as PyTorch computes it.

python benchmarks/attention_precision.py [rounds] [--record]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from measuring import Record, arguments, rate_table, rounds, timed
from torch import Tensor

from espalier.layers.attention import dot_product_attention

#: Rows, heads, queries, keys, head width: of small's GuiG (its decoder, its encoders) and of its SongNet.
SHAPES = [(76, 4, 15, 55, 32), (76, 4, 55, 55, 32), (16, 4, 128, 128, 64)]


def race(rows: int, heads: int, queries: int, keys: int, width: int, count: int, record: Record) -> None:
    torch.manual_seed(0)
    query = torch.randn(rows, heads, queries, width).bfloat16().requires_grad_()
    key, value = (torch.randn(rows, heads, keys, width).bfloat16().requires_grad_() for _ in range(2))
    mask = torch.ones(rows, 1, 1, keys, dtype=torch.bool)

    def run(attend: Callable[..., Tensor]) -> int:
        attend(query, key, value, mask).sum().backward()
        return rows * queries

    with torch.no_grad():
        exact = F.scaled_dot_product_attention(query, key, value, mask)
        apart = float((dot_product_attention(query, key, value, mask) - exact).abs().max())
    title = (
        f"{rows} rows, {heads} heads of {width}, {queries} queries (the tokens below), {keys} keys; {apart:.1e} apart; "
        f"{torch.get_num_threads()} threads"
    )
    forms = {"Espalier, through float32": dot_product_attention, "PyTorch in bfloat16": F.scaled_dot_product_attention}
    runs = {name: timed(partial(run, attend)) for name, attend in forms.items()}
    record.add(rate_table(title, rounds(runs, count, warm_up=1), "Espalier, through float32"))


def main() -> None:
    [count] = arguments(5)
    with Record(__file__) as record:
        for shape in SHAPES:
            race(*shape, count, record)


if __name__ == "__main__":
    main()
