"""The granularity of each piece of a text and of its paraphrase in C-DNPG (figure 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from espalier.corpora.records import Pair
from espalier.decoding.granularity import granularities
from espalier.inference.pairs import distinct_texts, encoded_pairs, max_length
from espalier.inference.paraphrase import print_words
from espalier.inference.plain_paraphrase import PlainWriter
from espalier.inference.requests import PairRequest
from espalier.inference.results import TextGranularity
from espalier.inference.writer import batches


@dataclass(frozen=True)
class GranularityWriter(PlainWriter[TextGranularity]):
    """Paraphrases texts, and returns the granularity of each piece."""

    def write(self, jobs: Sequence[Pair]) -> Iterator[tuple[PairRequest, TextGranularity]]:
        """A result for each text."""
        for part in batches(jobs, self.beam):
            yield from zip((PairRequest(job.source, name=job.id) for job in part), self._results(part), strict=True)

    def _results(self, jobs: Sequence[Pair]) -> Iterator[TextGranularity]:
        system = self.system
        found = self.best(jobs)
        data = encoded_pairs(jobs, system, max_length(system))
        batch = data.batch(np.arange(len(jobs)), system.view).to(system.device)
        levels = granularities(system.model, batch, [row[0].tokens if row else () for row in found])
        for job, row, own in zip(jobs, found, levels, strict=True):
            text = distinct_texts(row, system, 1)[0][0] if row else ""
            yield TextGranularity(
                job.source,
                print_words(text.split(), system.vocabulary.lower),
                own.source_pieces,
                own.text_pieces,
                own.encoder,
                own.decoder,
            )
