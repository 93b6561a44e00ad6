"""The same Transformer twice: GuiG's with one encoder, and Hugging Face's Marian with the same weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel

from espalier.datasets.pairs.data import PairBatch, PairData, PairView
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.layers.attention import Attention
from espalier.models.guig import GuiG
from espalier.models.guig_config import EncoderConfig, GuiGConfig

VIEW = PairView(("source",), "text")
POSITIONS = 128
FIRST = 4  # the first piece after the specials
FINAL = 6  # every so many pieces one that ends a text


@dataclass(frozen=True)
class Shape:
    """What both models share; the two below are the text parts of the profiles' generators, the larger one with fewer
    layers than in print."""

    name: str
    encoder: int
    decoder: int
    width: int
    heads: int
    inner: int
    pieces: int

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.encoder} + {self.decoder} layers of {self.width}, {self.heads} heads, "
            f"{self.pieces:,} pieces"
        )


SMALL = Shape("small", encoder=2, decoder=3, width=128, heads=4, inner=512, pieces=8_000)
PAPER = Shape("half of paper", encoder=3, decoder=3, width=256, heads=4, inner=1024, pieces=16_000)


def vocabulary(shape: Shape) -> PairVocabulary:
    """Made-up pieces, and no trees."""
    texts = [chr(0x4E00 + i) for i in range(shape.pieces - FIRST - 1)]  # one more piece marks where words begin
    return PairVocabulary.build(texts, TreeSymbols((), 8, (), ()), "en", pieces=shape.pieces, lower=False)


def pair(shape: Shape, dropout: float) -> tuple[GuiG, MarianMTModel]:
    """Both models with equal shapes and equal weights."""
    encoder = EncoderConfig(reads=("source",), layers=shape.encoder, heads=shape.heads, cross_heads=shape.heads)
    config = GuiGConfig(
        encoders=(encoder,), layers=shape.decoder, heads=shape.heads, width=shape.width, inner=shape.inner,
        head_width=shape.width // shape.heads, dropout=dropout, attention_dropout=0.0, positions=POSITIONS, norm="post",
    )  # fmt: skip
    torch.manual_seed(0)
    ours = GuiG(config, vocabulary(shape))
    peer = MarianMTModel(
        MarianConfig(
            vocab_size=shape.pieces, max_position_embeddings=POSITIONS, d_model=shape.width,
            encoder_layers=shape.encoder, encoder_attention_heads=shape.heads, encoder_ffn_dim=shape.inner,
            decoder_layers=shape.decoder, decoder_attention_heads=shape.heads, decoder_ffn_dim=shape.inner,
            dropout=dropout, attention_dropout=0.0, activation_function="gelu", scale_embedding=True,
            pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=BOS, forced_eos_token_id=None,
        )
    )  # fmt: skip
    # Marian's sinusoids stand in another order: all sines, then all cosines.
    ours.positions.copy_(peer.model.encoder.embed_positions.weight)
    copy(ours, peer)
    return ours, peer


def corpus(shape: Shape, count: int, seed: int = 0) -> PairData:
    """Made-up paraphrases of 7 to 30 pieces, about 12: two texts that begin with the same piece.

    In their language a piece has four successors, likely ones and less likely ones, and every `FINAL`th piece ends a
    text of 7 or more. A model learns soon to begin as its source does and to end where it may: each of its texts is
    another, and they end at different steps, as real ones do.
    """
    rng = np.random.default_rng(seed)
    successors = np.random.default_rng(1).integers(FIRST, shape.pieces, (shape.pieces, 4)) % 1000 + FIRST
    starts = rng.integers(FIRST, 100, count)

    def written() -> list[list[int]]:
        rows = np.zeros((count, 30), dtype=int)
        rows[:, 0] = starts
        for place in range(1, 30):
            rows[:, place] = successors[rows[:, place - 1], rng.choice(4, count, p=[0.6, 0.2, 0.15, 0.05])]
        final = (rows % FINAL == 0) & (np.arange(30) >= 6)
        lengths = np.where(final.any(1), final.argmax(1) + 1, 30)
        return [row[:length].tolist() for row, length in zip(rows, lengths, strict=True)]

    columns = {"source": written(), "target": written()}
    blank: list[list[int]] = [[] for _ in range(count)]
    ids = [str(n) for n in range(count)]
    return PairData.of(ids, {**columns, "source_tree": blank, "target_tree": blank}, vocabulary(shape))


def peer_inputs(batch: PairBatch) -> dict[str, Tensor]:
    """The same pieces as Marian takes them."""
    return {
        "input_ids": batch.source,
        "attention_mask": (batch.source != PAD).long(),
        "labels": batch.target.masked_fill(~batch.real, -100),
    }


def our_loss(model: nn.Module, batch: PairBatch) -> Tensor:
    """Mean over targets."""
    found = model(batch)
    return found.total / found.targets


def peer_loss(model: nn.Module, batch: PairBatch) -> Tensor:
    """The same of Marian."""
    return model(**peer_inputs(batch)).loss


@torch.no_grad()
def copy(ours: GuiG, peer: MarianMTModel) -> None:
    """Our weights into Marian, whose queries, keys and values have matrices of their own."""
    body, width = peer.model, ours.config.width
    body.shared.weight.copy_(ours.output_embedding.pieces.weight)
    for theirs, block in zip(body.encoder.layers, ours.encoders[0].blocks, strict=True):
        _self_attention(theirs.self_attn, block.attention)
        _rest(theirs, block)
    for theirs, block in zip(body.decoder.layers, ours.decoder, strict=True):
        _self_attention(theirs.self_attn, block.attention)
        cross, known = theirs.encoder_attn, block.encoders.memories[0]
        cross.q_proj.load_state_dict(block.encoders.queries.state_dict())
        _rows(cross.k_proj, known, slice(0, width))
        _rows(cross.v_proj, known, slice(width, None))
        cross.out_proj.load_state_dict(block.encoders.out.state_dict())
        theirs.encoder_attn_layer_norm.load_state_dict(block.encoders_residual.norm.state_dict())
        _rest(theirs, block)


def _self_attention(theirs: nn.Module, ours: Attention) -> None:
    for place, part in enumerate((theirs.q_proj, theirs.k_proj, theirs.v_proj)):
        _rows(part, ours.project, slice(place * ours.inner, (place + 1) * ours.inner))
    theirs.out_proj.load_state_dict(ours.out.state_dict())


def _rest(theirs: nn.Module, ours: nn.Module) -> None:
    theirs.self_attn_layer_norm.load_state_dict(ours.attention_residual.norm.state_dict())
    theirs.fc1.load_state_dict(ours.feed_forward.into.state_dict())
    theirs.fc2.load_state_dict(ours.feed_forward.out.state_dict())
    theirs.final_layer_norm.load_state_dict(ours.feed_forward_residual.norm.state_dict())


def _rows(to: nn.Linear, source: nn.Linear, rows: slice) -> None:
    to.weight.copy_(source.weight[rows])
    to.bias.copy_(source.bias[rows])
