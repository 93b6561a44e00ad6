"""What is made ahead comes in order, once, and as it would have been made in its turn."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from espalier.training import loop
from espalier.training.ahead import made_ahead


@pytest.mark.parametrize("ahead", [0, 1, 2, 9])
def test_places_come_in_order_each_made_once_and_never_too_far_ahead(ahead: int) -> None:
    made: list[int] = []

    def make(place: int) -> int:
        made.append(place)
        return place * place

    for place, square in made_ahead(make, range(3, 8), ahead):
        assert square == place * place and len(made) <= place - 3 + 1 + ahead
    assert made == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("ahead", [0, 2])
def test_an_error_is_raised_in_its_turn_and_the_thread_ends(ahead: int) -> None:
    def make(place: int) -> int:
        if place == 2:
            raise ValueError("no batch")
        return place

    seen = []
    with pytest.raises(ValueError, match="no batch"):
        seen += [place for place, _ in made_ahead(make, range(5), ahead)]
    for place, _ in made_ahead(make, range(2), ahead):
        if place == 0:
            break
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batches")]


def test_a_training_learns_the_same_from_batches_that_are_made_ahead(
    toy: Any, straight: tuple[Any, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "made_ahead", lambda make, places, ahead: made_ahead(make, places, 2))
    progress, sha256 = toy.train(tmp_path)
    assert (progress.history, sha256) == (straight[0].history, straight[1])
