"""Which texts are drawn together, and of which chances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy.typing as npt
import pytest

from espalier.decoding.bounds import PREFIXES
from espalier.inference.sampling import SamplingWriter
from espalier.io.hashing import seed_from
from espalier.tasks.verse_search import VerseDecoder


@dataclass(frozen=True)
class Job:
    row: int


@dataclass(frozen=True)
class Sampler(SamplingWriter[str, Job, str]):
    inputs: ClassVar[str] = "lines"

    @property
    def decoder(self) -> VerseDecoder:
        return VerseDecoder(**self.search_settings)

    def request(self, value: str, name: str) -> str:
        return value

    def read(self, requests: Sequence[str]) -> list[Any]:
        return []

    def write(self, jobs: Sequence[Job]) -> Iterator[tuple[str, str]]:
        return iter(())


class Batch:
    def __init__(self, places: npt.NDArray[Any]) -> None:
        self.places = places.tolist()

    def to(self, device: str) -> Batch:
        return self


class Data:
    def batch(self, places: npt.NDArray[Any], view: str) -> Batch:
        return Batch(places)


class Task:
    """Its hypotheses name their prompt, their seed and their rank; a search finds three."""

    def generate(self, model: Any, batch: Batch, decoder: VerseDecoder, seeds: Sequence[int], book: str) -> list[Any]:
        found = 3 if decoder.method == "beam" else 1
        pairs = zip(batch.places, seeds, strict=True)
        return [[(place, seed, rank, book) for rank in range(found)] for place, seed in pairs]


def decode(task: Any, batch: Any, decoder: Any, seeds: Sequence[int], **given: Any) -> list[list[Any]]:
    answers: list[list[Any]] = task.generate(None, batch, decoder, seeds, **given)
    return answers


SYSTEM: Any = SimpleNamespace(name="tiny", view="view", device="cpu", decode=decode)
JOBS = [Job(4), Job(9)]


def drawn(writer: Sampler) -> list[list[Any]]:
    return [*writer.hypotheses(JOBS, Data(), Task(), book="b")]


def test_each_text_is_drawn_by_itself_with_the_seed_of_its_request_and_number() -> None:
    n = PREFIXES - 100
    parts = drawn(Sampler(SYSTEM, n=n, seed=7))
    assert [len(part) for part in parts] == [PREFIXES, 2 * n - PREFIXES]  # of both requests together
    assert [each for part in parts for each in part] == [
        (job, sample, [(place, seed_from(7, job.row, sample), 0, "b")])
        for place, job in enumerate(JOBS)
        for sample in range(n)
    ]


@pytest.mark.parametrize(("beam", "n", "kept", "batches"), [(4, 2, 2, 1), (4, 4, 3, 1), (PREFIXES, 1, 1, 2)])
def test_a_search_is_made_once_for_each_request_and_its_best_are_kept(
    beam: int, n: int, kept: int, batches: int
) -> None:
    parts = drawn(Sampler(SYSTEM, n=n, seed=7, beam=beam))
    assert len(parts) == batches
    assert [each for part in parts for each in part] == [
        (job, 0, [(place, seed_from(7, job.row, 0), rank, "b") for rank in range(kept)])
        for place, job in enumerate(JOBS)
    ]


@pytest.mark.parametrize(("beam", "method"), [(0, ("top_k", 1)), (5, ("beam", 5))])
def test_a_beam_of_0_draws(beam: int, method: tuple[str, int]) -> None:
    settings = Sampler(SYSTEM, top_k=3, temperature=0.5, beam=beam).search_settings
    assert settings == {"method": method[0], "top_k": 3, "temperature": 0.5, "beam": method[1]}
