"""What tests do to a copy of a project is undone, so that no test sees the changes of another."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from project_copies import INDEX, Copies, git


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    """Copies of a small repository."""
    built = tmp_path / "built"
    (built / "data/model").mkdir(parents=True)
    for name in ("params.yaml", "data/model/weights", "data/rows"):
        (built / name).write_text(name)
    (built / "link").symlink_to("params.yaml")
    git(built, "init", "-q")
    git(built, "add", "-A")
    (tmp_path / "copies").mkdir()
    return Copies(built, tmp_path / "copies")


def contents(folder: Path) -> dict[str, object]:
    """Each file and folder, but git's index: its mode, and its bytes or the target of a link."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.readlink() if path.is_symlink() else
                                        path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*") if path != folder / INDEX
    }  # fmt: skip


def rewritten_with_its_time(folder: Path) -> None:
    """The same size and time of writing, other bytes."""
    file = folder / "data/rows"
    times = file.stat()
    file.write_text("ROWS/data")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def replaced(folder: Path) -> None:
    """A file where a folder was, and a folder where a file was."""
    shutil.rmtree(folder / "data/model")
    (folder / "data/model").write_text("damaged")
    (folder / "params.yaml").unlink()
    (folder / "params.yaml/within").mkdir(parents=True)


CHANGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda folder: None,
    "a file is written to": lambda folder: (folder / "params.yaml").write_text("other"),
    "a file is rewritten with its time": rewritten_with_its_time,
    "a file is removed": lambda folder: (folder / "data/rows").unlink(),
    "a folder is removed": lambda folder: shutil.rmtree(folder / "data"),
    "kinds change": replaced,
    "a file replaces another": lambda folder: (folder / "data/rows").rename(folder / "params.yaml"),
    "a folder is renamed": lambda folder: (folder / "data/model").rename(folder / "model"),
    "a folder becomes a link": lambda folder: (shutil.rmtree(folder / "data"), (folder / "data").symlink_to("/")),
    "a file has another name too": lambda folder: (folder / "other").hardlink_to(folder / "data/rows"),
    "modes change": lambda folder: ((folder / "data").chmod(0o500), (folder / "data/rows").chmod(0o400)),
    "files are added": lambda folder: (folder / "data/new/deep").mkdir(parents=True),
    "a link points elsewhere": lambda folder: ((folder / "link").unlink(), (folder / "link").symlink_to("data")),
    "all is removed": shutil.rmtree,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_next_test_finds_a_copy_as_it_was_built(
    copies: Copies, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    for number in range(3):
        with copies.at(tmp_path / f"project{number}") as folder:
            assert contents(folder) == contents(copies.built)
            change(folder)
        assert not folder.exists()
    assert len(list(copies.folder.iterdir())) == (change is not shutil.rmtree)  # one copy for all of them


def test_git_need_not_read_the_files_of_a_copy_whose_index_was_changed(copies: Copies, tmp_path: Path) -> None:
    with copies.at(tmp_path / "changed") as folder:
        (folder / INDEX).write_bytes(b"other")
    with copies.at(tmp_path / "next") as folder:
        # It compares stamps, and would name each file that has another than the index.
        assert git(folder, "diff-files") == b""


def test_two_copies_at_once_are_two(copies: Copies, tmp_path: Path) -> None:
    with copies.at(tmp_path / "one") as one, copies.at(tmp_path / "other") as other:
        (one / "params.yaml").write_text("one")
        assert (other / "params.yaml").read_text() == "params.yaml"
    assert len(list(copies.folder.iterdir())) == 2


def test_the_copy_of_a_failed_test_stays_and_the_next_test_has_another(copies: Copies, tmp_path: Path) -> None:
    with copies.at(tmp_path / "failed", lambda: True) as failed:
        (failed / "params.yaml").write_text("other")
    assert (failed / "params.yaml").read_text() == "other"
    with copies.at(tmp_path / "next") as folder:
        assert contents(folder) == contents(copies.built)
