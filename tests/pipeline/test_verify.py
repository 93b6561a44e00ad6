"""`espalier verify`: DVC trusts what it once hashed, this does not."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from dvc.repo import Repo

Cli = Callable[..., Any]
Refused = Callable[..., str]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)


def test_a_built_project_is_as_locked(project: Path, cli: Cli) -> None:
    answer = cli(project, "verify")
    assert answer.status == 0 and answer.out == ""
    assert " 0 corrupt, 0 outputs not here" in answer.err


@pytest.mark.parametrize(
    "name",
    [
        "data/models/songnet/seed1.safetensors",
        "data/outputs/songnet/songnet_free.parquet",
        "reports/songnet/index.html",
    ],
)
def test_a_flipped_bit_in_the_workspace_is_named(project: Path, refused: Refused, name: str, capsys: Any) -> None:
    flip(project / name)
    assert_names(project, refused, name)


def assert_names(project: Path, refused: Refused, name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.commands.verify.say", lambda *_: None)  # the count comes before the line
        line = refused(project, "verify")
    assert name in line and "corrupt" in line and "dvc repro" in line


def test_a_flipped_bit_in_the_cache_is_named(project: Path, refused: Refused) -> None:
    lock = yaml.safe_load((project / "dvc.lock").read_text(encoding="utf-8"))
    (out,) = lock["stages"]["decode@songnet_free"]["outs"]
    flip(project / ".dvc/cache/files/md5" / out["md5"][:2] / out["md5"][2:])
    assert_names(project, refused, f"{out['md5'][:2]}/{out['md5'][2:]}")


def test_a_corrupt_listing_of_a_folder_is_named(project: Path, refused: Refused) -> None:
    lock = yaml.safe_load((project / "dvc.lock").read_text(encoding="utf-8"))
    (out,) = (out for out in lock["stages"]["parse@tiny"]["outs"] if out["path"] == "data/parsed/tiny")
    flip(project / ".dvc/cache/files/md5" / out["md5"][:2] / out["md5"][2:])
    assert_names(project, refused, out["md5"][2:])


def test_what_is_absent_is_counted_and_not_wrong(project: Path, cli: Cli) -> None:
    shutil.rmtree(project / ".dvc/cache")
    shutil.rmtree(project / "data/models/songnet")
    answer = cli(project, "verify")
    assert answer.status == 0 and " 0 corrupt" in answer.err and " 0 outputs not here" not in answer.err


def test_without_a_lock_it_says_so(project: Path, refused: Refused) -> None:
    (project / "dvc.lock").unlink()
    assert "dvc.lock: no such file; dvc repro makes it" in refused(project, "verify")


@pytest.mark.parametrize("text", ["stages: [", "[]", "stages: {a: {outs: [{path: x}]}}", "stages: 3"])
def test_a_lock_that_is_none_is_one_line(project: Path, refused: Refused, text: str) -> None:
    (project / "dvc.lock").write_text(text, encoding="utf-8")
    assert "dvc.lock: not a lock file" in refused(project, "verify")


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small DVC project, reproduced: a folder whose files sort differently as names and as paths, and one file."""
    folder = tmp_path_factory.mktemp("verify") / "project"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("DVC_NO_ANALYTICS", "1")
        patch.setenv("DVC_SITE_CACHE_DIR", str(folder.parent / "site"))
        Path("params.yaml").touch()  # makes the folder a profile's
        Path(".dvcignore").write_text(".gitkeep\n", encoding="utf-8")
        Path("make.sh").write_text(
            "mkdir -p models/a/b\n"
            "for name in b/seed1 b.txt 诗 .gitkeep; do echo $name > models/a/$name; done\n"
            "echo 1 > one.csv\n",
            encoding="utf-8",
        )
        stage = {"cmd": "sh make.sh", "outs": ["models/a", "one.csv"]}
        Path("dvc.yaml").write_text(yaml.safe_dump({"stages": {"make": stage}}), encoding="utf-8")
        Repo.init(no_scm=True).reproduce()
    return folder


