"""What pieces and tree symbols are as vectors, and the losses that predict them, by hand."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.layers.embeddings import PieceEmbedding, TreeSymbolEmbedding
from espalier.layers.linear import constant_weights
from espalier.syntax.constituency import read_tree

SYMBOLS = TreeSymbols.build([read_tree("(S (NP (NN)) (VP (VB)))", words=False)], 3)  # five labels at three levels
WIDTH = 6


def tree_space(alpha: float = 0.5, beta: float = 0.5) -> TreeSymbolEmbedding:
    torch.manual_seed(3)
    space = TreeSymbolEmbedding(SYMBOLS, WIDTH, alpha, beta)
    with torch.no_grad():
        space.nodes.weight.normal_()
        space.levels.weight.normal_()
    return space


def log_softmax(values: list[float]) -> list[float]:
    norm = math.log(sum(math.exp(value) for value in values))
    return [value - norm for value in values]


def dot(one: Tensor, other: Tensor) -> float:
    return float((one.double() * other.double()).sum())


def by_hand(space: TreeSymbolEmbedding, state: Tensor) -> tuple[list[float], list[float]]:
    """The log-probabilities of node ids and of level ids."""
    nodes, levels = ([dot(row, state) for row in table.weight.detach()] for table in (space.nodes, space.levels))
    return log_softmax(nodes), log_softmax(levels)


def ids(label: str, level: int) -> tuple[int, int, int]:
    """A symbol, its node's id and its level's, by hand."""
    place = SYMBOLS.labels.index(label)
    return SYMBOLS.symbol(label, level), 4 + place, 3 + level


# --- trees ------------------------------------------------------------------------------------------------------------


def test_a_node_s_vector_is_its_label_s_and_its_level_s() -> None:
    space = tree_space()
    symbol, node, level = ids("VP", 2)
    row = torch.tensor([[symbol, BOS, EOS, PAD]])
    found = space(row)[0]
    for place, (one, other) in enumerate([(node, level), (BOS, BOS), (EOS, EOS), (PAD, PAD)]):
        wanted = (space.nodes.weight[one] + space.levels.weight[other]) * math.sqrt(WIDTH)
        assert torch.allclose(found[place], wanted)


def test_the_padding_s_vector_is_zero_and_learns_nothing() -> None:
    torch.manual_seed(1)
    space = TreeSymbolEmbedding(SYMBOLS, WIDTH, 0.5, 0.5)
    assert not space(torch.tensor([[PAD]])).any()
    space(torch.tensor([[PAD, ids("S", 1)[0]]])).sum().backward()
    assert space.nodes.weight.grad is not None and not space.nodes.weight.grad[PAD].any()


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (1.0, 1.0), (0.3, 0.9), (1.0, 0.0)])
def test_the_loss_weighs_the_node_s_and_the_level_s(alpha: float, beta: float) -> None:
    space, states = tree_space(alpha, beta), torch.randn(3, WIDTH)
    wanted, targets = 0.0, []
    for state, (label, level) in zip(states, [("S", 1), ("NN", 3), ("", 0)], strict=True):
        symbol, node, height = ids(label, level) if label else (EOS, EOS, EOS)
        nodes, levels = by_hand(space, state)
        wanted -= alpha * nodes[node] + beta * levels[height]
        targets.append(symbol)
    assert space.loss(states, torch.tensor(targets), 0.0).item() == pytest.approx(wanted, rel=1e-5)


def test_smoothing_moves_its_share_onto_all_nodes_and_all_levels() -> None:
    space, state = tree_space(0.3, 0.9), torch.randn(1, WIDTH)
    symbol, node, level = ids("NP", 2)
    nodes, levels = by_hand(space, state[0])
    smooth = [0.9 * row[place] + 0.1 * sum(row) / len(row) for row, place in ((nodes, node), (levels, level))]
    found = space.loss(state, torch.tensor([symbol]), 0.1).item()
    assert found == pytest.approx(-(0.3 * smooth[0] + 0.9 * smooth[1]), rel=1e-5)


def test_a_symbol_s_log_probability_is_its_node_s_and_its_level_s_added() -> None:
    space, states = tree_space(0.3, 0.9), torch.randn(2, WIDTH)
    found = space.log_probabilities(states)
    assert found.shape == (2, 4 + 5 * 3)
    for row, state in enumerate(states):
        nodes, levels = by_hand(space, state)
        for label in SYMBOLS.labels:
            for level in (1, 2, 3):
                symbol, node, height = ids(label, level)
                assert found[row, symbol].item() == pytest.approx(nodes[node] + levels[height], abs=1e-5)
        for special in (PAD, 1, BOS, EOS):
            assert found[row, special].item() == pytest.approx(nodes[special] + levels[special], abs=1e-5)
    assert (found.exp().sum(1) < 1).all()


def test_sharpness_multiplies_logits_before_the_softmax() -> None:
    space, state = tree_space(), torch.randn(1, WIDTH)
    symbol, node, level = ids("VB", 3)
    wanted = 0.0
    for table, place in ((space.nodes, node), (space.levels, level)):
        wanted += log_softmax([4 * dot(row, state[0]) for row in table.weight.detach()])[place]
    assert space.log_probabilities(state, 4.0)[0, symbol].item() == pytest.approx(wanted, abs=1e-5)


# --- pieces -----------------------------------------------------------------------------------------------------------


def test_pieces_are_scored_by_the_matrix_that_embeds_them() -> None:
    space, states = PieceEmbedding(9, WIDTH), torch.randn(2, WIDTH)
    assert [name for name, _ in space.named_parameters()] == ["pieces.weight"]
    row = torch.tensor([[5, PAD]])
    assert torch.allclose(space(row)[0, 0], space.pieces.weight[5] * math.sqrt(WIDTH)) and not space(row)[0, 1].any()
    for sharpness in (1.0, 16.0):
        found = space.log_probabilities(states, sharpness)
        for state, scores in zip(states, found, strict=True):
            wanted = log_softmax([sharpness * dot(each, state) for each in space.pieces.weight.detach()])
            assert scores.tolist() == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_pieces_loss_is_the_cross_entropy(smoothing: float) -> None:
    space, states, target = PieceEmbedding(9, WIDTH), torch.randn(4, WIDTH), torch.tensor([3, 8, 4, 3])
    wanted = F.cross_entropy(states @ space.pieces.weight.T, target, reduction="sum", label_smoothing=smoothing)
    assert torch.allclose(space.loss(states, target, smoothing), wanted, rtol=1e-5)


# --- both -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pieces", "tree"])
def test_half_precision_and_packed_weights_change_little(kind: str) -> None:
    space = PieceEmbedding(19, WIDTH) if kind == "pieces" else tree_space()
    states, target = torch.randn(5, WIDTH), torch.tensor([3, 4, 8, 18, 5])
    exact, loss = space.log_probabilities(states), space.loss(states, target, 0.1)
    with torch.autocast("cpu", torch.bfloat16):
        rough, rough_loss = space.log_probabilities(states), space.loss(states, target, 0.1)
    assert rough.dtype == rough_loss.dtype == torch.float32
    assert torch.allclose(rough, exact, atol=0.1) and torch.allclose(rough_loss, loss, rtol=0.02)
    with constant_weights():
        assert torch.allclose(space.log_probabilities(states), exact, atol=1e-5)


def test_rows_have_a_length_of_about_one_before_they_are_scaled() -> None:
    torch.manual_seed(1)
    space = PieceEmbedding(3000, 64)
    assert space.pieces.weight[1:].norm(dim=1).mean().item() == pytest.approx(1.0, abs=0.02)
