"""Nothing that another user can write, and nothing that is fetched, is unpickled."""

from __future__ import annotations

import ast
import os
import pickle
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pipeline import layout

sys.path.insert(0, str(Path(__file__).parent))
from forked_commands import programs

PROFILES = {name: folder.relative_to(layout.ROOT) for name, folder in layout.PROFILES.items()}
#: The modules whose functions can run what they read.
UNSAFE = {"pickle", "joblib", "dill", "cloudpickle", "shelve", "marshal"}


def calls(file: Path) -> Iterator[str]:
    """The calls and imports in a file that can unpickle."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in UNSAFE:
            yield f"from {node.module}"
        if not isinstance(node, ast.Call):
            continue
        called, options = ast.unparse(node.func), {option.arg: ast.unparse(option.value) for option in node.keywords}
        if called.partition(".")[0] in UNSAFE or called.endswith("read_pickle"):
            yield called
        if called == "torch.load" and options.get("weights_only") != "True":
            yield called
        if "allow_pickle" in options and options["allow_pickle"] != "False":
            yield called


def test_no_module_of_ours_can_unpickle_a_file() -> None:
    modules = [file for folder in ("src/espalier", "pipeline") for file in (layout.ROOT / folder).rglob("*.py")]
    assert len(modules) > 200
    found = [f"{file.relative_to(layout.ROOT)}: {call}" for file in modules for call in calls(file)]
    assert found == []


def test_a_call_that_can_unpickle_is_found(tmp_path: Path) -> None:
    (file := tmp_path / "a.py").write_text(
        "import pickle, torch\nfrom dill import load\npickle.load(f)\ntorch.load(f)\ntorch.load(f, weights_only=True)",
        encoding="utf-8",
    )
    assert sorted(calls(file)) == ["from dill", "pickle.load", "torch.load"]


@pytest.fixture(params=PROFILES)
def clone(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return make_clone(tmp_path / "clone", PROFILES[request.param])


def make_clone(root: Path, profile: Path) -> Path:
    """The folder of a profile in a clone with one file for DVC."""
    folder = root / profile  # whose cache is that of the clone's root
    for name in (".dvc/config", ".dvcignore", ".site_cache/repo/.gitignore"):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(layout.ROOT / profile / name, place)
    for cache in (folder / ".site_cache", folder / ".site_cache/repo"):
        cache.chmod(0o755)  # as git makes them
    (folder / "text.txt").write_text("a\n", encoding="utf-8")
    for command in (("git", "init", "-q"), ("dvc", "add", "-q", "text.txt"), ("dvc", "checkout", "-q")):
        assert not called(folder, *command).returncode
    return folder


def called(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DVC_SITE_CACHE_DIR", "PYTHONPATH")
    }
    environment["PATH"] = f"{programs()}:{os.environ['PATH']}"
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_dvc_keeps_the_pickles_of_a_clone_where_only_its_owner_can_write(clone: Path) -> None:
    # DVC's default is a folder of all users of the machine, where a file of another ran code in `dvc checkout`.
    [used] = [path for path in (clone / ".site_cache/repo").iterdir() if path.is_dir()]
    assert any(used.rglob("cache.db"))
    for place in (used, used.parent, used.parent.parent):
        assert not place.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    assert str(used.name) not in called(clone, "git", "status", "--short", ".site_cache").stdout


class Runs:
    """Creates a file when it is unpickled: what stands for another user's code."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.file), "w")


def plant(site: Path, marker: Path) -> None:
    """Put a pickle that creates `marker` among the keys of DVC's caches in a site cache."""
    for database in ("links/cache.db", "hashes/local/cache.db"):
        with closing(sqlite3.connect(site / database)) as connection, connection:
            key = sqlite3.Binary(pickle.dumps(Runs(marker)))
            connection.execute("INSERT INTO Cache (key, raw, store_time, mode, value) VALUES (?, 0, 0, 1, 'x')", (key,))


def by_default(config: str) -> str:
    """A configuration of DVC without a folder of the clone's own for its caches."""
    return re.sub(r".*site_cache_dir.*\n", "", config)


def plant_where_all_can(clone: Path, marker: Path) -> Path:
    """Plant a pickle in the folder that DVC takes by default, which is returned; the clone stays as it is."""
    config = clone / ".dvc/config"
    own = config.read_text(encoding="utf-8")
    config.write_text(by_default(own), encoding="utf-8")
    ask = "from dvc.repo import Repo; print(Repo().site_cache_dir)"
    shared = Path(called(clone, sys.executable, "-c", ask).stdout.strip())  # of this clone alone
    assert not shared.is_relative_to(clone)
    assert not called(clone, "dvc", "checkout", "-q").returncode  # which makes the caches there
    plant(shared, marker)
    config.write_text(own, encoding="utf-8")
    return shared


def test_a_planted_pickle_in_the_place_of_all_users_runs_in_no_command_of_a_clone(tmp_path: Path) -> None:
    """In one profile: where each profile has its caches says the test above."""
    clone, marker = make_clone(tmp_path / "clone", PROFILES["small"]), tmp_path / "ran"
    config = clone / ".dvc/config"
    shared = plant_where_all_can(clone, marker)
    try:
        for command in ("checkout", "status"):
            done = called(clone, "dvc", command)
            assert (done.returncode, marker.exists()) == (0, False), done.stderr
        config.write_text(by_default(config.read_text(encoding="utf-8")), encoding="utf-8")
        called(clone, "dvc", "checkout")
        assert marker.exists()  # by DVC's default
    finally:
        shutil.rmtree(shared, ignore_errors=True)
