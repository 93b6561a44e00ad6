"""The residual LSTM and the pointer-generator against a reference in loops, against themselves, and at work."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.constraint import ForbiddenTokens
from espalier.models.cdnpg_config import PairSeq2SeqConfig
from espalier.models.pair_seq2seq import PairSeq2Seq
from tests.models.chain_checks import batch_of, check_autocast, check_later_tokens, check_padding, check_selection

Build = Callable[..., PairSeq2Seq]
TEXTS = [("a tall heron waits", "waits a heron"), ("herons wait", "a heron waits"), ("wait", "wait a while"),
         ("who waits while a tall heron sings", "who sings")]  # fmt: skip
SMALL: dict[str, Any] = {"width": 6, "word": 6, "encoder_layers": 2, "layers": 3, "dropout": 0.0}
POINTER: dict[str, Any] = {"residual": 0, "word": 5, "encoder_layers": 1, "layers": 1, "bidirectional": True,
                           "attention": True, "copying": True}  # fmt: skip
VARIANTS: list[dict[str, Any]] = [
    {},
    {"residual": 1, "bidirectional": True},
    {"cell": "gru", "residual": 3},
    {"cell": "gru", "residual": 1, "attention": True},
    POINTER,
    {**POINTER, "coverage": 1.0, "layers": 2},
    {"attention": True, "coverage": 0.5},
]
every_variant = pytest.mark.parametrize("changes", VARIANTS, ids=lambda changes: "-".join(map(str, changes.values())))


@pytest.fixture(scope="module")
def data(untreed: Callable[..., PairData]) -> PairData:
    return untreed(TEXTS, pieces=40)


@pytest.fixture
def build(data: PairData) -> Build:
    def built(seed: int = 1, **changes: Any) -> PairSeq2Seq:
        torch.manual_seed(seed)
        model = PairSeq2Seq(PairSeq2SeqConfig(**(SMALL | changes)), data.vocabulary).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.5)
            model.embedding.weight[PAD] = 0.0
        return model

    return built


# --- The reference ----------------------------------------------------------------------------------------------------


def cell(layer: nn.LSTM | nn.GRU, x: Tensor, state: list[Tensor], way: str = "") -> list[Tensor]:
    """One step of one layer for one row, gate by gate: the new hidden state, and the new cell of an LSTM."""
    into, over, a, b = (
        getattr(layer, f"{name}_l0{way}").double() for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    if isinstance(layer, nn.LSTM):
        enter, forget, new, leave = (into @ x + a + over @ state[0] + b).chunk(4)
        kept = torch.sigmoid(forget) * state[1] + torch.sigmoid(enter) * torch.tanh(new)
        return [torch.sigmoid(leave) * torch.tanh(kept), kept]
    (r, z, n), (hr, hz, hn) = (into @ x + a).chunk(3), (over @ state[0] + b).chunk(3)
    update = torch.sigmoid(z + hz)
    return [(1 - update) * torch.tanh(n + torch.sigmoid(r + hr) * hn) + update * state[0]]


def encoded(model: PairSeq2Seq, ids: list[int]) -> tuple[list[Tensor], Tensor]:
    """The outputs of every place of a source, and the last state."""
    below = [[model.embedding.weight.double()[each] for each in ids]]
    for number, layer in enumerate(model.encoder.layers, start=1):
        ways = []
        for way in ("", "_reverse")[: 1 + layer.bidirectional]:
            state, states = [torch.zeros(layer.hidden_size, dtype=torch.float64)] * 2, []
            for x in below[-1] if way == "" else below[-1][::-1]:
                state = cell(layer, x, state, way)
                states.append(state[0])
            ways.append(states)
        last = torch.cat([states[-1] for states in ways])
        ways[1:] = [states[::-1] for states in ways[1:]]
        ys = [torch.cat(parts) for parts in zip(*ways, strict=True)]
        n = model.config.residual
        if n and number % n == 0:
            ys = [y + x for y, x in zip(ys, below[number - n], strict=True)]
        below.append(ys)
    return below[-1], last


def affine(layer: nn.Linear, x: Tensor) -> Tensor:
    return layer.weight.double() @ x + (0 if layer.bias is None else layer.bias.double())


def slow(model: PairSeq2Seq, batch: PairBatch, row: int) -> tuple[list[list[float]], list[float]]:
    """Each place's log-probability of each piece, and its coverage loss, for one row, in 64 bits and by loops."""
    config, parts = model.config, model.parts
    ids = [each for each in batch.source[row].tolist() if each != PAD]
    memory, last = encoded(model, ids)
    first = torch.tanh(affine(model.initial, last)).view(parts, config.layers, config.width)
    states = [[first[part, layer] for part in range(parts)] for layer in range(config.layers)]
    coverage, scores, repeated = [0.0] * len(ids), [], []
    for token in batch.inputs[row, : int(batch.real[row].sum())].tolist():
        x = model.embedding.weight.double()[token]
        below = [x]
        for number, layer in enumerate(model.decoder.layers, start=1):
            states[number - 1] = cell(layer, below[-1], states[number - 1])
            y = states[number - 1][0]
            if config.residual and number % config.residual == 0:
                y = y + below[number - config.residual]
            below.append(y)
        top = read = below[-1]
        if model.attention is not None:
            raw = []
            for place, state in enumerate(memory):
                inside = affine(model.attention.key, state) + affine(model.attention.query, top)
                if model.attention.covered is not None:
                    inside = inside + coverage[place] * model.attention.covered.double()
                raw.append(math.exp(float(affine(model.attention.score, torch.tanh(inside)))))
            weights = [each / sum(raw) for each in raw]
            repeated.append(sum(map(min, weights, coverage)))
            coverage = [c + w for c, w in zip(coverage, weights, strict=True)]
            context = sum((w * s for w, s in zip(weights, memory, strict=True)), torch.zeros_like(memory[0]))
            read = torch.tanh(affine(model.attended, torch.cat([top, context])))
        here = affine(model.readout, read).softmax(0).tolist()
        if model.gate is not None:
            generate = float(torch.sigmoid(affine(model.gate, torch.cat([context, top, x]))))
            copies = [
                sum(w for w, found in zip(weights, ids, strict=True) if found == each) for each in range(len(here))
            ]
            here = [generate * p + (1 - generate) * copy for p, copy in zip(here, copies, strict=True)]
        scores.append([math.log(p) for p in here])
    return scores, repeated


