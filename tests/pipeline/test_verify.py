"""`espalier verify`: DVC trusts what it once hashed, this does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

Cli = Callable[..., Any]
Refused = Callable[..., str]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)


def test_a_built_project_is_as_locked(built: Path, cli: Cli) -> None:
    answer = cli(built, "verify")
    assert answer.status == 0 and answer.out == ""
    assert " 0 corrupt, 0 outputs not here" in answer.err


@pytest.mark.parametrize(
    "name", ["models/songnet/seed1.safetensors", "outputs/songnet/songnet_free.parquet", "reports/songnet/index.html"]
)
def test_a_flipped_bit_in_the_workspace_is_named(project: Path, refused: Refused, name: str, capsys: Any) -> None:
    flip(project / name)
    assert_names(project, refused, name)


def assert_names(project: Path, refused: Refused, name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.commands.verify.say", lambda *_: None)  # the count comes before the line
        line = refused(project, "verify")
    assert name in line and "corrupt" in line and "dvc repro" in line


def test_a_flipped_bit_in_the_cache_is_named(project: Path, refused: Refused) -> None:
    lock = yaml.safe_load((project / "dvc.lock").read_text(encoding="utf-8"))
    (out,) = lock["stages"]["decode@songnet_free"]["outs"]
    flip(project / ".dvc/cache/files/md5" / out["md5"][:2] / out["md5"][2:])
    assert_names(project, refused, f"{out['md5'][:2]}/{out['md5'][2:]}")


def test_a_corrupt_listing_of_a_folder_is_named(project: Path, refused: Refused) -> None:
    lock = yaml.safe_load((project / "dvc.lock").read_text(encoding="utf-8"))
    (out,) = (out for out in lock["stages"]["parse@tiny"]["outs"] if out["path"] == "data/parsed/tiny")
    flip(project / ".dvc/cache/files/md5" / out["md5"][:2] / out["md5"][2:])
    assert_names(project, refused, out["md5"][2:])


def test_what_is_absent_is_counted_and_not_wrong(project: Path, cli: Cli) -> None:
    shutil.rmtree(project / ".dvc/cache")
    shutil.rmtree(project / "models/songnet")
    answer = cli(project, "verify")
    assert answer.status == 0 and " 0 corrupt" in answer.err and " 0 outputs not here" not in answer.err


def test_without_a_lock_it_says_so(project: Path, refused: Refused) -> None:
    (project / "dvc.lock").unlink()
    assert "dvc.lock: no such file; dvc repro makes it" in refused(project, "verify")


@pytest.mark.parametrize("text", ["stages: [", "[]", "stages: {a: {outs: [{path: x}]}}", "stages: 3"])
def test_a_lock_that_is_none_is_one_line(project: Path, refused: Refused, text: str) -> None:
    (project / "dvc.lock").write_text(text, encoding="utf-8")
    assert "dvc.lock: not a lock file" in refused(project, "verify")
