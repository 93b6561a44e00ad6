"""S2S of SongNet: the row C is its source, and the decoder is that of dialogue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from espalier.datasets.dialogue.data import DialogueData
from espalier.datasets.verse.data import VerseBatch, VerseData
from espalier.datasets.vocabulary import EOS, PAD, WordVocabulary
from espalier.models.dialogue_config import RNNSeq2SeqConfig
from espalier.models.rnn_seq2seq import RNNSeq2Seq
from espalier.models.songnet_config import VerseSeq2SeqConfig
from espalier.tasks.verse import VerseTask
from espalier.tasks.verse_search import VerseDecoder

SMALL = {"width": 6, "word": 4, "readout": 5, "scale": 0.8, "positions": 40}
ALL = np.arange(4)


def model_of(data: VerseData, **changes: Any) -> RNNSeq2Seq:
    torch.manual_seed(5)
    return RNNSeq2Seq(VerseSeq2SeqConfig.model_validate(SMALL | changes), data.vocabulary).double().eval()


def losses(model: RNNSeq2Seq, batch: VerseBatch) -> Tensor:
    with torch.no_grad():
        return model.token_losses(batch)


def test_every_symbol_of_c_has_an_embedding_and_no_symbol_is_written(data: VerseData) -> None:
    model, voc = model_of(data), data.vocabulary
    assert model.post_encoder.embedding.num_embeddings == voc.size > voc.c_rhyme
    assert model.readout.out_features == model.embedding.num_embeddings == voc.text_size


def test_c_is_read_and_nothing_else_of_the_frame(data: VerseData) -> None:
    model = model_of(data)
    batch = data.batch(ALL, model.config.view)
    for name in ("p", "s", "letter"):
        assert torch.equal(losses(model, replace(batch, **{name: torch.ones_like(batch.c)})), losses(model, batch))
    # Attention shows the last place of C to the first word of the text.
    c = batch.c.clone()
    c[0, 4] = data.vocabulary.c_word if c[0, 4] != data.vocabulary.c_word else data.vocabulary.c_rhyme
    changed = losses(model, replace(batch, c=c))
    assert not torch.isclose(changed[0, 0], losses(model, batch)[0, 0]) and torch.equal(
        changed[1:], losses(model, batch)[1:]
    )


def test_the_numbers_are_those_of_att_on_a_dialogue_of_the_same_ids(data: VerseData) -> None:
    """One decoder serves both: C as the post and the text as the response give the same nats."""
    verse = model_of(data)
    batch = data.batch(ALL, verse.config.view)
    words = WordVocabulary(tuple(f"w{n}" for n in range(data.vocabulary.size - 5)), "zh")
    config = RNNSeq2SeqConfig.model_validate(SMALL | {"context": "attention", "bidirectional": True})
    said = RNNSeq2Seq(config, words).double().eval()
    state, text = said.state_dict(), data.vocabulary.text_size
    for name, tensor in verse.state_dict().items():
        rows = text if name in ("embedding.weight", "readout.weight", "readout.bias") else len(tensor)
        state[name][:rows] = tensor
    state["readout.bias"][text:] = -torch.inf
    said.load_state_dict(state)
    posts = [[int(i) for i in row if i != PAD] for row in batch.c]
    targets = [[int(i) for i in row if i not in (PAD, EOS)] for row in batch.target]
    columns: dict[str, list[Any]] = {
        "source": posts, "target": targets, "order": [range(len(each)) for each in targets],
        "children": [np.full(3 * len(each), -1) for each in targets],
    }  # fmt: skip
    other = DialogueData.of(list("abcd"), columns, words).batch(ALL, config.view)
    assert torch.equal(other.target, batch.target)
    with torch.no_grad():
        assert torch.allclose(said.token_losses(other), losses(verse, batch))


@pytest.mark.parametrize("context", ["attention", "last", "initial", "nrm"])
@torch.no_grad()
def test_steps_equal_the_whole_at_every_place_after_rows_were_selected(data: VerseData, context: str) -> None:
    model = model_of(data, context=context)
    batch = data.batch(ALL, model.config.view)
    wanted, state = losses(model, batch), model.start(batch)
    order = torch.tensor([2, 0, 2, 3, 1])
    state = state.select(order)
    for t in range(batch.c.shape[1]):
        logs, state = model.step(batch.inputs[order, t], state)
        real = batch.real[order, t]
        found = -logs.gather(1, batch.target[order, t][:, None])[:, 0]
        assert torch.allclose(found[real], wanted[order, t][real])


@pytest.mark.parametrize("method", ["top_k", "beam"])
def test_it_is_decoded_as_every_chain_model_is(data: VerseData, method: str) -> None:
    model: Any = model_of(data)
    batch = data.batch(ALL, model.config.view)
    decoder = VerseDecoder.model_validate({"mode": "frame", "marks": True, "rhyme": True, "method": method, "beam": 2})
    rows = VerseTask().generate(model, batch, decoder, [1, 2, 3, 4])
    marks = set(data.vocabulary.mark_ids.tolist())
    for row, target in zip(rows, batch.target.tolist(), strict=True):
        text = row[0].tokens
        real = [i for i in target if i not in (PAD, EOS)]
        assert [i if i in marks else 0 for i in text] == [i if i in marks else 0 for i in real]
