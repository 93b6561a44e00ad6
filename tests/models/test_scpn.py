"""SCPN against a reference in loops, against itself step by step, and at work."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.constraint import ForbiddenTokens
from espalier.layers.copy import FLOOR
from espalier.models.guig_config import SCPNConfig
from espalier.models.scpn import SCPN
from espalier.syntax.constituency import read_tree
from tests.models.chain_checks import batch_of, check_autocast, check_padding, check_selection

Build = Callable[..., SCPN]
PAIRS = [
    ("a tall heron waits", "(S (NP (DT) (JJ) (NN)) (VP (VBZ)))", "waits a heron", "(SINV (VP (VBZ)) (NP (DT) (NN)))"),
    ("herons wait", "(S (NP (NNS)) (VP (VBP)))", "a heron waits", "(S (NP (DT) (NN)) (VP (VBZ)))"),
    ("wait", "(S (VP (VB)))", "wait a while", "(S (VP (VB) (NP (DT) (NN))))"),
    (
        "who waits while a tall heron sings",
        "(S (WHNP (WP)) (VP (VBZ) (SBAR (IN) (S (NP (DT) (JJ) (NN)) (VP (VBZ))))))",
        "who sings",
        "(S (WHNP (WP)) (VP (VBZ)))",
    ),
]
SMALL: dict[str, Any] = {"width": 8, "word": 7, "label": 5, "tree_hidden": 6}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"attention": "after"},
    {"writes": "tree"},
    {"writes": "tree", "attention": "after", "layers": 1},
    {"writes": "tree", "mixture": "released"},
    {"mixture": "released", "template": 2, "layers": 3},
    {"copying": False},
    {"copying": False, "writes": "tree", "attention": "after"},
]


@pytest.fixture(scope="module")
def data(linearized: Callable[..., PairData]) -> PairData:
    return linearized(PAIRS, depth=8, pieces=40)


@pytest.fixture
def build(data: PairData) -> Build:
    def built(seed: int = 1, **changes: Any) -> SCPN:
        torch.manual_seed(seed)
        model = SCPN(SCPNConfig(**(SMALL | changes)), data.vocabulary).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.5)
        return model

    return built


# --- The reference ----------------------------------------------------------------------------------------------------


def cell(lstm: torch.nn.LSTM, layer: int, x: Tensor, h: Tensor, c: Tensor, way: str = "") -> tuple[Tensor, Tensor]:
    """One step of one layer for one row, gate by gate."""
    into, over, a, b = (
        getattr(lstm, f"{name}_l{layer}{way}").double() for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    enter, forget, new, leave = (into @ x + a + over @ h + b).chunk(4)
    c = torch.sigmoid(forget) * c + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(leave) * torch.tanh(c), c


def read(lstm: torch.nn.LSTM, xs: list[Tensor], way: str = "") -> list[Tensor]:
    h = c = torch.zeros(lstm.hidden_size, dtype=torch.float64)
    states = []
    for x in xs:
        h, c = cell(lstm, 0, x, h, c, way)
        states.append(h)
    return states


def slow_scores(model: SCPN, batch: PairBatch, row: int) -> list[list[float]]:
    """Each place's score of each id, for one row of a batch, in 64 bits and by loops."""
    config, memories = model.config, []
    for index, name in enumerate(config.view.reads):
        ids = [each for each in getattr(batch, name)[row].tolist() if each != PAD]
        table = model.embeddings["text" if name == "source" else "tree"].weight.double()
        lstm = model.encoders[index].lstm
        xs = [table[each] for each in ids]
        states = read(lstm, xs)
        if index == 0:
            back = read(lstm, xs[::-1], "_reverse")[::-1]
            last = torch.cat([states[-1], back[0]])
            states = [torch.cat(pair) for pair in zip(states, back, strict=True)]
        memories.append((ids, states, model.attentions[index].score.weight.double()))

    def attend(h: Tensor) -> tuple[list[list[float]], Tensor]:
        all_weights, contexts = [], []
        for _, states, score in memories:
            raw = [math.exp(float(h @ score @ state)) for state in states]
            weights = [each / sum(raw) for each in raw]
            all_weights.append(weights)
            contexts.append(sum((w * s for w, s in zip(weights, states, strict=True)), torch.zeros_like(states[0])))
        return all_weights, torch.cat(contexts)

    def affine(layer: torch.nn.Linear, x: Tensor) -> Tensor:
        return layer.weight.double() @ x + layer.bias.double()

    hs = list(torch.tanh(affine(model.initial, last)).view(config.layers, config.width))
    cs = [torch.zeros(config.width, dtype=torch.float64)] * config.layers
    made = []
    for token in batch.inputs[row, : int(batch.real[row].sum())].tolist():
        word = model.embeddings[config.writes].weight.double()[token]
        weights, contexts = attend(hs[-1])
        x = torch.cat([word, contexts]) if config.attention == "before" else word
        for layer in range(config.layers):
            hs[layer], cs[layer] = cell(model.decoder, layer, x, hs[layer], cs[layer])
            x = hs[layer]
        if config.attention == "after":
            weights, contexts = attend(hs[-1])
        vocabulary = affine(model.readout, torch.tanh(affine(model.attended, torch.cat([hs[-1], contexts])))).softmax(0)
        gates = [1.0]
        if model.gate is not None:
            gates = affine(model.gate, torch.cat([hs[-1], contexts, word])).softmax(0).tolist()
        scores = []
        for each, p in enumerate(vocabulary.tolist()):
            parts = [p]
            for index in model.copies:
                ids = memories[index][0]
                parts.append(sum(w for w, found in zip(weights[index], ids, strict=True) if found == each))
            if config.mixture == "released":
                scores.append(sum(g * math.log(max(part, FLOOR)) for g, part in zip(gates, parts, strict=True)))
            else:
                scores.append(math.log(sum(g * part for g, part in zip(gates, parts, strict=True))))
        made.append(scores)
    return made


