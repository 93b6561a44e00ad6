"""What SAT's inputs may and may not change, and its equations computed once more, head by head."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from pydantic import ValidationError
from torch import Tensor

from espalier.datasets.structure.data import StructureBatch, StructureData
from espalier.datasets.structure.vocabulary import SPECIAL, TOPIC, StructureVocabulary
from espalier.datasets.vocabulary import BOS, PAD
from espalier.models.sat import SAT, after_topic
from espalier.models.sat_config import SATConfig
from espalier.models.serialization import load_model, save_model
from tests.models.chain_checks import check_shared_pasts

VOC = StructureVocabulary(tuple("灯山桥雨石令舟"), "zh", {"pc": tuple("SBEM"), "pos": ("n", "v", "r", "d", "p")})
TEXTS = [("灯山桥", "SBE", "nvv"), ("雨石令舟灯", "BESBE", "nnrdd"), ("山", "S", "p"), ("舟雨桥灯", "BMME", "vvvv")]
ALL = np.arange(len(TEXTS))
BOTH = {"structures": ("pc", "pos")}
VARIANTS: list[dict[str, Any]] = [
    BOTH,
    {"norm": "pre", "places": "shared"},
    {**BOTH, "structure": "add"},
    {"structure": "biased", "places": "sinusoid", "norm": "pre"},
    {"structures": ()},
    {**BOTH, "topic": True, "structure": "biased"},
    {"topic": True, "structure": "add", "norm": "pre"},
    {"topic": True, "structures": ()},
]


@pytest.fixture
def data() -> StructureData:
    columns = {
        "target": [VOC.encode(text) for text, _, _ in TEXTS],
        "topic": [[], [6, TOPIC], [5, 7, 8, TOPIC], [9, TOPIC]],
        "prompt": [[0]] * len(TEXTS),
        "pc": [VOC.encode_symbols("pc", pc) for _, pc, _ in TEXTS],
        "pos": [VOC.encode_symbols("pos", pos) for _, _, pos in TEXTS],
    }
    return StructureData.of([str(place) for place in ALL], columns, VOC)


def build(**changes: Any) -> SAT:
    """A model whose weights are large enough to tell one formula from another."""
    small = {"encoder_layers": 2, "layers": 2, "width": 12, "heads": 3, "inner": 20, "positions": 16}
    torch.manual_seed(1)
    model = SAT(SATConfig(**{**small, "dropout": 0.0, "attention_dropout": 0.0, **changes}), VOC).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.4)
    return model


def batch_of(model: SAT, data: StructureData, indices: np.ndarray = ALL) -> StructureBatch:
    return data.batch(indices, model.config.view)


@torch.no_grad()
def logits(model: SAT, batch: StructureBatch) -> Tensor:
    """(batch, time, text size), the padding's included."""
    places = (batch.topic != PAD).sum(1, keepdim=True) + torch.arange(batch.target.shape[1])
    found = model._logits(model._hidden(after_topic(batch), batch.topic.shape[1]))
    return torch.stack([row[own] for row, own in zip(found, places, strict=True)])


def with_symbol(batch: StructureBatch, name: str, row: int, place: int) -> StructureBatch:
    """The batch with another symbol at one place."""
    changed = batch.structures[name].clone()
    changed[row, place] = changed[row, place] % 3 + 2
    assert changed[row, place] != batch.structures[name][row, place]
    return replace(batch, structures={**batch.structures, name: changed})


def differs(one: Tensor, other: Tensor) -> list[bool]:
    """(time,) whether the logits of a place differ."""
    return [bool(flag) for flag in ((one - other).abs() > 1e-4).any(-1)]


