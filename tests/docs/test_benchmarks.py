"""Benchmarks and their pages: each is recorded and shown, and what is kept is what was measured."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
import torch

from espalier.report.benchmarks import Spread, load_benchmark
from pipeline import layout

FOLDER = layout.ROOT / "benchmarks"
sys.path.insert(0, str(FOLDER))
import measuring  # noqa: E402
import released_models  # noqa: E402

BENCHMARKS = sorted(
    path.stem
    for path in FOLDER.glob("*.py")
    if "Record(__file__" in path.read_text(encoding="utf-8") and path.stem != "measuring"
)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_is_shown_on_a_page(name: str) -> None:
    pages = [path.read_text(encoding="utf-8") for path in (layout.ROOT / "papers/pages").glob("*.md")]
    assert any(f'("{name}"' in page for page in pages)


@pytest.mark.parametrize("path", sorted((FOLDER / "results").glob("*.json")), ids=lambda path: path.stem)
def test_results_name_the_command_of_a_benchmark_that_exists(path: Path) -> None:
    result = load_benchmark(path)
    assert result.command.split()[:2] == ["python", f"benchmarks/{path.stem}.py"]
    assert (FOLDER / f"{path.stem}.py").is_file()
    assert result.tables


def test_ratios_are_taken_round_by_round() -> None:
    found = {"ours": [10.0, 30.0, 20.0], "peer": [5.0, 10.0, 20.0]}
    rows = measuring.rate_table("", found, "ours").rows
    assert rows == {"ours": (20.0, ""), "peer": (10.0, Spread(2.0, 1.0, 3.0))}


def test_a_limit_is_the_rate_if_all_but_some_operators_took_no_time() -> None:
    weight = torch.randn(400, 400)

    def rate() -> float:
        torch.mm(weight, weight).cos_()
        time.sleep(0.05)  # is none of PyTorch's time
        return 10.0

    both, product = (10.0 / measuring.only(names, rate)() for names in (["aten::mm", "aten::cos_"], ["aten::mm"]))
    assert 0 < product < 1 and 0 < both < 1  # shares of all the time
    with pytest.raises(SystemExit, match="none of aten::bmm"):
        measuring.only(["aten::bmm"], rate)()


def test_steps_are_shown_in_milliseconds_with_the_middle_half_of_their_ratios() -> None:
    seconds = {"base": [1.0] * 5, "slow": [1.0, 1.25, 1.5, 1.75, 3.0]}
    rows = measuring.step_table("", seconds, "base", parameters={"base": 7, "slow": 8}).rows
    assert rows == {"base": (7, 1000.0, Spread(1, 1, 1)), "slow": (8, 1500.0, Spread(1.5, 1.25, 1.75))}


def test_tables_are_kept_only_if_asked_for_and_without_the_folders_of_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measuring, "__file__", str(tmp_path / "measuring.py"))
    made = measuring.rate_table("a shape", {"ours": [1.0], "peer": [2.0]}, "ours")
    for given in ([], ["/some/folder", "--record"]):
        monkeypatch.setattr(sys, "argv", ["race.py", *given])
        with measuring.Record("somewhere/race.py", given="MIRROR") as record:
            record.add(made)
        assert capsys.readouterr().out.startswith("a shape")
        assert (tmp_path / "results/race.json").exists() == bool(given)
    assert json.loads((tmp_path / "results/race.json").read_text())["command"] == "python benchmarks/race.py MIRROR"
    assert load_benchmark(tmp_path / "results/race.json").tables == (made,)


def test_a_score_of_a_released_model_stands_beside_that_before_rounding_and_the_rows_that_have_it(
    tmp_path: Path,
) -> None:
    def column(**scores: float | None) -> dict[str, dict[str, float | None]]:
        return {"scores": scores}

    columns = {"released": column(ppl=9.25), "ngram": column(ppl=20.0), "human": column(ppl=None)}
    (tmp_path / "scores.json").write_text(json.dumps({"run": {"columns": columns}}), encoding="utf-8")
    assert [*released_models.score_rows(tmp_path)] == ["| run | ppl | 9.25 | – | ngram 20.00 |"]
    columns["in 32 bits"] = column(ppl=9.2)
    (tmp_path / "scores.json").write_text(json.dumps({"run": {"columns": columns}}), encoding="utf-8")
    assert [*released_models.score_rows(tmp_path)] == ["| run | ppl | 9.25 | 9.20 | ngram 20.00 |"]
