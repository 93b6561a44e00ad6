"""Atomic writes: whole or not at all, whatever the disk does."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError, ConfigError, DataError, EspalierError
from espalier.io.files import atomic_file, atomic_folder, read_json, write_json
from espalier.io.locks import exclusive

FULL = OSError(errno.ENOSPC, "No space left on device")


def refuse(*_: object, **__: object) -> None:
    raise FULL


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_file_appears_whole_with_ordinary_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        write_json(tmp_path / "new" / "a.json", {"leaf": 1, "枝": [True, None]})
    finally:
        os.umask(mask)
    assert read_json(tmp_path / "new/a.json") == {"leaf": 1, "枝": [True, None]}
    assert "枝" in (tmp_path / "new/a.json").read_text(encoding="utf-8")
    assert stat.S_IMODE((tmp_path / "new/a.json").stat().st_mode) == 0o644
    assert names(tmp_path / "new") == {"a.json"}


@pytest.mark.parametrize("where", ["write", "fsync", "rename"])
def test_a_full_disk_leaves_the_old_file_intact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    write_json(tmp_path / "a.json", "old")
    match where:
        case "write":
            monkeypatch.setattr(Path, "write_text", refuse)
        case "fsync":
            monkeypatch.setattr(os, "fsync", refuse)
        case _:
            monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(ArtifactError) as caught:
        write_json(tmp_path / "a.json", "new")
    assert "No space left on device" in str(caught.value) and "a.json" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert read_json(tmp_path / "a.json") == "old"
    assert names(tmp_path) == {"a.json"}


def test_a_mistake_while_writing_leaves_the_old_file_intact(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", "old")
    with pytest.raises(ZeroDivisionError), atomic_file(tmp_path / "a.json") as part:
        part.write_text("half")
        _ = 1 / 0
    assert read_json(tmp_path / "a.json") == "old"
    assert names(tmp_path) == {"a.json"}


def test_a_number_that_json_does_not_know_is_refused_before_the_old_file_goes(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", 1.0)
    with pytest.raises(ValueError):
        write_json(tmp_path / "a.json", float("nan"))
    assert read_json(tmp_path / "a.json") == 1.0


@pytest.mark.parametrize("where", ["fsync", "rename"])
def test_a_full_disk_leaves_the_old_folder_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    with atomic_folder(tmp_path / "a") as part:
        (part / "old").write_text("old")
    if where == "fsync":
        monkeypatch.setattr(os, "fsync", refuse)
    else:
        monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ArtifactError, match="No space left"), atomic_folder(tmp_path / "a") as part:
        (part / "new").write_text("new")
    assert names(tmp_path) == {"a"} and names(tmp_path / "a") == {"old"}


def test_a_new_folder_replaces_the_old_one_with_all_it_held(tmp_path: Path) -> None:
    for leaf in ("first", "second"):
        with atomic_folder(tmp_path / "a") as part:
            (part / "deep").mkdir()
            (part / "deep" / leaf).write_text(leaf)
    assert names(tmp_path / "a/deep") == {"second"}
    assert names(tmp_path) == {"a"}


def test_a_place_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(ArtifactError, match="cannot write"):
        write_json(tmp_path / "a" / "b.json", 1)


def test_missing_and_broken_json_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no such file; run the stage"):
        read_json(tmp_path / "none.json")
    (tmp_path / "half.json").write_text('{"a": ')
    with pytest.raises(ArtifactError, match=r"half\.json: not valid JSON"):
        read_json(tmp_path / "half.json")


def test_errors_are_one_line_with_place_fact_and_remedy() -> None:
    error = EspalierError("it is\n  broken", where=Path("a/b"), remedy="mend it")
    assert str(error) == "a/b: it is broken; mend it"
    assert str(DataError("7 columns", file="x.tsv", row=3)) == "x.tsv, row 3: 7 columns"
    assert str(ConfigError.unknown("model", "songbet", ["songnet", "plain"])) == (
        "unknown model 'songbet'; allowed: plain, songnet"
    )


def test_a_lock_that_is_held_ends_in_one_line(tmp_path: Path) -> None:
    with (
        exclusive(tmp_path / "deep/a.lock"),
        pytest.raises(ArtifactError, match=r"a\.lock: another process"),
        exclusive(tmp_path / "deep/a.lock", timeout=0.05),
    ):
        pass
    with exclusive(tmp_path / "deep/a.lock", timeout=0.05):
        pass
