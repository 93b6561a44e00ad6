"""What stages are expected to take, and the time left: the longest chain or the shared work, at the pace of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError
from espalier.io.files import write_json
from pipeline import layout
from pipeline.records.stage_times import REHEARSAL, RUNS, SECONDS, TRAINING_SECONDS, StageTimes, spoken


@pytest.fixture(autouse=True)
def _empty_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_run_tells_before_a_measurement_and_both_before_a_rehearsal() -> None:
    write_json(REHEARSAL, {"train@a": 1.0, "train@b": 2.0, "train@c": 3.0})  # hours
    for key in "ab":
        write_json(layout.measured("train", key), {"seconds": 600.0})
    write_json(layout.measured("train", "d"), {})
    write_json(RUNS, {"train@a": 60.0})
    times = StageTimes()
    found = {key: times.known(f"train@{key}") for key in "abcd"}
    assert {key: (each.seconds, each.source) for key, each in found.items() if each} == {
        "a": (60, "earlier run"), "b": (600, "earlier run"), "c": (10800, "rehearsal"),
    }  # fmt: skip


def test_a_resumed_training_takes_at_least_as_long_as_its_longest_seed() -> None:
    seeds = {"seed1": {"seconds": 900.0}, "seed2": {"seconds": 1200.0}}
    write_json(layout.measured("train", "a"), {"seconds": 60.0, "seeds": seeds})
    found = StageTimes().known("train@a")
    assert found is not None and found.seconds == 1200


def test_known_stages_take_what_they_took_and_others_the_mean_of_their_kind() -> None:
    write_json(RUNS, {"train@a": 30.0, "train@b": 50.0, "score@a": 2.0})
    times = StageTimes()
    assert [times.expected(stage) for stage in ("train@a", "train@new", "score@new", "parse@x")] == [30, 40, 2, SECONDS]
    RUNS.unlink()
    assert StageTimes().expected("train@a") == TRAINING_SECONDS


def test_the_longest_chain_or_the_work_of_all_decides() -> None:
    write_json(RUNS, {"a": 10.0, "b": 20.0, "c": 4.0, "d": 6.0})
    times = StageTimes()
    graph: dict[str, set[str]] = {"a": set(), "b": {"a"}, "c": set(), "d": {"c"}}
    assert times.left(graph, jobs=2) == 30  # a, then b
    assert times.left(graph, jobs=1) == 40  # all
    assert times.left({"b": {"a"}, "d": {"c"}}, jobs=2) == 20  # what is done is waited for no longer
    assert times.left({}, jobs=2) == 0


def test_a_slow_machine_makes_what_is_left_longer() -> None:
    write_json(RUNS, {"a": 10.0, "b": 20.0})
    times = StageTimes()
    times.record("a", 30.0)
    assert times.left({"b": set()}, jobs=1) == pytest.approx(60)


def test_on_a_first_run_the_pace_is_that_of_the_constants() -> None:
    times = StageTimes()
    times.record("parse@a", 4 * SECONDS)
    assert times.left({"train@a": set()}, jobs=1) == pytest.approx(4 * TRAINING_SECONDS)


def test_what_is_saved_is_known_the_next_time_and_a_damaged_file_is_no_error() -> None:
    times = StageTimes()
    times.record("a", 3.14159)
    times.save()
    assert StageTimes().runs == {"a": 3.14}
    RUNS.write_text("{", encoding="utf-8")
    assert StageTimes().runs == {}
    with pytest.raises(ArtifactError, match=r"stages\.json"):
        StageTimes(strict=True)


def test_a_run_that_took_all_from_the_cache_leaves_a_file_that_can_be_read() -> None:
    StageTimes().save()
    assert StageTimes(strict=True).runs == {}


def test_a_damaged_measurement_does_not_stop_a_run(tmp_path: Path) -> None:
    (tmp_path / layout.measured("train", "a")).parent.mkdir(parents=True)
    layout.measured("train", "a").write_text("{", encoding="utf-8")
    write_json(layout.measured("train", "b"), {"seconds": "long"})
    assert [StageTimes().expected(f"train@{key}") for key in "ab"] == [TRAINING_SECONDS] * 2
    with pytest.raises(ArtifactError, match=r"train/a\.json"):
        StageTimes(strict=True).known("train@a")


def test_what_was_expected_of_a_stage_stays_when_it_has_ended() -> None:
    write_json(layout.measured("train", "a"), {"seconds": 10.0})
    times = StageTimes()
    assert times.left({"train@a": set()}, jobs=1) == 10
    write_json(layout.measured("train", "a"), {"seconds": 30.0})  # as the stage itself does
    times.record("train@a", 30.0)
    assert times.left({"score@a": set()}, jobs=1) == pytest.approx(3 * SECONDS)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "under 1 min"), (100, "about 2 min"), (5400, "about 90 min"), (7800, "about 2 h 10 min")]
)
def test_a_time_is_rounded_to_what_can_be_known(seconds: float, text: str) -> None:
    assert spoken(seconds) == text
