"""Searches take no more memory than there is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from espalier.decoding import memory
from espalier.decoding.beam import beam_search
from espalier.decoding.memory import chain_bytes, free_bytes, row_parts, tree_bytes
from espalier.decoding.sampling import sample
from espalier.io.errors import ConfigError

END, BEGIN = 0, 1
CPU = torch.device("cpu")


def sized(toy: Any) -> Any:
    """A toy model that says how large it is: 4 x 4 x 6 bytes a prefix."""
    model = toy(6)
    model.vocabulary = SimpleNamespace(text_size=6)
    return model


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Any:
    def limit(size: int | None) -> None:
        monkeypatch.setattr(memory, "free_bytes", lambda _: size)

    return limit


def test_a_prefix_takes_its_scores_and_its_state() -> None:
    config = SimpleNamespace(width=8, heads=3, head_width=4, layers=2, positions=10)
    model = SimpleNamespace(config=config, vocabulary=SimpleNamespace(text_size=100))
    assert chain_bytes(model, 5) == 4 * (4 * 100 + 12 * 2 * 12 * 5)
    assert chain_bytes(model, 99) == chain_bytes(model, 10)  # no prefix is longer than the model's positions
    assert chain_bytes(object(), 5) == 0
    assert tree_bytes(3, 6, 10) == 128 * 6 * 30


def test_rows_are_parted_as_memory_allows(free: Any) -> None:
    free(100)
    assert [part.tolist() for part in row_parts(5, CPU, beam=4, each=10)] == [[0, 1], [2, 3], [4]]
    free(None)
    assert [part.tolist() for part in row_parts(3, CPU, beam=4, each=10)] == [[0, 1, 2]]


def test_a_beam_beyond_the_memory_is_refused_and_the_largest_is_named(free: Any) -> None:
    free(3_000_000_000)
    with pytest.raises(ConfigError) as caught:
        row_parts(2, CPU, beam=1000, each=4_000_000)
    assert str(caught.value) == "beam: 1,000 beams take about 4.0 GB of memory, where 3.0 GB are free; at most 750"
    assert row_parts(2, CPU, beam=750, each=4_000_000)


def test_a_single_sequence_beyond_the_memory_names_no_beam(free: Any) -> None:
    free(3_000_000_000)
    wanted = (
        r"^decoding: a sequence takes about 4\.0 GB of memory, where 3\.0 GB are free; the model is too large for it$"
    )
    with pytest.raises(ConfigError, match=wanted):
        row_parts(2, CPU, beam=1, each=4_000_000_000)


def test_a_search_in_parts_finds_the_same(toy: Any, sources: Any, free: Any) -> None:
    def search() -> Any:
        return beam_search(sized(toy), sources([1, 2, 3]), beam=4, max_ids=5, begin=BEGIN, end=END)

    whole = search()
    free(2 * 4 * 96)  # two rows of four beams
    assert search() == whole
    free(3 * 96)
    with pytest.raises(ConfigError, match="at most 3"):
        search()


def test_texts_drawn_in_parts_are_the_same(toy: Any, sources: Any, free: Any) -> None:
    def draw() -> Any:
        return sample(sized(toy), sources([3, 1, 4]), seeds=[5, 6, 7], max_ids=9, begin=BEGIN, end=END)

    whole = draw()
    free(2 * 96)
    assert draw() == whole


def test_the_memory_of_this_machine_is_known_or_not_asked_for() -> None:
    found = free_bytes(CPU)
    assert found is None or found > 2**20
    assert free_bytes(torch.device("meta")) is None
