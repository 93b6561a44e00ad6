"""Golden values of each module of layers. Weights are waves, so that no random generator matters."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor, nn

from espalier.datasets.pairs.tree_symbols import FIRST, TreeSymbols
from espalier.layers.attention import Attention, padding_bias
from espalier.layers.copy import copied_all, copied_mass, mix
from espalier.layers.dropout import dropout as drop
from espalier.layers.embeddings import PieceEmbedding, TreeSymbolEmbedding, embedding
from espalier.layers.granularity import Granularity
from espalier.layers.initial import initialise
from espalier.layers.linear import constant_weights, linear
from espalier.layers.multi_encoder import MultiEncoderAttention
from espalier.layers.options import GranularityMask, Initial
from espalier.layers.path_attention import PathAttention
from espalier.layers.paths import paths_of
from espalier.layers.positions import sinusoids
from espalier.layers.readout import Readout, readout_loss
from espalier.layers.recurrent import AdditiveAttention, BilinearAttention, RecurrentEncoder, gru_update, lstm_step
from espalier.layers.residual import FeedForward, Residual
from espalier.layers.shared_memory import KeyValues, memory_rows

REAL = torch.tensor([[True] * 4, [True, True, False, False]])
LEVELS = torch.tensor([[1, 2, 3, 3, 2, 0], [0, 1, 2, 2, 2, 3]])


def wave(*shape: int, phase: float = 0.0) -> Tensor:
    """Values between -1 and 1 that repeat nowhere nearby."""
    return torch.from_numpy(np.sin(np.arange(int(np.prod(shape))) * 1.7 + phase)).float().reshape(shape)


def waved(module: nn.Module) -> Any:
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(0.5 * wave(*parameter.shape, phase=number))
    return module.eval()


def every_third(*tensors: Tensor) -> list[list[float]]:
    return [tensor.detach().float().flatten()[::3].tolist() for tensor in tensors]


def attention(_: Path) -> Any:
    x, memory = wave(2, 3, 8), wave(2, 4, 8, phase=1)
    layer, wide = waved(Attention(8, 2)), waved(Attention(8, 2, head_width=3))
    past = layer.empty(2, 1, x)
    steps = [layer.step(x[:, time : time + 1], past, time) for time in range(3)]
    chosen = past.select(torch.tensor([1, 1, 0]), 3)
    known = KeyValues(
        *(part.flip(0) for part in (wide.project_memory(memory).keys, wide.project_memory(memory).values))
    )
    return every_third(
        layer(x, causal=True), layer(x, memory, bias=padding_bias(REAL)), torch.cat(steps, dim=1),
        layer.step(x[:, :1], past, 3, memory[:, :1]), chosen.keys[:, :, :3], wide(x, known),
    )  # fmt: skip


def copy(_: Path) -> Any:
    weights, ids = wave(2, 3, 4).softmax(-1), torch.tensor([[5, 6, 5, 7], [6, 6, 0, 0]])
    mass, everything = copied_mass(weights, ids, torch.tensor([[5, 6, 7], [6, 5, 0]])), copied_all(weights, ids, 8)
    vocabulary, gates = wave(2, 3, 8).log_softmax(-1), wave(2, 3, 1, 2).log_softmax(-1).expand(-1, -1, 8, -1)
    mixed = [mix(vocabulary, [everything], gates, form) for form in ("distribution", "released")]
    return every_third(mass, everything, *mixed)


def dropout(_: Path) -> Any:
    torch.manual_seed(1)
    return drop(wave(3, 7), 0.3).tolist()


def embeddings(_: Path) -> Any:
    symbols = TreeSymbols(("A", "B"), 3, (True, False), (True, True))
    pieces, trees = waved(PieceEmbedding(9, 6)), waved(TreeSymbolEmbedding(symbols, 6, 0.5, 0.25))
    row, states, target = torch.tensor([[4, 7, 5, 0]]), wave(3, 6, phase=2), torch.tensor([4, 5, 3])
    with torch.no_grad():
        values = [
            part for space in (pieces, trees)
            for part in (space(row), space.loss(states, target, 0.1)[None], space.log_probabilities(states, 2.0))
        ]  # fmt: skip
    torch.manual_seed(1)
    first = embedding(4, 3, 0.1).weight
    return [
        *every_third(*values, first[0]),
        (trees.level_ids[row] - FIRST + 1).clamp(min=0).tolist(),
        list(first.shape),
    ]


def granularity(_: Path) -> Any:
    x, found = wave(2, 4, 8), list[Tensor]()
    layer, real, places = waved(Attention(8, 2)), padding_bias(REAL), torch.arange(4)
    for mask in get_args(GranularityMask):
        for renormalised in (False, True):
            head = waved(Granularity(8, mask, 1.0, renormalised=renormalised))
            z, lengths = head(x), REAL.sum(1, keepdim=True)
            factors = head.factors(z, z, places, lengths)
            found += [factors.values, layer(x, bias=real, factors=factors)]
            found.append(layer(x, causal=True, factors=head.factors(z, z, places, places + 1)))
    return every_third(*found)


def initial(_: Path) -> Any:
    torch.manual_seed(1)
    matrices, table = [nn.Linear(3, 5) for _ in get_args(Initial)], nn.Embedding(4, 3, padding_idx=1)
    for module, rule in zip(matrices, get_args(Initial), strict=True):
        initialise(module, rule)
    initialise(table)
    return [part.tolist() for part in (*(m.weight for m in matrices), *(m.bias for m in matrices), table.weight)]


def linear_(_: Path) -> Any:
    x, weight, bias = wave(2, 5, 6), wave(4, 6, phase=1), wave(4, phase=2)
    results = [linear(x, weight, bias, form) for form in (None, "gelu", "gelu_tanh")]
    with constant_weights():
        results += [linear(x, weight, bias, form) for form in (None, "gelu", "gelu_tanh")]
    return every_third(*results)


def multi_encoder(_: Path) -> Any:
    layer = waved(MultiEncoderAttention(8, [2, 1], 3))
    memories = layer.project_memory([wave(2, 4, 8), wave(2, 3, 8, phase=1)], [padding_bias(REAL), None])
    beams = layer(wave(6, 1, 8, phase=3), memories)  # three hypotheses of each source
    chosen = layer(wave(1, 2, 8, phase=4), [memory.select(torch.tensor([1])) for memory in memories])
    return every_third(layer(wave(2, 3, 8, phase=2), memories), beams, chosen)


def path_attention(_: Path) -> Any:
    x, paths = wave(2, 6, 8), paths_of(LEVELS)
    forms: list[dict[str, Any]] = [{}, {"residual": "inside"}, {"divide": "coverage"}]
    layers = [waved(PathAttention(8, 2, 3, **form)) for form in forms]
    return every_third(*(layer(x, paths) for layer in layers), layers[1](x, paths, wave(2, 6, 8, phase=1)))


def paths(_: Path) -> Any:
    made = paths_of(LEVELS)
    return [made.nodes.tolist(), made.on.tolist(), made.count.tolist(), made.cover.tolist(), made.share.tolist()]


def positions(_: Path) -> Any:
    return sinusoids(5, 6).tolist()


def readout(_: Path) -> Any:
    weight, bias, rows = (wave(9, 8).requires_grad_(), wave(9).requires_grad_(), wave(5, 8, phase=2).requires_grad_())
    target = torch.tensor([0, 3, 8, 3, 1])
    loss = readout_loss(rows, weight, bias, target, 0.1, rows=2)
    loss.backward()
    gradients = [float(part.grad.abs().sum()) for part in (weight, bias, rows) if part.grad is not None]
    layer = waved(Readout(8, 9))
    with torch.no_grad():
        return [
            loss.item(), gradients, layer.loss(rows, target, 0.1).item(), every_third(layer.log_probabilities(rows)),
        ]  # fmt: skip


def recurrent(_: Path) -> Any:
    x, ids = wave(2, 4, 5), torch.tensor([[4, 5, 6, 7], [5, 4, 0, 0]])
    encoders = [waved(RecurrentEncoder(5, 3, bidirectional=both)) for both in (False, True)]
    (states, last), (both, ends) = (encoder(x, REAL) for encoder in encoders)
    bilinear, additive = waved(BilinearAttention(4, 3)), waved(AdditiveAttention(4, 3, 5))
    weights, averages = bilinear(wave(2, 2, 4, phase=1), bilinear.project_memory(states, ids, REAL))
    seen = additive(wave(2, 4, phase=2), additive.key(states), states, REAL)
    lstm = waved(nn.LSTM(5, 3, 2, batch_first=True))
    hidden, cell = lstm_step(lstm, x[:, 0], wave(2, 2, 3), wave(2, 2, 3, phase=3))
    updated = gru_update(wave(2, 9), wave(2, 9, phase=4), wave(2, 3, phase=5))
    return every_third(states, last, both, ends, weights, averages, seen, hidden, cell, updated)


def residual(_: Path) -> Any:
    x, layer = wave(2, 3, 8), waved(Attention(8, 2))
    feed = {name: waved(FeedForward(8, 6, name)) for name in ("gelu", "gelu_tanh")}
    results = [feed["gelu_tanh"](x)]
    for norm in ("post", "pre", "released"):
        block = waved(Residual(8, norm, 0.0, 1e-12))
        results += [block(x, feed["gelu"]), block(x, feed["gelu"], inside=True)]
        results.append(block(x, partial(layer, memory=block.memory(x))))
    return every_third(*results)


def shared_memory(_: Path) -> Any:
    selections = ([0, 1, 2, 3, 4, 5], [0, 0, 2, 5, 3, 3], [3, 4, 5], [0, 3, 4], [])
    rows = [memory_rows(torch.tensor(index, dtype=torch.long), 6, 2) for index in selections]
    return [None if row is None else row.tolist() for row in rows]


COMPONENTS = {
    "layers.attention": attention,
    "layers.copy": copy,
    "layers.dropout": dropout,
    "layers.embeddings": embeddings,
    "layers.granularity": granularity,
    "layers.initial": initial,
    "layers.linear": linear_,
    "layers.multi_encoder": multi_encoder,
    "layers.path_attention": path_attention,
    "layers.paths": paths,
    "layers.positions": positions,
    "layers.readout": readout,
    "layers.recurrent": recurrent,
    "layers.residual": residual,
    "layers.shared_memory": shared_memory,
}