@pytest.mark.parametrize("changes", VARIANTS)
@torch.no_grad()
def test_losses_and_steps_are_those_of_loops(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(data, model)
    losses, loss, state = model.token_losses(batch), model(batch), model.start(batch)
    wanted = [slow_scores(model, batch, row) for row in range(4)]
    total = 0.0
    for t in range(batch.target.shape[1]):
        scores, state = model.step(batch.inputs[:, t], state)
        for row in range(4):
            if not batch.real[row, t]:
                assert losses[row, t] == 0
                continue
            here = torch.tensor(wanted[row][t])
            assert torch.allclose(scores[row], here, rtol=1e-5, atol=2e-6)
            target = float(here[batch.target[row, t]])
            assert float(losses[row, t]) == pytest.approx(-target, rel=1e-6, abs=2e-6)
            total -= target
    assert float(loss.total) == pytest.approx(total, rel=1e-6)
    assert int(loss.targets) == int(batch.real.sum())


# --- The contract -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [changes for changes in VARIANTS if "mixture" not in changes])
@torch.no_grad()
def test_steps_are_distributions_over_what_is_written(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(data, model)
    scores, _ = model.step(torch.full((4,), BOS), model.start(batch))
    voc = data.vocabulary
    assert scores.shape == (4, voc.text_size if model.config.writes == "text" else voc.trees.bracketed_size)
    assert torch.allclose(scores.exp().sum(1), torch.ones(4), atol=1e-5)


@torch.no_grad()
def test_the_released_mixture_gives_no_distribution(build: Build, data: PairData) -> None:
    model = build(mixture="released")
    scores, _ = model.step(torch.full((4,), BOS), model.start(batch_of(data, model)))
    assert (scores <= 0).all() and (scores.exp().sum(1) < 0.9).all()


def test_without_copying_there_is_no_gate_and_the_scores_are_the_vocabularys(build: Build, data: PairData) -> None:
    copying, plain = build(), build(copying=False)
    assert not {name for name in plain.state_dict() if name.startswith("gate")}
    assert {name for name in copying.state_dict() if not name.startswith("gate")} == set(plain.state_dict())
    plain.load_state_dict({k: v for k, v in copying.state_dict().items() if not k.startswith("gate")})
    batch = batch_of(data, plain)
    with torch.no_grad():
        scores, _ = plain.step(batch.inputs[:, 0], plain.start(batch))
        features = plain._decode(plain.embeddings["text"](batch.inputs[:, :1]), plain.start(batch))[0]
        assert torch.allclose(scores, plain.readout.log_probabilities(plain._joined(features)[:, 0]), atol=1e-6)


@pytest.mark.parametrize("changes", VARIANTS[:4])
def test_padding_and_neighbours_change_nothing(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    check_padding(build(**changes), data)


@pytest.mark.parametrize("changes", VARIANTS[:4])
def test_selected_rows_go_on_as_if_alone(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    check_selection(build(**changes), data)


def test_prefixes_of_one_source_share_its_memory(build: Build, data: PairData) -> None:
    model = build()
    state = model.start(batch_of(data, model)).select(torch.arange(4).repeat_interleave(3))
    again = state.select(torch.tensor([2, 2, 0, 3, 4, 5, 6, 6, 6, 11, 10, 9]))
    assert all(one is other for one, other in zip(state.memories, again.memories, strict=True))
    fewer = again.select(torch.tensor([0, 1, 2, 9, 10, 11]))
    assert len(fewer.memories[0].ids) == 2 and fewer.hidden.shape[1] == 6


@pytest.mark.parametrize("changes", VARIANTS)
def test_every_parameter_learns(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes).train()
    model(batch_of(data, model), 0.1).total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all() and parameter.grad.any(), name


@torch.no_grad()
def test_smoothing_is_of_the_vocabulary_alone(build: Build, data: PairData) -> None:
    model = build()
    batch = batch_of(data, model)
    real = batch.real
    features, _ = model._decode(model.embeddings["text"](batch.inputs), model.start(batch))
    even = -model.readout.log_probabilities(model._joined(features[real])).mean(1).sum()
    wanted = 0.8 * model(batch).total + 0.2 * even
    assert torch.allclose(model(batch, 0.2).total, wanted, rtol=1e-6)


@pytest.mark.parametrize("attention", ["before", "after"])
def test_dropout_falls_while_training_alone_and_by_the_seed(build: Build, data: PairData, attention: str) -> None:
    model = build(dropout=0.5, attention=attention)
    batch = batch_of(data, model)
    still = [float(model(batch).total.detach()) for _ in range(2)]
    model.train()
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(float(model(batch).total.detach()))
    assert still[0] == still[1] and drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("attention", ["before", "after"])
def test_autocast_agrees_as_far_as_bfloat16_goes(build: Build, data: PairData, attention: str) -> None:
    model = build(attention=attention)
    check_autocast(model, batch_of(data, model))


# --- Edges, and work --------------------------------------------------------------------------------------------------


def test_rows_with_nothing_in_them_are_not_copied_from(build: Build, data: PairData) -> None:
    model = build()
    batch = batch_of(data, model)
    for source in (torch.zeros_like(batch.source), batch.source[:, :0]):
        empty = replace(batch, source=source)
        scores, _ = model.step(torch.full((4,), BOS), model.start(empty))
        assert torch.allclose(scores.exp().sum(1), torch.ones(4), atol=1e-5)
        model(empty).total.backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_the_view_is_what_is_read_and_written() -> None:
    text, tree = SCPNConfig().view, SCPNConfig(writes="tree", template=2).view
    assert (text.reads, text.writes, text.form) == (("source", "target_tree"), "text", "brackets")
    assert (tree.reads, tree.writes, tree.form, tree.template) == (("source_tree", "template"), "tree", "brackets", 2)


@pytest.mark.parametrize(
    "changes", [{"width": 0}, {"hidden": 3}, {"dropout": 1.0}, {"mixture": "log"}, {"writes": "tree", "cut": 0.5}]
)
def test_configs_that_mean_nothing_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SCPNConfig(**changes)


@pytest.mark.parametrize("changes", VARIANTS)
def test_beams_score_what_the_whole_pass_scores(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(data, model)
    written = ForbiddenTokens(torch.tensor([PAD, UNK, BOS]), model.readout.out_features)
    found = beam_search(model, batch, beam=4, max_ids=9, begin=BOS, end=EOS, constraint=written)
    for row, hypotheses in enumerate(found):
        assert hypotheses
        for each in hypotheses:
            target = [*each.tokens, EOS][:9]
            one = batch_of(data, model, [row])
            again = replace(one, inputs=torch.tensor([[BOS, *target[:-1]]]), target=torch.tensor([target]))
            assert float(model(again).total.detach()) == pytest.approx(-each.log_probability, abs=1e-4)


@pytest.mark.parametrize("attention", ["before", "after"])
def test_it_learns_to_copy_even_what_it_has_never_written(attention: Any) -> None:
    """The last four pieces stand in no text that trains: only attention can write them."""
    tree = read_tree("(S (NP) (VP))", words=False)
    symbols = TreeSymbols.build([tree], 8)
    voc = PairVocabulary.build(["a b c d e f g h i j k l m n o p"], symbols, "en", pieces=60, lower=True)
    known, new = np.arange(4, voc.text_size - 4), np.arange(voc.text_size - 4, voc.text_size)
    rng = np.random.default_rng(1)

    def drawn(ids: Any, count: int) -> PairData:
        rows = [rng.choice(ids, 3, replace=False).tolist() for _ in range(count)]
        trees = [symbols.encode(tree)] * count
        columns = {"source": rows, "target": rows, "source_tree": trees, "target_tree": trees}
        return PairData.of([str(i) for i in range(count)], columns, voc)

    torch.manual_seed(1)
    model = SCPN(SCPNConfig(width=32, word=24, label=8, tree_hidden=8, layers=1, attention=attention), voc)
    optimizer, view = torch.optim.Adam(model.parameters(), lr=1e-2), model.config.view
    train = drawn(known, 512)
    for step in range(30):
        found = model(train.batch(np.arange(32) + 32 * (step % 16), view))
        optimizer.zero_grad()
        (found.total / found.targets).backward()
        optimizer.step()
    model.eval()
    for ids, wanted in ((known, 16), (new, 12)):
        batch = drawn(ids, 16).batch(np.arange(16), view)
        written = beam_search(model, batch, beam=2, max_ids=6, begin=BOS, end=EOS)
        right = [row[0].tokens == source for row, source in zip(written, batch.source.tolist(), strict=True)]
        assert sum(right) >= wanted
