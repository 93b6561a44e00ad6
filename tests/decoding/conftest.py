"""A chain model that is no network: random tables, so that every probability is known."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pytest
import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))  # each_system

END, BEGIN = 0, 1


@dataclass
class Sources:
    """A batch: one number per row, from which the row's tables are drawn."""

    rows: list[int]
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    def __len__(self) -> int:
        return len(self.rows)


@dataclass
class Prefixes:
    rows: list[tuple[int, ...]]

    def select(self, index: Tensor) -> Prefixes:
        return Prefixes([self.rows[i] for i in index.tolist()])


class Toy:
    """log P(next | source, prefix), drawn anew for every prefix from a seed that is the prefix."""

    def __init__(self, size: int, sharpness: float = 1.5) -> None:
        self.size, self.sharpness = size, sharpness
        self.batches: list[int] = []

    def logs(self, prefix: tuple[int, ...]) -> Tensor:
        seed = 7
        for token in prefix:
            seed = (seed * 1_000_003 + token + 11) % (2**61 - 1)
        scores = torch.randn(self.size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        return (self.sharpness * scores).log_softmax(0).float()

    def start(self, batch: Sources) -> Prefixes:
        return Prefixes([(row,) for row in batch.rows])

    def step(self, tokens: Tensor, state: Prefixes) -> tuple[Tensor, Prefixes]:
        self.batches.append(len(state.rows))
        rows = [(*row, token) for row, token in zip(state.rows, tokens.tolist(), strict=True)]
        return torch.stack([self.logs(row) for row in rows]), Prefixes(rows)

    def everything(self, source: int, max_ids: int, forbidden: tuple[int, ...] = ()) -> dict[tuple[int, ...], float]:
        """Every sequence of at most `max_ids`, its end mark included or cut off, with its log-probability."""
        found: dict[tuple[int, ...], float] = {}
        for length in range(1, max_ids + 1):
            for tokens in product(range(self.size), repeat=length):
                cut = END in tokens[:-1] or (tokens[-1] != END and length < max_ids)
                if cut or set(tokens) & set(forbidden):
                    continue
                prefix: tuple[int, ...] = (source, BEGIN)
                total = 0.0
                for token in tokens:
                    total += float(self.logs(prefix)[token])
                    prefix = (*prefix, token)
                found[tokens] = total
        return found


@pytest.fixture
def toy() -> type[Toy]:
    return Toy


@pytest.fixture
def sources() -> type[Sources]:
    return Sources
