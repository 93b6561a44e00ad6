"""Texts written by random sampling or by search."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from espalier.decoding.bounds import MAX_BEAM, MAX_TEMPERATURE, MAX_TOP_K
from espalier.inference.writer import (
    MAX_TEXTS,
    ArgumentError,
    Request,
    Result,
    Writer,
    batches,
    require_beams,
    require_range,
)
from espalier.io.hashing import seed_from

if TYPE_CHECKING:
    from espalier.decoding.beam import Hypothesis
    from espalier.inference.loaded import LoadedModel


class Numbered(Protocol):
    """A request that can be answered."""

    @property
    def row(self) -> int:
        """Its index among all requests, on which random draws depend."""


Row = TypeVar("Row", bound=Numbered)


@dataclass(frozen=True)
class SamplingWriter(Writer[Request, Row, Result]):
    """The base of writers that sample their texts.

    Attributes:
        n: number of texts for each request; for a search, the best ones, fewer if it finds fewer.
        seed: equal seeds give equal texts; each request and each of its texts has its own random numbers.
        top_k: number of most probable words to draw from.
        temperature: sampling temperature; above 1, rare words are drawn more often.
        beam: beam size of a search instead of sampling; 0 means sampling.
    """

    system: LoadedModel
    n: int = 1
    seed: int = 1
    top_k: int = 32
    temperature: float = 1.0
    beam: int = 0

    def __post_init__(self) -> None:
        require_range("n", self.n, 1, MAX_TEXTS)
        require_range("top_k", self.top_k, 1, MAX_TOP_K)
        require_range("beam", self.beam, 0, MAX_BEAM)
        if not 0 < self.temperature <= MAX_TEMPERATURE:
            remedy = f"above 0, at most {MAX_TEMPERATURE:g}"
            raise ArgumentError(f"{self.temperature} is no temperature", where="temperature", remedy=remedy)
        if self.beam:
            require_beams(self.n, self.beam)

    @property
    @abstractmethod
    def decoder(self) -> Any:
        """The settings of the task for these options."""

    @property
    def search_settings(self) -> dict[str, Any]:
        """The settings of the task's decoder for sampling or search."""
        return {
            "method": "beam" if self.beam else "top_k",
            "top_k": self.top_k,
            "temperature": self.temperature,
            "beam": self.beam or 1,
        }

    def hypotheses(
        self, jobs: Sequence[Row], data: Any, task: Any, **given: Any
    ) -> Iterator[list[tuple[Row, int, list[Hypothesis]]]]:
        """By batch: (job, index of its text, sampled text), or (job, 0, the `n` best texts of its search).

        Args:
            data: one encoded row per job.
            given: further arguments of the task's `generate`.
        """
        draws = [(place, sample) for place in range(len(jobs)) for sample in range(1 if self.beam else self.n)]
        for part in batches(draws, task.prefixes(self.decoder)):
            batch = data.batch(np.array([place for place, _ in part]), self.system.view).to(self.system.device)
            seeds = [seed_from(self.seed, jobs[place].row, sample) for place, sample in part]
            rows = task.generate(self.system.model, batch, self.decoder, seeds, **given)
            yield [(jobs[place], sample, row[: self.n]) for (place, sample), row in zip(part, rows, strict=True)]
