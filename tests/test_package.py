"""What describes the package agrees: pyproject.toml, CITATION.cff, .zenodo.json, the changelog; the wheel is whole."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import espalier

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
ZENODO = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))


def test_version_authors_keywords_and_licence_are_the_same_wherever_they_stand() -> None:
    assert PROJECT["version"] == espalier.__version__ == CITATION["version"] == ZENODO["version"]
    assert PROJECT["authors"] == CITATION["authors"] == ZENODO["creators"]
    assert PROJECT["keywords"] == CITATION["keywords"] == ZENODO["keywords"]
    assert PROJECT["license"] == CITATION["license"] == ZENODO["license"]
    assert ZENODO["title"] == CITATION["title"] and [ZENODO["description"]] == CITATION["abstract"].splitlines()


def test_the_papers_have_the_same_addresses_wherever_they_stand() -> None:
    cited = {reference["url"] for reference in CITATION["references"]}
    assert cited == {related["identifier"] for related in ZENODO["related_identifiers"]}
    assert cited == {url for name, url in PROJECT["urls"].items() if name.startswith("Paper of ")}


def test_the_changelog_has_the_version_and_the_headings_of_its_format() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.M)
    assert headings[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(PROJECT['version'])}\] - \d{{4}}-\d\d-\d\d", headings[1])
    kinds = set(re.findall(r"^### (.+)$", text, re.M))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_lock_has_a_version_of_each_package_that_is_named() -> None:
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    locked = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", constraints, re.M)}
    extras = PROJECT["optional-dependencies"]
    named = {canonicalize_name(Requirement(each).name) for each in sum(extras.values(), PROJECT["dependencies"])}
    assert named - locked == {"espalier"}


def test_every_data_file_of_the_library_is_in_the_wheel() -> None:
    data = PYPROJECT["tool"]["setuptools"]["package-data"]
    globs = [f"{package.replace('.', '/')}/{pattern}" for package, patterns in data.items() for pattern in patterns]
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "espalier"],
        cwd=ROOT / "src", capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    files = [path for path in listed if not path.endswith(".py")]
    assert "espalier/py.typed" in files and len(files) > 20
    assert [path for path in files if not any(PurePosixPath(path).match(pattern) for pattern in globs)] == []
