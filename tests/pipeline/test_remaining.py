"""The time left: the longest chain or the shared work, at the pace of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.io.files import write_json
from pipeline.remaining import SECONDS, TRAINING_SECONDS, Stopwatch, spoken


def test_known_stages_take_what_they_took_and_others_the_mean_of_their_kind(tmp_path: Path) -> None:
    write_json(tmp_path / "stages.json", {"train@a": 30.0, "train@b": 50.0, "score@a": 2.0})
    watch = Stopwatch(tmp_path / "stages.json")
    assert [watch.expected(stage) for stage in ("train@a", "train@new", "score@new", "parse@x")] == [30, 40, 2, SECONDS]
    assert Stopwatch(tmp_path / "none.json").expected("train@a") == TRAINING_SECONDS


def test_the_longest_chain_or_the_work_of_all_decides(tmp_path: Path) -> None:
    write_json(tmp_path / "stages.json", {"a": 10.0, "b": 20.0, "c": 4.0, "d": 6.0})
    watch = Stopwatch(tmp_path / "stages.json")
    graph: dict[str, set[str]] = {"a": set(), "b": {"a"}, "c": set(), "d": {"c"}}
    assert watch.left(graph, jobs=2) == 30  # a, then b
    assert watch.left(graph, jobs=1) == 40  # all
    assert watch.left({"b": {"a"}, "d": {"c"}}, jobs=2) == 20  # what is done is waited for no longer
    assert watch.left({}, jobs=2) == 0


def test_a_slow_machine_makes_what_is_left_longer(tmp_path: Path) -> None:
    write_json(tmp_path / "stages.json", {"a": 10.0, "b": 20.0})
    watch = Stopwatch(tmp_path / "stages.json")
    watch.record("a", 30.0)
    assert watch.left({"b": set()}, jobs=1) == pytest.approx(60)


def test_on_a_first_run_the_pace_is_that_of_the_constants(tmp_path: Path) -> None:
    watch = Stopwatch(tmp_path / "none.json")
    watch.record("parse@a", 4 * SECONDS)
    assert watch.left({"train@a": set()}, jobs=1) == pytest.approx(4 * TRAINING_SECONDS)


def test_what_is_saved_is_known_the_next_time_and_a_damaged_file_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "measured/stages.json"
    watch = Stopwatch(file)
    watch.record("a", 3.14159)
    watch.save()
    assert Stopwatch(file).earlier == {"a": 3.14}
    file.write_text("{", encoding="utf-8")
    assert Stopwatch(file).earlier == {}


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "under 1 min"), (100, "about 2 min"), (5400, "about 90 min"), (7800, "about 2 h 10 min")]
)
def test_a_time_is_rounded_to_what_can_be_known(seconds: float, text: str) -> None:
    assert spoken(seconds) == text
