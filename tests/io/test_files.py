"""Atomic writes: whole or not at all, whatever the disk does."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from espalier.io.errors import ArtifactError, ConfigError, DataError, EspalierError
from espalier.io.files import Numbers, atomic_file, atomic_folder, exchange, read_json, together, write_json
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


def test_a_file_that_cannot_be_read_while_another_is_written_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "input.txt"
    with pytest.raises(ArtifactError) as caught, atomic_folder(tmp_path / "a") as part:
        shutil.copyfile(missing, part / "input.txt")
    assert str(caught.value) == (
        f"{missing}: cannot read: No such file or directory; nothing was changed; correct the path or its permissions,"
        " and run again"
    )
    assert names(tmp_path) == set()


@pytest.mark.parametrize(
    ("code", "files"),
    [
        (errno.EACCES, ["deep/a"]),
        (errno.EACCES, ["deep"]),
        (errno.EACCES, ["deep/.a.x1.part/b"]),
        (errno.EACCES, ["input", "deep/.a.x1.part/b"]),  # of a move, or a copy
        (errno.EACCES, []),
        (errno.ENOSPC, ["elsewhere"]),
    ],
)
def test_a_file_that_cannot_be_written_is_told_from_one_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, files: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = [*files, None, None][:2]
    for target in (Path("deep/a"), tmp_path / "deep/a"):
        with pytest.raises(ArtifactError) as caught, atomic_folder(target):
            raise OSError(code, "reason", first, None, second)
        assert str(caught.value).startswith(f"{target}: cannot write: reason; nothing was changed; free space or")


def test_a_copy_that_fails_without_the_name_of_a_file_is_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"/a: cannot write: .*; free space"), atomic_folder(tmp_path / "a") as part:
        raise shutil.Error([(str(tmp_path / "b"), str(part / "b"), "reason")])


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


def write_all(folder: Path, leaf: str) -> None:
    """A file, a folder with files that are written atomically, and another file, all of which hold `leaf`."""
    write_json(folder / "a.json", leaf)
    with atomic_folder(folder / "b") as part:
        write_json(part / "c.json", leaf)
        assert read_json(part / "c.json") == leaf
    write_json(folder / "d" / "e.json", leaf)


def read_all(folder: Path) -> list[str]:
    return [read_json(folder / name) for name in ("a.json", "b/c.json", "d/e.json")]


def test_outputs_of_one_context_replace_the_old_ones_at_its_end(tmp_path: Path) -> None:
    write_all(tmp_path, "old")
    with together():
        with together():
            write_all(tmp_path, "new")
        assert read_all(tmp_path) == ["old"] * 3
    assert read_all(tmp_path) == ["new"] * 3
    assert names(tmp_path) == {"a.json", "b", "d"} and names(tmp_path / "d") == {"e.json"}


def test_an_error_in_such_a_context_leaves_all_old_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all(tmp_path, "old")
    with pytest.raises(ZeroDivisionError), together():
        write_all(tmp_path, "new")
        _ = 1 / 0
    assert read_all(tmp_path) == ["old"] * 3
    assert names(tmp_path) == {"a.json", "b", "d"} and names(tmp_path / "d") == {"e.json"}
    with pytest.raises(ArtifactError, match=r"a\.json: cannot be replaced: No space left"), together():
        write_all(tmp_path, "new")
        monkeypatch.setattr(Path, "replace", refuse)
    assert read_all(tmp_path) == ["old"] * 3
    assert names(tmp_path) == {"a.json", "b", "d"} and names(tmp_path / "d") == {"e.json"}


def test_two_writes_of_one_file_in_such_a_context_leave_the_last(tmp_path: Path) -> None:
    with together():
        write_json(tmp_path / "a.json", 1)
        write_json(tmp_path / "a.json", 2)
    assert read_json(tmp_path / "a.json") == 2 and names(tmp_path) == {"a.json"}


#: Replaces the folder a by one with the file new, and kills itself at the N-th call of a function of the file system.
KILLED = """
import os, signal, sys
from pathlib import Path
from espalier.io import files
where, left, exchanges = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"

def killing(function):
    def call(*args, **keywords):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **keywords)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call

swap = files.exchange
files.exchange = killing(swap) if exchanges else lambda one, other: False
for name in ("rename", "unlink", "rmdir", "fsync", "mkdir", "chmod"):
    setattr(os, name, killing(getattr(os, name)))
with files.atomic_folder(Path(where) / "a") as part:
    (part / "new").write_text("new")
    (part / "also").write_text("also")
