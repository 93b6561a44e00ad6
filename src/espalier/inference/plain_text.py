"""Texts of models that read nothing but their beginning (GPT2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from espalier.datasets.structure.data import StructureData
from espalier.datasets.structure.vocabulary import UNKNOWN
from espalier.datasets.vocabulary import UNK
from espalier.inference.requests import SampleOptions, SampleRequest
from espalier.inference.results import Sample
from espalier.inference.sampling import SamplingWriter
from espalier.inference.texts import require_text
from espalier.inference.writer import attempt, note_unknown
from espalier.io.errors import DataError, EspalierError
from espalier.tasks.compose import ComposeTask
from espalier.tasks.compose_decoder import ComposeDecoder
from espalier.text.language import join_tokens, tokens_of
from espalier.text.normalize import visible

if TYPE_CHECKING:
    from espalier.datasets.structure.data import StructureView
    from espalier.datasets.structure.encode import StructureSettings
    from espalier.datasets.structure.vocabulary import StructureVocabulary
    from espalier.inference.loaded import LoadedModel


@dataclass(frozen=True)
class SampleJob:
    """A request that can be answered: its tokens, and its index among all requests, on which random draws depend."""

    request: SampleRequest
    row: int
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class SampleWriter(SampleOptions, SamplingWriter[SampleRequest, SampleJob, Sample]):
    """Writes texts that begin as asked for and end where the model ends them."""

    system: LoadedModel[StructureVocabulary, StructureView, StructureSettings]
    inputs: ClassVar[str] = "prompts"
    request_type = SampleRequest

    @property
    def decoder(self) -> ComposeDecoder:
        """The settings of the task for these options. A row is as long as a text may be."""
        return ComposeDecoder(prompt="continue", slack=0, **self.search_settings)

    def read(self, requests: Sequence[SampleRequest]) -> list[SampleJob | EspalierError]:
        """Prompts in tokens."""
        return attempt(list(enumerate(requests)), lambda each: self._job(*each))

    def _job(self, row: int, request: SampleRequest) -> SampleJob:
        text, system = visible(request.prompt), self.system
        if text:
            require_text(text, system.language, request.name)
        tokens = tokens_of(text, system.language)
        limit = min(int(system.settings.max_length), system.positions)
        if len(tokens) >= limit:
            raise DataError(f"{len(tokens)} tokens", file=request.name, remedy=f"fewer than {limit}")
        unknown = [token for token in tokens if system.vocabulary.id_of(token) == UNK]
        note_unknown(unknown, system.name, request.name)
        return SampleJob(request, row, tuple(tokens))

    def write(self, jobs: Sequence[SampleJob]) -> Iterator[tuple[SampleRequest, Sample]]:
        """`n` texts for each prompt; fewer if a search finds fewer."""
        system, task = self.system, ComposeTask()
        length = min(int(system.settings.max_length), system.positions - 1)
        for part in self.hypotheses(jobs, _data(jobs, system.vocabulary, length), task):
            for job, sample, hypotheses in part:
                for rank, hypothesis in enumerate(hypotheses):
                    row = {"reference": join_tokens(job.tokens, system.language), "prompt": len(job.tokens)}
                    text = task.columns(hypothesis, row, system.model, self.decoder)["text"]
                    yield job.request, Sample(text, job.request.prompt, self.seed, sample + rank)


def _data(jobs: Sequence[SampleJob], vocabulary: StructureVocabulary, length: int) -> StructureData:
    """Rows of `length` tokens that begin with the prompts; the model reads no more of them."""
    filled = [[*vocabulary.encode(job.tokens), *[UNK] * (length - len(job.tokens))] for job in jobs]
    columns: dict[str, list[Any]] = {
        "target": filled,
        "topic": [[] for _ in jobs],
        "prompt": [[len(job.tokens)] for job in jobs],
    }
    columns |= {name: [[UNKNOWN] * length for _ in jobs] for name in vocabulary.structures}
    return StructureData.of([job.request.name for job in jobs], columns, vocabulary)
