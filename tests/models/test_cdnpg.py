"""C-DNPG against a reference in loops, against itself step by step, and what later tokens may not change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

from espalier.datasets.pairs.data import PairBatch, PairData
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.decoding.beam import beam_search
from espalier.models.cdnpg import CDNPG
from espalier.models.cdnpg_config import CDNPGConfig
from espalier.models.serialization import load_model, save_model
from tests.models.chain_checks import check_shared_pasts

Build = Callable[..., CDNPG]
PAIRS = [
    ("how long does the ferry take", "how long is the ferry ride to the island"),
    ("the ferry", "ferry"),
    ("why does it take long", "why is it long"),
    ("is the island far", "how far is the island"),
]
SMALL: dict[str, Any] = {
    "encoder_layers": 2, "layers": 3, "width": 12, "heads": 3, "inner": 10, "dropout": 0.0, "attention_dropout": 0.0,
    "positions": 40,
}  # fmt: skip
RELEASED = {
    "renormalise": True, "first_layer": 1, "scope_length": "padded", "cross_resonance": True, "head": "released",
}  # fmt: skip
#: The rows of table 2, and what the paper leaves open.
MODELS: dict[str, dict[str, Any]] = {
    "R": {"granularity": "resonance"},
    "S": {"granularity": "scope"},
    "R*S": {},
    "R+S": {"granularity": "average"},
    "Transformer": {"granularity": "none"},
    "Transformer+Copy": {"granularity": "none", "copying": True},
    "first layer": {"first_layer": 1},
    "renormalised": {"renormalise": True, "epsilon": 1.0},
    "shared": {"shared_embeddings": True, "copying": True, "initial": "xavier"},
    "cross": {"cross_resonance": True, "copying": True},
    "head": {"head": "released"},
    "head and copy": {"head": "released", "copying": True},
    "released": {**RELEASED},
}
#: Those of which a step gives what the whole row gives: all but the released padded N.
CONSISTENT = [name for name in MODELS if name != "released"]
every_model = pytest.mark.parametrize("name", MODELS)
every_consistent_model = pytest.mark.parametrize("name", CONSISTENT)


@pytest.fixture(scope="module")
def data() -> PairData:
    texts = [text for pair in PAIRS for text in pair]
    vocabulary = PairVocabulary.build(texts, None, "en", pieces=40, lower=True)
    none: list[list[int]] = [[] for _ in PAIRS]
    columns = {"source_tree": none, "target_tree": none}
    columns |= {
        side: vocabulary.encode_texts([pair[n] for pair in PAIRS]) for n, side in enumerate(("source", "target"))
    }
    return PairData.of([str(n) for n in range(len(PAIRS))], columns, vocabulary)


@pytest.fixture(scope="module")
def build(data: PairData) -> Build:
    def built(name: str = "R*S", **changes: Any) -> CDNPG:
        torch.manual_seed(1)
        model = CDNPG(CDNPGConfig(**(SMALL | MODELS[name] | changes)), data.vocabulary).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.4)
        return model

    return built


def batch_of(data: PairData, rows: list[int] | None = None, grain: int = 1) -> PairBatch:
    return data.batch(np.array([0, 1, 2, 3] if rows is None else rows), CDNPGConfig().view, grain=grain)


def losses(model: CDNPG, batch: PairBatch) -> Tensor:
    with torch.no_grad():
        return model.token_losses(batch)


def stepped(model: CDNPG, batch: PairBatch) -> Tensor:
    """(batch, time, pieces) log-probabilities, one step after the other."""
    state, found = model.start(batch), []
    with torch.no_grad():
        for tokens in batch.inputs.unbind(1):
            scores, state = model.step(tokens, state)
            found.append(scores)
    return torch.stack(found, 1)


# --- The reference ----------------------------------------------------------------------------------------------------


class Reference:
    """One row at a time, one place after another, one head after another, without batches, padding or caches."""

    def __init__(self, model: CDNPG) -> None:
        self.weights = {name: value.detach() for name, value in model.state_dict().items()}
        self.config = model.config
        self.granularities: dict[str, list[float]] = {}

    def map(self, name: str, x: Tensor) -> Tensor:
        return self.weights[f"{name}.weight"] @ x + self.weights[f"{name}.bias"]

    def norm(self, name: str, x: Tensor) -> Tensor:
        spread = ((x - x.mean()) ** 2).mean()
        return (x - x.mean()) / (spread + 1e-12).sqrt() * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def embedded(self, name: str, ids: list[int]) -> list[Tensor]:
        pieces = self.weights[f"{'target' if self.config.shared_embeddings else name}_pieces.weight"]
        places = self.weights[f"{name}_positions.table.weight"]
        return [self.norm(f"{name}_positions.norm", pieces[each] + places[n]) for n, each in enumerate(ids)]

    def z(self, name: str, x: Tensor) -> float:
        return 1 / (1 + math.exp(-float(self.map(f"{name}.head", x))))

    def factor(self, mask: str, one: float, other: float, distance: int, length: int) -> float:
        c = (1 - one) * max(0.0, 1 - (one + other)) + one * min(1.0, 1 - one + other)
        epsilon, s = self.config.epsilon, 1.0
        if length - epsilon >= 1:
            s = max(0.0, min(1.0, (length - epsilon) ** (1 - one) + epsilon - distance))
        return {"resonance": c, "scope": s, "product": c * s, "average": (c + s) / 2}[mask]

    def attended(self, name: str, x: Tensor, memory: list[Tensor], factors: list[float]) -> Tensor:
        wide = self.config.width
        wq, wk, wv = self.weights[f"{name}.project.weight"].chunk(3)
        bq, bk, bv = self.weights[f"{name}.project.bias"].chunk(3)
        heads, size = [], wide // self.config.heads
        for head in range(self.config.heads):
            part = slice(head * size, (head + 1) * size)
            query = wq[part] @ x + bq[part]
            mass = [math.exp(float(query @ (wk[part] @ each + bk[part])) / math.sqrt(size)) for each in memory]
            shares = [each / sum(mass) * factor for each, factor in zip(mass, factors, strict=True)]
            if self.config.renormalise:
                shares = [share / sum(shares) for share in shares]
            heads.append(sum(share * (wv[part] @ each + bv[part]) for share, each in zip(shares, memory, strict=True)))
        return self.map(f"{name}.out", torch.cat(heads))

    def self_attention(self, name: str, layer: int, xs: list[Tensor], length: int | None) -> list[Tensor]:
        """`length` None: causal, with the prefix's length, or the padded one."""
        config, found = self.config, []
        headed = config.granularity != "none" and layer >= config.first_layer
        zs = [self.z(f"{name}.granularity", x) for x in xs] if headed else []
        if headed:
            self.granularities[name] = zs
        for i, x in enumerate(xs):
            seen = xs if length is not None else xs[: i + 1]
            n = length if length is not None else i + 1
            if config.scope_length == "padded":
                n = config.padded_length - (length is None)
            factors = [
                self.factor(config.granularity, zs[i], zs[j], abs(i - j), n) if headed else 1.0
                for j in range(len(seen))
            ]
            mixed = self.attended(f"{name}.attention", x, seen, factors)
            found.append(self.norm(f"{name}.residual.norm", x + mixed))
        return found

    def forwarded(self, name: str, x: Tensor) -> Tensor:
        inner = F.gelu(self.map(f"{name}.feed_forward.into", x))
        return self.norm(f"{name}.feed_forward_residual.norm", x + self.map(f"{name}.feed_forward.out", inner))

    def log_probabilities(self, source: list[int], inputs: list[int]) -> list[Tensor]:
        config = self.config
        encoded = self.embedded("source", source)
        for n in range(config.encoder_layers):
            encoded = self.self_attention(f"encoder.{n}.attention", n + 1, encoded, len(source))
            encoded = [self.forwarded(f"encoder.{n}", x) for x in encoded]
        embedded = xs = self.embedded("target", inputs)
        for n in range(config.layers):
            xs, name = self.self_attention(f"decoder.{n}.attention", n + 1, xs, None), f"decoder.{n}"
            for i, x in enumerate(xs):
                factors = [1.0] * len(encoded)
                if config.cross_resonance and n + 1 >= config.first_layer:
                    head = f"{name}.cross_granularity"
                    one, others = self.z(head, x), [self.z(head, each) for each in encoded]
                    factors = [self.factor("resonance", one, other, 0, 0) for other in others]
                mixed = self.attended(f"{name}.cross", x, encoded, factors)
                xs[i] = self.forwarded(name, self.norm(f"{name}.cross_residual.norm", x + mixed))
        return [self.distribution(x, given, encoded, source).log() for x, given in zip(xs, embedded, strict=True)]

    def distribution(self, x: Tensor, given: Tensor, encoded: list[Tensor], source: list[int]) -> Tensor:
        features = self.norm("head.2", F.gelu(self.map("head.0", x))) if self.config.head == "released" else x
        written = (self.weights["target_pieces.weight"] @ features + self.weights["readout_bias"]).softmax(0)
        if not self.config.copying:
            return written
        scores = [float(x @ (self.weights["pointer.attention.score.weight"] @ each)) for each in encoded]
        shares = torch.tensor(scores).softmax(0)
        context = torch.stack(encoded).T @ shares
        write, copy = self.map("pointer.gate", torch.cat([x, context, given])).softmax(0)
        copied = torch.zeros_like(written)
        for share, each in zip(shares, source, strict=True):
            copied[each] += share
        return write * written + copy * copied