@pytest.fixture
def small(reproduced: Path, tmp_path: Path) -> Path:
    """A copy, to change."""
    return Path(shutil.copytree(reproduced, tmp_path / "small"))


def locked(folder: Path, path: str) -> Path:
    """The cached object of an output."""
    lock = yaml.safe_load((folder / "dvc.lock").read_text(encoding="utf-8"))
    (md5,) = (out["md5"] for out in lock["stages"]["make"]["outs"] if out["path"] == path)
    return folder / ".dvc/cache/files/md5" / md5[:2] / md5[2:]


def faults(folder: Path, cli: Cli) -> list[str]:
    """The lines that verify says between its count and its last."""
    answer = cli(folder, "verify")
    assert answer.out == "" and "Traceback" not in answer.err
    count, *lines = answer.err.splitlines()
    assert " files as locked, " in count
    if answer.status == 0:
        return lines
    assert answer.status == 1 and lines[-1].startswith("espalier: ") and f" {len(lines) - 1} corrupt, " in count
    return lines[:-1]


def test_an_archive_without_git_is_one_line_that_names_it_once(small: Path, refused: Refused) -> None:
    (small / ".dvc/config").write_text("", encoding="utf-8")  # DVC asks for git again
    line = refused(small, "verify")
    assert line.count(str(small)) == 1
    assert f"{small}: not in a git repository, which DVC needs; clone the project, or run in its root: git init" in line


def test_what_dvc_made_is_as_locked(small: Path, cli: Cli) -> None:
    answer = cli(small, "verify")
    assert (answer.status, answer.err) == (0, "9 files as locked, 0 corrupt, 0 outputs not here\n")


def test_a_deleted_an_added_and_a_changed_file_have_a_line_each(small: Path, cli: Cli) -> None:
    (small / "models/a/b.txt").unlink()
    (small / "models/a/b/more").write_text("x", encoding="utf-8")
    flip(small / "models/a/诗")
    flip(small / "one.csv")
    assert faults(small, cli) == [
        "models/a/b.txt: missing",
        "models/a/b/more: not of this output",
        "models/a/诗: corrupt",
        "one.csv: corrupt",
    ]
    last = cli(small, "verify").err.splitlines()[-1]
    assert last.startswith("espalier: models/a/b.txt: missing, the first of 4; delete it and its copy in the cache")


def test_without_its_listing_a_folder_is_compared_by_the_hash_that_dvc_forms(small: Path, cli: Cli) -> None:
    shutil.rmtree(small / ".dvc/cache")
    assert cli(small, "verify").err == "4 files as locked, 0 corrupt, 0 outputs not here\n"
    (small / "models/a/b/more").write_text("x", encoding="utf-8")
    line = "models/a: corrupt, as a whole: the cache has no listing that says in which file"
    assert faults(small, cli) == [line]
    (small / "models/a/b/more").unlink()
    flip(small / "models/a/b/seed1")
    assert faults(small, cli) == [line]


def test_a_listing_that_is_none_is_a_line_and_the_folder_is_compared_as_a_whole(small: Path, cli: Cli) -> None:
    listing = locked(small, "models/a")
    flip(listing)
    assert faults(small, cli) == [f"{listing}: corrupt"]


@pytest.mark.parametrize("text", ["{}", "[[[[", '[{"relpath": 1, "md5": 2}]', "[" * 100_000])
def test_an_object_whose_hash_is_right_but_which_is_no_listing_is_a_line(small: Path, cli: Cli, text: str) -> None:
    md5 = hashlib.md5(text.encode()).hexdigest()
    lock = {"stages": {"make": {"outs": [{"path": "models/b", "md5": f"{md5}.dir"}]}}}
    (small / "dvc.lock").write_text(yaml.safe_dump(lock), encoding="utf-8")
    listing = locked(small, "models/b")
    listing.parent.mkdir(parents=True, exist_ok=True)
    listing.write_text(text, encoding="utf-8")
    assert faults(small, cli) == [f"{listing}: corrupt: no listing of a folder"]


