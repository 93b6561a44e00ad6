"""The Transformer of `marian.py` a third time: the layers of `torch.nn.Transformer`, with our weights."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from marian import Shape
from torch import Tensor, nn

from espalier.datasets.vocabulary import PAD
from espalier.layers.attention import Attention
from espalier.models.guig import GuiG


class TorchTransformer(nn.Module):
    """`nn.TransformerEncoder` and `nn.TransformerDecoder` without a last norm, sinusoids, and tied embeddings.

    Dropout is ours: none of attention weights, nor within feed-forward layers.
    """

    def __init__(self, shape: Shape, dropout: float, positions: Tensor) -> None:
        super().__init__()
        self.pieces, self.dropout = nn.Embedding(shape.pieces, shape.width), nn.Dropout(dropout)
        self.register_buffer("positions", positions)
        given = (shape.width, shape.heads, shape.inner, dropout, "gelu")
        encoder = nn.TransformerEncoderLayer(*given, batch_first=True)
        decoder = nn.TransformerDecoderLayer(*given, batch_first=True)
        self.encoder = nn.TransformerEncoder(encoder, shape.encoder, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(decoder, shape.decoder)
        for layer in (*self.encoder.layers, *self.decoder.layers):
            layer.dropout = nn.Identity()
        for module in self.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0

    def forward(self, source: Tensor, inputs: Tensor, target: Tensor) -> Tensor:
        """Mean loss over targets."""
        padding, time = source == PAD, inputs.shape[1]
        later = torch.ones(time, time, dtype=torch.bool, device=inputs.device).triu(1)
        memory = self.encoder(self._embedded(source), src_key_padding_mask=padding)
        x = self.decoder(
            self._embedded(inputs), memory, tgt_mask=later, tgt_is_causal=True, memory_key_padding_mask=padding
        )
        logits = F.linear(x, self.pieces.weight)
        return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)

    def _embedded(self, row: Tensor) -> Tensor:
        x = self.pieces(row) * math.sqrt(self.pieces.embedding_dim)
        return self.dropout(x + self.positions[: row.shape[1]])


@torch.no_grad()
def torch_transformer(ours: GuiG, shape: Shape, dropout: float) -> TorchTransformer:
    """A `TorchTransformer` with our weights."""
    peer = TorchTransformer(shape, dropout, ours.positions)
    peer.pieces.load_state_dict(ours.output_embedding.pieces.state_dict())
    for theirs, block in zip(peer.encoder.layers, ours.encoders[0].blocks, strict=True):
        _self_attention(theirs.self_attn, block.attention)
        _rest(theirs, block, theirs.norm2)
    for theirs, block in zip(peer.decoder.layers, ours.decoder, strict=True):
        _self_attention(theirs.self_attn, block.attention)
        cross, maps = theirs.multihead_attn, (block.encoders.queries, block.encoders.memories[0])
        cross.in_proj_weight.copy_(torch.cat([each.weight for each in maps]))
        cross.in_proj_bias.copy_(torch.cat([each.bias for each in maps]))
        cross.out_proj.load_state_dict(block.encoders.out.state_dict())
        theirs.norm2.load_state_dict(block.encoders_residual.norm.state_dict())
        _rest(theirs, block, theirs.norm3)
    return peer


def _self_attention(theirs: nn.MultiheadAttention, ours: Attention) -> None:
    theirs.in_proj_weight.copy_(ours.project.weight)
    theirs.in_proj_bias.copy_(ours.project.bias)
    theirs.out_proj.load_state_dict(ours.out.state_dict())


def _rest(theirs: nn.Module, ours: nn.Module, last_norm: nn.LayerNorm) -> None:
    theirs.norm1.load_state_dict(ours.attention_residual.norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.into.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.out.state_dict())
    last_norm.load_state_dict(ours.feed_forward_residual.norm.state_dict())