def real_ids(row: Tensor) -> list[int]:
    return [each for each in row.tolist() if each != PAD]


@every_model
def test_the_model_is_the_equations_place_by_place(build: Build, data: PairData, name: str) -> None:
    model = build(name)
    batch = batch_of(data, grain=4)
    found = losses(model, batch)
    for row in range(len(PAIRS)):
        source, inputs, target = (real_ids(part[row]) for part in (batch.source, batch.inputs, batch.target))
        scores = Reference(model).log_probabilities(source, inputs)
        wanted = [-float(each[token]) for each, token in zip(scores, target, strict=True)]
        assert found[row, : len(wanted)].tolist() == pytest.approx(wanted, rel=1e-4, abs=1e-4)
        assert not found[row, len(wanted) :].any()


def test_the_variants_of_table_2_are_different_models(build: Build, data: PairData) -> None:
    batch = batch_of(data)
    names = [name for name in MODELS if not MODELS[name].get("copying") and name != "released"]
    sums = {name: round(float(losses(build(name), batch).sum()), 3) for name in names}
    assert len({*sums.values()}) == len(names), sums


# --- Its granularity --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["R*S", "first layer", "released"])
def test_granularities_are_those_of_each_layer_s_input(build: Build, data: PairData, name: str) -> None:
    model = build(name)
    batch = batch_of(data)
    with torch.no_grad():
        found = model.granularities(batch)
    first = model.config.first_layer
    assert [*found.encoder] == [*range(first, 3)] and [*found.decoder] == [*range(first, 4)]
    for row in range(len(PAIRS)):
        reference = Reference(model)
        source, inputs = real_ids(batch.source[row]), real_ids(batch.inputs[row])
        reference.log_probabilities(source, inputs)
        for side, length in (("encoder", len(source)), ("decoder", len(inputs))):
            for layer, z in getattr(found, side).items():
                wanted = reference.granularities[f"{side}.{layer - 1}.attention"]
                assert z[row, :length].tolist() == pytest.approx(wanted, abs=1e-4)


