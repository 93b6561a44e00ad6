"""What the tests of bracketed trees and of trees by level share: random trees, and all that a constraint allows."""

from __future__ import annotations

import random
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from espalier.datasets.pairs.data import PairBatch
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.vocabulary import EOS, PAD
from espalier.syntax.tree import Tree

NAMES = "ABCDEFG"


def batch_of(templates: list[list[int]]) -> PairBatch:
    width = max((len(row) for row in templates), default=0)
    rows = torch.tensor([row + [PAD] * (width - len(row)) for row in templates]).reshape(len(templates), width)
    none = torch.zeros(len(rows), 0, dtype=torch.long)
    return PairBatch(none, none, none, rows, none, none)


def everything(constraint: Any, template: list[int], max_ids: int) -> set[tuple[int, ...]]:
    """All that a constraint allows, by trying all of it; each ends within `max_ids`, and no prefix is a blind alley."""
    state = constraint.start(batch_of([template]))
    prefixes: list[tuple[int, ...]] = [()]
    found = set[tuple[int, ...]]()
    for _ in range(max_ids):
        mask = constraint.mask(state)
        assert mask.any(1).all()
        rows, tokens = mask.nonzero(as_tuple=True)
        found |= {prefixes[row] for row in rows[tokens == EOS].tolist()}
        rows, tokens = rows[tokens != EOS], tokens[tokens != EOS]
        prefixes = [(*prefixes[row], token) for row, token in zip(rows.tolist(), tokens.tolist(), strict=True)]
        if not prefixes:
            break
        state = constraint.advance(tokens, state.select(rows))
    assert not prefixes
    return found


@st.composite
def vocabularies(draw: st.DrawFn) -> TreeSymbols:
    """Any flags, also such as no corpus gives; but some label opens or ends."""
    count = draw(st.integers(1, 3))
    flags = st.lists(st.booleans(), min_size=count, max_size=count).map(tuple)
    opens, ends = draw(flags), draw(flags)
    if not any((*opens, *ends)):
        ends = (True,) * count
    return TreeSymbols(tuple(NAMES[:count]), draw(st.integers(1, 4)), opens, ends)


def random_tree(rng: random.Random, deepest: int) -> Tree:
    """With labels that open (P to R), that end (t to v), and one that may do either (X)."""

    def grow(level: int) -> Tree:
        label = rng.choice("PPQRX" if (level < deepest and rng.random() < 0.75) or level == 1 else "tuvX")
        many = 0 if label in "tuv" or level >= deepest else rng.randint(label != "X", 3)
        return Tree(label, [grow(level + 1) for _ in range(many)])

    return grow(1)


class Rows:
    def __init__(self, count: int) -> None:
        self.count = count

    def select(self, index: Tensor) -> Rows:
        return Rows(len(index))


class Chain:
    """The next id depends on the last alone, by a random table."""

    def __init__(self, size: int, seed: int, sharpness: float) -> None:
        self.table = (sharpness * torch.randn(size, size, generator=torch.Generator().manual_seed(seed))).log_softmax(1)

    def start(self, batch: PairBatch) -> Rows:
        return Rows(len(batch))

    def step(self, tokens: Tensor, state: Rows) -> tuple[Tensor, Rows]:
        return self.table[tokens], state
