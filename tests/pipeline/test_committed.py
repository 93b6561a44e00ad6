"""The metrics and details in git are those of `dvc.lock`: no entry is of another run than the numbers beside it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from dvc.utils.serialize import load_yaml

ROOT = Path(__file__).resolve().parents[2]
#: `filter` stages of small whose lock entry is of an earlier version (docs/results.md, "What a clone has").
EARLIER = {"filter@ewt", "filter@quora", "filter@parabank2", "filter@mscoco", "filter@songci"}


@pytest.mark.parametrize("profile", [".", "profiles/small"])
def test_committed_metrics_and_details_are_those_of_the_lock(profile: str) -> None:
    folder = ROOT / profile
    stages = load_yaml(str(folder / "dvc.lock"))["stages"]
    other = {
        stage
        for stage, entry in stages.items()
        for out in entry.get("outs", ())
        if out["path"].startswith(("details/", "metrics/", "measured/")) and _md5(folder / out["path"]) != out["md5"]
    }
    assert other == (EARLIER if profile == "profiles/small" else set())


def _md5(path: Path) -> str:
    """DVC's hash: of a folder, that of the list of its files and their hashes."""
    if not path.is_dir():
        return hashlib.md5(path.read_bytes()).hexdigest()
    files = sorted(path.rglob("*"), key=lambda file: file.relative_to(path).parts)
    listed = [{"md5": _md5(file), "relpath": file.relative_to(path).as_posix()} for file in files if file.is_file()]
    return hashlib.md5(json.dumps(listed, sort_keys=True).encode()).hexdigest() + ".dir"
