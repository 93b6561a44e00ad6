"""X2Tree (Zhou et al., AAAI 2018): a response grows from its root down, all K children of a node at once.

    p(T | x) = p(t_r | x) prod_t prod_k p(c_k | x, t, A(t), c_<k)          equations 1 to 3
    h_k = f_k(t, h, x), with h what t was handed down and h_r = 0           equation 4
    p(c_k | ...) = softmax g_k(c_k, x, t, h_k, [c_1; ...; c_k-1])           equation 5

Each f_k is a GRU over [t; x], each g_k a layer of tanh before its softmax. Child k is handed h_k. A child that is none
is EOB, whose id is that of the end of a chain. With K = 3 trees are ternary forms of dependency trees
(`syntax/ternary.py`), with K = 2 left-child right-sibling forms, with K = 1 chains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.dialogue.data import DialogueBatch
from espalier.datasets.vocabulary import WordVocabulary
from espalier.layers.linear import linear
from espalier.layers.readout import Readout
from espalier.layers.recurrent import gru_update
from espalier.models.contract import Loss
from espalier.models.dialogue_config import X2TreeConfig
from espalier.models.post_encoder import EncodedPosts, PostEncoder


@dataclass
class Seen:
    """What nodes see of their posts.

    Attributes:
        rows: (n,) whose post each sees.
        into, features: (posts, ...) what the contexts of all nodes add to f and to g; None if that depends on the node.
    """

    post: EncodedPosts
    rows: Tensor
    into: Tensor | None
    features: Tensor | None

    def select(self, index: Tensor) -> Seen:
        """The rows `index`."""
        return replace(self, rows=self.rows[index])


@dataclass
class Parents:
    """Nodes about to have children.

    Attributes:
        handed: (n, K, width) h_k.
        features: (n, K, readout) all of g_k's features but those of earlier children.
    """

    handed: Tensor
    features: Tensor

    def select(self, index: Tensor) -> Parents:
        """The rows `index`."""
        return Parents(self.handed[index], self.features[index])


class X2Tree(nn.Module):
    """The model over the tree contract."""

    def __init__(self, config: X2TreeConfig, vocabulary: WordVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary, self.arity = config, vocabulary, config.arity
        words, width, word, inner, k = vocabulary.text_size, config.width, config.word, config.readout, config.arity
        self.reader = PostEncoder(words, word, width, config.context, both_ways=config.both_ways)
        self.embedding = nn.Embedding(words, word)
        # f_k for all k at once: from the node, from its context, and from what it was handed.
        self.node_into = nn.Linear(word, k * 3 * width)
        self.context_into = nn.Linear(self.reader.out, k * 3 * width, bias=False)
        self.over = nn.Linear(width, k * 3 * width)
        # g_r, and g_k for all k: a linear map of a concatenation is a sum of maps.
        self.root = nn.Linear(self.reader.out, inner)
        self.context_features = nn.Linear(self.reader.out, k * inner)
        self.node_features = nn.Linear(word, k * inner, bias=False)
        self.state_features = nn.ModuleList(nn.Linear(width, inner, bias=False) for _ in range(k))
        self.earlier_features = nn.ModuleList(nn.Linear(n * word, inner, bias=False) for n in range(1, k))
        self.readouts = nn.ModuleList(Readout(inner, words) for _ in range(1 if config.shared else 1 + k))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -config.scale, config.scale)

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: DialogueBatch, smoothing: float = 0.0) -> Loss:
        """`loss`, by the name under which wrappers (autocast, data parallelism) look for it."""
        return self.loss(batch, smoothing)

    def loss(self, batch: DialogueBatch, smoothing: float = 0.0) -> Loss:
        """-log p of equation 6: K n + 1 choices for a response of n words."""
        total = torch.stack([readout.loss(x, target, smoothing) for readout, x, target in self._choices(batch)]).sum()
        return Loss(total, torch.tensor(len(batch) + batch.below.numel(), device=batch.device))

    def tree_losses(self, batch: DialogueBatch) -> Tensor:
        """(batch,) nats of each whole tree."""
        owners = [torch.arange(len(batch), device=batch.device), *[batch.owner] * self.arity]
        nats = self._nothing(len(batch), batch.device)[:, 0]
        for owner, (readout, x, target) in zip(owners, self._choices(batch), strict=True):
            nats.index_add_(0, owner, -readout.log_probabilities(x).gather(1, target[:, None])[:, 0])
        return nats

    def start(self, batch: DialogueBatch) -> Seen:
        """Read the posts."""
        post = self.reader(batch.source, self.config.dropout)
        rows = torch.arange(len(batch), device=batch.device)
        if self.config.context != "last":
            return Seen(post, rows, None, None)
        return Seen(post, rows, self.context_into(post.last), self.context_features(post.last))

    def roots(self, state: Seen) -> Tensor:
        """(posts, words) log-probabilities of the root."""
        return self._readout(0).log_probabilities(self._root_features(state))

    def nodes(self, tokens: Tensor, handed: Tensor | None, state: Seen) -> Parents:
        """f_k of equation 4 for nodes of these `tokens`, (n,), which were handed (n, width), or 0 at the root."""
        if handed is None:
            handed = self._nothing(len(tokens), tokens.device)
        x = self.embedding(tokens)
        into, features = self._contexts(state, handed)
        children = self._children(linear(x, self.node_into.weight, self.node_into.bias) + into, handed)
        from_state = [layer(children[:, k]) for k, layer in enumerate(self.state_features)]
        features = (features + self.node_features(x)).view(len(tokens), self.arity, -1)
        return Parents(children, features + torch.stack(from_state, dim=1))

    def child(self, k: int, nodes: Parents, earlier: Tensor) -> Tensor:
        """(n, words) log-probabilities of child k, equation 5, given the (n, k) children before it."""
        features = nodes.features[:, k]
        if k:
            features = features + self.earlier_features[k - 1](self.embedding(earlier).flatten(1))
        return self._readout(1 + k).log_probabilities(self._drop(features.tanh()))

    # --- Its parts ---------------------------------------------------------------------------------------------------

    def _choices(self, batch: DialogueBatch) -> list[tuple[Readout, Tensor, Tensor]]:
        """For the roots and for each k: the readout, (choices, readout) features, and what was chosen."""
        state = self.start(batch)
        x = self._drop(self.embedding(batch.tokens))
        widths = batch.widths.tolist()
        parts = zip(self.node_into(x).split(widths), batch.owner.split(widths), batch.place.split(widths), strict=True)
        handed, made, contexts = self._nothing(len(batch), batch.device), list[Tensor](), list[Tensor]()
        for into, owner, place in parts:  # level by level
            handed = handed[place]
            context, seen = self._contexts(state.select(owner), handed)
            made.append(self._children(into + context, handed))
            contexts.append(seen)
            handed = made[-1].flatten(0, 1)
        children = torch.cat(made)
        features = (torch.cat(contexts) + self.node_features(x)).view(len(x), self.arity, -1)
        below = self._drop(self.embedding(batch.below)).flatten(1)
        roots = batch.tokens[: len(batch)]
        found = [(self._readout(0), self._drop(self._root_features(state)), roots)]
        for k in range(self.arity):
            mine = features[:, k] + self.state_features[k](children[:, k])
            if k:
                mine = mine + self.earlier_features[k - 1](below[:, : k * self.config.word])
            found.append((self._readout(1 + k), self._drop(mine.tanh()), batch.below[:, k]))
        return found

    def _contexts(self, state: Seen, handed: Tensor) -> tuple[Tensor, Tensor]:
        """(n, K x 3 width) and (n, K x readout): what contexts add to f and to g."""
        if state.into is not None and state.features is not None:
            return state.into[state.rows], state.features[state.rows]
        context = self.reader.look(state.post, state.rows, handed)
        return self.context_into(context), self.context_features(context)

    def _children(self, into: Tensor, handed: Tensor) -> Tensor:
        """(n, K, width) h_k, from the projected input (n, K x 3 width) and (n, width)."""
        shape = len(into), self.arity, -1
        over = linear(handed, self.over.weight, self.over.bias)
        return gru_update(into.view(shape), over.view(shape), handed[:, None])

    def _root_features(self, state: Seen) -> Tensor:
        query = self._nothing(len(state.rows), state.rows.device)
        return self.root(self.reader.look(state.post, state.rows, query)).tanh()

    def _readout(self, place: int) -> Readout:
        """g_r's for 0, g_k's after it."""
        return self.readouts[0 if self.config.shared else place]  # type: ignore[return-value]

    def _nothing(self, rows: int, device: torch.device) -> Tensor:
        """(rows, width): h_r."""
        return torch.zeros(rows, self.config.width, dtype=self.over.weight.dtype, device=device)

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.config.dropout, self.training) if self.config.dropout else x
