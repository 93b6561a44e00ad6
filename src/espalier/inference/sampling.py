"""Texts written by random sampling or by search."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from espalier.datasets.batch import Batch
from espalier.inference.requests import SamplingOptions
from espalier.inference.writer import Request, Result, Writer, attempt, batches
from espalier.io.errors import EspalierError
from espalier.io.hashing import seed_from

if TYPE_CHECKING:
    from espalier.datasets.encoding import Split
    from espalier.tasks.settings import Decoder
    from espalier.tasks.task import DecodingTask


class Numbered(Protocol):
    """A request that can be answered."""

    @property
    def row(self) -> int:
        """Its index among all requests, on which random draws depend."""


Row = TypeVar("Row", bound=Numbered)
Batch_ = TypeVar("Batch_", bound=Batch)
Hypothesis_ = TypeVar("Hypothesis_")


@dataclass(frozen=True)
class SamplingWriter(SamplingOptions, Writer[Request, Row, Result]):
    """The base of writers that sample their texts.

    Equal seeds give equal texts; each request and each of its texts has its own random numbers. A search gives the `n`
    best texts, or fewer if it finds fewer.
    """

    def read_after(self, before: int, requests: Sequence[Request]) -> list[Row | EspalierError]:
        """As `read`, of requests that come after `before` others: their random numbers are those of their places."""
        return attempt(self.read(requests), lambda job: replace(job, row=before + job.row))  # type: ignore[type-var]  # a dataclass

    @property
    @abstractmethod
    def decoder(self) -> Decoder[Any, Any]:
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
        self,
        jobs: Sequence[Row],
        data: Split[Any, Any, Batch_],
        task: DecodingTask[Any, Any, Batch_, Any, Any, Hypothesis_],
        **given: Any,
    ) -> Iterator[list[tuple[Row, int, list[Hypothesis_]]]]:
        """By batch: (job, index of its text, sampled text), or (job, 0, the `n` best texts of its search).

        Args:
            data: one encoded row per job.
            given: further arguments of the task's `generate`.
        """
        draws = [(place, sample) for place in range(len(jobs)) for sample in range(1 if self.beam else self.n)]
        for part in batches(draws, self.decoder.prefixes):
            batch = data.batch(np.array([place for place, _ in part]), self.system.view).to(self.system.device)
            seeds = [seed_from(self.seed, jobs[place].row, sample) for place, sample in part]
            rows = self.system.decode(task, batch, self.decoder, seeds, **given)
            yield [(jobs[place], sample, row[: self.n]) for (place, sample), row in zip(part, rows, strict=True)]
