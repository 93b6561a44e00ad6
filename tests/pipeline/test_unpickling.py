"""Nothing that another user can write, and nothing that is fetched, is unpickled."""

from __future__ import annotations

import ast
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import layout

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


@pytest.mark.parametrize("profile", PROFILES)
def test_dvc_keeps_the_pickles_of_a_clone_where_only_its_owner_can_write(profile: str, tmp_path: Path) -> None:
    # DVC's default is a folder of all users of the machine, where a file of another ran code in `dvc checkout`.
    folder = tmp_path / "clone" / PROFILES[profile]  # whose cache is that of the clone's root
    names = [".dvc/config", ".dvcignore", ".site_cache/repo/.gitignore"]
    for name in names:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(layout.ROOT / PROFILES[profile] / name, place)
    for cache in (folder / ".site_cache", folder / ".site_cache/repo"):
        cache.chmod(0o755)  # as git makes them
    (folder / "text.txt").write_text("a\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "DVC_SITE_CACHE_DIR"}
    for command in (["git", "init", "-q"], ["dvc", "add", "-q", "text.txt"], ["dvc", "checkout", "-q"]):
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    [used] = [path for path in (folder / ".site_cache/repo").iterdir() if path.is_dir()]
    assert any(used.rglob("cache.db"))
    for place in (used, used.parent, used.parent.parent):
        assert not place.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    status = subprocess.run(["git", "status", "--short", ".site_cache"], cwd=folder, capture_output=True, text=True)
    assert str(used.name) not in status.stdout
