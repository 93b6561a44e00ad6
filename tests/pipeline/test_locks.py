"""The metrics and details in git are those of `dvc.lock`: no entry is of another run than the numbers beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.commands.verify import _compared, _outputs

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("profile", [".", "profiles/small"])
def test_committed_metrics_and_details_are_those_of_the_lock(
    profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / profile)
    in_git = [out for out in _outputs(Path("dvc.lock")) if out.path.startswith("metrics/")]
    faults: dict[Path, str] = {}
    for out in in_git:
        found = dict(_compared(out, tmp_path, lambda _, folders, names: (folders, names)))  # an empty cache
        assert found, f"{out.path} is not here"
        faults |= found
    assert {path for path, fault in faults.items() if fault} == set()
