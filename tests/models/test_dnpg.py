"""DNPG against a reference in loops, against itself step by step, and the rules of its levels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from pydantic import ValidationError
from torch import Tensor, nn

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.constraint import ForbiddenTokens
from espalier.models.cdnpg_config import DNPGConfig
from espalier.models.dnpg import DNPG, aligned_levels
from espalier.models.dnpg_levels import OTHER_LEVEL, PHRASE, SENTENCE
from tests.models.chain_checks import (
    batch_of,
    check_autocast,
    check_later_tokens,
    check_padding,
    check_selection,
    check_shared_pasts,
)

Build = Callable[..., DNPG]
TEXTS = [("a tall heron waits", "waits a heron"), ("herons wait", "a heron waits"), ("wait", "wait a while"),
         ("who waits while a tall heron sings", "who sings")]  # fmt: skip
SMALL: dict[str, Any] = {"width": 6, "heads": 2, "inner": 7, "encoder_layers": 1, "layers": 2, "dropout": 0.0,
                         "attention_dropout": 0.0, "positions": 40}  # fmt: skip
VARIANTS: list[dict[str, Any]] = [{}, {"window": 1, "encoder_layers": 2, "layers": 1}, {"window": 5, "heads": 3}]
every_variant = pytest.mark.parametrize("changes", VARIANTS, ids=lambda changes: "-".join(map(str, changes.values())))


@pytest.fixture(scope="module")
def data(untreed: Callable[..., PairData]) -> PairData:
    return untreed(TEXTS, pieces=40)


@pytest.fixture
def build(data: PairData) -> Build:
    def built(seed: int = 1, **changes: Any) -> DNPG:
        torch.manual_seed(seed)
        model = DNPG(DNPGConfig(**(SMALL | changes)), data.vocabulary).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.5)
            model.embedding.pieces.weight[PAD] = 0.0
        return model

    return built


# --- The reference ----------------------------------------------------------------------------------------------------


def affine(layer: nn.Linear, x: Tensor) -> Tensor:
    return x @ layer.weight.double().T + (0 if layer.bias is None else layer.bias.double())


def attend(layer: Any, xs: Tensor, keys: Tensor, penalty: Any) -> Tensor:
    """Head by head and place by place; `penalty(i, j)` is subtracted from a score, None hides the key."""
    weight, bias, inner, rows = layer.project.weight.double(), layer.project.bias.double(), layer.inner, []
    q, k, v = (
        part @ weight[n * inner : (n + 1) * inner].T + bias[n * inner : (n + 1) * inner]
        for n, part in enumerate((xs, keys, keys))
    )
    size = inner // layer.heads
    for i in range(len(xs)):
        heads = []
        for head in range(layer.heads):
            at = slice(head * size, (head + 1) * size)
            seen = [j for j in range(len(keys)) if penalty(i, j) is not None]
            scores = torch.stack([q[i, at] @ k[j, at] / math.sqrt(size) - penalty(i, j) for j in seen])
            heads.append(scores.softmax(0) @ v[seen][:, at])
        rows.append(affine(layer.out, torch.cat(heads)))
    return torch.stack(rows)


def sublayer(residual: Any, x: Tensor, y: Tensor) -> Tensor:
    norm = residual.norm
    return F.layer_norm(x + y, norm.normalized_shape, norm.weight.double(), norm.bias.double(), norm.eps)


def fed(block: Any, x: Tensor) -> Tensor:
    inside = F.gelu(affine(block.feed_forward.into, x))
    return sublayer(block.feed_forward_residual, x, affine(block.feed_forward.out, inside))


def lstm(layer: nn.LSTM, xs: Tensor, way: str = "") -> Tensor:
    into, over, a, b = (
        getattr(layer, f"{name}_l0{way}").double() for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h = c = torch.zeros(layer.hidden_size, dtype=torch.float64)
    states = []
    for x in xs:
        enter, forget, new, leave = (into @ x + a + over @ h + b).chunk(4)
        c = torch.sigmoid(forget) * c + torch.sigmoid(enter) * torch.tanh(new)
        h = torch.sigmoid(leave) * torch.tanh(c)
        states.append(h)
    return torch.stack(states)


def sinusoid(position: int, width: int) -> Tensor:
    angles = [position / 10_000 ** (2 * (n // 2) / width) for n in range(width)]
    return torch.tensor([math.cos(x) if n % 2 else math.sin(x) for n, x in enumerate(angles)], dtype=torch.float64)


def slow_scores(model: DNPG, batch: PairBatch, row: int) -> Tensor:
    """Each place's log-probability of each piece, for one row, in 64 bits and by loops."""
    config, width = model.config, model.config.width
    table = model.embedding.pieces.weight.double() * math.sqrt(width)
    ids = [each for each in batch.source[row].tolist() if each != PAD]
    x, half = table[ids], config.window // 2
    both = torch.cat([lstm(model.separator.encoder.lstm, x), lstm(model.separator.encoder.lstm, x.flip(0), "_reverse").flip(0)], 1)  # fmt: skip  # noqa: E501
    level = affine(model.separator.level, both).argmax(1).tolist()
    tokens = batch.inputs[row, : int(batch.real[row].sum())].tolist()
    written = table[tokens] + torch.stack([sinusoid(t, width) for t in range(len(tokens))])
    tops, phrases = [], torch.zeros(0)
    for number, pair in enumerate(model.levels):
        places = list(range(len(ids))) if number == PHRASE else [level[:i].count(SENTENCE) for i in range(len(ids))]
        h = x + torch.stack([sinusoid(place, width) for place in places])
        other = [0.0 if each == number else OTHER_LEVEL for each in level]

        def around(i: int, j: int, other: list[float] = other, local: bool = number == PHRASE) -> float | None:
            return None if local and abs(i - j) > half else other[j]

        def before(i: int, j: int, local: bool = number == PHRASE) -> float | None:
            return 0.0 if 0 <= i - j < (config.window if local else 1000) else None

        def known(i: int, j: int, other: list[float] = other) -> float:
            return other[j]

        for block in pair.encoder:
            h = fed(block, sublayer(block.attention_residual, h, attend(block.attention, h, h, around)))
        y = written
        for block in pair.decoder:
            y = sublayer(block.attention_residual, y, attend(block.attention, y, y, before))
            y = fed(block, sublayer(block.cross_residual, y, attend(block.cross, y, h, known)))
        tops.append(y)
        if number == PHRASE:
            phrases, hidden = h, torch.tensor(other)
    weight = affine(model.aggregator.level, lstm(model.aggregator.stack.layers[0], torch.cat(tops, 1))).softmax(1)
    rows = []
    for t in range(len(tokens)):
        scores = torch.stack([tops[PHRASE][t] @ affine(model.pointer.score, state) for state in phrases])
        weights = (scores - hidden).softmax(0)
        read = torch.cat([weights @ phrases, tops[PHRASE][t], written[t]])
        generate = torch.sigmoid(affine(model.gate, read))[0]
        p, s = ((top[t] @ (table / math.sqrt(width)).T).softmax(0) for top in tops)
        copied = torch.zeros_like(p)
        for place, each in enumerate(ids):
            copied[each] += weights[place]
        phrase = generate * p + (1 - generate) * copied
        rows.append(torch.log(weight[t, PHRASE] * phrase + weight[t, SENTENCE] * s))
    return torch.stack(rows)