@every_variant
@torch.no_grad()
def test_losses_and_steps_are_those_of_loops(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(data, model)
    losses, loss, state = model.token_losses(batch), model(batch), model.start(batch)
    wanted = [slow(model, batch, row)[0] for row in range(4)]
    total = 0.0
    for t in range(batch.target.shape[1]):
        scores, state = model.step(batch.inputs[:, t], state)
        for row in range(4):
            if not batch.real[row, t]:
                assert losses[row, t] == 0
                continue
            here = torch.tensor(wanted[row][t])
            assert torch.allclose(scores[row], here, rtol=1e-5, atol=3e-6)
            target = float(here[batch.target[row, t]])
            assert float(losses[row, t]) == pytest.approx(-target, rel=1e-5, abs=3e-6)
            total -= target
    assert float(loss.total) == pytest.approx(total, rel=1e-5)
    assert int(loss.targets) == int(batch.real.sum())


@pytest.mark.parametrize("changes", VARIANTS[5:])
def test_the_coverage_loss_is_that_of_equation_12_and_of_training_alone(
    build: Build, data: PairData, changes: dict[str, Any]
) -> None:
    model = build(**changes)
    batch = batch_of(data, model)
    repeated = sum(sum(slow(model, batch, row)[1]) for row in range(4))
    assert repeated > 0.1
    still, learning = float(model(batch).total.detach()), float(model.train()(batch).total.detach())
    assert learning - still == pytest.approx(model.config.coverage * repeated, rel=1e-4)
    assert still == pytest.approx(float(model.token_losses(batch).detach().sum()), rel=1e-5)


# --- The contract -----------------------------------------------------------------------------------------------------


@every_variant
def test_later_words_change_nothing_before_them(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    check_later_tokens(build(**changes), data)


@every_variant
def test_padding_and_neighbours_change_nothing(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    check_padding(build(**changes), data)


@every_variant
def test_selected_rows_go_on_as_if_alone(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    check_selection(build(**changes), data, sums_to_one=True)


def test_prefixes_of_one_source_share_its_memory(build: Build, data: PairData) -> None:
    state = build(**VARIANTS[5]).start(batch_of(data, build())).select(torch.arange(4).repeat_interleave(3))
    again = state.select(torch.tensor([2, 2, 0, 3, 4, 5, 6, 6, 6, 11, 10, 9]))
    assert again.memory is state.memory is not None
    fewer = again.select(torch.tensor([0, 1, 2, 9, 10, 11]))
    assert fewer.memory is not None and fewer.coverage is not None
    assert len(fewer.memory.ids) == 2 and fewer.layers.shape[2] == len(fewer.coverage) == 6


@every_variant
def test_every_parameter_learns(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes).train()
    model(batch_of(data, model), 0.1).total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all() and parameter.grad.any(), name


@torch.no_grad()
def test_smoothing_is_of_the_vocabulary_alone(build: Build, data: PairData) -> None:
    model = build(**POINTER)
    batch = batch_of(data, model)
    even = -model.readout.log_probabilities(model._decode(batch).features[batch.real]).mean(1).sum()
    wanted = 0.8 * model(batch).total + 0.2 * even
    assert torch.allclose(model(batch, 0.2).total, wanted, rtol=1e-6)


def test_dropout_falls_while_training_alone_and_by_the_seed(build: Build, data: PairData) -> None:
    model = build(dropout=0.5)
    batch = batch_of(data, model)
    still = [float(model(batch).total.detach()) for _ in range(2)]
    model.train()
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(float(model(batch).total.detach()))
    assert still[0] == still[1] and drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("changes", [{}, {**POINTER, "coverage": 1.0}, {"cell": "gru"}])
def test_autocast_agrees_as_far_as_bfloat16_goes(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    check_autocast(model, batch_of(data, model))


# --- Edges, and work --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, POINTER])
def test_a_source_without_pieces_is_not_copied_from(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(data, model)
    for source in (torch.zeros_like(batch.source), batch.source[:, :0]):
        empty = replace(batch, source=source)
        scores, _ = model.step(torch.full((4,), BOS), model.start(empty))
        assert torch.allclose(scores.exp().sum(1), torch.ones(4), atol=1e-5)
        model(empty).total.backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_the_view_needs_no_trees() -> None:
    view = PairSeq2SeqConfig().view
    assert (view.reads, view.writes) == (("source",), "text")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"copying": True}, "copying needs attention: true"),
        ({"coverage": 1.0}, "coverage needs attention: true"),
        ({"word": 300}, "word 300 must equal width 450"),
        ({"residual": 5}, r"residual: 5 connects nothing in 4 \+ 4 layers"),
        ({"bidirectional": True, "width": 7, "word": 7}, "even width, not 7"),
        ({"cell": "rnn"}, "'lstm' or 'gru'"),
        ({"coverage": -1.0}, "greater than or equal to 0"),
        ({"hidden": 3}, "Extra inputs are not permitted"),
    ],
)
def test_settings_that_mean_nothing_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PairSeq2SeqConfig(**changes)


@every_variant
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


@pytest.mark.parametrize("coverage", [0.0, 0.1])
def test_the_pointer_writes_pieces_that_no_target_has_shown_it(coverage: float) -> None:
    """The last four pieces stand in no text that trains: only attention can write them."""
    voc = PairVocabulary.build(["a b c d e f g h i j k l m n o p"], None, "en", pieces=60, lower=True)
    known, new = np.arange(4, voc.text_size - 4), np.arange(voc.text_size - 4, voc.text_size)
    rng = np.random.default_rng(1)

    def drawn(ids: Any, count: int) -> PairData:
        rows = [rng.choice(ids, 3, replace=False).tolist() for _ in range(count)]
        none: list[list[int]] = [[]] * count
        columns = {"source": rows, "target": rows, "source_tree": none, "target_tree": none}
        return PairData.of([str(i) for i in range(count)], columns, voc)

    torch.manual_seed(1)
    network = {**POINTER, "width": 32, "word": 24, "dropout": 0.0, "coverage": coverage}
    model = PairSeq2Seq(PairSeq2SeqConfig(**network), voc)
    optimizer, view = torch.optim.Adam(model.parameters(), lr=1e-2), model.config.view
    train = drawn(known, 512)
    for step in range(60):
        found = model(train.batch(np.arange(32) + 32 * (step % 16), view))
        optimizer.zero_grad()
        (found.total / found.targets).backward()
        optimizer.step()
    model.eval()
    for ids, wanted in ((known, 16), (new, 12)):
        batch = drawn(ids, 16).batch(np.arange(16), view)
        written = beam_search(model, batch, beam=2, max_ids=6, begin=BOS, end=EOS)
        right = [row[0].tokens == source for row, source in zip(written, batch.source.tolist(), strict=True)]
        assert sum(right) >= wanted, f"{sum(right)} of 16"
