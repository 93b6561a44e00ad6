"""What SongNet's inputs may and may not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from pydantic import ValidationError
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch, VerseData
from espalier.datasets.verse.frames import frame_of, target_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import PAD
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig
from espalier.verse.format import format_of
from espalier.verse.grammar import parse_format

VOC = VerseVocabulary(tuple("，。灯山桥雨"), units=4, length=12, language="zh")
Build = Callable[..., SongNet]
ALL = np.arange(4)


def batch_of(model: SongNet, data: VerseData, indices: np.ndarray = ALL) -> VerseBatch:
    return data.batch(indices, model.config.view)


def losses(model: SongNet, batch: VerseBatch) -> Tensor:
    with torch.no_grad():
        return model.token_losses(batch)


def logits(model: SongNet, batch: VerseBatch) -> Tensor:
    """(batch, time, text size), the padding's included."""
    with torch.no_grad():
        return model._logits(model._hidden(batch))


def memory(model: SongNet, batch: VerseBatch) -> Tensor:
    with torch.no_grad():
        found, _ = model._memory(batch, model._symbols(batch))
    assert found is not None
    return found


def put(batch: VerseBatch, row: str, index: tuple[int, int], value: int) -> VerseBatch:
    changed = getattr(batch, row).clone()
    changed[index] = value
    return replace(batch, **{row: changed})


# --- sums ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"title": True, "block": "released", "marks": "one", "head": "released"}])
def test_the_batching_does_not_change_the_sum(build: Build, data: VerseData, changes: dict[str, Any]) -> None:
    model = build(**changes)
    whole = losses(model, batch_of(model, data))
    for parts in ([[0], [1], [2], [3]], [[3, 0], [2, 1]], [[1, 2, 3], [0]]):
        found = [model(batch_of(model, data, np.array(part))) for part in parts]
        assert sum(loss.targets for loss in found) == model(batch_of(model, data)).targets == 38
        assert sum(loss.total.item() for loss in found) == pytest.approx(whole.sum().item(), rel=1e-5)
    assert model(batch_of(model, data)).total.item() == pytest.approx(whole.sum().item(), rel=1e-5)


def test_padding_changes_nothing(build: Build, data: VerseData) -> None:
    model = build(title=True)
    batch = batch_of(model, data)
    wider = {
        name: F.pad(getattr(batch, name), (0, 3), value=-1 if name in ("letter", "tone", "copy") else PAD)
        for name in ("inputs", "target", "c", "p", "s", "letter", "tone", "copy", "t", "title")
    }
    found = losses(model, VerseBatch(**wider))
    assert torch.allclose(found[:, : batch.c.shape[1]], losses(model, batch), atol=1e-5)
    assert not found[:, batch.c.shape[1] :].any()


def test_every_parameter_learns(build: Build, data: VerseData) -> None:
    for changes in ({"title": True}, {"head": "released", "norm": "pre"}, {"head": "linear", "embedding_norm": True}):
        model = build(**changes)
        model(batch_of(model, data)).total.backward()
        assert not [n for n, p in model.named_parameters() if p.numel() and (p.grad is None or not p.grad.any())]


def test_dropout_acts_in_training_alone(build: Build, data: VerseData) -> None:
    model = build(dropout=0.5)
    batch = batch_of(model, data)
    assert model(batch).total == model(batch).total
    model.train()
    assert model(batch).total != model(batch).total


# --- who sees what ---------------------------------------------------------------------------------------------------


def test_words_and_global_positions_never_alter_f0(build: Build, data: VerseData) -> None:
    model = build(embedding_norm=True)
    batch = batch_of(model, data)
    before = memory(model, batch)
    with torch.no_grad():
        model.positions.weight.normal_()
    shuffled = replace(batch, inputs=batch.inputs.flip(0), target=batch.target.flip(0))
    assert torch.equal(memory(model, shuffled), before)
    assert not torch.equal(memory(model, replace(batch, c=batch.c.flip(0))), before)


@pytest.mark.parametrize(("globally", "changed"), [(True, True), (False, False)])
@pytest.mark.parametrize("row", ["c", "p", "s"])
def test_the_last_symbols_reach_the_first_word_by_global_attention_alone(
    build: Build, data: VerseData, row: str, globally: bool, changed: bool
) -> None:
    model = build(global_attention=globally)
    batch = batch_of(model, data, np.array([0]))
    other = put(batch, row, (0, batch.c.shape[1] - 1), model.vocabulary.c_word)
    first, then = logits(model, batch), logits(model, other)
    assert (not torch.allclose(first[:, 0], then[:, 0], atol=1e-4)) is changed
    assert not torch.allclose(first[:, -1], then[:, -1], atol=1e-4)


@pytest.mark.parametrize("place", [1, 3, 6])
def test_a_later_token_never_changes_an_earlier_prediction(build: Build, data: VerseData, place: int) -> None:
    model = build(title=True)
    batch = batch_of(model, data)
    other = put(batch, "inputs", (0, place), model.vocabulary.id_of("舟"))
    before, after = logits(model, batch)[0], logits(model, other)[0]
    assert torch.equal(before[:place], after[:place])
    assert not torch.allclose(before[place], after[place], atol=1e-4)


