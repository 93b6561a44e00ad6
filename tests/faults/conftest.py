"""A small built project to hurt, and the counts of what happened."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from harm import Project, Tally

_spec = importlib.util.spec_from_file_location("pipeline_conftest", Path(__file__).parents[1] / "pipeline/conftest.py")
assert _spec is not None and _spec.loader is not None
_pipeline = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _pipeline
_spec.loader.exec_module(_pipeline)
built = _pipeline.built


@pytest.fixture(autouse=True, scope="module")
def own_server() -> None:
    """A server that has imported what trials need: that of another test, of which each fork would import it, ends."""
    forkserver._forkserver._stop()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def project(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy to change, and the original to restore it from."""
    folder = tmp_path_factory.mktemp("faults")
    shutil.copytree(built, folder / "project", symlinks=True)
    (folder / "scratch").mkdir()
    return Project(folder / "project", built, folder / "scratch")


@pytest.fixture(scope="module")
def unbuilt(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A folder for trials that need no built project."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "scratch").mkdir()
    return Project(folder, folder, folder / "scratch")


@pytest.fixture(scope="module")
def tallies() -> Iterator[dict[str, Counter[str]]]:
    """How the trials of each kind ended; printed at the end."""
    counts: dict[str, Counter[str]] = {}
    yield counts
    print("\n" + Tally.table(counts))
    if path := os.environ.get("FAULTS_COUNTS"):
        Path(path).write_text(json.dumps(counts), encoding="utf-8")
