"""Lists in mapped files: what went in comes out, one process makes them, and no half folder is read."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier.io import mapped
from espalier.io.errors import ArtifactError
from espalier.io.files import read_json
from espalier.io.lists import Lists, Rows, list_chunks, write_lists
from espalier.io.mapped import Texts, list_files, mapped_lists, shared_lists

IDS, ROWS = ["a", "", "一/reversed"], [[1, 2], [], [-3]]


def column(rows: list[list[int]]) -> Lists:
    flat = np.array([value for row in rows for value in row], dtype=np.int32)
    return flat, np.cumsum([0, *map(len, rows)])


def made(folder: Path, rows: list[list[int]] = ROWS) -> Path:
    path = folder / "train.parquet"
    write_lists(path, IDS, {"one": column(rows)})
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def refusal(code: int) -> Callable[..., None]:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


def plain(found: Rows) -> tuple[list[str], list[list[int]]]:
    ids, columns = found
    flat, offsets = columns["one"]
    return list(ids), [flat[start:end].tolist() for start, end in pairwise(offsets)]


@given(st.lists(st.tuples(st.text(max_size=4), st.lists(st.integers(-(2**31), 2**31 - 1), max_size=4)), max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_come_back_however_they_are_appended(tmp_path: Path, rows: list[tuple[str, list[int]]]) -> None:
    ids, values = [id_ for id_, _ in rows], column([row for _, row in rows])
    for size in (1, 7, 1000):
        with list_files(tmp_path, ["one"]) as append:
            for start in range(0, len(rows), size):
                append(ids[start : start + size], {"one": (values[0], values[1][start : start + size + 1])})
        assert plain(mapped_lists(tmp_path, ["one"])) == (ids, [row for _, row in rows])


def test_values_of_another_width_are_mapped_as_they_are(tmp_path: Path) -> None:
    wide = np.array([1, -2, 3], dtype=np.int64), np.array([0, 2, 3])
    with list_files(tmp_path, ["one"]) as append:
        append(["a", "b"], {"one": wide})  # type: ignore[dict-item]
    assert plain(mapped_lists(tmp_path, ["one"])) == (["a", "b"], [[1, -2], [3]])


def test_texts_are_a_sequence_of_strings() -> None:
    texts = Texts(np.frombuffer("a一b".encode(), np.uint8), np.array([0, 1, 4, 4, 5]))
    assert len(texts) == 4 and list(texts) == ["a", "一", "", "b"] and texts[-1] == "b" and texts[1:3] == ["一", ""]
    assert texts.index("b") == 3 and "一" in texts and np.isin(texts, ["b", "a"]).tolist() == [True, False, False, True]
    with pytest.raises(IndexError):
        texts[4]


def test_the_pages_of_a_table_are_shared_and_cannot_be_written(tmp_path: Path) -> None:
    ids, columns = shared_lists(made(tmp_path), ["one"], tmp_path / "ids")
    assert plain((ids, columns)) == (IDS, ROWS)
    assert not any(array.flags.writeable for array in columns["one"])
    if (maps := Path("/proc/self/maps")).exists():
        own = [line for line in maps.read_text().splitlines() if str(tmp_path / "ids") in line]
        assert len(own) == 4 and all(re.search(r" r--s ", line) for line in own)


def test_the_files_are_made_once_and_again_for_another_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, calls = made(tmp_path), list[Path]()

    def counted(table: Path, columns: Sequence[str], rows: int) -> Iterator[Rows]:
        calls.append(table)
        return list_chunks(table, columns, rows)

    monkeypatch.setattr(mapped, "list_chunks", counted)
    for _ in range(2):
        assert plain(shared_lists(path, ["one"], tmp_path / "ids"))[1] == ROWS
    assert len(calls) == 1
    before = shared_lists(path, ["one"], tmp_path / "ids")
    assert plain(shared_lists(made(tmp_path, [[7], [8], []]), ["one"], tmp_path / "ids"))[1] == [[7], [8], []]
    assert len(calls) == 2 and plain(before)[1] == ROWS  # who still reads the old table is not disturbed


@pytest.mark.parametrize("harm", ["cut", "gone", "no list", "list of nothing"])
def test_a_folder_that_is_not_whole_is_made_anew(tmp_path: Path, harm: str) -> None:
    path, folder = made(tmp_path), tmp_path / "ids"
    shared_lists(path, ["one"], folder)
    victim = folder / ("lists.json" if "list" in harm else "1.values")
    if harm == "cut":
        victim.write_bytes(victim.read_bytes()[:-1])
    elif harm == "list of nothing":
        victim.write_text("[", encoding="utf-8")
    else:
        victim.unlink()
    assert plain(shared_lists(path, ["one"], folder))[1] == ROWS


def test_what_ends_while_the_files_are_made_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path)

    def ends(*_: object) -> Iterator[Rows]:
        yield IDS, {"one": column(ROWS)}
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(mapped, "list_chunks", ends)
        with pytest.raises(KeyboardInterrupt):
            shared_lists(path, ["one"], tmp_path / "ids")
    assert names(tmp_path) == {"ids.lock", "train.parquet"}
    assert plain(shared_lists(path, ["one"], tmp_path / "ids"))[1] == ROWS


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_table_of_a_project_that_cannot_be_written_is_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    path = made(tmp_path)
    monkeypatch.setattr(Path, "mkdir", refusal(code))
    assert plain(shared_lists(path, ["one"], tmp_path / "scratch" / "ids")) == (IDS, ROWS)
    assert names(tmp_path) == {"train.parquet"}


def test_a_full_disk_is_one_line_and_the_next_process_makes_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refusal(errno.ENOSPC))
        with pytest.raises(ArtifactError, match=r"cannot write: No space left on device; .*free space"):
            shared_lists(path, ["one"], tmp_path / "ids")
    assert names(tmp_path) == {"ids.lock", "train.parquet"}
    assert plain(shared_lists(path, ["one"], tmp_path / "ids"))[1] == ROWS


def test_processes_that_map_a_table_at_once_make_its_files_once_though_the_first_is_killed(tmp_path: Path) -> None:
    path, folder = made(tmp_path), tmp_path / "ids"
    code = (
        "import os, sys, time; from pathlib import Path; from espalier.io import mapped\n"
        "whole, (path, folder, log, kill) = mapped.list_chunks, sys.argv[1:]\n"
        "def noted(*given):\n"
        "    with open(log, 'a') as file: file.write(kill)\n"
        "    time.sleep(0.3)\n"
        "    os._exit(9) if kill == 'k' else None\n"
        "    return whole(*given)\n"
        "mapped.list_chunks = noted\n"
        "print(mapped.shared_lists(Path(path), ['one'], Path(folder))[1]['one'][0].tolist())"
    )
    command = [sys.executable, "-c", code, str(path), str(folder), str(tmp_path / "log")]
    first = subprocess.Popen([*command, "k"])
    while not (tmp_path / "log").exists():
        assert first.poll() is None
    others = [subprocess.Popen([*command, "m"], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [other.communicate(timeout=60)[0] for other in others] == ["[1, 2, -3]\n"] * 3
    assert first.wait() == 9 and (tmp_path / "log").read_text() == "km"
    assert names(tmp_path) == {"ids", "ids.lock", "log", "train.parquet"}


def test_what_another_machine_made_meanwhile_is_not_replaced_though_nfs_remembers_what_was_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, missing = made(tmp_path), set[Path]()
    shared_lists(path, ["one"], tmp_path / "other")

    def of_nfs(file: Path) -> object:
        if not file.exists():
            missing.add(file)
        return read_json(Path("none") if file in missing else file)

    @contextmanager
    def waits(_: Path) -> Iterator[None]:
        (tmp_path / "other").rename(tmp_path / "ids")
        yield

    monkeypatch.setattr(mapped, "read_json", of_nfs)
    monkeypatch.setattr(mapped, "exclusive", waits)
    monkeypatch.setattr(mapped, "list_chunks", None)  # who maps files that another machine deletes is killed
    assert plain(shared_lists(path, ["one"], tmp_path / "ids"))[1] == ROWS


def test_a_table_with_a_changed_byte_is_one_line_even_where_its_files_are_there(tmp_path: Path) -> None:
    path = made(tmp_path)
    shared_lists(path, ["one"], tmp_path / "ids")
    data = bytearray(path.read_bytes())
    data[8] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArtifactError, match=r"train\.parquet: damaged: .*; delete it and run its stage again$"):
        shared_lists(path, ["one"], tmp_path / "ids")