"""


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_kill_at_any_call_leaves_the_old_folder_or_the_new_one_and_the_next_start_sweeps(
    tmp_path: Path, exchanges: bool
) -> None:
    endings = set()
    for call in range(1, 40):
        folder = tmp_path / str(call)
        with atomic_folder(folder / "a") as part:
            (part / "old").write_text("old")
        command = [sys.executable, "-c", KILLED, str(folder), str(call), str(exchanges)]
        status = subprocess.run(command, check=False).returncode
        held = names(folder / "a") if (folder / "a").exists() else None
        if exchanges:  # without it, the name is missing for a moment, and the next start puts the old folder back
            assert held in ({"old"}, {"new", "also"})
        endings.add(frozenset(held or ()))
        with pytest.raises(ZeroDivisionError), atomic_folder(folder / "a"):
            _ = 1 / 0
        assert names(folder) == {"a"} and names(folder / "a") in ({"old"}, {"new", "also"})
        if status == 0:
            break
    assert status == 0 and {frozenset({"old"}), frozenset({"new", "also"})} <= endings


def test_what_another_process_is_writing_is_not_swept(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "a.json") as mine:
        mine.write_text("mine")
        write_json(tmp_path / "a.json", "theirs")
        assert mine.read_text() == "mine"
    assert (tmp_path / "a.json").read_text() == "mine"
    assert names(tmp_path) == {"a.json"}


@pytest.mark.parametrize("write", [atomic_file, atomic_folder])
def test_a_temporary_file_that_is_swept_before_its_lock_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], AbstractContextManager[Path]]
) -> None:
    opened, swept = os.open, list[str]()

    def late(path: str | Path, flags: int, *mode: int) -> int:
        if isinstance(path, Path) and not swept:
            swept.append(str(path))
            path.rmdir() if path.is_dir() else path.unlink()
        return opened(path, flags, *mode)

    monkeypatch.setattr(os, "open", late)
    with write(tmp_path / "a") as part:
        assert [str(part)] != swept and part.exists()
    assert len(swept) == 1 and names(tmp_path) == {"a"}


@pytest.mark.parametrize("function", ["open", "flock"])
def test_a_temporary_file_that_cannot_be_locked_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    opened = os.open

    def too_many(path: str | Path, flags: int, *mode: int) -> int:
        if isinstance(path, Path):
            raise OSError(errno.EMFILE, "Too many open files")
        return opened(path, flags, *mode)

    if function == "open":
        monkeypatch.setattr(os, "open", too_many)
    else:
        monkeypatch.setattr(fcntl, "flock", refuse)
    reason = "Too many open files" if function == "open" else "No space left on device"
    with pytest.raises(ArtifactError, match=rf"a\.json: cannot write: {reason}"):
        write_json(tmp_path / "a.json", 1)
    assert names(tmp_path) == set()


def test_strays_of_killed_processes_go_and_other_files_stay(tmp_path: Path) -> None:
    for name in (".a[1].json.x1.part", ".a1.json.x1.part", ".b.json.x2.part", "a.json.part"):
        (tmp_path / name).write_text("half")
    (tmp_path / ".a[1].json.x3.part").mkdir()
    write_json(tmp_path / "a[1].json", 1)
    assert names(tmp_path) == {"a[1].json", ".a1.json.x1.part", ".b.json.x2.part", "a.json.part"}


def test_a_file_is_locked_where_locks_need_it_open_for_writing_as_on_nfs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def of_nfs(handle: int, how: int) -> None:
        # flock(2): "to place an exclusive lock, the file must be opened for writing"; folders lock as elsewhere
        mode = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE
        if stat.S_ISREG(os.fstat(handle).st_mode) and mode == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", of_nfs)
    (tmp_path / ".a.json.x1.part").write_text("half")
    with atomic_folder(tmp_path / "b") as part:
        write_json(part / "c.json", 2)
        write_json(tmp_path / "a.json", 1)
    assert read_json(tmp_path / "a.json") == 1 and names(tmp_path) == {"a.json", "b"}


def test_a_folder_replaces_a_file_and_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "b").write_text("file")
    for name in "ab":
        with atomic_folder(tmp_path / name) as part:
            (part / "new").write_text("new")
        assert not (tmp_path / name).is_symlink() and names(tmp_path / name) == {"new"}
    assert names(tmp_path) == {"a", "b", "elsewhere"} and names(tmp_path / "elsewhere") == set()


def test_exchange_swaps_names_or_says_that_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").write_text("other")
    if exchange(tmp_path / "one", tmp_path / "other"):
        assert (tmp_path / "one").read_text() == "other" and (tmp_path / "other").is_dir()
    with pytest.raises(OSError, match="No such file"):
        exchange(tmp_path / "one", tmp_path / "missing")


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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("NaN", "NaN is no number"),
        ('{"a": Infinity}', "Infinity is no number"),
        ("[" * 100_000, "recursion"),
        ("null", "its value: Input should be a valid dictionary"),
        ("{}", "its value: Dictionary should have at least 1 item"),
        ('{"bleu": null}', "bleu: Input should be a valid number"),
        ('{"bleu": "12"}', "bleu: Input should be a valid number"),
    ],
)
def test_json_of_another_type_is_one_line(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ArtifactError, match=rf"a\.json: .*{reason}.*; delete it and run its stage again$") as caught:
        read_json(tmp_path / "a.json", Numbers)
    assert "\n" not in str(caught.value)


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
