"""The granularity that a C-DNPG gives to each piece of a text and of its paraphrase (figure 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from espalier.corpora.records import Pair
from espalier.datasets.vocabulary import BOS
from espalier.inference.pairs import distinct_texts, encoded, max_length
from espalier.inference.paraphrase import print_words
from espalier.inference.plain_paraphrase import PlainWriter, best_pieces
from espalier.inference.requests import PairRequest
from espalier.inference.results import TextGranularity
from espalier.inference.writer import batches

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class GranularityWriter(PlainWriter[TextGranularity]):
    """Paraphrases texts, and says which granularity each piece has on the way."""

    def write(self, jobs: Sequence[Pair]) -> Iterator[tuple[PairRequest, TextGranularity]]:
        """A result for each text."""
        for part in batches(jobs, self.beam):
            yield from zip((PairRequest(job.source, name=job.id) for job in part), self._results(part), strict=True)

    def _results(self, jobs: Sequence[Pair]) -> Iterator[TextGranularity]:
        import torch
        from torch.nn.utils.rnn import pad_sequence

        system, vocabulary = self.system, self.system.vocabulary
        found = best_pieces(system, jobs, self.beam)
        inputs = [[BOS, *(row[0].tokens if row else ())] for row in found]
        data = encoded(jobs, system, max_length(system))
        batch = data.batch(np.arange(len(jobs)), system.view)
        batch = replace(batch, inputs=pad_sequence([torch.tensor(row) for row in inputs], batch_first=True))
        with torch.inference_mode():
            encoder, decoder = system.model.granularities(batch.to(system.device))
        for place, (job, read, row) in enumerate(zip(jobs, inputs, found, strict=True)):
            source = batch.source[place, : int(data.columns["source"].lengths[place])].tolist()
            text = distinct_texts(row, system, 1)[0][0] if row else ""
            yield TextGranularity(
                job.source,
                print_words(text.split(), vocabulary.lower),
                tuple(vocabulary.pieces_of(source)),
                tuple(vocabulary.pieces_of(read)),
                _row(encoder, place, len(source)),
                _row(decoder, place, len(read)),
            )


def _row(layers: Mapping[int, Tensor], place: int, length: int) -> dict[int, tuple[float, ...]]:
    """One row's values, without those of padding."""
    return {layer: tuple(z[place, :length].tolist()) for layer, z in layers.items()}
