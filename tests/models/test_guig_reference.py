"""GuiG's forward pass against the paper's equations: one pair, one place, one head and one path at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.vocabulary import PAD
from espalier.models.guig import GuiG
from espalier.models.guig_config import GuiGConfig
from espalier.syntax.levels import paths

PAIRS = [
    ("the moss grows on the wall", "(S (NP (DT) (NN)) (VP (VBZ) (PP (IN) (NP (DT) (NN)))))",
     "on the wall grows moss", "(SINV (PP (IN) (NP (DT) (NN))) (VP (VBZ)) (NP (NN)))"),
    ("moss grows", "(S (NP (NN)) (VP (VBZ)))", "the moss grows", "(S (NP (DT) (NN)) (VP (VBZ)))"),
    ("grow", "(S (VP (VB)))", "grow on", "(S (VP (VB) (PP (IN))))"),
]  # fmt: skip
SMALL: dict[str, Any] = {
    "layers": 2, "heads": 2, "width": 8, "inner": 12, "head_width": 3, "dropout": 0.0, "attention_dropout": 0.0,
    "positions": 24,
}  # fmt: skip
RELEASED = {"norm": "released", "residual": "inside", "boundary_ids": True, "alpha": 1.0, "beta": 1.0}


def reads(*rows: str, **more: Any) -> dict[str, Any]:
    return {"reads": rows, "layers": 2, "heads": 3, "cross_heads": 2} | more


TREE = reads("target_tree", attention="path", heads=2, cross_heads=1)
EXPANDER = {"writes": "tree", "encoders": [reads("source_tree"), reads("template", cross_heads=1)], "beta": 0.3}
VARIANTS: dict[str, dict[str, Any]] = {
    "text generator": {"encoders": [reads("source"), TREE]},
    "text generator with copying": {"encoders": [TREE, reads("source")], "norm": "pre", "copying": True},
    "expander": EXPANDER,
    "expander with path attention": EXPANDER
    | {"encoders": [reads("source_tree", attention="path"), reads("template")]},
    "text generator, pre": {"encoders": [reads("source"), TREE], "norm": "pre"},
    "text generator, released": {"encoders": [reads("source"), TREE], **RELEASED},
    "expander, released": EXPANDER | RELEASED,
    "divided by coverage": {"encoders": [TREE], "divide": "coverage", "passes": 1},
    "residual inside, post": {"encoders": [TREE], "residual": "inside", "passes": 3},
    "Transformer": {"encoders": [reads("target_tree", "source", cross_heads=3)]},
    "Transformer with boundary ids": {
        "encoders": [reads("target_tree", "source")],
        "boundary_ids": True,
        "norm": "pre",
    },
    "three encoders": {"encoders": [reads("source"), TREE, reads("template", "source_tree", layers=1)]},
}


@pytest.fixture(scope="module")
def data(linearized: Callable[..., PairData]) -> PairData:
    return linearized(PAIRS, depth=6, pieces=30)


# --- The reference, in 64 bits ----------------------------------------------------------------------------------------


def weights(layer: Any) -> tuple[Tensor, Tensor]:
    return layer.weight.detach().double(), layer.bias.detach().double()


def linear(layer: Any, x: Tensor) -> Tensor:
    weight, bias = weights(layer)
    return weight @ x + bias


def norm(layer: Any, x: Tensor) -> Any:
    if isinstance(layer, nn.Identity):
        return x
    weight, bias = weights(layer)
    return (x - x.mean()) / (((x - x.mean()) ** 2).mean() + layer.eps).sqrt() * weight + bias


def softmaxed(query: Tensor, keys: list[Tensor], values: list[Tensor]) -> Tensor:
    scores = torch.stack([query @ key / math.sqrt(len(query)) for key in keys])
    mass = scores.exp() / scores.exp().sum()
    return torch.stack([m * value for m, value in zip(mass, values, strict=True)]).sum(0)


def attend(attention: Any, heads: int, query: Tensor, seen: list[Tensor]) -> Tensor:
    """One query against the places that it sees, W_O included."""
    weight, bias = weights(attention.project)
    wq, wk, wv = weight.chunk(3)
    bq, bk, bv = bias.chunk(3)
    found = []
    for head in torch.arange(len(wq)).chunk(heads):
        keys, values = [wk[head] @ x + bk[head] for x in seen], [wv[head] @ x + bv[head] for x in seen]
        found.append(softmaxed(wq[head] @ query + bq[head], keys, values))
    return linear(attention.out, torch.cat(found))


def attend_in_paths(
    config: GuiGConfig, block: Any, queries: list[Tensor], seen: list[Tensor], levels: list[int]
) -> list[Tensor]:
    """The sequence is copied once for each path; places that are on none get nothing."""
    first = next(place for place, level in enumerate(levels) if level)
    all_paths = [[first + node for node in path] for path in paths([level for level in levels if level])]
    found = [torch.zeros_like(query) for query in queries]
    for path in all_paths:
        for node in path:
            part = attend(block.attention, block.attention.heads, queries[node], [seen[other] for other in path])
            found[node] = found[node] + part + (seen[node] if config.residual == "inside" else 0)
    counts = [sum(node in path for path in all_paths) for node in range(len(queries))]
    over = [len(all_paths) if config.divide == "paths" else max(1, count) for count in counts]
    return [x / count for x, count in zip(found, over, strict=True)]


Sublayer = Callable[[list[Tensor], list[Tensor]], list[Tensor]]


def around(form: str, layer: Any, xs: list[Tensor], sublayer: Sublayer, inside: bool = False) -> list[Tensor]:
    """A sublayer with its residual and its norm."""
    queries = xs if form == "post" else [norm(layer.norm, x) for x in xs]
    made = sublayer(queries, queries if form == "pre" else xs)
    if not inside:
        made = [one + other for one, other in zip(xs, made, strict=True)]
    return [norm(layer.norm, x) for x in made] if form == "post" else made


def fed(config: GuiGConfig, block: Any, xs: list[Tensor]) -> list[Tensor]:
    def forward(x: Tensor) -> Tensor:
        inner = linear(block.feed_forward.into, x)
        return linear(block.feed_forward.out, 0.5 * inner * (1 + torch.erf(inner / math.sqrt(2))))

    form = "pre" if config.norm == "pre" else "post"
    return around(form, block.feed_forward_residual, xs, lambda queries, _: [forward(x) for x in queries])


def vector(model: Any, kind: str, each: int) -> Any:
    space = model.embeddings[kind]
    if kind == "text":
        return space.pieces.weight[each].detach().double() * math.sqrt(model.config.width)
    depth = model.vocabulary.trees.depth
    node, level = (each, each) if each < 4 else (4 + (each - 4) // depth, 4 + (each - 4) % depth)
    return (space.nodes.weight[node] + space.levels.weight[level]).detach().double() * math.sqrt(model.config.width)


def placed(xs: list[Tensor]) -> list[Tensor]:
    width = len(xs[0])
    angles = [[place / 10_000 ** (column // 2 * 2 / width) for column in range(width)] for place in range(len(xs))]
    waves = [[math.cos(a) if column % 2 else math.sin(a) for column, a in enumerate(row)] for row in angles]
    return [x + torch.tensor(wave, dtype=torch.float64) for x, wave in zip(xs, waves, strict=True)]


def encoded(model: Any, number: int, batch: PairBatch, row: int) -> list[Tensor]:
    config, encoder = model.config, model.config.encoders[number]
    levels, xs = list[int](), list[Tensor]()
    for name in encoder.reads:
        ids = [each for each in getattr(batch, name)[row].tolist() if each != PAD]
        levels += [0 if each < 4 else (each - 4) % model.vocabulary.trees.depth + 1 for each in ids]
        xs += [vector(model, "text" if name == "source" else "tree", each) for each in ids]
    xs, layers = placed(xs), model.encoders[number]
    for block in layers.blocks:
        if encoder.attention == "path":
            for _ in range(config.passes):
                xs = around(
                    config.norm, block.attention_residual, xs,
                    lambda q, m, block=block: attend_in_paths(config, block, q, m, levels), config.residual == "inside",
                )  # fmt: skip
        else:
            xs = around(
                config.norm, block.attention_residual, xs,
                lambda q, m, block=block: [attend(block.attention, encoder.heads, x, m) for x in q],
            )  # fmt: skip
        xs = fed(config, block, xs)
    return [norm(layers.final_norm, x) for x in xs]


def across(block: Any, width: int, query: Tensor, memories: list[list[Tensor]]) -> Tensor:
    """Multi-encoder attention of one place."""
    weight, bias = weights(block.encoders.queries)
    parts, before = list[Tensor](), 0
    for memory, heads, project in zip(memories, block.encoders.heads, block.encoders.memories, strict=True):
        (wk, wv), (bk, bv) = (each.chunk(2) for each in weights(project))
        for head in range(heads):
            own, mine = (slice((n + head) * width, (n + head + 1) * width) for n in (before, 0))
            keys, values = [wk[mine] @ x + bk[mine] for x in memory], [wv[mine] @ x + bv[mine] for x in memory]
            parts.append(softmaxed(weight[own] @ query + bias[own], keys, values))
        before += heads
    return linear(block.encoders.out, torch.cat(parts))


def states(model: Any, batch: PairBatch, row: int) -> list[Tensor]:
    """The decoder's states of one pair, at each place that has a target."""
    config = model.config
    memories = [encoded(model, number, batch, row) for number in range(len(config.encoders))]
    length = int((batch.target[row] != PAD).sum())
    xs = placed([vector(model, config.writes, each) for each in batch.inputs[row, :length].tolist()])
    for block in model.decoder:
        xs = around(
            config.norm, block.attention_residual, xs,
            lambda q, m, block=block: [attend(block.attention, config.heads, x, m[: t + 1]) for t, x in enumerate(q)],
        )  # fmt: skip
        xs = around(
            config.norm, block.encoders_residual, xs,
            lambda q, _, block=block: [across(block, config.head_width, x, memories) for x in q],
        )  # fmt: skip
        xs = fed(config, block, xs)
    return [norm(model.final_norm, x) for x in xs]


