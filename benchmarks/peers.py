"""The same decoder twice: ours without symbols and global attention, and Hugging Face's GPT-2 with the same weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel

from espalier.datasets.batch import GRAIN
from espalier.datasets.verse.data import VerseBatch, VerseData, View
from espalier.datasets.verse.frames import Frame
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.models.songnet import SongNet
from espalier.models.songnet_config import SongNetConfig

POSITIONS = 384


@dataclass(frozen=True)
class Shape:
    """What both models share; the two below are those of the profiles' SongNet."""

    name: str
    layers: int
    width: int
    heads: int
    inner: int
    words: int

    @property
    def vocabulary(self) -> VerseVocabulary:
        """Made-up words."""
        return VerseVocabulary(tuple(chr(0x4E00 + i) for i in range(self.words)), "zh", 4, 4)

    def __str__(self) -> str:
        return f"{self.name}: {self.layers} layers of {self.width}, {self.words:,} words"


NURSERY = Shape("nursery", layers=2, width=128, heads=4, inner=512, words=1000)
SMALL = Shape("small", layers=4, width=256, heads=4, inner=1024, words=5000)


def pair(shape: Shape, dropout: float) -> tuple[SongNet, GPT2LMHeadModel]:
    """Both models with equal shapes and equal weights."""
    config = SongNetConfig(
        layers=shape.layers, width=shape.width, heads=shape.heads, inner=shape.inner, dropout=dropout,
        attention_dropout=dropout, positions=POSITIONS, symbols=(), global_attention=False, norm="pre",
        activation="gelu_tanh", epsilon=1e-5,
    )  # fmt: skip
    vocabulary = shape.vocabulary
    torch.manual_seed(0)
    ours = SongNet(config, vocabulary)
    peer = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary.text_size, n_positions=POSITIONS, n_embd=shape.width, n_layer=shape.layers,
            n_head=shape.heads, n_inner=shape.inner, resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout,
            bos_token_id=2, eos_token_id=3, pad_token_id=0,
        )
    )  # fmt: skip
    _copy(ours, peer)
    return ours, peer


def corpus(shape: Shape, poems: int) -> VerseData:
    """Random poems whose lengths are spread as those of Song ci are: about 90 tokens, from 30 to 250."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.lognormal(4.4, 0.45, poems), 30, 250).astype(int)
    vocabulary = shape.vocabulary
    rows = [np.append(rng.integers(5, vocabulary.text_size, n - 1), 3) for n in lengths]
    blank = [np.full(len(row), vocabulary.c_word) for row in rows]
    frames = [
        Frame(*(part.astype(np.int32) for part in (*[row] * 4, -np.ones_like(row), row * 0, -np.ones_like(row))))
        for row in blank
    ]
    return VerseData.of([str(i) for i in range(poems)], frames, vocabulary, targets=rows)


def collated(data: VerseData, indices: np.ndarray) -> VerseBatch:
    """A batch of ours; `peer_inputs` makes the peer's of it."""
    return data.batch(indices, View(), grain=GRAIN)


def peer_inputs(batch: VerseBatch) -> dict[str, Tensor]:
    """The same tokens as GPT-2 takes them: it shifts its labels itself."""
    end = torch.where(batch.real, batch.target, -100)
    ids = torch.cat([batch.inputs, torch.zeros_like(batch.inputs[:, :1])], dim=1)
    last = batch.real.sum(1, keepdim=True)
    ids = ids.scatter(1, last, batch.target.gather(1, last - 1))
    labels = torch.cat([torch.full_like(end[:, :1], -100), end], dim=1)
    mask = torch.cat([torch.ones_like(batch.real[:, :1]), batch.real], dim=1)
    return {"input_ids": ids, "labels": labels, "attention_mask": mask.long()}


@torch.no_grad()
def _copy(ours: SongNet, peer: GPT2LMHeadModel) -> None:
    """Our weights into GPT-2, whose Conv1D matrices are transposed."""

    def linear(to: nn.Module, source: nn.Linear) -> None:
        to.weight.copy_(source.weight.T)
        to.bias.copy_(source.bias)

    body = peer.transformer
    body.wte.weight.copy_(ours.table.weight[: ours.vocabulary.text_size])
    body.wpe.weight.copy_(ours.positions.weight)
    for block, layer in zip(body.h, ours.layers, strict=True):
        linear(block.attn.c_attn, layer.attention.project)
        linear(block.attn.c_proj, layer.attention.out)
        linear(block.mlp.c_fc, layer.feed_forward.into)
        linear(block.mlp.c_proj, layer.feed_forward.out)
        block.ln_1.load_state_dict(layer.attention_residual.norm.state_dict())
        block.ln_2.load_state_dict(layer.feed_forward_residual.norm.state_dict())
    body.ln_f.load_state_dict(ours.final_norm.state_dict())
