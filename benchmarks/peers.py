"""The same decoder: ours without symbols and global attention, Hugging Face's GPT-2, a plain module in the style of
nanoGPT, and x-transformers', all with the same weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel

from espalier.datasets.batch import GRAIN
from espalier.datasets.verse.data import VerseBatch, VerseData, View
from espalier.datasets.verse.frames import Frame
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import PAD
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


def songnet(shape: Shape, vocabulary: VerseVocabulary, kind: type[SongNet] = SongNet) -> SongNet:
    """SongNet itself, with symbols and global attention over its frame, which no peer has; its weights are random."""
    config = SongNetConfig(
        layers=shape.layers, width=shape.width, heads=shape.heads, inner=shape.inner, positions=POSITIONS,
        embedding_norm=True,
    )  # fmt: skip
    return kind(config, vocabulary).eval()


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
    _embeddings(ours, body.wte, body.wpe)
    for block, layer in zip(body.h, ours.layers, strict=True):
        linear(block.attn.c_attn, layer.attention.project)
        linear(block.attn.c_proj, layer.attention.out)
        linear(block.mlp.c_fc, layer.feed_forward.into)
        linear(block.mlp.c_proj, layer.feed_forward.out)
        block.ln_1.load_state_dict(layer.attention_residual.norm.state_dict())
        block.ln_2.load_state_dict(layer.feed_forward_residual.norm.state_dict())
    body.ln_f.load_state_dict(ours.final_norm.state_dict())


class PlainBlock(nn.Module):
    """Masked self-attention and a feed-forward layer, each after its norm."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = shape.heads, dropout
        self.norm, self.feed_norm = nn.LayerNorm(shape.width), nn.LayerNorm(shape.width)
        self.project, self.out = nn.Linear(shape.width, 3 * shape.width), nn.Linear(shape.width, shape.width)
        self.feed_forward = nn.Sequential(
            nn.Linear(shape.width, shape.inner), nn.GELU("tanh"), nn.Linear(shape.inner, shape.width),
            nn.Dropout(dropout),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.project(self.norm(x)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        kept = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, dropout_p=kept, is_causal=True)
        x = x + F.dropout(self.out(mixed.transpose(1, 2).flatten(2)), self.dropout, self.training)
        return x + self.feed_forward(self.feed_norm(x))


class PlainDecoder(nn.Module):
    """The decoder as nanoGPT writes it: modules of PyTorch alone, and a tied output."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.words = nn.Embedding(shape.vocabulary.text_size, shape.width)
        self.positions = nn.Embedding(POSITIONS, shape.width)
        self.dropout, self.norm = nn.Dropout(dropout), nn.LayerNorm(shape.width)
        self.blocks = nn.Sequential(*[PlainBlock(shape, dropout) for _ in range(shape.layers)])

    def forward(self, inputs: Tensor, target: Tensor) -> Tensor:
        """Mean loss over targets. Padding follows the text, so no place sees it."""
        x = self.dropout(self.words(inputs) + self.positions.weight[: inputs.shape[1]])
        logits = F.linear(self.norm(self.blocks(x)), self.words.weight)
        return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)


@torch.no_grad()
def plain_decoder(ours: SongNet, shape: Shape, dropout: float) -> PlainDecoder:
    """A `PlainDecoder` with our weights."""
    peer = PlainDecoder(shape, dropout)
    _embeddings(ours, peer.words, peer.positions)
    for block, layer in zip(peer.blocks, ours.layers, strict=True):
        pairs = (
            (block.norm, layer.attention_residual.norm),
            (block.project, layer.attention.project),
            (block.out, layer.attention.out),
            (block.feed_norm, layer.feed_forward_residual.norm),
            (block.feed_forward[0], layer.feed_forward.into),
            (block.feed_forward[2], layer.feed_forward.out),
        )
        for to, source in pairs:
            to.load_state_dict(source.state_dict())
    peer.norm.load_state_dict(ours.final_norm.state_dict())
    return peer


@torch.no_grad()
def x_transformer(ours: SongNet, shape: Shape, dropout: float) -> nn.Module:
    """The decoder of x-transformers with our weights.

    Its norms, and the maps of its attention, have no biases. Ours begin at 0, so the networks are the same before the
    first step.
    """
    from x_transformers import Decoder, TransformerWrapper

    width = shape.width
    layers = Decoder(
        dim=width, depth=shape.layers, heads=shape.heads, attn_dim_head=width // shape.heads, attn_flash=True,
        attn_dropout=dropout, attn_sublayer_dropout=dropout, ff_mult=shape.inner / width,
        ff_custom_activation=nn.GELU("tanh"), ff_sublayer_dropout=dropout, norm_add_unit_offset=False,
    )  # fmt: skip
    peer = TransformerWrapper(
        num_tokens=shape.vocabulary.text_size, max_seq_len=POSITIONS, attn_layers=layers, emb_dropout=dropout,
        tie_embedding=True, tie_embedding_scale=1.0,
    )  # fmt: skip
    _embeddings(ours, peer.token_emb.emb, peer.pos_emb.emb)
    peer.pos_emb.emb.weight.div_(peer.pos_emb.scale)
    for layer, attention, feed in zip(ours.layers, layers.layers[::2], layers.layers[1::2], strict=True):
        for (norms, *_), source in ((attention, layer.attention_residual), (feed, layer.feed_forward_residual)):
            norms[0].gamma.copy_(source.norm.weight)
        maps = (attention[1].to_q, attention[1].to_k, attention[1].to_v)
        for to, rows in zip(maps, layer.attention.project.weight.chunk(3), strict=True):
            to.weight.copy_(rows)
        attention[1].to_out.weight.copy_(layer.attention.out.weight)
        into, out = (module for module in feed[1].modules() if isinstance(module, nn.Linear))
        into.load_state_dict(layer.feed_forward.into.state_dict())
        out.load_state_dict(layer.feed_forward.out.state_dict())
    layers.final_norm.gamma.copy_(ours.final_norm.weight)
    return peer


def _embeddings(ours: SongNet, words: nn.Embedding, positions: nn.Embedding) -> None:
    words.weight.copy_(ours.table.weight[: ours.vocabulary.text_size])
    positions.weight.copy_(ours.positions.weight)
