"""The encoder of posts and the context of decoders: X of X2Tree. The four baselines differ only in this context."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.vocabulary import PAD
from espalier.layers.dropout import dropout
from espalier.layers.recurrent import AdditiveAttention, read_rows
from espalier.models.dialogue_config import Context


@dataclass
class EncodedPosts:
    """A batch of encoded posts.

    Attributes:
        last: (posts, final) last state of the encoder; for NRM, of the global encoder.
        states: (posts, words, out) values of attention; None without attention.
        keys: (posts, words, width) keys of attention; None without attention.
        real: (posts, words) bool: True at words, False at padding.
    """

    last: Tensor
    states: Tensor | None
    keys: Tensor | None
    real: Tensor


class PostEncoder(nn.Module):
    """A GRU over the words of a post. NRM has two, a global and a local one.

    Attributes:
        out: the width of a context.
        final: the width of the last state.
    """

    def __init__(self, words: int, word: int, width: int, context: Context, *, bidirectional: bool = False) -> None:
        super().__init__()
        self.context = context
        self.embedding = nn.Embedding(words, word)
        self.gru = nn.GRU(word, width, batch_first=True, bidirectional=bidirectional)
        self.final = (1 + bidirectional) * width
        self.out = (2 if context == "nrm" else 1) * self.final
        if context == "nrm":
            self.local_gru = nn.GRU(word, width, batch_first=True, bidirectional=bidirectional)
        if context != "last":
            self.attention = AdditiveAttention(width, self.out, width)

    def forward(self, ids: Tensor, dropout_p: float = 0.0) -> EncodedPosts:
        """Encode (posts, words) ids, right-padded with `PAD`. A post without words is read as one `PAD`."""
        ids = ids if ids.shape[1] else F.pad(ids, (0, 1))
        real = ids != PAD
        x = self.embedding(ids)
        x = dropout(x, dropout_p, self.training)
        states, last = read_rows(self.gru, x, real)
        if self.context == "last":
            return EncodedPosts(last, None, None, real)
        if self.context == "nrm":
            # Each local state beside the global one, equation 6 of Shang et al.
            local, _ = read_rows(self.local_gru, x, real)
            states = torch.cat([local, last[:, None].expand(-1, local.shape[1], -1)], dim=-1)
        return EncodedPosts(last, states, self.attention.key(states), real)

    def contexts(self, post: EncodedPosts, rows: Tensor | None, query: Tensor) -> Tensor:
        """(n, out) contexts of n decoders.

        Args:
            rows: (n,) post of each decoder; None means one decoder per post in order, which saves a copy.
            query: (n, width) states of the decoders; used only by attention.
        """
        if post.states is None or post.keys is None:
            return post.last if rows is None else post.last[rows]
        memory = post.keys, post.states, post.real
        return self.attention(query, *(memory if rows is None else (part[rows] for part in memory)))
