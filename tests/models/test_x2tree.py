"""X2Tree against a slow recursive reading of its equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from espalier.datasets.dialogue.data import DialogueData, DialogueView
from espalier.datasets.vocabulary import EOS, PAD, WordVocabulary
from espalier.models.dialogue_config import X2TreeConfig
from espalier.models.x2tree import X2Tree
from espalier.syntax.ternary import EOB, lcrs, ternary

VOC = WordVocabulary(tuple("abcdefghijkl"), "en")
HEADS = [(2, 0, 4, 2, 6, 4), (0,), (2, 0, 2), (0, 1, 2, 3), (3, 3, 0, 3, 3), (5, 1, 2, 3, 0)]
POSTS = [[5, 6, 7], [8], [9, 10, 11, 12], [6, 6], [13], [7, 8, 9, 5, 16]]

VARIANTS: list[dict[str, Any]] = [
    {},
    {"context": "attention"},
    {"context": "nrm"},
    {"bidirectional": True},
    {"context": "attention", "bidirectional": True},
    {"shared": True},
]


def data_of(arity: int) -> DialogueData:
    """The trees of `HEADS`: ternary, or ordered ones as left-child right-sibling."""
    trees = [ternary(heads) for heads in HEADS]
    order: list[Any] = [tree.words for tree in trees]
    children: list[Any] = [tree.children for tree in trees]
    if arity == 2:
        below: list[list[list[int]]] = [[[1, 2], [3], [4], [], []], [[]], [[1, 2], [], []], [[1], [2], [3], []]]
        order = [[0, 1, 3, 2, 4], [0], [0, 1, 2], [0, 1, 2, 3]]  # the nodes of their binary forms, by level
        children = []
        for tree, nodes in zip(below, order, strict=True):
            seat = {node: place for place, node in enumerate(nodes)} | {EOB: EOB}
            children.append(np.array([[seat[child] for child in lcrs(tree)[node].tolist()] for node in nodes]))
    target = [[5 + (3 * i + row) % 12 for i in range(len(nodes))] for row, nodes in enumerate(order)]
    rows: dict[str, list[Any]] = {
        "source": POSTS[: len(target)], "target": target, "order": order, "children": [c.ravel() for c in children],
    }  # fmt: skip
    return DialogueData.of([f"r{row}" for row in range(len(target))], rows, VOC, 2 if arity == 2 else 3)


def model_of(**changes: Any) -> X2Tree:
    torch.manual_seed(5)
    config = X2TreeConfig.model_validate({"width": 6, "word": 4, "readout": 5, "scale": 0.8, **changes})
    return X2Tree(config, VOC).double().eval()


# --- The reference ----------------------------------------------------------------------------------------------------


class Slow:
    """p(T | x) by recursion over one tree, each map applied to the concatenation that the paper writes."""

    def __init__(self, model: Any, post: list[int]) -> None:
        self.model, self.post = model, model.post_encoder(torch.tensor([post]))

    def context(self, query: Tensor) -> Tensor:
        found: Tensor = self.model.post_encoder.contexts(self.post, torch.tensor([0]), query[None])[0]
        return found

    def words(self, place: int, features: Tensor) -> Tensor:
        readout = self.model.readouts[0 if self.model.config.shared else place]
        return (readout.weight @ features.tanh() + readout.bias).log_softmax(0)

    def tree(self, tree: list[Any]) -> Tensor:
        model = self.model
        nothing = torch.zeros(model.config.width, dtype=torch.float64)
        root = self.words(0, model.root.weight @ self.context(nothing) + model.root.bias)[tree[0]]
        return root + self.below(tree, nothing)

    def below(self, tree: list[Any], hidden: Tensor) -> Tensor:
        model, k_ = self.model, self.model.arity
        word, x = model.embedding.weight[tree[0]], self.context(hidden)
        rows = model.config.width * 3
        inner = model.config.readout
        total = torch.zeros((), dtype=torch.float64)
        chosen = [EOS if child == EOB else child[0] for child in tree[1:]]
        for k in range(k_):
            part = slice(k * rows, (k + 1) * rows)
            f = torch.cat([model.gru_from_node.weight[part], model.gru_from_context.weight[part]], dim=1)
            over = model.gru_from_state.weight[part], model.gru_from_node.bias[part], model.gru_from_state.bias[part]
            state = torch.gru_cell(torch.cat([word, x])[None], hidden[None], f, *over)[0]
            part = slice(k * inner, (k + 1) * inner)
            maps = [
                model.context_features.weight[part],
                model.node_features.weight[part],
                model.state_features[k].weight,
            ]
            seen = [x, word, state]
            if k:
                maps.append(model.earlier_features[k - 1].weight)
                seen += [model.embedding.weight[each] for each in chosen[:k]]
            features = torch.cat(maps, dim=1) @ torch.cat(seen) + model.context_features.bias[part]
            total = total + self.words(1 + k, features)[chosen[k]]
            if tree[1 + k] != EOB:
                total = total + self.below(tree[1 + k], state)
        return total


def trees_of(data: DialogueData, arity: int) -> list[list[Any]]:
    """Each response as [word, child, ...], EOB for none."""
    found = []
    for row in range(len(data)):
        part = [data.columns[name].flat[slice(*data.columns[name].offsets[row : row + 2])]
                for name in ("target", "order", "children")]  # fmt: skip
        words, order, children = part[0].tolist(), part[1].tolist(), part[2].reshape(-1, data.arity).tolist()
        if arity == 1:
            order = list(range(len(words)))
            children = [[i + 1 if i + 1 < len(words) else EOB] for i in order]

        def under(node: int, words: Any = words, order: Any = order, children: Any = children) -> list[Any]:
            return [words[order[node]], *(EOB if c == EOB else under(c) for c in children[node])]

        found.append(under(0))
    return found


# --- Tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arity", [1, 2, 3])
@pytest.mark.parametrize("changes", VARIANTS, ids=lambda changes: "-".join(map(str, changes)) or "last")
def test_the_loss_and_its_gradients_are_those_of_the_recursion(arity: int, changes: dict[str, Any]) -> None:
    model, data = model_of(arity=arity, **changes), data_of(arity)
    batch = data.batch(np.arange(len(data)), DialogueView("tree", arity))
    wanted = torch.stack([-Slow(model, POSTS[row]).tree(tree) for row, tree in enumerate(trees_of(data, arity))])
    assert torch.allclose(model.tree_losses(batch), wanted, atol=1e-9)
    loss = model(batch)
    assert abs(loss.total.item() - wanted.sum().item()) < 1e-6 * wanted.sum().item()
    words = len(batch.tokens)
    assert int(loss.targets) == arity * words + len(data)
    slow = torch.autograd.grad(wanted.sum(), [*model.parameters()], allow_unused=True)
    fast = torch.autograd.grad(loss.total, [*model.parameters()], allow_unused=True)
    for (name, parameter), a, b in zip(model.named_parameters(), slow, fast, strict=True):
        zero = torch.zeros_like(parameter)
        assert torch.allclose(zero if a is None else a, zero if b is None else b, atol=1e-5), name


@torch.no_grad()
def test_the_contract_scores_a_tree_as_the_loss_does() -> None:
    for changes in VARIANTS:
        model, data = model_of(**changes), data_of(3)
        batch = data.batch(np.arange(len(data)), model.config.view)
        state = model.start(batch)
        total = model.roots(state).gather(1, batch.tokens[: len(data), None])[:, 0]
        nats = total.clone()
        start = 0
        hidden: Tensor | None = None
        for width in batch.widths.tolist():
            here = slice(start, start + width)
            given = None if hidden is None else hidden[batch.place[here]]
            nodes = model.nodes(batch.tokens[here], given, state.select(batch.owner[here]))
            for k in range(3):
                scores = model.child(k, nodes, batch.below[here, :k])
                nats.index_add_(0, batch.owner[here], scores.gather(1, batch.below[here, k : k + 1])[:, 0])
            hidden, start = nodes.child_hidden.flatten(0, 1), start + width
        assert torch.allclose(-nats, model.tree_losses(batch), atol=1e-9)


@torch.no_grad()
def test_the_whole_probability_is_one_over_all_words_of_a_child() -> None:
    model = model_of()
    batch = data_of(3).batch(np.array([0, 1]), model.config.view)
    state = model.start(batch)
    nodes = model.nodes(torch.tensor([5, 9]), None, state)
    for k in range(3):
        scores = model.child(k, nodes, torch.full((2, k), EOS))
        assert scores.shape == (2, VOC.text_size)
        assert torch.allclose(scores.exp().sum(1), torch.ones(2, dtype=torch.float64))
    assert torch.allclose(model.roots(state).exp().sum(1), torch.ones(2, dtype=torch.float64))


@torch.no_grad()
def test_a_row_s_loss_is_its_own_whatever_stands_beside_it() -> None:
    model, data = model_of(context="nrm"), data_of(3)
    whole = model.tree_losses(data.batch(np.arange(6), model.config.view, grain=8))
    for row in range(6):
        alone = model.tree_losses(data.batch(np.array([row]), model.config.view))
        assert torch.allclose(alone[0], whole[row], atol=1e-12)


@torch.no_grad()
def test_what_a_child_sees_is_its_ancestors_and_earlier_siblings_alone() -> None:
    model = model_of()
    batch = data_of(3).batch(np.array([0]), model.config.view)
    state = model.start(batch)
    nodes = model.nodes(torch.tensor([5]), None, state)
    first = model.child(0, nodes, torch.zeros(1, 0, dtype=torch.long))
    assert torch.equal(first, model.child(0, nodes.select(torch.tensor([0])), torch.zeros(1, 0, dtype=torch.long)))
    assert not torch.equal(model.child(1, nodes, torch.tensor([[7]])), model.child(1, nodes, torch.tensor([[8]])))
    one, other = (model.child(2, nodes, torch.tensor([[7, each]])) for each in (8, 9))
    assert not torch.equal(one, other)


def test_a_post_without_words_is_read_all_the_same() -> None:
    rows: dict[str, list[Any]] = {"source": [[]], "target": [[5]], "order": [[0]], "children": [[EOB] * 3]}
    for changes in VARIANTS:
        model = model_of(**changes)
        batch = DialogueData.of(["r"], rows, VOC).batch(np.array([0]), model.config.view)
        assert batch.source.shape == (1, 0) and PAD == 0
        assert torch.isfinite(model(batch).total)


def test_dropout_moves_the_loss_in_training_only() -> None:
    model, data = model_of(dropout=0.5), data_of(3)
    batch = data.batch(np.arange(6), model.config.view)
    assert torch.equal(model(batch).total, model(batch).total)
    model.train()
    assert not torch.equal(model(batch).total, model(batch).total)


def test_parameters_start_within_the_scale_and_grow_with_k() -> None:
    small, large = (X2Tree(X2TreeConfig(arity=k, width=8, word=4, readout=6), VOC) for k in (1, 3))
    assert all(float(parameter.detach().abs().max()) <= 0.01 for parameter in large.parameters())
    counts = [sum(parameter.numel() for parameter in model.parameters()) for model in (small, large)]
    assert counts[1] > 1.5 * counts[0]


@pytest.mark.parametrize("changes", [{"arity": 0}, {"width": 0}, {"context": "tree"}, {"scale": 0}, {"colour": "red"}])
def test_a_setting_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        X2TreeConfig.model_validate(changes)
