"""The granularity of word pieces of a source and of its text (C-DNPG, figure 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch
from torch.nn.utils.rnn import pad_sequence

from espalier.datasets.vocabulary import BOS, PAD
from espalier.decoding.beam import Hypothesis

if TYPE_CHECKING:
    from torch import Tensor

    from espalier.datasets.pairs.data import PairBatch
    from espalier.datasets.pairs.vocabulary import PairVocabulary


@runtime_checkable
class GradedModel(Protocol):
    """A model with granularities, such as C-DNPG."""

    @property
    def vocabulary(self) -> PairVocabulary:
        """Its vocabulary."""

    def granularities(self, batch: PairBatch) -> tuple[Mapping[int, Tensor], Mapping[int, Tensor]]:
        """By layer, z of each source piece, (batch, source pieces), and of each input, (batch, time)."""


@dataclass(frozen=True)
class GranularityValues:
    """Granularities: 0 for a piece of the template, 1 for a detail.

    Attributes:
        source_pieces: the input of the encoder.
        text_pieces: the input of the decoder: BOS, then the text.
        encoder: a value per source piece, for each layer with a granularity head; layers count from 1.
        decoder: the same for `text_pieces`.
    """

    source_pieces: tuple[str, ...]
    text_pieces: tuple[str, ...]
    encoder: Mapping[int, tuple[float, ...]]
    decoder: Mapping[int, tuple[float, ...]]


@dataclass(frozen=True)
class GradedHypothesis(Hypothesis):
    """A finished sequence with the granularities of its own pieces and of the source's."""

    granularity: GranularityValues


def granularities(model: GradedModel, batch: PairBatch, texts: Sequence[Sequence[int]]) -> list[GranularityValues]:
    """Granularities for each source of `batch` and a text for it, given as ids without BOS and EOS."""
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


def graded(model: GradedModel, batch: PairBatch, found: Sequence[list[Hypothesis]]) -> list[list[Hypothesis]]:
    """The hypotheses of each row of `batch`; the best of each row also has its granularities."""
    levels = granularities(model, batch, [row[0].tokens if row else [] for row in found])
    return [
        [GradedHypothesis(row[0].tokens, row[0].log_probability, row[0].score, own), *row[1:]] if row else row
        for row, own in zip(found, levels, strict=True)
    ]


def _of_row(layers: Mapping[int, Tensor], place: int, length: int) -> dict[int, tuple[float, ...]]:
    """The values of one row, without padding."""
    return {layer: tuple(z[place, :length].tolist()) for layer, z in layers.items()}
