"""Multi-encoder attention (GuiG, section 3.1): in one attention layer, each encoder has its own heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from espalier.layers.attention import dot_product_attention
from espalier.layers.linear import linear
from espalier.layers.shared_memory import KeyValues


@dataclass
class Memory:
    """The output of one encoder as keys and values of one layer, with a bias that hides padding.

    `key_values` has one row for each source. Consecutive rows of a batch, such as the hypotheses of a beam, share it.
    """

    key_values: KeyValues
    bias: Tensor | None

    def select(self, index: Tensor) -> Memory:
        """The sources `index`."""
        return Memory(
            self.key_values.select(index), self.bias.index_select(0, index) if self.bias is not None else None
        )


class MultiEncoderAttention(nn.Module):
    """C = Concat(A_1^(1) ... A_1^(h_1), A_2^(1) ...) W_O with A_i^(j) = Attn(O W_Q, H_i W_K, H_i W_V).

    Each encoder has its own W_Q, W_K, W_V, number of heads, and mask.
    """

    def __init__(self, width: int, heads: Sequence[int], head_width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads, self.head_width, self.dropout = tuple(heads), head_width, dropout
        self.queries = nn.Linear(width, sum(heads) * head_width)  # the encoders' W_Q, one below the other
        self.memories = nn.ModuleList([nn.Linear(width, 2 * count * head_width) for count in heads])  # W_K, W_V
        self.out = nn.Linear(sum(heads) * head_width, width)  # W_O

    def project_memory(self, encoded: Sequence[Tensor], biases: Sequence[Tensor | None]) -> list[Memory]:
        """The keys and values of each encoder's output, (batch, time, width), to be computed once for many steps.

        Args:
            biases: for each encoder a bias that hides its padding (`attention.padding_bias`).
        """
        memories = []
        for states, bias, project in zip(encoded, biases, self.memories, strict=True):
            projected = linear(states, project.weight, project.bias)  # type: ignore[arg-type]
            key, value = projected.unflatten(-1, (-1, self.head_width)).transpose(1, 2).chunk(2, dim=1)
            memories.append(Memory(KeyValues(key, value), bias))
        return memories

    def forward(self, x: Tensor, memories: Sequence[Memory]) -> Tensor:
        """Map (batch, time, width) to (batch, time, width).

        Args:
            memories: one per encoder, from `project_memory`. A memory may have fewer rows than the batch if time is 1;
                each of its rows then serves equally many consecutive rows of the batch.
        """
        query = linear(x, self.queries.weight, self.queries.bias).unflatten(-1, (-1, self.head_width))
        rows, shape = len(memories[0].key_values.keys), query.shape
        if rows < len(x):  # the hypotheses of a source become the time dimension
            query = query.view(rows, -1, *shape[2:])
        query = query.transpose(1, 2)  # (rows, heads, time, head width)
        dropout = self.dropout if self.training else 0.0
        parts = [
            dot_product_attention(part, memory.key_values.keys, memory.key_values.values, memory.bias, dropout)
            for part, memory in zip(query.split(self.heads, dim=1), memories, strict=True)
        ]
        mixed = torch.cat(parts, dim=1).transpose(1, 2).reshape(*shape[:2], self.out.in_features)
        return linear(mixed, self.out.weight, self.out.bias)
