"""A loaded model answers several threads and processes as it answers one, and calls leave nothing behind."""

from __future__ import annotations

import gc
import multiprocessing
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pytest
from shared_model import answers, load
from tiny_models import Words

import espalier
from espalier.inference.requests import VerseRequest


@pytest.fixture
def alone(models: Path) -> list[list[str]]:
    """The answers of one thread."""
    load(models / "verse")
    return [answers(place) for place in range(12)]


def test_threads_that_share_a_model_have_the_answers_of_one(alone: list[list[str]]) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(answers, range(12))] == alone


@pytest.mark.parametrize("way", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_processes_that_share_a_model_have_the_answers_of_one(
    alone: list[list[str]], models: Path, way: Literal["fork", "spawn"]
) -> None:
    if way == "fork":  # with the model of its parent
        context: Any = multiprocessing.get_context("fork")
        folder = None
    else:
        context, folder = multiprocessing.get_context("spawn"), models / "verse"
    with ProcessPoolExecutor(2, context, load, (folder,)) as pool:
        assert [*pool.map(answers, range(12))] == alone


def test_the_parser_and_the_expander_are_shared_too(models: Path) -> None:
    writer = espalier.load(models / "writer", parser=Words(), device="cpu")
    texts = [f"now , i sleep {'.' * (1 + place % 2)}" for place in range(6)]

    def paraphrased(text: str) -> list[str]:
        return [found.text for found in writer.paraphrase([text], templates=1, beam=2)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = [paraphrased(text) for text in texts]
        with ThreadPoolExecutor(3) as pool:
            assert [*pool.map(paraphrased, texts)] == alone


def test_a_system_goes_to_a_process_that_begins_anew(models: Path) -> None:
    system = espalier.load(models / "verse", device="cpu")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(system.generate, ["2。"], seed=1).result() == system.generate(["2。"], seed=1)


def test_calls_leave_no_objects_behind(models: Path) -> None:
    system = espalier.load(models / "verse", device="cpu")

    def left(calls: int) -> int:
        for seed in range(calls):
            system.generate([VerseRequest("2。", name=f"{seed}")], seed=seed)
        gc.collect()
        return len(gc.get_objects())

    left(5)  # what is made once
    # Threads of other tests make objects too, but not each time.
    assert min(left(30) - left(5) for _ in range(4)) < 30
