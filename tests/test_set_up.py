"""What sets a machine up: `.ci/environment`, the workflow and the containers agree on Python, PyTorch and commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


CI = yaml.safe_load(read(".github/workflows/ci.yml"))["jobs"]["run"]


def pythons() -> list[str]:
    """The versions of Python that `.ci/environment` takes."""
    first, end = re.search(r"\(3, (\d+)\) <= sys.version_info < \(3, (\d+)\)", read(".ci/environment")).groups()  # type: ignore[union-attr]
    return [f"3.{minor}" for minor in range(int(first), int(end))]


def test_the_classifiers_and_the_workflow_name_the_pythons_that_set_up_takes() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    named = [text.rpartition(" ")[2] for text in project["classifiers"] if "Python :: 3." in text]
    assert named == CI["strategy"]["matrix"]["python"] == pythons()
    assert project["requires-python"] == f">={pythons()[0]}"


def test_the_workflow_calls_the_checks_and_names_files_that_exist() -> None:
    commands = [step["run"] for step in CI["steps"] if "run" in step]
    assert commands == [".ci/run"] and os.access(ROOT / ".ci/run", os.X_OK)
    caches = [step["with"]["cache-dependency-path"] for step in CI["steps"] if "cache" in step.get("with", {})]
    assert caches and all((ROOT / path).is_file() for path in caches)


def test_the_index_of_cpu_builds_is_the_same_wherever_it_stands() -> None:
    index = CI["env"]["PIP_EXTRA_INDEX_URL"]
    for path in ("README.md", "CONTRIBUTING.md", "Dockerfile", "docs/python.md"):
        assert set(re.findall(r"https://download\.pytorch\.org[^\s`]*", read(path))) == {index}, path


def test_the_container_is_made_by_a_target_of_make_and_the_devcontainer_by_a_stage_of_the_container() -> None:
    text = read("Dockerfile")
    targets = re.findall(r"^RUN make (\S+)$", text, re.M)
    assert targets and all(re.search(rf"^{re.escape(target)}:", read("Makefile"), re.M) for target in targets)
    (version,) = set(re.findall(r"^FROM python:(3\.\d+)-", text, re.M))
    assert version in pythons()
    devcontainer = json.loads(read(".devcontainer/devcontainer.json"))
    build = devcontainer["build"]
    assert re.search(rf"^FROM \S+ AS {build['target']}$", text, re.M)
    assert (ROOT / ".devcontainer" / build["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert all(target in devcontainer["postCreateCommand"] for target in targets)


def test_the_container_gets_what_git_keeps() -> None:
    ignored = read(".dockerignore").split("\n")
    patterns = [line.removeprefix("**/") for line in ignored if line and not line.startswith("#")]
    assert ".git" not in patterns
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    lost = [path for path in kept for pattern in patterns if f"/{path}/".find(f"/{pattern}/") >= 0]
    assert len(kept) > 500 and lost == []