# --- sums ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", VARIANTS)
def test_the_batching_does_not_change_the_sum(data: StructureData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    with torch.no_grad():
        whole = model.token_losses(batch_of(model, data))
        for parts in ([[0], [1], [2], [3]], [[3, 0], [2, 1]]):
            found = [model(batch_of(model, data, np.array(part))) for part in parts]
            assert sum(int(loss.targets) for loss in found) == 17  # 13 characters and 4 end marks
            assert sum(loss.total.item() for loss in found) == pytest.approx(whole.sum().item(), rel=1e-5)


@pytest.mark.parametrize("changes", VARIANTS)
def test_padding_changes_nothing(data: StructureData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(model, data)
    wider = replace(
        batch,
        inputs=F.pad(batch.inputs, (0, 3), value=PAD),
        target=F.pad(batch.target, (0, 3), value=PAD),
        structures={name: F.pad(row, (0, 3), value=SPECIAL) for name, row in batch.structures.items()},
    )
    found = model.token_losses(wider)
    assert torch.allclose(found[:, :6], model.token_losses(batch), atol=1e-5)
    assert not found[:, 6:].any()


@pytest.mark.parametrize("changes", VARIANTS)
def test_every_parameter_learns(data: StructureData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    model(batch_of(model, data)).total.backward()
    assert not [name for name, each in model.named_parameters() if each.grad is None or not each.grad.any()]


@pytest.mark.parametrize("changes", VARIANTS)
def test_a_model_that_is_written_and_read_again_is_the_same(tmp_path: Path, changes: dict[str, Any]) -> None:
    """A tensor under two names could not be written."""
    model = build(**changes)
    save_model(tmp_path, "sat", model, VOC, 1)
    read, vocabulary = load_model(tmp_path)
    assert vocabulary == VOC
    state = read.state_dict()
    assert all(torch.equal(tensor, state[name]) for name, tensor in model.state_dict().items())


def test_dropout_acts_in_training_alone(data: StructureData) -> None:
    model = build(dropout=0.5)
    batch = batch_of(model, data)
    assert model(batch).total == model(batch).total
    model.train()
    assert model(batch).total != model(batch).total


# --- who sees what ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("structure", ["attend", "biased"])
def test_a_later_symbol_changes_earlier_logits(data: StructureData, structure: str) -> None:
    model = build(**BOTH, structure=structure)
    batch = batch_of(model, data)
    for name in ("pc", "pos"):
        assert all(differs(logits(model, batch)[1], logits(model, with_symbol(batch, name, 1, 4))[1]))


def test_an_added_symbol_changes_the_token_that_it_is_the_symbol_of_and_later_ones(data: StructureData) -> None:
    model = build(**BOTH, structure="add")
    batch = batch_of(model, data)
    changed = differs(logits(model, batch)[1], logits(model, with_symbol(batch, "pos", 1, 3))[1])
    assert changed == [False, False, False, True, True, True]


@pytest.mark.parametrize("changes", VARIANTS)
def test_a_later_token_changes_no_earlier_logits(data: StructureData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(model, data)
    inputs = batch.inputs.clone()
    inputs[1, 4] = VOC.id_of("桥")
    changed = differs(logits(model, batch)[1], logits(model, replace(batch, inputs=inputs))[1])
    assert changed == [False, False, False, False, True, True]


def test_a_model_reads_the_structures_that_it_names_alone(data: StructureData) -> None:
    assert build(structures=("pc",)).config.view.structures == ("pc",)
    gpt2 = build(structures=())
    assert not batch_of(gpt2, data).structures
    assert not [name for name, _ in gpt2.named_parameters() if "structure" in name or "encoder" in name]


def test_a_topic_stands_before_its_text_has_no_target_and_changes_all_of_it(data: StructureData) -> None:
    model = build(**BOTH, topic=True)
    batch = batch_of(model, data)
    whole = after_topic(batch)
    assert whole.inputs[1].tolist() == [6, TOPIC, *batch.inputs[1].tolist(), PAD, PAD]
    assert whole.target[1].tolist() == [PAD, PAD, *batch.target[1].tolist(), PAD, PAD]
    assert whole.structures["pc"][2, :4].tolist() == [SPECIAL] * 4
    topic = batch.topic.clone()
    topic[1, 0] = 8
    changed = logits(model, replace(batch, topic=topic))
    assert all(differs(logits(model, batch)[1], changed[1])) and torch.equal(logits(model, batch)[2], changed[2])


# --- steps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", VARIANTS)
@torch.no_grad()
def test_steps_equal_the_whole_at_every_place(data: StructureData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(model, data)
    wanted, state = logits(model, batch).log_softmax(-1), model.start(batch)
    for t in range(6):
        found, state = model.step(batch.inputs[:, t], state)
        real = batch.real[:, t]
        assert torch.allclose(found[real], wanted[real, t], atol=2e-5)


@pytest.mark.parametrize("changes", VARIANTS)
@torch.no_grad()
def test_selected_rows_go_on_as_if_alone(data: StructureData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    batch = batch_of(model, data)
    state, order, wanted = model.start(batch), torch.arange(4), logits(model, batch).log_softmax(-1)
    for t, index in enumerate([[0, 1, 2, 3], [2, 0, 2, 3], [0, 0, 3, 1, 2], [4], [0, 0, 0]]):
        order, state = order[index], state.select(torch.tensor(index))
        found, state = model.step(batch.inputs[order, t], state)
        real = batch.real[order, t]
        assert torch.allclose(found[real], wanted[order, t][real], atol=2e-5)


@pytest.mark.parametrize("changes", VARIANTS)
def test_prefixes_that_share_slots_score_as_if_they_did_not(data: StructureData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    check_shared_pasts(model, batch_of(model, data))


@torch.no_grad()
def test_the_beams_of_a_template_share_its_memory(data: StructureData) -> None:
    model = build()
    state = model.start(batch_of(model, data)).select(torch.arange(4).repeat_interleave(3))
    _, state = model.step(torch.full((12,), BOS), state)
    assert [len(part) for part in (state.past[0], state.memory[0], state.symbols)] == [12, 4, 4]
    assert len(state.select(torch.tensor([0, 0, 2, 9, 10, 10])).memory[0]) == 2


@pytest.mark.parametrize("structure", ["add", "biased"])
@torch.no_grad()
def test_past_its_template_a_text_goes_on_with_the_symbol_of_the_end_mark(data: StructureData, structure: str) -> None:
    model = build(structure=structure)
    short, state = batch_of(model, data, np.array([2])), None
    longer = {name: F.pad(row, (0, 1), value=SPECIAL) for name, row in short.structures.items()}
    state = model.start(short)
    for t, token in enumerate([BOS, 6, 7]):
        found, state = model.step(torch.tensor([token]), state)
        assert found.isfinite().all(), t
    if structure == "add":
        inputs = torch.tensor([[BOS, 6, 7]])
        wanted = logits(model, replace(short, inputs=inputs, target=inputs, structures=longer))[:, 2].log_softmax(-1)
        assert torch.allclose(found, wanted, atol=2e-5)


def test_a_text_longer_than_the_positions_is_refused(data: StructureData) -> None:
    model = build(positions=2)
    with pytest.raises(ValueError, match="a text of 6 tokens for 2 positions"):
        model(batch_of(model, data))


def losses_of_rows(model: SAT, data: StructureData, rows: list[int], grain: int) -> Tensor:
    batch = data.batch(np.array(rows), model.config.view, grain=grain)
    with torch.no_grad():
        return model.token_losses(batch).sum(1)


@pytest.mark.parametrize("structure", ["attend", "add", "biased"])
@pytest.mark.parametrize("topic", [False, True])
def test_padding_needs_no_positions(data: StructureData, structure: str, topic: bool) -> None:
    """The positions are as many as the longest row has, and a batch of it and of a longer topic is wider."""
    view = build(topic=topic).config.view
    model = build(structure=structure, topic=topic, positions=data.longest(view))
    alone = torch.cat([losses_of_rows(model, data, [row], grain=1) for row in ALL])
    assert torch.allclose(losses_of_rows(model, data, [*ALL], grain=4), alone, atol=1e-5)


def test_a_row_may_fill_its_positions_beside_one_with_a_longer_topic(data: StructureData) -> None:
    model = build(topic=True, positions=data.longest(build(topic=True).config.view))
    batch = batch_of(model, data)
    wanted, lengths, state = model.token_losses(batch), batch.real.sum(1), model.start(batch)
    for time in range(int(lengths.max())):
        scores, state = model.step(batch.inputs[:, time], state)
        found = -scores.gather(1, batch.target[:, time : time + 1])[:, 0]
        open_ = lengths > time
        assert torch.allclose(found[open_], wanted[open_, time], atol=2e-5)


# --- attention on the own symbol -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bias", "structure"), [(0.0, "attend"), (2.0, "biased")])
def test_without_scores_the_weight_on_the_own_symbol_is_that_of_its_bias(
    data: StructureData, bias: float, structure: str
) -> None:
    model = build(structure=structure)
    with torch.no_grad():
        for block in model._blocks:
            assert block.structure_attention is not None
            block.structure_attention.project.weight.zero_()
            block.structure_attention.project.bias.zero_()
            if block.own is not None:
                block.own.fill_(bias)
    found = model.own_weights(batch_of(model, data))
    places = torch.tensor([4.0, 6.0, 2.0, 5.0])  # characters and the end mark
    wanted = math.exp(bias) / (math.exp(bias) + places - 1)
    assert torch.allclose(found, wanted[:, None, None].expand(4, 2, 3), atol=1e-6)


def test_only_attention_has_weights(data: StructureData) -> None:
    for changes in ({"structure": "add"}, {"structures": ()}):
        model = build(**changes)
        assert model.own_weights(batch_of(model, data)).shape == (4, 0, 3)


# --- the equations ---------------------------------------------------------------------------------------------------


def reference(model: SAT, batch: StructureBatch, row: int) -> Tensor:
    """(time, text size) logits of one row by equations 7-18, post-norm, one head after the other, without batching."""
    time = int(batch.real[row].sum())

    def norm(x: Tensor, layer: Any) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        result: Tensor = scaled * layer.weight + layer.bias
        return result

    def attend(x: Tensor, memory: Tensor, layer: Any, causal: bool, own: Tensor | None = None) -> Tensor:
        (w_q, w_k, w_v), (b_q, b_k, b_v) = layer.project.weight.chunk(3), layer.project.bias.chunk(3)
        q, k, v = x @ w_q.T + b_q, memory @ w_k.T + b_k, memory @ w_v.T + b_v
        mixed = []
        for head in range(3):
            part = slice(4 * head, 4 * head + 4)
            scores = q[:, part] @ k[:, part].T / 2  # sqrt(4)
            if own is not None:
                scores = scores + own[head] * torch.eye(time)
            if causal:
                scores = scores.masked_fill(torch.ones(time, time).triu(1) > 0, -torch.inf)
            mixed.append(scores.softmax(-1) @ v[:, part])
        return torch.cat(mixed, 1) @ layer.out.weight.T + layer.out.bias

    def feed(x: Tensor, layer: Any) -> Tensor:
        inner = x @ layer.into.weight.T + layer.into.bias
        inner = 0.5 * inner * (1 + torch.tanh(math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)))
        result: Tensor = inner @ layer.out.weight.T + layer.out.bias
        return result

    assert model.structure_positions is not None
    h = model.structure_positions.weight[:time]
    for name, table in model.symbols.items():
        h = h + table.weight[batch.structures[name][row, :time]]  # type: ignore[index]
    for block in model.encoder:
        h = norm(attend(h, h, block.attention, causal=False) + h, block.attention_residual.norm)
        h = norm(feed(h, block.feed_forward) + h, block.feed_forward_residual.norm)
    f = model.table.weight[batch.inputs[row, :time]] + model.positions.weight[:time]
    for block in model._blocks:
        f = norm(attend(f, f, block.attention, causal=True) + f, block.attention_residual.norm)
        f = norm(attend(f, h, block.structure_attention, False, block.own) + f, block.structure_residual.norm)  # type: ignore[union-attr]
        f = norm(feed(f, block.feed_forward) + f, block.feed_forward_residual.norm)
    return f @ model.table.weight.T + model.head_bias


@pytest.mark.parametrize("structure", ["attend", "biased"])
@torch.no_grad()
def test_logits_follow_equations_7_to_18(data: StructureData, structure: str) -> None:
    model = build(**BOTH, structure=structure)
    batch = batch_of(model, data)
    found = logits(model, batch)
    for row, (text, _, _) in enumerate(TEXTS):
        assert torch.allclose(found[row, : len(text) + 1], reference(model, batch, row), atol=1e-4)


@torch.no_grad()
def test_at_first_the_own_place_of_20_has_half_the_weight_and_matrices_are_as_large_as_said() -> None:
    torch.manual_seed(1)
    for initial, size in (("normal", 0.02), ("xavier", math.sqrt(2 / (64 + 3 * 64)))):
        model = SAT(SATConfig(width=64, heads=4, layers=2, initial=initial, structure="biased"), VOC)
        block = model._blocks[0]
        assert float(block.attention.project.weight.std()) == pytest.approx(size, rel=0.05)
        assert float(model.positions.weight.std()) == pytest.approx(0.02, rel=0.05)
        assert block.own is not None
        share = block.own.exp() / (block.own.exp() + 19)
        assert torch.allclose(share, torch.full((4,), 0.5), atol=0.02)


# --- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 10, "heads": 3}, "width 10 is no multiple of heads 3"),
        ({"structures": ("pos", "pos")}, "structures names one twice"),
        ({"structures": (), "structure": "add"}, "structure: add has no structures to read"),
        ({"width": 9, "heads": 3, "places": "sinusoid"}, "places: sinusoid needs an even width"),
        ({"layer": 3}, "Extra inputs are not permitted"),
    ],
)
def test_settings_that_do_not_fit_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        SATConfig(**changes)
