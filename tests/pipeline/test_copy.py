"""A local file is copied whole, or nothing is changed."""

from __future__ import annotations

import errno
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from espalier.io.errors import ArtifactError, SourceError
from pipeline.stages.copy import copy_file, unchanged_file


def test_the_folder_holds_the_file_and_nothing_else(tmp_path: Path) -> None:
    file, folder = tmp_path / "pairs.tsv", tmp_path / "raw/pairs/mine"
    file.write_bytes(b"a\tb\n")
    folder.mkdir(parents=True)
    (folder / "older.tsv").touch()
    copy_file(file, folder, where="sources.local.mine.file")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"pairs.tsv": b"a\tb\n"}


def test_a_missing_file_is_one_line_and_leaves_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    (folder / "older.tsv").touch()
    where = "sources.local.mine.file"
    with pytest.raises(SourceError, match=rf"^{where}: .*nowhere\.tsv: no such file; name a file") as caught:
        copy_file(tmp_path / "nowhere.tsv", folder, where=where)
    assert "\n" not in str(caught.value)
    assert [path.name for path in folder.iterdir()] == ["older.tsv"]


def test_a_file_of_a_folder_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, unreadable = Path.open, tmp_path / "songs/b.lrc"

    def refuse(self: Path, *args: Any, **options: Any) -> Any:
        if self == unreadable:
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return opened(self, *args, **options)

    unreadable.parent.mkdir()
    unreadable.touch()
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ArtifactError, match=rf"^{unreadable}: cannot read: Permission denied; nothing was changed"):
        copy_file(unreadable.parent, tmp_path / "raw", where="sources.local.mine.file")
    assert not (tmp_path / "raw").exists()


def test_a_folder_is_copied_with_all_that_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "raw/songs/mine"
    (tmp_path / "songs/b").mkdir(parents=True)
    for name in ("a.lrc", "b/c.lrc"):
        (tmp_path / "songs" / name).write_text(name)
    copy_file(tmp_path / "songs", folder, where="sources.local.mine.file")
    assert {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()} == {
        "a.lrc": "a.lrc", "b/c.lrc": "b/c.lrc",
    }  # fmt: skip


def test_a_file_that_changes_meanwhile_is_refused_with_both_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder = tmp_path / "pairs.tsv", tmp_path / "raw"
    file.write_bytes(b"before")

    def copyfile(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes())
        source.write_bytes(b"after")

    monkeypatch.setattr("shutil.copyfile", copyfile)
    before, after = sha256(b"before").hexdigest(), sha256(b"after").hexdigest()
    with pytest.raises(SourceError, match=f"sha256 {before} before, {after} after"):
        copy_file(file, folder, where="sources.local.mine.file")
    assert not folder.exists() and not list(tmp_path.glob(".*"))


def test_a_file_that_disappears_meanwhile_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.touch()
    with pytest.raises(SourceError, match="none after"), unchanged_file(file):
        file.unlink()
