"""The granularity of the pieces of a source and of what was written for it (C-DNPG, figure 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils.rnn import pad_sequence

from espalier.datasets.vocabulary import BOS, PAD
from espalier.decoding.beam import Hypothesis

if TYPE_CHECKING:
    from torch import Tensor

    from espalier.datasets.pairs.data import PairBatch


@dataclass(frozen=True)
class GranularityValues:
    """0 for a piece of a template, 1 for a detail.

    Attributes:
        source_pieces: what the encoder reads.
        text_pieces: what the decoder reads: the begin mark, then the text.
        encoder: for each layer with a granularity head, from 1, a value for each of `source_pieces`.
        decoder: the same for `text_pieces`.
    """

    source_pieces: tuple[str, ...]
    text_pieces: tuple[str, ...]
    encoder: Mapping[int, tuple[float, ...]]
    decoder: Mapping[int, tuple[float, ...]]


@dataclass(frozen=True)
class GradedHypothesis(Hypothesis):
    """A finished sequence with the granularity of its pieces and of its source's."""

    granularity: GranularityValues


def granularities(model: Any, batch: PairBatch, texts: Sequence[Sequence[int]]) -> list[GranularityValues]:
    """The granularity of each source of `batch` and of a text for it, given as ids without BOS and EOS.

    Args:
        model: with `granularities`, such as a C-DNPG.
    """
    inputs = [torch.tensor([BOS, *text]) for text in texts]
    with torch.inference_mode():
        padded = pad_sequence(inputs, batch_first=True, padding_value=PAD).to(batch.device)
        encoder, decoder = model.granularities(replace(batch, inputs=padded))
    pieces_of, sources = model.vocabulary.pieces_of, [row[row != PAD].tolist() for row in batch.source.cpu()]
    return [
        GranularityValues(
            tuple(pieces_of(source)),
            tuple(pieces_of(row.tolist())),
            _of_row(encoder, place, len(source)),
            _of_row(decoder, place, len(row)),
        )
        for place, (source, row) in enumerate(zip(sources, inputs, strict=True))
    ]


def graded(model: Any, batch: PairBatch, found: Sequence[list[Hypothesis]]) -> list[list[Hypothesis]]:
    """The hypotheses of each row of `batch`, the first of them with its granularity."""
    levels = granularities(model, batch, [row[0].tokens if row else [] for row in found])
    return [
        [GradedHypothesis(row[0].tokens, row[0].log_probability, row[0].score, own), *row[1:]] if row else row
        for row, own in zip(found, levels, strict=True)
    ]


def _of_row(layers: Mapping[int, Tensor], place: int, length: int) -> dict[int, tuple[float, ...]]:
    """One row's values, without those of padding."""
    return {layer: tuple(z[place, :length].tolist()) for layer, z in layers.items()}
