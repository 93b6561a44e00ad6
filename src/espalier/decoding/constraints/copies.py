"""A constraint for verse with repeated lines: a word stands again where the tune repeats it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch
from espalier.decoding.constraints.constraint import Constraint


@dataclass
class CopyState:
    """The state of a batch of prefixes.

    Attributes:
        inside: the state of the other constraints.
        source: (time, frames) the place that is repeated at each place, -1 for none.
        repeats: for each time whether any frame repeats a word there.
        frame: (prefixes,) index of each prefix's frame.
        written: (prefixes, length) the tokens so far.
    """

    inside: Any
    source: Tensor
    repeats: list[bool]
    frame: Tensor
    written: Tensor

    def select(self, index: Tensor) -> CopyState:
        """The rows `index`."""
        inside = self.inside.select(index)
        return replace(self, inside=inside, frame=self.frame[index], written=self.written[index])


class CopyConstraint:
    """Like another constraint; in addition, words are repeated where the frames repeat them (`Frame.copy`).

    The other constraint asks nothing of repeated places, and their sources satisfy what is asked for at either.
    """

    def __init__(self, inside: Constraint[VerseBatch, Any]) -> None:
        self.inside = inside

    def start(self, batch: VerseBatch) -> CopyState:
        """The state before the first token."""
        source = batch.copy.T.contiguous()
        rows = torch.arange(len(batch), device=batch.device)
        written = torch.empty(len(batch), 0, dtype=torch.long, device=batch.device)
        return CopyState(self.inside.start(batch), source, (source >= 0).any(1).tolist(), rows, written)

    def mask(self, state: CopyState) -> Tensor:
        """(prefixes, text size) the mask of the other constraint; at repeated places, of the repeated word alone."""
        mask, time = self.inside.mask(state.inside), state.written.shape[1]
        if time >= len(state.repeats) or not state.repeats[time]:
            return mask
        source = state.source[time].index_select(0, state.frame)
        word = state.written.gather(1, source.clamp(min=0)[:, None])
        alone = torch.full_like(mask, -torch.inf).scatter_(1, word, 0.0)
        return torch.where(source[:, None] >= 0, alone, mask)

    def advance(self, tokens: Tensor, state: CopyState) -> CopyState:
        """The state after one more token."""
        written = torch.cat([state.written, tokens[:, None]], dim=1)
        return replace(state, inside=self.inside.advance(tokens, state.inside), written=written)