@pytest.mark.parametrize("name", ["c", "p", "s"])
def test_a_symbol_left_out_has_no_effect(build: Build, data: VerseData, name: str) -> None:
    model = build(symbols=tuple({"c", "p", "s"} - {name}))
    batch = batch_of(model, data)
    scrambled = replace(batch, **{name: getattr(batch, name).flip(1)})
    if name == "c":  # its padding also says where the frame ends
        scrambled = replace(batch, c=torch.where(batch.c == PAD, PAD, model.vocabulary.c_word))
    assert torch.equal(losses(model, batch), losses(model, scrambled))
    assert not torch.equal(losses(build(), batch), losses(build(), scrambled))


def test_inverse_p_reads_the_ascending_row(build: Build, data: VerseData) -> None:
    up, down = build(order="ascending"), build()
    row = batch_of(up, data).p[1].tolist()[:2]
    assert row == [up.vocabulary.position(0), up.vocabulary.position(1)]
    assert torch.equal(losses(up, batch_of(up, data)), losses(down, batch_of(up, data)))
    assert not torch.allclose(losses(up, batch_of(up, data)), losses(down, batch_of(down, data)))


def formats(model: SongNet, *texts: str) -> VerseBatch:
    frames = [frame_of(parse_format(text, "zh"), model.vocabulary) for text in texts]
    return VerseData.of(list(texts), frames, model.vocabulary).batch(np.arange(len(texts)), model.config.view)


@pytest.mark.parametrize(("marks", "alike"), [("one", True), ("each", False)])
def test_one_symbol_for_all_marks_makes_formats_alike(build: Build, marks: str, alike: bool) -> None:
    model = build(marks=marks)
    first, second = memory(model, formats(model, "3，2。", "3，2！"))
    assert torch.equal(first, second) is alike


def test_the_title_conditions_a_model_that_reads_it(build: Build, data: VerseData) -> None:
    reading, blind = build(title=True), build()
    batch = batch_of(reading, data)
    other = put(batch, "title", (0, 0), reading.vocabulary.id_of("雨"))
    before, after = losses(reading, batch), losses(reading, other)
    assert not torch.allclose(before[0], after[0], atol=1e-4)
    assert torch.equal(before[1:], after[1:])
    assert torch.equal(losses(blind, batch), losses(blind, other))
    assert batch_of(blind, data).title.shape[1] == 0


# --- tones -----------------------------------------------------------------------------------------------------------


def test_only_the_tones_of_words_change_the_numbers_and_only_of_a_model_that_reads_them() -> None:
    """T at a place reaches the losses through the sum and through F0; where a model reads none, nothing does."""
    voc = replace(VOC, tones=True)
    targets = [target_of("灯山，桥雨。", voc)] * 3
    frames = [frame_of(format_of("灯山，桥雨。", "zh", "A", tones), voc) for tones in ("", "平仄中中", "仄仄中中")]
    data = VerseData.of(["a", "b", "c"], frames, voc, targets=targets)
    found = {}
    for symbols in (("c", "p", "s"), ("c", "p", "s", "t")):
        torch.manual_seed(3)
        config = SongNetConfig(layers=1, width=12, heads=3, inner=20, dropout=0.0, positions=40, symbols=symbols)
        model = SongNet(config, voc).eval()
        found[len(symbols)] = losses(model, data.batch(np.arange(3), config.view))
    assert torch.equal(found[3][0], found[3][1]) and torch.equal(found[3][0], found[3][2])
    assert not torch.allclose(found[4][0], found[4][1]) and not torch.allclose(found[4][1], found[4][2])
    # F0 shows the later places too: the tones of the first two words change the last word's loss.
    assert not torch.equal(found[4][1][4], found[4][2][4])


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 10, "heads": 3}, "width 10 is no multiple of heads 3"),
        ({"symbols": ()}, "global_attention has nothing to attend to"),
        ({"layers": 0}, "layers"),
        ({"colour": "red"}, "colour"),
        ({"symbols": ("c", "q")}, "symbols"),
        ({"block": "paper"}, "text"),
        ({"literals": 1.5}, "literals"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        SongNetConfig(**changes)


def test_a_text_beyond_the_positions_is_refused(build: Build, data: VerseData) -> None:
    model, batch = build(positions=5), data.batch(ALL, build().config.view, grain=32)
    with pytest.raises(ValueError, match="a text of 32 tokens for 5 positions"):
        model(batch)


def test_padding_needs_no_positions(build: Build, data: VerseData) -> None:
    """The positions are as many as the longest row has, and a training batch of it is wider."""
    model = build(positions=data.longest(build().config.view))
    padded = data.batch(ALL, model.config.view, grain=model.config.positions + 1)
    alone = [losses(model, data.batch(np.array([row]), model.config.view)).sum() for row in ALL]
    assert torch.allclose(losses(model, padded).sum(1), torch.stack(alone), atol=1e-5)


def test_the_defaults_are_the_paper_s() -> None:
    config = SongNetConfig()
    assert (config.layers, config.width, config.heads) == (12, 768, 12)
    assert (config.symbols, config.order, config.marks, config.block) == (("c", "p", "s"), "descending", "each", "text")
    assert not config.title and not config.embedding_norm and config.global_attention and config.norm == "post"


def test_weights_start_small_and_the_padding_row_at_zero() -> None:
    torch.manual_seed(1)
    voc = VerseVocabulary(tuple(map(str, range(300))), "en", 4, 12)
    model = SongNet(SongNetConfig(layers=1, width=64, heads=4, inner=64, head="linear"), voc)
    assert not model.table.weight[PAD].any()
    assert model.table.weight[1:].std().item() == pytest.approx(0.02, rel=0.05)
    assert not any(p.any() for n, p in model.named_parameters() if n.endswith("bias"))
