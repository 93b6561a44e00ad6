"""A family stands in tables of segments under a key, from which it can be read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family, Part, by_part, family_scores
from espalier.metrics.metric import Metric, ratio, scores, signature_of

MEAN = Metric("mean", ratio(0, 1), signature_of("toy", of="column 0"), "nothing there")


@dataclass(frozen=True)
class Toy(Family[list[float]]):
    name = "toy"
    metrics = (MEAN,)
    letter: str
    shares: tuple[float, ...] = (0.5,)
    size: int | None = None
    cut: bool = False

    def statistics(self, texts: list[float], /) -> Array:
        return np.array([[value, 1.0] for value in texts])


class Total(Toy):
    metrics = (Metric("total", lambda sums: sums[..., 0], "toy"),)


@given(
    st.text("abc", min_size=1),
    st.lists(st.integers(0, 100).map(lambda share: share / 100), min_size=1).map(tuple),
    st.none() | st.integers(0, 99),
    st.booleans(),
)
def test_settings_are_read_back_from_a_key(letter: str, shares: Any, size: int | None, cut: bool) -> None:
    toy = Toy(letter, shares, size, cut)
    name, *settings = toy.key.split(":")
    assert name == "toy" and Toy.from_settings(settings) == toy


def test_what_is_not_set_is_left_out_and_a_flag_stands_as_its_name() -> None:
    assert Toy("a").key == "toy:a:0.5"
    assert Toy("a", (0.8, 1.0), 3, cut=True).key == "toy:a:0.8,1:3:cut"


@pytest.mark.parametrize("settings", [[], ["a"], ["a", "half", "3"], ["a", "0.5", "cat"], ["a", "0.5", "cut", "cut"]])
def test_missing_superfluous_and_other_settings_are_refused(settings: list[str]) -> None:
    with pytest.raises(ValueError, match="setting"):
        Toy.from_settings(settings)


def test_families_are_scored_over_the_same_segments_in_their_order() -> None:
    statistics: dict[Family[Any], Array] = {Toy("a"): Toy("a").statistics([1, 2, 6]), Total("a"): np.ones((3, 2))}
    results = family_scores(statistics, seed=0, groups=["a", "b", "b"])
    assert list(results) == ["mean", "total"] and results["total"].value == 3.0
    assert results["mean"] == scores([MEAN], statistics[Toy("a")], seed=0, groups=["a", "b", "b"])["mean"]
    with pytest.raises(EspalierError, match="2 groups for 3 segments"):
        family_scores(statistics, seed=0, groups=["a", "b"])


def test_a_part_has_the_rows_inside_it_and_metrics_of_its_name() -> None:
    ((part, rows),) = by_part({Toy("a"): Toy("a").statistics([1, 2])}, {"unseen": [False, True]}).items()
    assert part == Part(Toy("a"), "unseen") and rows.tolist() == [[0, 0], [2, 1]]
    (metric,) = part.metrics
    assert (metric.name, metric.signature) == ("mean_unseen", "toy|of:column 0|pairs:unseen")
    assert metric.undefined == "no pair is unseen, or nothing there"
