"""What `espalier repro` says without DVC: only that nothing has changed, and only if DVC would say so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from pipeline import layout
from pipeline.commands.repro import out_of_date
from pipeline.graph import settled

sys.path.insert(0, str(Path(__file__).parent))
from small_params import empty, write

ROOT = Path(__file__).resolve().parents[2]

STAGES = {
    "file": {"cmd": "cat given.txt > file.txt", "deps": ["given.txt"], "params": ["profile"], "outs": ["file.txt"]},
    "folder": {"cmd": "mkdir -p folder/in && cp file.txt folder/in/one", "deps": ["file.txt"], "outs": ["folder"]},
    "kept": {"cmd": "echo {} > kept.json", "outs": [{"kept.json": {"cache": False}}]},
}


def again(path: Path) -> None:
    """Write the same bytes once more."""
    path.write_bytes(path.read_bytes())


def objects(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / ".dvc/cache/files").rglob("*") if path.is_file())


def replaced(path: Path) -> None:
    """Another file of the same bytes, size and times, as a restored backup is."""
    times = path.stat()
    shutil.copy(path, path.with_name("other"))
    os.utime(path.with_name("other"), ns=(times.st_atime_ns, times.st_mtime_ns))
    path.with_name("other").replace(path)


#: What happens to the project; DVC may still find everything up to date, but must be asked.
CHANGES: dict[str, Callable[[Path], object]] = {
    "a dependency": lambda folder: (folder / "given.txt").write_text("more\n"),
    "a dependency of the same bytes": lambda folder: again(folder / "given.txt"),
    "a dependency that is gone": lambda folder: (folder / "given.txt").unlink(),
    "a parameter": lambda folder: again(folder / "params.yaml"),
    "an output that is gone": lambda folder: (folder / "file.txt").unlink(),
    "an output in its place": lambda folder: replaced(folder / "kept.json"),
    "a new file in a folder": lambda folder: (folder / "folder/in/two").touch(),
    "a file of a folder": lambda folder: (folder / "folder/in/one").unlink(),
    "an object of the cache": lambda folder: objects(folder)[0].unlink(),
    "all objects of the cache": lambda folder: shutil.rmtree(folder / ".dvc/cache"),
    "the stages": lambda folder: again(folder / "dvc.yaml"),
    "the lock": lambda folder: again(folder / "dvc.lock"),
    "another file of stages": lambda folder: ((folder / "below").mkdir(), (folder / "below/dvc.yaml").write_text("{}")),
    "a file that DVC watches": lambda folder: (folder / "new.dvc").touch(),
    "what DVC ignores": lambda folder: (folder / ".dvcignore").write_text("one\n"),
    "a setting of DVC": lambda folder: (folder / ".dvc/config.local").write_text("[core]\nautostage = true\n"),
    "git": lambda folder: (folder / ".git").rename(folder / "git"),
    "the note": lambda folder: (folder / ".scratch/repro/settled.json").write_text("{"),
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that DVC has found up to date."""
    folder = tmp_path_factory.mktemp("settled") / "project"
    folder.mkdir()
    write(folder, empty())
    (folder / layout.CATALOGUE).parent.mkdir(parents=True)
    shutil.copy(ROOT / layout.CATALOGUE, folder / layout.CATALOGUE)
    (folder / "given.txt").write_text("text\n")
    (folder / "dvc.yaml").write_text(yaml.safe_dump({"stages": STAGES}))
    for command in (["git", "init", "-q"], ["dvc", "init", "-q"], ["dvc", "repro", "-q"]):
        subprocess.run(command, cwd=folder, env=environment(folder), check=True)
    return folder


def environment(folder: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "DVC_SITE_CACHE_DIR": str(folder.parent / "dvc")}


@pytest.fixture(autouse=True)
def _in_it(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(done).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(done)


def test_what_dvc_found_up_to_date_is_said_without_dvc(done: Path) -> None:
    assert not settled.is_settled() and out_of_date([]) == {}
    assert settled.is_settled()
    script = (
        "import contextlib, sys; from espalier.cli.app import main\nsys.argv[1:] = ['repro']\n"
        "with contextlib.suppress(SystemExit): main()\nassert not {'dvc', 'torch', 'pandas'} & {*sys.modules}"
    )
    path = f"{ROOT / 'src'}:{ROOT}"
    answer = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == f"{settled.UP_TO_DATE}\n"


@pytest.mark.parametrize("change", CHANGES)
def test_dvc_is_asked_after_any_change(
    done: Path, change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(done, tmp_path / "project", symlinks=True)
    monkeypatch.chdir(tmp_path / "project")
    assert not settled.is_settled()  # the files are others
    assert out_of_date([]) == {} and settled.is_settled()
    CHANGES[change](tmp_path / "project")
    assert not settled.is_settled()


def test_stages_that_are_to_run_and_named_stages_leave_no_note(done: Path) -> None:
    (done / settled.KEPT).unlink(missing_ok=True)
    assert out_of_date(["file"]) == {} and not settled.is_settled()
    (done / "given.txt").write_text("other\n")
    assert [*out_of_date([])] == ["file", "folder"] and not settled.is_settled()
    (done / "given.txt").write_text("text\n")
    assert out_of_date([]) == {} and settled.is_settled()


def test_what_cannot_be_read_is_left_to_dvc(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("link")
    assert settled.state_of([str(tmp_path / "link")]) is None


def test_a_linked_folder_is_left_to_dvc(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    assert settled.state_of([str(tmp_path / "real")]) is not None
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert settled.state_of([str(tmp_path / "link")]) is None
