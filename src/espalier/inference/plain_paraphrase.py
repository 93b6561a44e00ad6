"""Paraphrases by models that read only texts, such as C-DNPG, and the granularity of their pieces (figure 2).

Decoding is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from espalier.corpora.records import Pair
from espalier.decoding.granularity import granularities
from espalier.inference.pairs import (
    distinct_texts,
    encoded_pairs,
    max_ids,
    max_length,
    note_unknown_words,
    require_readable,
)
from espalier.inference.paraphrase import ParaphraseWriter, print_words
from espalier.inference.requests import GranularityOptions, PairRequest, PlainParaphraseOptions
from espalier.inference.results import Paraphrase, TextGranularity
from espalier.inference.texts import with_ascii_marks
from espalier.inference.writer import ArgumentError, Result, Writer, attempt, attempt_with, batches
from espalier.io.errors import ConfigError, EspalierError
from espalier.tasks.paraphrase_decoder import PairDecoder
from espalier.tasks.paraphrase_search import search

if TYPE_CHECKING:
    from espalier.datasets.pairs.data import PairBatch
    from espalier.decoding.beam import Hypothesis
    from espalier.inference.pairs import PairSystem


def paraphrase_writer(system: PairSystem, **options: Any) -> ParaphraseWriter | PlainParaphraseWriter:
    """The writer for a tree-guided model, or for a model that reads only texts.

    Raises:
        ArgumentError: an option is for tree-guided models, and this model is not tree-guided.
    """
    if "target_tree" in system.view.reads:
        return ParaphraseWriter(system, **options)
    known = {field.name for field in fields(PlainParaphraseWriter)}
    if guiding := [name for name in options if name not in known]:
        raise ArgumentError(f"model {system.name} reads no tree", where=guiding[0], remedy="leave it out")
    return PlainParaphraseWriter(system, **options)


@dataclass(frozen=True)
class PlainWriter(GranularityOptions, Writer[PairRequest, Pair, Result]):
    """The base of writers for models that read only texts."""

    system: PairSystem
    inputs: ClassVar[str] = "texts"
    request_type = PairRequest

    def read(self, requests: Sequence[PairRequest]) -> list[Pair | EspalierError]:
        """Each text as a pair without a target."""
        return read_texts(self.system, requests)

    def best(self, texts: Sequence[Pair]) -> tuple[PairBatch, list[list[Hypothesis]]]:
        """The texts as a batch, and the best sequences of word pieces for each."""
        system, length = self.system, max_length(self.system)
        batch = encoded_pairs(texts, system, length).batch(np.arange(len(texts)), system.view).to(system.device)
        most = max_ids(system, length)
        decoder = PairDecoder(max_ids=most, min_ids=1, **self.shared(PairDecoder))
        return batch, search(system.model, batch, decoder, system.view)


@dataclass(frozen=True)
class PlainParaphraseWriter(PlainParaphraseOptions, PlainWriter[Paraphrase]):
    """Writes paraphrases."""

    def write(self, jobs: Sequence[Pair]) -> Iterator[tuple[PairRequest, Paraphrase]]:
        """The `n` best paraphrases of each text."""
        for part in batches(jobs, self.beam):
            for job, hypotheses in zip(part, self.best(part)[1], strict=True):
                request = PairRequest(job.source, name=job.id)
                for text, log_probability in distinct_texts(hypotheses, self.system, self.n):
                    words = tuple(text.split())
                    printed = print_words(words, self.system.vocabulary.lower)
                    yield request, Paraphrase(printed, words, job.source, "", "", log_probability)


def read_texts(system: PairSystem, requests: Sequence[PairRequest]) -> list[Pair | EspalierError]:
    """Texts as pairs, whose targets are unread copies, or the errors of unreadable texts."""
    length = max_length(system)

    def readable(request: PairRequest) -> PairRequest:
        if request.template is not None:
            raise ConfigError(f"model {system.name} reads no tree", where=request.name, remedy="leave out the template")
        require_readable(request.text, system, length, request.name)
        return replace(request, text=with_ascii_marks(request.text, system.language, request.name))

    def pair(request: PairRequest, words: str) -> Pair:
        made = Pair(
            id=request.name, origin="given", language=system.language,
            source=request.text, source_words=words, target=request.text, target_words=words,
        )  # fmt: skip
        encoded_pairs([made], system, length, warn=True)  # raises where the text is too long
        note_unknown_words(made, system, length)
        return made

    return attempt_with(attempt(requests, readable), partial(_words, system), pair)


def _words(system: PairSystem, requests: Sequence[PairRequest]) -> list[str | EspalierError]:
    """The words of each text, joined by spaces; "" if the model reads plain texts."""
    if system.reads_plain_text:
        return [""] * len(requests)
    parses = system.parse([request.text for request in requests], [request.name for request in requests])
    return [parse if isinstance(parse, EspalierError) else " ".join(parse.words) for parse in parses]


@dataclass(frozen=True)
class GranularityWriter(PlainWriter[TextGranularity]):
    """Paraphrases texts, and returns the granularity of each piece."""

    def write(self, jobs: Sequence[Pair]) -> Iterator[tuple[PairRequest, TextGranularity]]:
        """A result for each text."""
        for part in batches(jobs, self.beam):
            yield from zip((PairRequest(job.source, name=job.id) for job in part), self._results(part), strict=True)

    def _results(self, jobs: Sequence[Pair]) -> Iterator[TextGranularity]:
        system = self.system
        batch, found = self.best(jobs)
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