def wanted_losses(model: Any, batch: PairBatch, row: int, smoothing: float) -> tuple[Tensor, Tensor]:
    """(time,) nats of each target, and the pair's share of the loss."""
    xs, config = torch.stack(states(model, batch, row)), model.config
    target = batch.target[row, : len(xs)]
    if config.copying:
        return with_copying(model, batch, row, xs, smoothing)
    if config.writes == "text":
        parts = [(1.0, model.embeddings["text"].pieces.weight, target)]
    else:
        depth, space = model.vocabulary.trees.depth, model.embeddings["tree"]
        nodes = torch.where(target < 4, target, 4 + (target - 4) // depth)
        levels = torch.where(target < 4, target, 4 + (target - 4) % depth)
        parts = [(config.alpha, space.nodes.weight, nodes), (config.beta, space.levels.weight, levels)]
    losses, total = torch.zeros(len(xs), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for share, table, row_of in parts:
        logits = xs @ table.detach().double().T
        losses = losses - logits.log_softmax(-1)[torch.arange(len(xs)), row_of]
        total = total + share * F.cross_entropy(logits, row_of, reduction="sum", label_smoothing=smoothing)
    return losses, total


def with_copying(model: Any, batch: PairBatch, row: int, xs: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """`wanted_losses` of p = g_0 p_vocabulary + g_1 (attention to the places of the target in the source)."""
    config, pointer, table = model.config, model.pointer, model.embeddings["text"].pieces.weight.detach().double()
    number = next(n for n, encoder in enumerate(config.encoders) if encoder.reads == ("source",))
    source, seen = batch.source[row].tolist(), encoded(model, number, batch, row)
    inputs = placed([vector(model, "text", each) for each in batch.inputs[row, : len(xs)].tolist()])
    losses, total = [], torch.zeros((), dtype=torch.float64)
    for x, read, wanted in zip(xs, inputs, batch.target[row].tolist(), strict=False):
        scores = torch.stack([x @ pointer.attention.score.weight.detach().double() @ state for state in seen])
        attention = scores.exp() / scores.exp().sum()
        context = sum(share * state for share, state in zip(attention, seen, strict=True))
        gates = linear(pointer.gate, torch.cat([x, context, read])).softmax(0)
        written = (table @ x).softmax(0)
        copied = sum(share for share, piece in zip(attention, source, strict=False) if piece == wanted)
        losses.append(-(gates[0] * written[wanted] + gates[1] * copied).log())
        total = total + (1 - smoothing) * losses[-1] - smoothing * written.log().mean()
    return torch.stack(losses), total


@pytest.mark.parametrize("name", VARIANTS)
def test_the_loss_is_that_of_the_equations(name: str, data: PairData) -> None:
    torch.manual_seed(1)
    model = GuiG(GuiGConfig(**(SMALL | VARIANTS[name])), data.vocabulary).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    batch = data.batch(np.arange(len(data)), model.config.view, grain=4)
    with torch.no_grad():
        losses = model.token_losses(batch)
        for smoothing in (0.0, 0.1):
            found, total = model(batch, smoothing), 0.0
            for row in range(len(data)):
                wanted, part = wanted_losses(model, batch, row, smoothing)
                assert torch.allclose(losses[row, : len(wanted)].double(), wanted, atol=2e-5)
                assert not losses[row, len(wanted) :].any()
                total += part.item()
            assert found.targets == batch.real.sum() == sum(len(r) for r in batch.target) - (batch.target == PAD).sum()
            assert found.total.item() == pytest.approx(total, rel=1e-5)