def test_a_transformer_has_no_granularity(build: Build, data: PairData) -> None:
    model = build("Transformer")
    assert model.granularities(batch_of(data)) == ({}, {})
    assert not [name for name in model.state_dict() if "granularity" in name]


@every_model
def test_every_weight_learns(build: Build, data: PairData, name: str) -> None:
    model = build(name).train()
    model(batch_of(data)).total.backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.any(), key


# --- Later tokens -----------------------------------------------------------------------------------------------------


@every_consistent_model
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kept=st.integers(1, 6), tail=st.lists(st.integers(4, 30), max_size=8))
def test_later_tokens_and_the_target_s_length_never_change_earlier_logits(
    build: Build, data: PairData, name: str, kept: int, tail: list[int]
) -> None:
    model = build(name)
    batch = batch_of(data, [0, 0])
    target = batch.target[0, :kept].tolist()
    written = [target, target + tail]
    width = max(map(len, written))
    ids = torch.tensor([[*row, *[PAD] * (width - len(row))] for row in written])
    inputs = torch.cat([torch.full((2, 1), BOS), ids[:, :-1]], 1)
    found = losses(model, replace(batch, inputs=inputs, target=ids))
    assert found[0, :kept].tolist() == pytest.approx(losses(model, batch)[0, :kept].tolist(), abs=2e-5)
    assert found[1, :kept].tolist() == pytest.approx(found[0, :kept].tolist(), abs=2e-5)


