"""Trees as chains: the constraint allows every tree of the sizes, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from espalier.decoding.constraints.preorder import Preorder
from espalier.syntax.ternary import flatten, read_preorder

MISSING, END, WORD = 0, 1, 3


@dataclass
class Batch:
    rows: int
    device: str = "cpu"

    def __len__(self) -> int:
        return self.rows


@pytest.mark.parametrize(("bounds", "trees"), [((1, 3), 1 + 3 + 12), ((2, 3), 3 + 12), ((3, 3), 12), ((1, 1), 1)])
def test_it_allows_all_ternary_trees_of_the_sizes_and_no_others(bounds: tuple[int, int], trees: int) -> None:
    rule = Preorder(4, 3, MISSING, END, (2,), *bounds)  # the third token is never written: one word is left
    state, prefixes, found = rule.start(Batch(1)), [()], set[tuple[int, ...]]()
    while prefixes:
        mask = rule.mask(state)
        assert mask.any(1).all() and not mask[:, 2].any()
        rows, tokens = mask.nonzero(as_tuple=True)
        found |= {prefixes[row] for row in rows[tokens == END].tolist()}
        rows, tokens = rows[tokens != END], tokens[tokens != END]
        prefixes = [(*prefixes[row], token) for row, token in zip(rows.tolist(), tokens.tolist(), strict=True)]
        state = rule.advance(tokens, state.select(rows))
    assert len(found) == trees  # ternary trees of 1, 2, 3 nodes: 1, 3, 12
    for tokens_ in found:
        nodes = read_preorder([token == WORD for token in tokens_])
        assert bounds[0] <= len(nodes) <= bounds[1] and len(tokens_) == 3 * len(nodes) + 1
        assert sorted(flatten(nodes).tolist()) == list(range(len(nodes)))
