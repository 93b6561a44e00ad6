"""The architecture of `letters`: each letter is predicted from the one before it and from the prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.vocabulary import BOS
from espalier.models.contract import Loss


@dataclass
class BigramState:
    prompt: Tensor

    def select(self, index: Tensor) -> BigramState:
        return replace(self, prompt=self.prompt[index])


class Bigram(nn.Module):
    def __init__(self, config: Any, vocabulary: Any) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        self.embedding = nn.Embedding(vocabulary.text_size, config.width)
        self.readout = nn.Linear(config.width, vocabulary.text_size)

    def forward(self, batch: Any, smoothing: float = 0.0) -> Loss:
        return Loss(self.token_losses(batch).sum(), batch.real.sum())

    def token_losses(self, batch: Any) -> Tensor:
        scores = self._scores(batch.inputs, batch.prompt[:, None])
        return -scores.gather(2, batch.target[..., None])[..., 0] * batch.real

    def start(self, batch: Any) -> BigramState:
        return BigramState(batch.prompt)

    def step(self, tokens: Tensor, state: BigramState) -> tuple[Tensor, BigramState]:
        return self._scores(tokens, state.prompt), state

    def _scores(self, tokens: Tensor, prompt: Tensor) -> Tensor:
        first = (tokens == BOS)[..., None]
        x = torch.where(first, self.embedding(prompt.expand_as(tokens)), self.embedding(tokens))
        return F.log_softmax(self.readout(x + first), dim=-1)
