"""What DVC reads and writes is the same, with less work."""

from __future__ import annotations

import os
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from dvc import dvcfile, rwlock
from dvc.fs import localfs
from dvc.utils.serialize import LOADERS, YAMLFileCorruptedError, load_path, load_yaml, modify_yaml

from pipeline.graph.dvc_files import locked_atomically, parsed_once, with_entries, written_by_entry

ROOT = Path(__file__).resolve().parents[2]
LOCKS = [ROOT / "dvc.lock", ROOT / "profiles/small/dvc.lock"]
#: What a stage's entry may hold: a long path, other words than YAML's, nested values.
ENTRY = {
    "cmd": "python pipeline train new",
    "deps": [{"path": "data/" + "x" * 90, "hash": "md5", "md5": "0" * 32, "size": 1}],
    "params": {
        "params.yaml": {
            "models.new": {"title": "no: 'one'", "seeds": [1], "sha256": "a" * 64, "text": "山", "epsilon": 1e-12}
        }
    },
}


def entries_of(lock: Path) -> dict[str, Any]:
    stages: dict[str, Any] = load_yaml(str(lock))["stages"]
    return stages


@pytest.mark.parametrize("lock", LOCKS, ids=["nursery", "small"])
def test_every_entry_written_anew_gives_the_same_file(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert with_entries(text, entries_of(lock)) == text


def test_a_changed_and_a_new_entry_are_written_as_dvc_writes_them(tmp_path: Path) -> None:
    lock = LOCKS[0]  # DVC takes 10 s for that of small
    first = next(iter(entries_of(lock)))
    written = []
    for name, patched in (("whole", False), ("entries", True)):
        (folder := tmp_path / name).mkdir()
        (folder / "dvc.lock").write_bytes(lock.read_bytes())
        if patched:
            with written_by_entry():
                change(folder / "dvc.lock", first)
        else:
            change(folder / "dvc.lock", first)
        written.append((folder / "dvc.lock").read_bytes())
    assert written[0] == written[1] != lock.read_bytes()


def change(lock: Path, stage: str) -> None:
    """As DVC does after a stage."""
    with dvcfile.modify_yaml(str(lock)) as data:
        data["stages"].update({stage: {**deepcopy(ENTRY), "cmd": "python pipeline other"}})
        data["stages"].update({"train@new": deepcopy(ENTRY)})


@pytest.mark.parametrize("text", ["", "stages: {}\n", "# mine\nschema: '2.0'\nstages:\n  a:\n    cmd: b\n"])
def test_a_file_of_another_form_is_left_to_dvc(text: str, tmp_path: Path) -> None:
    lock = tmp_path / "dvc.lock"
    lock.write_text(text, encoding="utf-8")
    with written_by_entry(), dvcfile.modify_yaml(str(lock)) as data:
        data["stages"] = {"a": {"cmd": "c"}}
    assert entries_of(lock) == {"a": {"cmd": "c"}}
    assert lock.read_text(encoding="utf-8").startswith(text[:6])


def test_what_stands_beside_the_stages_stays(tmp_path: Path) -> None:
    lock = tmp_path / "dvc.lock"
    lock.write_text("schema: '2.0'\nstages:\n  a:\n    cmd: b\ndatasets:\n- name: mine\n", encoding="utf-8")
    with written_by_entry(), dvcfile.modify_yaml(str(lock)) as data:
        data["stages"].update({"a": {"cmd": "c"}})
    assert lock.read_text(encoding="utf-8") == ("schema: '2.0'\nstages:\n  a:\n    cmd: c\ndatasets:\n- name: mine\n")


def test_an_entry_that_stays_leaves_the_file_untouched(tmp_path: Path) -> None:
    lock = tmp_path / "dvc.lock"
    lock.write_bytes(LOCKS[0].read_bytes())
    before = lock.stat()
    with written_by_entry(), dvcfile.modify_yaml(str(lock)) as data:
        data["stages"].update(dict(list(entries_of(lock).items())[:1]))
    after = lock.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_dvc_has_its_own_writer_again_afterwards() -> None:
    with written_by_entry():
        assert dvcfile.modify_yaml is not modify_yaml
    assert dvcfile.modify_yaml is modify_yaml


def test_a_file_is_parsed_once_and_again_when_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []

    def counted(path: str, **options: Any) -> Any:
        parsed.append(path)
        return load_yaml(path, **options)

    monkeypatch.setattr("dvc.utils.serialize.load_yaml", counted)
    (params := tmp_path / "params.yaml").write_text("rate: 1e-3\non: no\n", encoding="utf-8")
    with parsed_once():
        for _ in range(3):
            assert load_path(str(params), localfs) == {"rate": 0.001, "on": "no"}  # YAML 1.2, as DVC reads it
        assert len(parsed) == 1
        params.write_text("rate: 12\n", encoding="utf-8")
        assert load_path(str(params), localfs) == {"rate": 12}
        assert len(parsed) == 2
    assert ".yaml" not in LOADERS


def test_a_damaged_file_fails_each_time_as_dvc_has_it(tmp_path: Path) -> None:
    (params := tmp_path / "params.yaml").write_text("a: [\n", encoding="utf-8")
    with parsed_once():
        for _ in range(2):
            with pytest.raises(YAMLFileCorruptedError):
                load_path(str(params), localfs)


def test_a_run_that_is_interrupted_while_it_writes_its_locks_leaves_a_file_that_the_next_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lock() -> Any:
        return rwlock.rwlock(str(tmp_path), localfs, "train", ["data.txt"], ["model.txt"], False)

    def interrupted(value: Any, file: Any) -> None:
        file.write('{"read": {"data')
        file.flush()
        raise KeyboardInterrupt

    with locked_atomically():
        with lock(), lock():
            pass
        with monkeypatch.context() as patched:
            patched.setattr("json.dump", interrupted)
            with pytest.raises(KeyboardInterrupt), lock():
                pass
        with lock():
            assert "model.txt" in (tmp_path / "rwlock").read_text(encoding="utf-8")
    assert not [*tmp_path.glob(".*.part")]


@pytest.mark.parametrize("text", ["", '{"read": {"data', "[]", '{"write": {"a": {"pid": "one"}}}'])
def test_a_file_of_locks_that_cannot_be_read_is_replaced_with_a_note_if_nobody_holds_it(
    text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / ".dvc/tmp"
    folder.mkdir(parents=True)
    (folder / "rwlock").write_text(text, encoding="utf-8")

    def lock() -> Any:
        return rwlock.rwlock(str(folder), localfs, "train", ["data.txt"], ["model.txt"], False)

    with locked_atomically():
        holder = subprocess.Popen(["sleep", "60"], env={**os.environ, "DVC_ROOT": str(tmp_path)})
        try:
            with pytest.raises((rwlock.RWLockFileCorruptedError, rwlock.RWLockFileFormatError)), lock():
                pass
        finally:
            holder.kill()
            holder.wait()
        assert (folder / "rwlock").read_text(encoding="utf-8") == text
        with lock():
            assert "model.txt" in (folder / "rwlock").read_text(encoding="utf-8")
    assert capfd.readouterr().err == f"{folder / 'rwlock'}: cannot be read, and nobody holds it: DVC starts a new one\n"
