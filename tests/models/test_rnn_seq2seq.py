"""The chain decoders of dialogue against one place at a time, and against each other where they must agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from espalier.datasets.dialogue.data import DialogueBatch, DialogueData
from espalier.datasets.vocabulary import EOS, WordVocabulary
from espalier.decoding.beam import beam_search
from espalier.models.dialogue_config import RNNSeq2SeqConfig
from espalier.models.rnn_seq2seq import RNNSeq2Seq

VOC = WordVocabulary(tuple("abcdefghijkl"), "en")
TARGETS = [[5, 6, 7, 8], [9], [10, 6, 16]]
POSTS = [[5, 6, 7], [8], [9, 10, 11, 12]]

VARIANTS: list[dict[str, Any]] = [
    {"context": "initial"},
    {"context": "last"},
    {"context": "attention"},
    {"context": "attention", "bidirectional": True},
    {"context": "nrm"},
    {"context": "last", "bidirectional": True},
]
every_variant = pytest.mark.parametrize("changes", VARIANTS, ids=lambda changes: "-".join(map(str, changes.values())))


def model_of(**changes: Any) -> RNNSeq2Seq:
    torch.manual_seed(5)
    config = RNNSeq2SeqConfig.model_validate({"width": 6, "word": 4, "readout": 5, "scale": 0.8, **changes})
    return RNNSeq2Seq(config, VOC).double().eval()


def batch_of(model: RNNSeq2Seq, rows: list[int]) -> DialogueBatch:
    columns: dict[str, list[Any]] = {
        "source": POSTS, "target": TARGETS, "order": [range(len(each)) for each in TARGETS],
        "children": [np.full(3 * len(each), -1) for each in TARGETS],
    }  # fmt: skip
    return DialogueData.of(list("abc"), columns, VOC).batch(np.array(rows), model.config.view)


def slow(model: Any, row: int) -> Tensor:
    """Nats of each target of one row, each map applied to the concatenation that the papers write."""
    post = model.post_encoder(torch.tensor([POSTS[row]]))
    state = torch.tanh(model.initial.weight @ post.last[0] + model.initial.bias)
    weights = model.decoder.all_weights[0]
    nats, before = [], 2
    for target in [*TARGETS[row], EOS]:
        word, context = (
            model.embedding.weight[before],
            model.post_encoder.contexts(post, torch.tensor([0]), state[None])[0],
        )
        fed = word if model.config.context == "initial" else torch.cat([word, context])
        state = torch.gru_cell(fed[None], state[None], *weights)[0]
        read = state if model.config.context == "initial" else torch.cat([state, word, context])
        features = torch.tanh(model.features.weight @ read + model.features.bias)
        scores = (model.readout.weight @ features + model.readout.bias).log_softmax(0)
        nats.append(-scores[target])
        before = target
    return torch.stack(nats)


@every_variant
def test_losses_and_their_gradients_are_those_of_one_place_at_a_time(changes: dict[str, Any]) -> None:
    model = model_of(**changes)
    batch = batch_of(model, [0, 1, 2])
    wanted = [slow(model, row) for row in range(3)]
    losses = model.token_losses(batch)
    for row, nats in enumerate(wanted):
        assert torch.allclose(losses[row, : len(nats)], nats)
        assert not losses[row, len(nats) :].any()
    loss = model(batch)
    assert int(loss.targets) == 11
    assert abs(loss.total.item() - sum(nats.sum().item() for nats in wanted)) < 1e-5
    slope = torch.autograd.grad(torch.cat(wanted).sum(), [*model.parameters()], allow_unused=True)
    found = torch.autograd.grad(loss.total, [*model.parameters()], allow_unused=True)
    for (name, parameter), a, b in zip(model.named_parameters(), slope, found, strict=True):
        zero = torch.zeros_like(parameter)
        assert torch.allclose(zero if a is None else a, zero if b is None else b, atol=1e-5), name


@torch.no_grad()
@every_variant
def test_steps_say_what_the_whole_pass_says_and_states_can_be_reordered(changes: dict[str, Any]) -> None:
    model = model_of(**changes)
    batch = batch_of(model, [0, 1, 2])
    wanted = model.token_losses(batch)
    state = model.start(batch)
    turned = torch.tensor([2, 0, 0, 1])
    state = state.select(turned)
    for place in range(batch.target.shape[1]):
        scores, state = model.step(batch.inputs[turned, place], state)
        real = batch.real[turned, place]
        found = scores.gather(1, batch.target[turned, place, None])[:, 0]
        assert torch.allclose(-found[real], wanted[turned, place][real])
        assert torch.allclose(scores.exp().sum(1), torch.ones(4, dtype=torch.float64))


@torch.no_grad()
@every_variant
def test_a_row_s_losses_are_its_own_whatever_stands_beside_it(changes: dict[str, Any]) -> None:
    model = model_of(**changes)
    together = model.token_losses(batch_of(model, [0, 1, 2]))
    for row in range(3):
        alone = model.token_losses(batch_of(model, [row]))
        assert torch.allclose(alone[0], together[row, : alone.shape[1]])


@every_variant
def test_beam_search_finds_sequences_that_score_what_it_says(changes: dict[str, Any]) -> None:
    model = model_of(**changes).float()
    batch = batch_of(model, [0, 1, 2])
    for row, found in enumerate(beam_search(model, batch, beam=4, max_ids=6, begin=2, end=EOS)):
        assert len(found) == 4
        for each in found:
            if len(each.tokens) < 6:
                targets = [*TARGETS]
                targets[row] = each.tokens
                columns: dict[str, list[Any]] = {
                    "source": POSTS, "target": targets, "order": [range(len(t)) for t in targets],
                    "children": [np.full(3 * len(t), -1) for t in targets],
                }  # fmt: skip
                said = DialogueData.of(list("abc"), columns, VOC).batch(np.array([row]), model.config.view)
                assert abs(model(said).total.item() + each.log_probability) < 1e-4


def test_seq2seq_sees_the_post_at_the_start_alone() -> None:
    one, other = model_of(context="initial"), model_of(context="last")
    assert one.decoder.input_size == 4 and other.decoder.input_size == 4 + 6
    assert one.features.in_features == 6 and other.features.in_features == 6 + 4 + 6


@pytest.mark.parametrize("changes", [{"width": 0}, {"context": "tree"}, {"dropout": 1.0}, {"arity": 1}])
def test_a_setting_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RNNSeq2SeqConfig.model_validate(changes)
