"""SongNet's forward pass against the equations, one text, one place and one head at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.verse.data import VerseBatch, VerseData
from espalier.datasets.vocabulary import PAD
from espalier.models.songnet import SongNet

Build = Callable[..., SongNet]

VARIANTS: dict[str, dict[str, Any]] = {
    "text": {},
    "released": {"block": "released", "embedding_norm": True, "head": "released", "marks": "one", "title": True},
    "norm over embeddings alone": {"embedding_norm": True},
    "title": {"title": True},
    "pre-norm": {"norm": "pre", "activation": "gelu_tanh", "head": "linear"},
    "w/o C": {"symbols": ("p", "s")},
    "w/o P": {"symbols": ("c", "s")},
    "w/o S": {"symbols": ("c", "p")},
    "inverse-P": {"order": "ascending"},
    "plain decoder": {"symbols": (), "global_attention": False, "norm": "pre", "epsilon": 1e-5},
    "SongNet-GRU": {"core": "gru"},
    "SongNet-GRU, released": {"core": "gru", "block": "released", "embedding_norm": True, "head": "released"},
    "GRU without symbols": {"core": "gru", "symbols": (), "global_attention": False, "norm": "pre"},
    "one head": {"heads": 1, "layers": 1},
}


def linear(layer: Any, x: Tensor) -> Tensor:
    return layer.weight @ x + layer.bias


def norm(layer: Any, x: Tensor) -> Tensor:
    if isinstance(layer, nn.Identity):
        return x
    spread = ((x - x.mean()) ** 2).mean() + layer.eps
    return (x - x.mean()) / spread.sqrt() * layer.weight + layer.bias


def gelu(x: Tensor, kind: str = "gelu") -> Tensor:
    if kind == "gelu":
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def attend(attention: Any, x: Tensor, seen: Iterable[Tensor]) -> Tensor:
    """One query against the places that it sees."""
    width = len(x)
    weight, bias = attention.project.weight, attention.project.bias
    query, (keys, values) = weight[:width] @ x + bias[:width], ([], [])
    for place in seen:
        keys.append(weight[width : 2 * width] @ place + bias[width : 2 * width])
        values.append(weight[2 * width :] @ place + bias[2 * width :])
    mixed = []
    for part in torch.arange(width).chunk(attention.heads):
        scores = torch.stack([query[part] @ key[part] / math.sqrt(len(part)) for key in keys])
        mass = scores.exp() / scores.exp().sum()
        mixed.append(sum(m * value[part] for m, value in zip(mass, values, strict=True)))
    return linear(attention.out, torch.cat(mixed))


def recur(gru: Any, seen: Iterable[Tensor]) -> Tensor:
    """The state of a gated recurrent unit after these places, gate by gate."""
    width = gru.hidden_size
    state = torch.zeros(width)
    for x in seen:
        enter = gru.weight_ih_l0 @ x + gru.bias_ih_l0
        inner = gru.weight_hh_l0 @ state + gru.bias_hh_l0
        reset, update = (torch.sigmoid(enter[k : k + width] + inner[k : k + width]) for k in (0, width))
        new = torch.tanh(enter[2 * width :] + reset * inner[2 * width :])
        state = (1 - update) * new + update * state
    return state


def residual(model: SongNet, layer: Any, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    if model.config.norm == "post":
        return norm(layer.norm, sublayer(x) + x)
    return sublayer(norm(layer.norm, x)) + x


def place_of(model: SongNet, layer: Any, h: list[Tensor], t: int, memory: list[Tensor]) -> Tensor:
    """One place of the next layer: equations 8 and 9."""
    seen = h[: t + 1]
    if model.config.norm == "pre":
        seen = [norm(layer.attention_residual.norm, x) for x in seen]

    def fed(ffn: Any) -> Callable[[Tensor], Tensor]:
        return lambda x: linear(ffn.out, gelu(linear(ffn.into, x), model.config.activation))

    def past(q: Tensor) -> Tensor:
        return recur(layer.attention.gru, seen) if model.config.core == "gru" else attend(layer.attention, q, seen)

    x = residual(model, layer.attention_residual, h[t], past)
    if layer.first_feed_forward is not None:
        x = residual(model, layer.first_feed_forward_residual, x, fed(layer.first_feed_forward))
    if layer.global_attention is not None:
        x = residual(model, layer.global_residual, x, lambda q: attend(layer.global_attention, q, memory))
    return residual(model, layer.feed_forward_residual, x, fed(layer.feed_forward))


def logits_of(model: Any, batch: VerseBatch, row: int) -> Tensor:
    """(time, text size) of one text of a batch, its padding cut off."""
    config, voc, table = model.config, model.vocabulary, model.table.weight
    length = int((batch.target[row] != PAD).sum())
    h, memory = [], []
    if config.title:
        title = [int(i) for i in batch.title[row] if i != PAD]
        for place, word in enumerate(title):
            memory.append(table[word] + table[voc.s_title] + table[voc.position(len(title) - 1 - place)])
    for t in range(length):
        c = int(batch.c[row, t])
        if config.marks == "one" and c in voc.mark_ids:
            c = voc.c_mark
        rows = {"c": c, "p": int(batch.p[row, t]), "s": int(batch.s[row, t])}
        f0 = sum((table[rows[name]] for name in config.symbols), torch.zeros(config.width))  # equation 7
        memory.append(f0)
        h.append(table[batch.inputs[row, t]] + f0 + model.positions.weight[t])  # equation 6
    memory, h = ([norm(model.embedding_norm, x) for x in part] for part in (memory, h))

    for layer in model.layers:
        h = [place_of(model, layer, h, t, memory) for t in range(length)]
    found = [norm(model.final_norm, x) for x in h]
    if config.head == "released":
        found = [norm(model.transform[2], gelu(linear(model.transform[0], x))) for x in found]
    if config.head != "tied":
        return torch.stack([linear(model.head, x) for x in found])
    return torch.stack([table[: voc.text_size] @ x + model.head_bias for x in found])


@pytest.mark.parametrize("name", VARIANTS)
def test_the_loss_is_that_of_the_equations(name: str, build: Build, data: VerseData) -> None:
    model = build(**VARIANTS[name])
    batch = data.batch(np.arange(len(data)), model.config.view)
    with torch.no_grad():
        losses, loss = model.token_losses(batch), model(batch)
        smoothed = model(batch, 0.1)
        total = total_smoothed = torch.zeros(())
        for row in range(len(data)):
            logits = logits_of(model, batch, row)
            target = batch.target[row, : len(logits)]
            wanted = -logits.log_softmax(-1)[torch.arange(len(target)), target]  # equation 10
            assert torch.allclose(losses[row, : len(target)], wanted, atol=1e-5)
            assert not losses[row, len(target) :].any()
            total = total + wanted.sum()
            total_smoothed = total_smoothed + F.cross_entropy(logits, target, reduction="sum", label_smoothing=0.1)
    assert loss.targets == batch.real.sum()
    assert torch.allclose(loss.total, total, rtol=1e-5)
    assert torch.allclose(smoothed.total, total_smoothed, rtol=1e-5)


def test_the_text_s_layer_has_two_feed_forward_networks_and_the_released_one(build: Build) -> None:
    def networks(**changes: Any) -> int:
        return sum(".into.weight" in name for name in build(layers=1, **changes).state_dict())

    assert networks() == 2
    assert networks(block="released") == 1
    assert networks(global_attention=False) == 1