@every_variant
@torch.no_grad()
def test_losses_and_steps_are_those_of_loops(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(data, model)
    losses, loss, state = model.token_losses(batch), model(batch), model.start(batch)
    wanted = [slow_scores(model, batch, row) for row in range(4)]
    total = 0.0
    for t in range(batch.target.shape[1]):
        scores, state = model.step(batch.inputs[:, t], state)
        assert torch.allclose(scores.exp().sum(1), torch.ones(4), atol=1e-5)
        for row in range(4):
            if not batch.real[row, t]:
                assert losses[row, t] == 0
                continue
            here = wanted[row][t]
            assert torch.allclose(scores[row].double(), here, rtol=1e-5, atol=3e-6)
            target = float(here[batch.target[row, t]])
            assert float(losses[row, t]) == pytest.approx(-target, rel=1e-5, abs=3e-6)
            total -= target
    assert float(loss.total) == pytest.approx(total, rel=1e-5)
    assert int(loss.targets) == int(batch.real.sum())


# --- Levels -----------------------------------------------------------------------------------------------------------


def test_pieces_of_both_sides_are_of_the_phrase_level() -> None:
    source = torch.tensor([[7, 8, 9, 7], [8, 5, PAD, PAD]])
    target = torch.tensor([[9, 6, 7, EOS], [5, 5, EOS, PAD]])
    levels = aligned_levels(source, target)
    assert levels.source[0].tolist() == [PHRASE, SENTENCE, PHRASE, PHRASE]
    assert levels.source[1, :2].tolist() == [SENTENCE, PHRASE]
    assert levels.target[0].tolist() == [PHRASE, SENTENCE, PHRASE, SENTENCE]
    assert levels.target[1, :3].tolist() == [PHRASE, PHRASE, SENTENCE]


def test_supervision_adds_the_cross_entropy_of_both_sides_in_training_alone(build: Build, data: PairData) -> None:
    model = build(supervision=2.0)
    batch = batch_of(data, model)
    losses = model.token_losses(batch).detach()
    assert float(model(batch).total.detach()) == pytest.approx(float(losses.sum()), rel=1e-6)
    found = []
    for weight in (0.0, 2.0):
        object.__setattr__(model, "config", DNPGConfig(**SMALL, supervision=weight))
        torch.manual_seed(3)
        found.append(float(model.train()(batch).total.detach()))
    torch.manual_seed(3)
    source = model._read(batch)
    levels = model._write(batch, source).levels
    wanted = 0.0
    for row in range(4):
        ids, targets = ([int(each) for each in part[row] if each != PAD] for part in (batch.source, batch.target))
        for place, each in enumerate(ids):
            logits = source.logits[row, place].tolist()
            right = PHRASE if each in targets else SENTENCE
            wanted -= logits[right] - math.log(sum(map(math.exp, logits)))
        for place, each in enumerate(targets):
            wanted -= float(levels[row, place, PHRASE if each in ids else SENTENCE].detach())
    assert found[1] - found[0] == pytest.approx(2 * wanted, rel=1e-4)


def test_the_likelihood_alone_trains_the_separator(build: Build, data: PairData) -> None:
    model = build(supervision=0.0).train()
    model(batch_of(data, model)).total.backward()
    for name, parameter in model.separator.named_parameters():
        assert parameter.grad is not None and float(parameter.grad.abs().sum()) > 1e-3, name


@torch.no_grad()
def test_levels_are_drawn_in_training_and_the_likelier_ones_otherwise(build: Build, data: PairData) -> None:
    model = build()
    x, real = torch.randn(300, 2, 6), torch.ones(300, 2, dtype=torch.bool)
    logits, z = model.separator(x, real)
    assert torch.equal(z.argmax(-1), logits.argmax(-1)) and torch.equal(z, model.separator(x, real)[1])
    _, drawn = model.train().separator(x, real)
    assert set(drawn.unique().tolist()) <= {0.0, 1.0} and torch.equal(drawn.sum(-1), torch.ones(300, 2))
    assert not torch.equal(drawn, z)
    # As often as the softmax says: a mean of 600 draws, within four standard errors.
    assert abs(float(drawn[..., PHRASE].mean() - logits.softmax(-1)[..., PHRASE].mean())) < 4 * 0.5 / math.sqrt(600)


@torch.no_grad()
def test_granularity_is_the_probability_of_the_phrase_level(build: Build, data: PairData) -> None:
    model = build()
    batch = batch_of(data, model)
    encoder, decoder = model.granularities(batch)
    (found,) = encoder.values()
    logits = model._read(batch).logits
    assert found.shape == batch.source.shape and not decoder
    assert torch.allclose(found, torch.sigmoid(logits[..., PHRASE] - logits[..., SENTENCE]))


@pytest.mark.parametrize(("window", "seen"), [(1, 1), (3, 3), (5, 5)])
@torch.no_grad()
def test_the_phrase_level_sees_its_window_and_the_sentence_level_everything(
    build: Build, window: int, seen: int
) -> None:
    """Which inputs change the state of place 4 of 9, in one layer."""
    model = build(window=window, encoder_layers=1, layers=1)
    real, x = torch.ones(1, 9, dtype=torch.bool), torch.randn(1, 9, 6)
    for number, level in enumerate(model.levels):
        z = torch.ones(1, 9)
        states, memory = level.encode(x, z, real)
        written, reads, writes = level(x, memory), [], []
        for place in range(9):
            other = x.clone()
            other[0, place] += 1.0
            reads.append(not torch.equal(level.encode(other, z, real)[0][0, 4], states[0, 4]))
            writes.append(not torch.equal(level(other, memory)[0, 4], written[0, 4]))
        half = seen // 2
        if number == PHRASE:
            assert [place for place in range(9) if reads[place]] == list(range(4 - half, 5 + half))
            assert [place for place in range(9) if writes[place]] == list(range(max(0, 5 - seen), 5))
        else:
            assert all(reads) and writes == [True] * 5 + [False] * 4


@torch.no_grad()
def test_a_level_attends_to_its_own_tokens(build: Build) -> None:
    """A token of the other level has at most e^-10 of the weight: what it is changes next to nothing."""
    model = build(encoder_layers=1)
    level, x, real = model.levels[SENTENCE], torch.randn(1, 4, 6), torch.ones(1, 4, dtype=torch.bool)
    z, other = torch.tensor([[1.0, 0.0, 1.0, 1.0]]), x.clone()
    other[0, 1] += 1.0
    apart = (level.encode(x, z, real)[0] - level.encode(other, z, real)[0]).abs().amax(-1)[0]
    free = (level.encode(x, 0 * z + 1, real)[0] - level.encode(other, 0 * z + 1, real)[0]).abs().amax(-1)[0]
    assert (apart[[0, 2, 3]] < 1e-3).all() and (free[[0, 2, 3]] > 1e-2).all()


# --- The contract -----------------------------------------------------------------------------------------------------


@every_variant
def test_later_words_change_nothing_before_them(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    check_later_tokens(build(**changes), data)


@every_variant
def test_padding_and_neighbours_change_nothing(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    check_padding(build(**changes), data)


@every_variant
def test_selected_rows_go_on_as_if_alone(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    check_selection(build(**changes), data)


@every_variant
def test_prefixes_that_share_slots_score_as_if_they_did_not(
    build: Build, data: PairData, changes: dict[str, Any]
) -> None:
    model = build(**changes)
    check_shared_pasts(model, batch_of(data, model))


def test_prefixes_of_one_source_share_its_memory(build: Build, data: PairData) -> None:
    model = build()
    state = model.start(batch_of(data, model)).select(torch.arange(4).repeat_interleave(3))
    again = state.select(torch.tensor([2, 2, 0, 3, 4, 5, 6, 6, 6, 11, 10, 9]))
    assert again.copied is state.copied and again.memories is state.memories
    fewer = again.select(torch.tensor([0, 1, 2, 9, 10, 11]))
    assert len(fewer.copied.ids) == len(fewer.memories[0].bias) == 2 and fewer.aggregator.shape[2] == 6


@every_variant
def test_every_parameter_learns(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes).train()
    model(batch_of(data, model), 0.1).total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all() and parameter.grad.any(), name


def test_autocast_agrees_as_far_as_bfloat16_goes(build: Build, data: PairData) -> None:
    model = build()
    check_autocast(model, batch_of(data, model))


def test_a_source_without_pieces_is_not_copied_from(build: Build, data: PairData) -> None:
    model = build()
    batch = batch_of(data, model)
    for source in (torch.zeros_like(batch.source), batch.source[:, :0]):
        empty = replace(batch, source=source)
        scores, _ = model.step(torch.full((4,), BOS), model.start(empty))
        assert torch.allclose(scores.exp().sum(1), torch.ones(4), atol=1e-5)
        model(empty).total.backward()
        model.train()(empty).total.backward()
        model.eval()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@every_variant
def test_beams_score_what_the_whole_pass_scores(build: Build, data: PairData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(data, model)
    written = ForbiddenTokens(torch.tensor([PAD, UNK, BOS]), data.vocabulary.text_size)
    found = beam_search(model, batch, beam=4, max_ids=9, begin=BOS, end=EOS, constraint=written)
    for row, hypotheses in enumerate(found):
        assert hypotheses
        for each in hypotheses:
            target = [*each.tokens, EOS][:9]
            one = batch_of(data, model, [row])
            again = replace(one, inputs=torch.tensor([[BOS, *target[:-1]]]), target=torch.tensor([target]))
            assert float(model(again).total.detach()) == pytest.approx(-each.log_probability, abs=1e-4)


def test_a_row_longer_than_the_positions_is_refused(build: Build, data: PairData) -> None:
    model = build(positions=4)
    batch = batch_of(data, model)
    batch = replace(batch, source=batch.source[:, :4])
    state = model.start(batch)
    for _ in range(4):
        _, state = model.step(batch.inputs[:, 0], state)
    with pytest.raises(ValueError, match="a row longer than the 4 positions"):
        model.step(batch.inputs[:, 0], state)
    long = replace(batch, source=batch.source[:, :1].expand(-1, 100))
    with pytest.raises(ValueError, match="a row of 100 ids for 4 positions"):
        model.start(long)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 4}, "width 450 is no multiple of 4 heads"),
        ({"window": 4}, "window 4 is even"),
        ({"temperature": 0.0}, "greater than 0"),
        ({"supervision": -1.0}, "greater than or equal to 0"),
        ({"width": 9}, "multiple of 2"),
        ({"copying": True}, "Extra inputs are not permitted"),
    ],
)
def test_settings_that_mean_nothing_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DNPGConfig(**changes)
