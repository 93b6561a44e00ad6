"""`espalier repro`: DVC's stages, several at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from espalier.io.errors import ArtifactError
from espalier.io.files import read_json
from pipeline import layout
from pipeline.commands.repro import out_of_date, repro

sys.path.insert(0, str(Path(__file__).parent))
from small_params import empty, write

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., Any]

#: Says its name, and writes its dependencies' lines and its name.
APPEND = "echo told by {name} && cat {deps} > {name}.txt && echo {name} >> {name}.txt"
STAGES: dict[str, tuple[str, list[str]]] = {
    "first": (APPEND, ["seed"]),
    "left": (APPEND, ["first"]),
    "right": (APPEND, ["first"]),
    "last": (APPEND, ["left", "right"]),
    "alone": (APPEND, ["other_seed"]),
}


def pipeline(folder: Path, run: Run, **commands: str) -> Path:
    """A DVC project of five stages; `commands` replaces some of their commands."""
    folder.mkdir()
    stages = {}
    for name, (usual, deps) in STAGES.items():
        files = [f"{dep}.txt" for dep in deps]
        command = commands.get(name, usual).format(name=name, deps=" ".join(files))
        stages[name] = {"cmd": command, "deps": files, "outs": [f"{name}.txt"]}
    (folder / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}))
    for seed in ("seed.txt", "other_seed.txt"):
        (folder / seed).write_text("seed\n")
    for command in (["git", "init", "-q"], ["dvc", "init", "-q"]):
        assert run(folder, *command).status == 0
    return folder


@pytest.fixture
def enter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[Path], None]]:
    """Work in a project, with the Python and the site cache that its subprocesses have."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / "dvc"))
    yield monkeypatch.chdir


def text(folder: Path, name: str) -> str:
    return (folder / f"{name}.txt").read_text()


def test_outputs_and_lock_are_those_of_dvc_repro(
    tmp_path: Path, run: Run, enter: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = pipeline(tmp_path / "ours", run), pipeline(tmp_path / "theirs", run)
    enter(ours)
    repro([], jobs=3)
    assert run(theirs, "dvc", "repro").status == 0
    assert yaml.safe_load((ours / "dvc.lock").read_text()) == yaml.safe_load((theirs / "dvc.lock").read_text())
    assert text(ours, "last") == text(theirs, "last") == "seed\nfirst\nleft\nseed\nfirst\nright\nlast\n"
    assert run(ours, "dvc", "status").out.strip() == "Data and pipelines are up to date."
    said = capfd.readouterr().err
    assert "[5/5] " in said and "told by alone" in said
    first, *_, last = said.splitlines()
    assert first == "stages 5, at once 3; under 1 min" and last.startswith("stages 5, in ")
    assert "git add" not in said and "Updating lock file" not in said


def test_stages_that_do_not_depend_on_each_other_run_at_once(tmp_path: Path, run: Run, enter: Any) -> None:
    meet = {
        name: f"touch {name}.here && for i in $(seq 300); do test -e {other}.here && break; sleep 0.1; done; "
        f"test -e {other}.here && echo {name} > {name}.txt"
        for name, other in (("left", "right"), ("right", "left"))
    }
    folder = pipeline(tmp_path / "project", run, **meet)
    enter(folder)
    repro([], jobs=2)
    assert text(folder, "last") == "left\nright\nlast\n"


def test_targets_bring_what_they_depend_on_and_nothing_else(tmp_path: Path, run: Run, enter: Any) -> None:
    folder = pipeline(tmp_path / "project", run)
    enter(folder)
    repro(["left"], jobs=2)
    assert sorted(path.name for path in folder.glob("*.txt")) == ["first.txt", "left.txt", "other_seed.txt", "seed.txt"]


def test_a_second_run_has_nothing_to_do_and_an_edit_reruns_what_depends_on_it(
    tmp_path: Path, run: Run, enter: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = pipeline(tmp_path / "project", run)
    enter(folder)
    repro([], jobs=2)
    capfd.readouterr()
    repro([], jobs=2)
    assert capfd.readouterr().err == "Data and pipelines are up to date.\n"
    assert read_json(folder / "metrics/measured/repro/stages.json").keys() == STAGES.keys()
    (folder / "other_seed.txt").write_text("another\n")
    repro([], jobs=2)
    said = capfd.readouterr().err
    assert "[1/1] alone, " in said and "told by" in said and "first" not in said
    assert text(folder, "alone") == "another\nalone\n"


def test_a_failure_starts_no_other_stage_and_keeps_what_is_done(
    tmp_path: Path, run: Run, enter: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = pipeline(tmp_path / "project", run, left="echo the reason is here >&2; exit 7")
    enter(folder)
    with pytest.raises(ArtifactError, match=r"^left: failed, as its output above says$"):
        repro([], jobs=2)
    said = capfd.readouterr().err
    assert "the reason is here" in said and "exited with 7" in said and "Traceback" not in said
    assert text(folder, "first") == "seed\nfirst\n" and not (folder / "last.txt").exists()
    assert "first" in yaml.safe_load((folder / "dvc.lock").read_text())["stages"]


def test_what_dvc_cannot_read_is_one_line(tmp_path: Path, run: Run, enter: Any) -> None:
    folder = pipeline(tmp_path / "project", run)
    enter(folder)
    with pytest.raises(
        ArtifactError, match=r"^no stage no_such_stage in dvc.yaml; dvc stage list --name-only names all$"
    ):
        repro(["no_such_stage"], jobs=2)
    (folder / "dvc.yaml").write_text("stages: [")
    with pytest.raises(ArtifactError, match=r"^dvc: .*dvc repro says more$"):
        repro([], jobs=2)


def test_an_archive_without_git_is_one_line_whose_remedy_lets_dvc_read_the_stages(
    tmp_path: Path, run: Run, enter: Any
) -> None:
    folder = pipeline(tmp_path / "project", run)
    shutil.rmtree(folder / ".git")
    enter(folder)
    with pytest.raises(ArtifactError) as error:
        repro([], jobs=2)
    said, _, commands = str(error.value).partition("; clone the project, or run in its root: ")
    assert said == f"{folder}: not in a git repository, which DVC needs"
    names = {f"GIT_{role}_{field}": "t@example.org" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    assert run(folder, "sh", "-c", commands, **names).status == 0
    assert out_of_date([]).keys() == STAGES.keys()


def test_ctrl_c_ends_it_in_a_line_and_a_later_run_goes_on(tmp_path: Path, run: Run) -> None:
    folder = pipeline(tmp_path / "project", run, left="test -e again.txt || sleep 60; echo left > left.txt")
    write(folder, empty())
    (folder / layout.CATALOGUE).parent.mkdir(parents=True)
    shutil.copy(ROOT / layout.CATALOGUE, folder / layout.CATALOGUE)
    command = [sys.executable, str(ROOT / "pipeline"), "repro", "-j", "2"]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment["DVC_SITE_CACHE_DIR"] = str(tmp_path / "dvc")
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # the tests may ignore it
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (folder / "right.txt").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1 and "Traceback" not in said, said
    assert said.splitlines()[-1] == "espalier: interrupted"
    (folder / "again.txt").touch()
    again = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert again.returncode == 0, again.stderr
    assert (folder / "last.txt").exists()
