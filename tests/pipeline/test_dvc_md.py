"""docs/dvc.md: its commands, from top to bottom, on a small project."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from espalier.io.files import write_json

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., Any]


def blocks() -> dict[str, list[str]]:
    """The lines of each section's shell blocks, by its heading."""
    text = (ROOT / "docs/dvc.md").read_text(encoding="utf-8")
    sections = re.split(r"^## (.+)\n", text, flags=re.M)
    found = zip(sections[1::2], sections[2::2], strict=True)
    return {title: "".join(re.findall(r"```sh\n(.*?)```", body, re.S)).splitlines() for title, body in found}


@pytest.fixture
def on_main(project: Path, run: Run) -> Path:
    """The built project on a branch main, whose last commit has a score of another processor."""
    score = project / "metrics/guig/written.json"
    here = score.read_text(encoding="utf-8")
    write_json(score, {**json.loads(here), "ppl": 1.0})
    for command in ("git branch -M main", "git config user.name t", "git config user.email t@example.org",
                    "git add -A", "git commit -qm built"):  # fmt: skip
        assert run(project, *command.split()).status == 0
    score.write_text(here, encoding="utf-8")
    return project


def test_the_page_s_commands_do_what_it_says(
    on_main: Path, run: Run, edit: Callable[..., None], tmp_path: Path
) -> None:
    outputs: dict[str, str] = {}
    (tmp_path / "storage").mkdir()
    for lines in blocks().values():
        folder = on_main
        for line in lines:
            if key := re.match(r"# edit params.yaml: ([\w.]+)", line):
                edit(on_main / "params.yaml", key[1], 24)
                continue
            command = line.partition("  #")[0].strip()
            command = command.replace("/path/to/storage", str(tmp_path / "storage"))
            command = command.replace("/path/to/project clone && cd clone", f"{on_main} {tmp_path / 'clone'}")
            answer = run(folder, *shlex.split(command))
            assert answer.status == 0, f"{command}\n{answer.out}{answer.err}"
            assert "DVC failed" not in answer.err, f"{command}\n{answer.err}"
            outputs[f"{folder.name}: {command}"] = answer.out
            if command.startswith("git clone"):
                folder = tmp_path / "clone"
        if "git switch -c wider" in lines:
            assert run(on_main, "git", "switch", "main").status == 0
            assert run(on_main, "dvc", "checkout").status == 0
            assert "up to date" in run(on_main, "dvc", "repro").out
    assert "presets.songnet.network.width" in outputs["project: dvc params diff main"]
    assert "metrics/songnet/songnet_free.json" in outputs["project: dvc metrics diff main"]
    assert "metrics/guig" not in outputs["project: dvc metrics diff main"]
    compared = outputs["project: dvc metrics diff short narrow --targets metrics/songnet"]
    assert "metrics/songnet/songnet_free.json" in compared and "narrow" in compared
    assert "up to date" in outputs["clone: dvc repro"] and "Running stage" not in outputs["clone: dvc repro"]
