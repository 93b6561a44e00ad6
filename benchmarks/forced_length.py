"""Texts of forced lengths: one rule for our decoders and for the peers of Hugging Face."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor


@dataclass(frozen=True)
class EndState:
    """How far each text has come, and where it ends."""

    time: int
    lengths: Tensor

    def select(self, index: Tensor) -> EndState:
        return EndState(self.time, self.lengths[index])


@dataclass(frozen=True)
class EndAt:
    """Our constraint: the end mark at each text's place, and nowhere else."""

    lengths: Tensor
    only_end: Tensor

    def start(self, batch: Any) -> EndState:
        return EndState(0, self.lengths)

    def mask(self, state: EndState) -> Tensor:
        return torch.where((state.time + 1 >= state.lengths)[:, None], self.only_end, ~self.only_end)

    def advance(self, tokens: Tensor, state: EndState) -> EndState:
        return replace(state, time=state.time + 1)


class EndAtProcessor(LogitsProcessor):
    """The same for Hugging Face; `lengths` has a row for each that is scored, so one for each beam."""

    def __init__(self, lengths: Tensor, only_end: Tensor) -> None:
        self.lengths, self.only_end = lengths, only_end

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        allowed = torch.where((input_ids.shape[1] >= self.lengths)[:, None], self.only_end, ~self.only_end)
        return scores.masked_fill(~allowed, -torch.inf)
