"""X2Tree (Zhou et al., AAAI 2018): a response is generated from its root down, all K children of a node at once.

    p(T | x) = p(t_r | x) prod_t prod_k p(c_k | x, t, A(t), c_<k)          equations 1 to 3
    h_k = f_k(t, h, x), with h the hidden state of t and h_r = 0            equation 4
    p(c_k | ...) = softmax g_k(c_k, x, t, h_k, [c_1; ...; c_k-1])           equation 5

Each f_k is a GRU over [t; x], and each g_k a tanh layer before its softmax. h_k is the hidden state of child k. A
missing child is EOB, whose id is EOS. With K = 3, trees are ternary forms of dependency trees (`syntax/ternary.py`);
with K = 2, left-child right-sibling trees; with K = 1, chains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from espalier.datasets.dialogue.data import DialogueBatch
from espalier.datasets.part import Unit
from espalier.datasets.vocabulary import WordVocabulary
from espalier.layers.dropout import dropout
from espalier.layers.linear import linear
from espalier.layers.readout import Readout
from espalier.layers.recurrent import gru_update
from espalier.models.contract import Loss
from espalier.models.dialogue_config import X2TreeConfig
from espalier.models.post_encoder import EncodedPosts, PostEncoder


@dataclass
class X2TreeState:
    """The posts of a batch of nodes whose words are not yet known.

    Attributes:
        rows: (n,) post of each node.
        gru_input, features: (posts, ...) terms of the context in f and g, if all nodes of a post have the same context;
            else None.
    """

    post: EncodedPosts
    rows: Tensor
    gru_input: Tensor | None
    features: Tensor | None

    def select(self, index: Tensor) -> X2TreeState:
        """The rows `index`."""
        return replace(self, rows=self.rows[index])


@dataclass
class X2TreeNodes:
    """Nodes whose children are not yet chosen.

    Attributes:
        child_hidden: (n, K, width) h_k.
        features: (n, K, readout) terms of g_k's features that do not depend on earlier children.
    """

    child_hidden: Tensor
    features: Tensor

    def select(self, index: Tensor) -> X2TreeNodes:
        """The rows `index`."""
        return X2TreeNodes(self.child_hidden[index], self.features[index])


class X2Tree(nn.Module):
    """The model over the tree contract."""

    def __init__(self, config: X2TreeConfig, vocabulary: WordVocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary, self.arity = config, vocabulary, config.arity
        words, width, word, inner, k = vocabulary.text_size, config.width, config.word, config.readout, config.arity
        self.post_encoder = PostEncoder(words, word, width, config.context, bidirectional=config.bidirectional)
        self.embedding = nn.Embedding(words, word)
        # f_k for all k at once: projections of the node's word, its context and its hidden state.
        self.gru_from_node = nn.Linear(word, k * 3 * width)
        self.gru_from_context = nn.Linear(self.post_encoder.out, k * 3 * width, bias=False)
        self.gru_from_state = nn.Linear(width, k * 3 * width)
        # g_r, and g_k for all k: a linear map of a concatenation is a sum of maps.
        self.root = nn.Linear(self.post_encoder.out, inner)
        self.context_features = nn.Linear(self.post_encoder.out, k * inner)
        self.node_features = nn.Linear(word, k * inner, bias=False)
        self.state_features = nn.ModuleList(nn.Linear(width, inner, bias=False) for _ in range(k))
        self.earlier_features = nn.ModuleList(nn.Linear(n * word, inner, bias=False) for n in range(1, k))
        self.readouts = nn.ModuleList(Readout(inner, words) for _ in range(1 if config.shared else 1 + k))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -config.scale, config.scale)

    # --- The contract ------------------------------------------------------------------------------------------------

    def forward(self, batch: DialogueBatch, smoothing: float = 0.0) -> Loss:
        """-log p of equation 6: K n + 1 choices for a response of n words."""
        choices = self._choices(batch)
        if self.config.shared:  # one softmax, one call
            _, inputs, targets = zip(*choices, strict=True)
            choices = [(self._readout(0), torch.cat(inputs), torch.cat(targets))]
        total = torch.stack([readout.loss(x, target, smoothing) for readout, x, target in choices]).sum()
        return Loss(total, torch.full((), len(batch) + batch.below.numel(), device=batch.device))

    def tree_losses(self, batch: DialogueBatch) -> Tensor:
        """(batch,) nats of each tree."""
        owners = [torch.arange(len(batch), device=batch.device), *[batch.owner] * self.arity]
        nats = self._zeros(len(batch), batch.device)[:, 0]
        for owner, (readout, x, target) in zip(owners, self._choices(batch), strict=True):
            nats.index_add_(0, owner, -readout.target_scores(x, target).chosen)
        return nats

    def start(self, batch: DialogueBatch) -> X2TreeState:
        """Encode the posts."""
        post = self.post_encoder(batch.source, self.config.dropout)
        rows = torch.arange(len(batch), device=batch.device)
        if self.config.context != "last":
            return X2TreeState(post, rows, None, None)
        return X2TreeState(post, rows, self.gru_from_context(post.last), self.context_features(post.last))

    def roots(self, state: X2TreeState) -> Tensor:
        """(posts, words) log-probabilities of the root."""
        return self._readout(0).log_probabilities(self._root_features(state))

    def nodes(self, tokens: Tensor, hidden: Tensor | None, state: X2TreeState) -> X2TreeNodes:
        """f_k of equation 4 for nodes with words `tokens`, (n,), and states `hidden`, (n, width); None for roots."""
        if hidden is None:
            hidden = self._zeros(len(tokens), tokens.device)
        x = self.embedding(tokens)
        into, features = self._contexts(state, hidden)
        children = self._children(linear(x, self.gru_from_node.weight, self.gru_from_node.bias) + into, hidden)
        from_state = [layer(children[:, k]) for k, layer in enumerate(self.state_features)]
        features = (features + self.node_features(x)).view(len(tokens), self.arity, -1)
        return X2TreeNodes(children, features + torch.stack(from_state, dim=1))

    def child(self, k: int, nodes: X2TreeNodes, earlier: Tensor) -> Tensor:
        """(n, words) log-probabilities of child k (equation 5), given the earlier children, (n, k)."""
        features = nodes.features[:, k]
        if k:
            features = features + self.earlier_features[k - 1](self.embedding(earlier).flatten(1))
        return self._readout(1 + k).log_probabilities(self._drop(features.tanh()))

    # --- Its parts ---------------------------------------------------------------------------------------------------

    def _choices(self, batch: DialogueBatch) -> list[tuple[Readout, Tensor, Tensor]]:
        """For the roots and for each k: the readout, its input, (nodes, readout), and the targets, (nodes,)."""
        state = self.start(batch)
        x = self._drop(self.embedding(batch.tokens), "node")
        widths = batch.widths.tolist()
        parts = zip(
            self.gru_from_node(x).split(widths), batch.owner.split(widths), batch.place.split(widths), strict=True
        )
        hidden, levels, contexts = self._zeros(len(batch), batch.device), list[Tensor](), list[Tensor]()
        for into, owner, place in parts:  # level by level
            hidden = hidden[place]
            context, context_features = self._contexts(state.select(owner), hidden)
            levels.append(self._children(into + context, hidden))
            contexts.append(context_features)
            hidden = levels[-1].flatten(0, 1)
        children = torch.cat(levels)
        features = (torch.cat(contexts) + self.node_features(x)).view(len(x), self.arity, -1)
        below = self._drop(self.embedding(batch.below), "node").flatten(1)
        roots = batch.tokens[: len(batch)]
        choices = [(self._readout(0), self._drop(self._root_features(state)), roots)]
        for k in range(self.arity):
            x_k = features[:, k] + self.state_features[k](children[:, k])
            if k:
                x_k = x_k + self.earlier_features[k - 1](below[:, : k * self.config.word])
            choices.append((self._readout(1 + k), self._drop(x_k.tanh(), "node"), batch.below[:, k]))
        return choices

    def _contexts(self, state: X2TreeState, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """(n, K x 3 width) and (n, K x readout): terms of the contexts in f and in g."""
        if state.gru_input is not None and state.features is not None:
            return state.gru_input[state.rows], state.features[state.rows]
        context = self.post_encoder.contexts(state.post, state.rows, hidden)
        return self.gru_from_context(context), self.context_features(context)

    def _children(self, from_input: Tensor, hidden: Tensor) -> Tensor:
        """(n, K, width) h_k, from the projected input, (n, K x 3 width), and hidden states, (n, width)."""
        shape = len(from_input), self.arity, -1
        from_state = linear(hidden, self.gru_from_state.weight, self.gru_from_state.bias)
        return gru_update(from_input.view(shape), from_state.view(shape), hidden[:, None])

    def _root_features(self, state: X2TreeState) -> Tensor:
        query = self._zeros(len(state.rows), state.rows.device)
        return self.root(self.post_encoder.contexts(state.post, state.rows, query)).tanh()

    def _readout(self, index: int) -> Readout:
        """The readout of g_r for index 0, or of g_k for index 1 + k."""
        return self.readouts[0 if self.config.shared else index]  # type: ignore[return-value]

    def _zeros(self, rows: int, device: torch.device) -> Tensor:
        """(rows, width) zeros: h_r."""
        return torch.zeros(rows, self.config.width, dtype=self.gru_from_state.weight.dtype, device=device)

    def _drop(self, x: Tensor, unit: Unit = "row") -> Tensor:
        return dropout(x, self.config.dropout, self.training, unit=unit)
