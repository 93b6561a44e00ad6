"""Pages are compared with what models write only where the models are those that the pages are of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import why_not_comparable

#: What `dvc add models/one` writes of a folder whose one file, `weights`, has the text "of the page".
MD5 = "45232adc0517f39d3f3e98bd693040a4.dir"


def stages(md5: str) -> dict[str, object]:
    return {"stages": {"train@one": {"outs": [{"path": "models/one", "md5": md5}]}}}


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True)


def test_examples_are_not_expected_of_models_that_this_machine_trained_anew(tmp_path: Path) -> None:
    model = tmp_path / "models/one"
    assert why_not_comparable(tmp_path, "models/one") == "models/one is not built here"
    model.mkdir(parents=True)
    (model / "weights").write_text("of the page", encoding="utf-8")
    lock = tmp_path / "dvc.lock"
    lock.write_text(yaml.safe_dump(stages(MD5)), encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "dvc.lock")
    git(tmp_path, "commit", "-qm", "lock")
    assert not why_not_comparable(tmp_path, "models/one")

    (model / "weights").write_text("of this machine", encoding="utf-8")
    lock.write_text(yaml.safe_dump(stages("what a repro writes")), encoding="utf-8")

    assert why_not_comparable(tmp_path, "models/one") == "models/one is not the one of the committed dvc.lock"
