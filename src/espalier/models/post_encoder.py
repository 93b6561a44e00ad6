"""How a model of dialogue reads a post: X of X2Tree, and all that tells its four baselines apart."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.vocabulary import PAD
from espalier.layers.recurrent import AdditiveAttention, read_rows
from espalier.models.dialogue_config import Context


@dataclass
class EncodedPosts:
    """What is remembered of each post of a batch.

    Attributes:
        last: (posts, width) the encoder's last state; NRM's global one.
        states: (posts, words, out) what attention averages; None without attention.
        keys: (posts, words, width) of its attention.
        real: (posts, words) bool.
    """

    last: Tensor
    states: Tensor | None
    keys: Tensor | None
    real: Tensor


class PostEncoder(nn.Module):
    """A GRU over the words of a post; NRM has two, a global and a local one.

    Attributes:
        out: how wide a context is.
        final: how wide the last state is.
    """

    def __init__(self, words: int, word: int, width: int, context: Context, *, both_ways: bool = False) -> None:
        super().__init__()
        self.context = context
        self.embedding = nn.Embedding(words, word)
        self.whole = nn.GRU(word, width, batch_first=True, bidirectional=both_ways)
        self.final = (1 + both_ways) * width
        self.out = (2 if context == "nrm" else 1) * self.final
        if context == "nrm":
            self.local = nn.GRU(word, width, batch_first=True, bidirectional=both_ways)
        if context != "last":
            self.attention = AdditiveAttention(width, self.out, width)

    def forward(self, ids: Tensor, dropout: float = 0.0) -> EncodedPosts:
        """Read (posts, words) ids, padded with `PAD` on the right; a post without words is read as one `PAD`."""
        ids = ids if ids.shape[1] else F.pad(ids, (0, 1))
        real = ids != PAD
        x = self.embedding(ids)
        x = F.dropout(x, dropout, self.training) if dropout else x
        states, last = read_rows(self.whole, x, real)
        if self.context == "last":
            return EncodedPosts(last, None, None, real)
        if self.context == "nrm":
            # Each local state beside the global one, equation 6 of Shang et al.
            local, _ = read_rows(self.local, x, real)
            states = torch.cat([local, last[:, None].expand(-1, local.shape[1], -1)], dim=-1)
        return EncodedPosts(last, states, self.attention.key(states), real)

    def look(self, post: EncodedPosts, rows: Tensor | None, query: Tensor) -> Tensor:
        """(n, out) the contexts of n decoders.

        Args:
            rows: (n,) whose post each sees; None where each has its own, in order, and none is copied.
            query: (n, width) their states; only attention asks for them.
        """
        if post.states is None or post.keys is None:
            return post.last if rows is None else post.last[rows]
        seen = post.keys, post.states, post.real
        found: Tensor = self.attention(query, *(seen if rows is None else (each[rows] for each in seen)))
        return found