@every_model
def test_neither_padding_nor_neighbours_change_a_row(build: Build, data: PairData, name: str) -> None:
    model = build(name)
    whole = losses(model, batch_of(data, grain=4))
    for row in range(len(PAIRS)):
        alone = losses(model, batch_of(data, [row]))[0]
        assert torch.allclose(whole[row, : len(alone)], alone, atol=2e-5)


@every_model
def test_the_batching_does_not_change_the_sum(build: Build, data: PairData, name: str) -> None:
    model = build(name)
    whole = model(batch_of(data))
    assert whole.total.item() == pytest.approx(losses(model, batch_of(data)).sum().item(), rel=1e-5)
    parts = [model(batch_of(data, rows)) for rows in ([3, 0], [2, 1])]
    assert sum(part.targets for part in parts) == whole.targets
    assert sum(part.total.item() for part in parts) == pytest.approx(whole.total.item(), rel=1e-5)


@pytest.mark.parametrize("name", ["Transformer", "Transformer+Copy"])
def test_smoothing_is_spread_over_the_vocabulary(build: Build, data: PairData, name: str) -> None:
    model = build(name)
    batch = batch_of(data)
    plain, smooth = model(batch).total.item(), model(batch, 0.1).total.item()
    vocabulary = build("Transformer")
    vocabulary.load_state_dict(model.state_dict(), strict=False)
    even = -stepped(vocabulary, batch).mean(-1)[batch.real].sum().item()
    assert smooth == pytest.approx(0.9 * plain + 0.1 * even, rel=1e-4)


# --- Steps ------------------------------------------------------------------------------------------------------------


@every_consistent_model
def test_a_step_with_its_cache_gives_what_the_whole_row_gives(build: Build, data: PairData, name: str) -> None:
    model = build(name)
    batch = batch_of(data)
    scores = stepped(model, batch)
    assert torch.allclose(scores.exp().sum(-1), torch.ones(batch.inputs.shape), atol=1e-4)
    found = -scores.gather(2, batch.target[..., None])[..., 0].masked_fill(~batch.real, 0)
    assert torch.allclose(found, losses(model, batch), atol=2e-5)


def test_the_released_padded_n_is_the_prefix_s_in_decoding(build: Build, data: PairData) -> None:
    """As released: what training sees differs from what decoding sees, and the latter is that of `prefix`."""
    padded = build("R*S", scope_length="padded", first_layer=1)
    batch = batch_of(data, [0])
    whole, steps = losses(padded, batch), stepped(padded, batch)
    found = -steps.gather(2, batch.target[..., None])[..., 0]
    assert not torch.allclose(found, whole, atol=1e-3)
    # With the encoder's N as long as the row is, nothing but the decoder's N is left to differ.
    same = build("R*S", scope_length="padded", first_layer=1, padded_length=batch.source.shape[1])
    prefix = build("R*S", first_layer=1)
    assert torch.allclose(stepped(same, batch), stepped(prefix, batch), atol=2e-5)


SELECTIONS: list[list[list[int]]] = [
    [[0, 0, 1, 1, 2, 2, 3, 3], [1, 0, 2, 2, 5, 4, 6, 7], [0, 1, 4, 5, 6, 6], [5, 4, 3, 2, 1, 0]],
    [[3, 1, 2], [0, 0, 0, 1, 2], [4, 0, 3], [2]],
    [[0, 1, 2, 3], [], []],
]


