"""What DVC reads and writes is the same, with less work."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import psutil
import pytest
from dvc import dvcfile, rwlock
from dvc.cli import main
from dvc.dependency import param
from dvc.fs import localfs
from dvc.repo import Repo
from dvc.ui import ui
from dvc.utils.serialize import LOADERS, YAMLFileCorruptedError, load_path, load_yaml, modify_yaml, parse_yaml
from dvc.utils.strictyaml import load as load_strictly
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from espalier.io.errors import ArtifactError
from pipeline.commands.dvc import dvc
from pipeline.graph.dvc_files import (
    commit_stages,
    dpath_get,
    locked_atomically,
    parsed_by_entry,
    parsed_once,
    with_entries,
    written_by_entry,
)
from pipeline.shell import project_commands

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


def test_a_lock_is_parsed_as_dvc_parses_it_and_then_only_its_new_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    text = LOCKS[0].read_text(encoding="utf-8")
    whole = parse_yaml(text, "dvc.lock")
    lines = list[int]()

    def counted(part: str, *more: str) -> Any:
        lines.append(part.count("\n"))
        return parse_yaml(part, *more)

    monkeypatch.setattr("dvc.utils.serialize.parse_yaml", counted)
    assert parsed_by_entry(text, "dvc.lock") == whole
    assert list(parsed_by_entry(text, "dvc.lock")["stages"]) == list(whole["stages"])
    first = next(iter(whole["stages"]))
    changed = parsed_by_entry(with_entries(text, {first: ENTRY}), "dvc.lock")
    assert changed == {**whole, "stages": {**whole["stages"], first: ENTRY}}
    assert lines[-1] < 30 and len(lines) <= 2  # the entry alone, and before it all that this process had not yet read
    assert parsed_by_entry(text, "params.yaml") == whole and lines[-1] == text.count("\n")
    # DVC changes the mappings of stages, not the entries.
    changed["stages"].clear()
    assert parsed_by_entry(text, "dvc.lock") == whole


@pytest.mark.parametrize(
    "stages",
    [
        "  a:\n    cmd: &x [b]\n  c:\n    cmd: *x\n",
        "  a:\n    cmd: b\n  a:\n    cmd: c\n",
        "  a:\n    cmd: b\n  c: [\n",
        "  a:\n    cmd: b\n  ? c\n  : cmd: b\n",
    ],
    ids=["an alias", "a name twice", "no YAML", "a name of its own line"],
)
def test_a_lock_whose_entries_cannot_be_parsed_apart_is_parsed_whole(stages: str) -> None:
    def parsed(parse: Callable[..., Any], text: str) -> Any:
        try:
            return parse(text, "dvc.lock")
        except YAMLFileCorruptedError as error:
            return str(error.__cause__)

    head = "schema: '2.0'\nstages:\n"
    first = "".join(stages.splitlines(keepends=True)[:2])
    for text in (head + stages, head + first, head + stages):  # the second time its first entry is known
        assert parsed(parsed_by_entry, text) == parsed(parse_yaml, text)


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


NAMES = st.sampled_from(["a", "b", "ab", "a*", "?", "[ab]", "0", "1", "a/b"])
TREES = st.recursive(
    st.integers() | st.none() | st.text(max_size=2),
    lambda part: st.dictionaries(NAMES | st.integers(0, 1), part, max_size=4) | st.lists(part, max_size=2),
    max_leaves=12,
)


@given(TREES, st.lists(NAMES | st.just(""), min_size=1, max_size=4))
def test_a_value_is_the_one_that_dpath_finds(tree: Any, path: list[str]) -> None:
    def found(get: Callable[..., Any]) -> Any:
        try:
            return get({"a": tree}, ".".join(path), separator=".")
        except (KeyError, ValueError) as error:
            return type(error)

    path = ["a", *path]
    assert found(dpath_get) == found(param.dpath.get)


def test_a_damaged_file_fails_each_time_as_dvc_has_it(tmp_path: Path) -> None:
    (params := tmp_path / "params.yaml").write_text("a: [\n", encoding="utf-8")
    with parsed_once():
        for _ in range(2):
            with pytest.raises(YAMLFileCorruptedError):
                load_path(str(params), localfs)


PIPELINE = """
stages:
  train:
    foreach: ${models}
    do:
      cmd: train ${key}
      deps: [data.txt]
      params: ["models.${key}.rate"]
      outs: ["model_${key}.txt"]
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A project whose outputs are there and which DVC does not know; the present folder."""
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / "site"))
    monkeypatch.setenv("DVC_NO_ANALYTICS", "1")

    def project(name: str) -> Path:
        (folder := tmp_path / name).mkdir()
        subprocess.run(["git", "init", "-q", folder], check=True)
        Repo.init(str(folder)).close()
        (folder / "params.yaml").write_text("models: {one: {rate: 1}, two: {rate: 2}, three: {rate: 3}}\n")
        (folder / "dvc.yaml").write_text(PIPELINE)
        for file in ("data.txt", "model_one.txt", "model_two.txt", "model_three.txt"):
            (folder / file).write_text(file)
        monkeypatch.chdir(folder)
        return folder

    return project


def test_stages_are_committed_in_one_pass_as_dvc_commit_has_them(
    made: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["train@one", "train@two"]
    theirs = made("theirs")
    with Repo() as repo:
        for name in names:
            repo.commit(name, force=True)
    parsed = []

    def counted(path: str, **options: Any) -> Any:
        parsed.append(Path(path).name)
        return load_yaml(path, **options)

    def read(path: str, *options: Any, **more: Any) -> Any:
        parsed.append(Path(path).name)
        return load_strictly(path, *options, **more)

    monkeypatch.setattr("dvc.utils.serialize.load_yaml", counted)
    monkeypatch.setattr("dvc.utils.strictyaml.load", read)
    ours = made("ours")
    commit_stages(names)
    assert (parsed.count("params.yaml"), parsed.count("dvc.yaml")) == (1, 1)
    assert (ours / "dvc.lock").read_bytes() == (theirs / "dvc.lock").read_bytes()
    with Repo() as repo:
        assert list(repo.status()) == ["train@three"]
    cached = {path.name for path in (ours / ".dvc/cache/files").rglob("*") if path.is_file()}
    assert len(cached) == 2  # of the two models
    before = (ours / "dvc.lock").read_bytes()
    commit_stages(["train@three"])
    assert (ours / "dvc.lock").read_bytes().startswith(before)


def test_dvc_s_own_command_line_says_the_same_and_parses_parameters_once(
    made: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made("project")
    commit_stages(["train@one", "train@two"])
    (folder / "params.yaml").write_text("models: {one: {rate: 9}, two: {rate: 2}, three: {rate: 3}}\n")
    parsed, said = [], []

    def counted(path: str, **options: Any) -> Any:
        parsed.append(Path(path).name)
        return load_yaml(path, **options)

    monkeypatch.setattr(ui, "write_json", said.append)
    assert main(["status", "--json"]) == 0
    monkeypatch.setattr("dvc.utils.serialize.load_yaml", counted)
    dvc(["status", "--json"])
    theirs, ours = said
    assert ours == theirs and parsed.count("params.yaml") == 1
    assert ours.keys() == {"train@one", "train@three"}
    assert ours["train@one"] == [{"changed deps": {"params.yaml": {"models.one.rate": "modified"}}}]
    with pytest.raises(SystemExit) as ended:
        dvc(["repro", "no_such_stage"])
    assert ended.value.code == 255


@pytest.mark.parametrize(
    "arguments", [["status", "--json"], ["--cd", "profiles/small", "status"], ["repro", "--help"], []]
)
def test_what_follows_the_profile_is_dvc_s(arguments: list[str]) -> None:
    command = get_command(project_commands.app).commands["dvc"]  # type: ignore[attr-defined]
    context = command.make_context("dvc", ["--profile", "small", *arguments])
    assert (context.params["profile"], list(context.params["arguments"] or [])) == ("small", arguments)


def test_what_a_committed_stage_reads_must_be_there(made: Callable[[str], Path]) -> None:
    folder = made("project")
    (folder / "data.txt").unlink()
    with pytest.raises(ArtifactError, match=r"^data\.txt: no such file; train@one reads it$"):
        commit_stages(["train@one"])
    assert not (folder / "dvc.lock").exists()
    with pytest.raises(ArtifactError, match=r"^dvc\.yaml: no stage train@none; dvc stage list names all$"):
        commit_stages(["train@none"])


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


def test_a_process_that_was_killed_holds_nothing_though_its_status_was_not_read() -> None:
    killed = subprocess.Popen(["true"])
    while psutil.Process(killed.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    with locked_atomically():
        assert not rwlock.psutil.pid_exists(killed.pid) and rwlock.psutil.pid_exists(os.getpid())
    assert rwlock.psutil is psutil
    killed.wait()