def test_a_file_in_place_of_a_folder_and_a_folder_in_place_of_a_file_are_lines(small: Path, cli: Cli) -> None:
    shutil.rmtree(small / "models/a")
    (small / "models/a").write_text("x", encoding="utf-8")
    (small / "one.csv").unlink()
    (small / "one.csv").mkdir()
    assert faults(small, cli) == [
        "models/a: corrupt: a file in place of a folder",
        "one.csv: corrupt: a folder in place of a file",
    ]


def test_what_cannot_be_read_is_a_line_and_the_rest_is_compared(
    small: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def digest(stream: Any, name: str) -> Any:
        if stream.name == "models/a/b.txt":
            raise OSError(errno.EIO, "Input/output error")
        return file_digest(stream, name)

    file_digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", digest)
    flip(small / "one.csv")
    assert faults(small, cli) == ["models/a/b.txt: cannot be read (Input/output error)", "one.csv: corrupt"]


def test_a_folder_that_cannot_be_listed_is_a_line(small: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def walk(top: Any, *args: Any, onerror: Any = None, **named: Any) -> Any:
        if onerror is not None:  # DVC, too, walks through folders
            onerror(PermissionError(errno.EACCES, "Permission denied", "models/a/b"))
        return os_walk(top, *args, **named)

    os_walk = os.walk
    monkeypatch.setattr(os, "walk", walk)
    assert faults(small, cli) == ["models/a/b: cannot be read (Permission denied)"]


def test_a_pipe_in_place_of_a_file_is_a_line_and_is_not_waited_for(small: Path, cli: Cli) -> None:
    (small / "models/a/b.txt").unlink()
    os.mkfifo(small / "models/a/b.txt")
    assert faults(small, cli) == ["models/a/b.txt: cannot be read (not a plain file)"]


def test_outside_of_a_dvc_project_it_says_so(small: Path, refused: Refused) -> None:
    shutil.rmtree(small / ".dvc")
    assert "not inside of a DVC repository" in refused(small, "verify")


OUT = "stages: {a: {outs: [{path: x, md5: %s}]}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stages: [", "not YAML"),
        ("[]", "valid dictionary"),
        ("stages: 3", "stages: .*valid dictionary"),
        ("stages: {a: {outs: [{path: x}]}}", "stages.a.outs.0.md5: Field required"),
        ("stages: {a: {outs: [{path: [x], md5: 1}]}}", r"stages\.a\.outs\.0\.path: .*valid string"),
        ("stages: {a: {outs: [{path: 3, md5: 1}]}}", r"stages\.a\.outs\.0\.path: .*valid string"),
        ("stages: {a: {outs: [{path: ../x, md5: 1}]}}", r"stages\.a\.outs\.0\.path: must be a plain relative path"),
        (OUT % "3", r"stages\.a\.outs\.0\.md5: .*valid string"),
        (OUT % "[a]", r"stages\.a\.outs\.0\.md5: .*valid string"),
        (OUT % "../../etc/passwd", r"stages\.a\.outs\.0\.md5: .*pattern"),
        ("[" * 100_000, "over 64 levels"),
        ("stages: {}\nstages: {}", "line 2: key 'stages' stands twice"),
        ("", "valid dictionary"),
    ],
)
def test_a_lock_that_is_malformed_is_one_line(small: Path, refused: Refused, text: str, message: str) -> None:
    (small / "dvc.lock").write_text(text, encoding="utf-8")
    assert re.search(rf"dvc\.lock: not a lock file \(.*{message}.*\); git restore it", refused(small, "verify"))


def test_a_lock_may_have_keys_that_yaml_1_1_reads_as_booleans(small: Path, cli: Cli) -> None:
    """DVC writes YAML 1.2, in which `no` is a word."""
    lock = small / "dvc.lock"
    lock.write_text(lock.read_text(encoding="utf-8") + "    params: {params.yaml: {no: 1, 2: 3}}\n", encoding="utf-8")
    assert faults(small, cli) == []