@pytest.mark.parametrize("selections", SELECTIONS)
@pytest.mark.parametrize("name", ["R*S", "cross", "released"])
def test_selected_rows_go_on_as_if_they_had_been_alone(
    build: Build, data: PairData, name: str, selections: list[list[int]]
) -> None:
    model = build(name)
    owners, written, state = [0, 1, 2, 3], [[BOS] for _ in range(4)], model.start(batch_of(data))
    with torch.no_grad():
        for time, index in enumerate(selections):
            _, state = model.step(torch.tensor([row[-1] for row in written], dtype=torch.long), state)
            state = state.select(torch.tensor(index, dtype=torch.long))
            owners, written = [owners[each] for each in index], [written[each] for each in index]
            written = [[*row, 4 + (7 * time + place) % 12] for place, row in enumerate(written)]
        found, _ = model.step(torch.tensor([row[-1] for row in written], dtype=torch.long), state)
        assert len(found) == len(owners)
        for scores, owner, row in zip(found, owners, written, strict=True):
            alone = model.start(batch_of(data, [owner]))
            for token in row:
                wanted, alone = model.step(torch.tensor([token]), alone)
            assert torch.allclose(scores, wanted[0], atol=2e-5)


def test_a_selection_is_a_copy(build: Build, data: PairData) -> None:
    model = build("cross")
    with torch.no_grad():
        _, state = model.step(torch.full((4,), BOS), model.start(batch_of(data)))
        kept, gone = state.select(torch.arange(4)), state.select(torch.arange(4))
        for tokens in ([5, 6, 7, 8], [9, 4, 5, 6]):  # writes to its own caches
            _, gone = model.step(torch.tensor(tokens), gone)
        one, _ = model.step(torch.tensor([4, 4, 4, 4]), kept)
        other, _ = model.step(torch.tensor([4, 4, 4, 4]), state)
    assert torch.equal(one, other)


def test_hypotheses_share_their_source_s_memory_which_no_beam_copies(build: Build, data: PairData) -> None:
    model = build("cross")

    def places(state: Any) -> list[int]:
        parts = [(memory.key_values.keys, memory.granularity) for memory in state.memories]
        return [part.data_ptr() for pair in [*parts, (state.copied.states,)] for part in pair if part is not None]

    with torch.no_grad():
        state = model.start(batch_of(data))
        first = places(state)
        state = state.select(torch.arange(4).repeat_interleave(3))
        for index in ([0, 0, 0, 3, 4, 5, 8, 7, 6, 9, 9, 11], [2, 1, 0, 5, 5, 5, 6, 7, 8, 10, 11, 9]):
            _, state = model.step(torch.full((12,), 5), state)
            state = state.select(torch.tensor(index))
            assert places(state) == first
        state = state.select(torch.tensor([0, 1, 2, 9, 10, 11]))  # two sources are done: theirs is let go
    assert {len(memory.key_values) for memory in state.memories} == {2} == {len(state.copied.ids)}


@every_model
def test_prefixes_that_share_slots_score_as_if_they_did_not(build: Build, data: PairData, name: str) -> None:
    check_shared_pasts(build(name), batch_of(data))


@pytest.mark.parametrize("name", ["R*S", "Transformer+Copy", "released"])
def test_a_beam_s_score_is_the_sum_of_its_steps_whatever_its_neighbours(
    build: Build, data: PairData, name: str
) -> None:
    model = build(name)
    together = beam_search(model, batch_of(data), beam=3, max_ids=7, begin=BOS, end=EOS)
    for place, found in enumerate(together):
        (alone,) = beam_search(model, batch_of(data, [place]), beam=3, max_ids=7, begin=BOS, end=EOS)
        assert [each.tokens for each in alone] == [each.tokens for each in found]
        for each in found:
            ended = [*each.tokens, EOS][:7]
            rows = torch.tensor([[BOS, *ended[:-1]]])
            scores = stepped(model, replace(batch_of(data, [place]), inputs=rows, target=torch.tensor([ended])))
            total = scores.gather(2, torch.tensor([ended])[..., None]).sum().item()
            assert each.log_probability == pytest.approx(total, abs=1e-3)


# --- Weights and settings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["R*S", "Transformer+Copy", "released"])
def test_a_model_that_was_saved_is_the_same(tmp_path: Path, build: Build, data: PairData, name: str) -> None:
    model = build(name)
    save_model(tmp_path, "cdnpg", model, data.vocabulary, 1)
    again, vocabulary = load_model(tmp_path)
    assert again.config == model.config and vocabulary == data.vocabulary
    assert torch.equal(losses(again, batch_of(data)), losses(model, batch_of(data)))  # type: ignore[arg-type]


def test_initial_weights_are_small_and_biases_0(data: PairData) -> None:
    torch.manual_seed(1)
    model = CDNPG(CDNPGConfig(copying=True), data.vocabulary)
    for name, parameter in model.named_parameters():
        if parameter.ndim > 1 and parameter.numel() > 10_000:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.05), name
        elif name.endswith("bias"):
            assert not parameter.any(), name
    for table in (model.source_pieces, model.target_pieces):
        assert table is not None and not table.weight[PAD].any()


def test_a_copied_piece_has_probability_where_the_vocabulary_gives_none(build: Build, data: PairData) -> None:
    model = build("Transformer+Copy")
    batch = batch_of(data, [0])
    absent, present = next(n for n in range(4, 30) if n not in batch.source), int(batch.source[0, 0])
    with torch.no_grad():
        model.readout_bias[[absent, present]] = -1e4
        scores, _ = model.step(torch.tensor([BOS]), model.start(batch))
    assert scores[0, present] > -10 and scores[0, absent] < -50


def test_a_row_beyond_the_positions_is_refused(build: Build, data: PairData) -> None:
    model = build(positions=4)
    with pytest.raises(ValueError, match="for 4 positions"):
        model(batch_of(data))
    state = model.start(batch_of(data, [1]))
    for _ in range(4):
        _, state = model.step(torch.tensor([5]), state)
    with pytest.raises(ValueError, match="longer than the 4 positions"):
        model.step(torch.tensor([5]), state)


def test_what_is_no_longer_than_the_positions_fits_with_its_ends_and_padding(build: Build, data: PairData) -> None:
    longest = data.longest(CDNPGConfig().view)
    model = build(positions=longest)
    wanted = losses(model, batch_of(data))
    assert torch.allclose(losses(model, batch_of(data, grain=PairData.GRAIN))[:, : wanted.shape[1]], wanted, atol=2e-5)


def test_a_source_without_pieces_gives_numbers(build: Build, data: PairData) -> None:
    batch = batch_of(data, [0])
    for name in MODELS:
        found = losses(build(name), replace(batch, source=batch.source[:, :0]))
        assert found.isfinite().all() and found.any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 10, "heads": 3}, "width 10 is no multiple of 3 heads"),
        ({"granularity": "none", "cross_resonance": True}, "cross_resonance needs a granularity"),
        ({"first_layer": 4}, "first_layer 4 is not among the layers"),
        ({"encoder_layers": 1}, "first_layer 2 is not among the layers"),
        ({"granularity": "both"}, "granularity"),
        ({"scope_length": "own"}, "scope_length"),
        ({"epsilon": -1}, "epsilon"),
        ({"padded_length": 1}, "padded_length"),
        ({"dropout": 1.0}, "dropout"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        CDNPGConfig(**changes)


def test_the_defaults_are_the_paper_s() -> None:
    config = CDNPGConfig()
    assert (config.encoder_layers, config.layers, config.width, config.heads, config.inner) == (3, 3, 450, 9, 1024)
    assert (config.granularity, config.first_layer, config.renormalise) == ("product", 2, False)
    assert (config.scope_length, config.epsilon, config.cross_resonance) == ("prefix", 2.0, False)
    assert config.view.reads == ("source",) and config.view.writes == "text"
