"""The project is under the Apache License 2.0: nothing that it installs may be under the GPL or AGPL alone."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from email.message import Message
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from pipeline import layout

PROJECT: dict[str, Any] = tomllib.loads((layout.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
_SPEC = importlib.util.spec_from_file_location("dependencies", layout.ROOT / ".ci/dependencies.py")
assert _SPEC is not None and _SPEC.loader is not None
dependencies = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(dependencies)
#: GPL with an exception for programs that link to it. DVC installs it.
LINKABLE = "pygit2"


def installed(requirements: Iterable[str]) -> Iterator[Distribution]:
    """The packages of the requirements, and all that these require, as far as they are installed here."""
    waiting, seen = [Requirement(each) for each in requirements], set[tuple[str, frozenset[str]]]()
    while waiting:
        requirement = waiting.pop()
        key = requirement.name, frozenset(requirement.extras)
        if key in seen:
            continue
        seen.add(key)
        if requirement.name == PROJECT["name"]:  # an extra that contains another
            waiting += [Requirement(each) for extra in requirement.extras for each in EXTRAS[extra]]
            continue
        try:
            package = distribution(requirement.name)
        except PackageNotFoundError:
            continue
        yield package
        for needed in map(Requirement, package.requires or ()):
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *key[1])):
                waiting.append(needed)


def strict(requirements: Iterable[str]) -> set[str]:
    return {package.name for package in installed(requirements) if dependencies.is_strict(package.metadata)}


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"License-Expression": "GPL-3.0-or-later"}, True),
        ({"License-Expression": "MIT AND AGPL-3.0-only"}, True),
        ({"License": "GPLv2 with linking exception"}, True),
        (
            {"License": "UNKNOWN", "Classifier": "License :: OSI Approved :: GNU General Public License v3"},
            True,
        ),
        ({"Classifier": "License :: OSI Approved :: GNU Affero General Public License v3"}, True),
        ({"License-Expression": "Apache-2.0 OR GPL-2.0-or-later"}, False),
        ({"License": "GPLv2 | EPLv1", "Classifier": "License :: OSI Approved :: GNU General Public License v2"}, False),
        ({"License-Expression": "LGPL-2.1-or-later"}, False),
        ({"Classifier": "License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)"}, False),
        ({"License": "BSD\n\nIt may be combined with code under the GPL."}, False),
        ({}, False),
    ],
    ids=str,
)
def test_a_licence_is_recognized_wherever_a_package_states_it(stated: dict[str, str], expected: bool) -> None:
    metadata = Message()
    for key, value in stated.items():
        metadata[key] = value
    assert dependencies.is_strict(metadata) is expected


def test_the_library_installs_no_gpl_package() -> None:
    found = {package.name.lower() for package in installed(PROJECT["dependencies"])}
    assert {"torch", "sympy", "mpmath"} <= found  # sympy is torch's, mpmath is sympy's
    assert strict(PROJECT["dependencies"]) == set()


@pytest.mark.parametrize("extra", ["cli", "parse", "pipeline"])
def test_an_extra_installs_no_gpl_package_that_may_not_be_linked_to(extra: str) -> None:
    assert strict(EXTRAS[extra]) <= {LINKABLE}


def listed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ".ci/dependencies.py", *arguments]
    return subprocess.run(command, cwd=layout.ROOT, capture_output=True, text=True, check=False)


def test_nothing_that_the_lock_names_is_gpl_or_of_an_unknown_licence_but_the_exceptions() -> None:
    done = listed()
    assert (done.returncode, done.stderr) == (0, "")
    rows = {name: licence for name, _, licence in (line.split("\t") for line in done.stdout.splitlines())}
    locked = (layout.ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    assert [*rows] == [line.partition("==")[0] for line in locked] and len(rows) > 200
    needed = {name for name, licence in rows.items() if licence == "unknown" or name == LINKABLE}
    here = {name for name in dependencies.EXCEPTIONS["licences"] if rows[name] != "not installed here"}
    assert here == needed  # no exception that nothing needs


def test_a_gpl_package_and_one_without_a_licence_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gpl, free, silent = Message(), Message(), Message()
    gpl["License"], free["License"] = "GPLv3", "MIT"
    rows = [("a", "1", gpl), ("b", "1", free), ("c", "1", silent), ("d", "1", None), ("pygit2", "1", gpl)]
    monkeypatch.setattr(dependencies, "locked", lambda: rows)
    monkeypatch.setattr(sys, "argv", ["dependencies.py"])
    with pytest.raises(SystemExit, match="GPL or unknown: a, c;"):
        dependencies.main()
    assert capsys.readouterr().out.splitlines() == [
        "a\t1\tGPLv3", "b\t1\tMIT", "c\t1\tunknown", "d\t1\tnot installed here", "pygit2\t1\tGPLv3",
    ]  # fmt: skip


def test_the_weekly_run_lists_licences_and_audits_the_lock_with_the_accepted_advisories() -> None:
    workflow = yaml.safe_load((layout.ROOT / ".github/workflows/weekly.yml").read_text(encoding="utf-8"))
    assert {"schedule", "workflow_dispatch"} == {*workflow[True]}  # YAML 1.1 reads `on` so
    (job,) = workflow["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[1] == ".venv/bin/python .ci/dependencies.py"
    assert "pip-audit==" in commands[2] and "constraints.txt" in commands[2] and "dependencies.py adv" in commands[2]
    options = listed("advisories").stdout.split()
    assert options[1::2] == [*dependencies.EXCEPTIONS["advisories"]] and {*options[::2]} == {"--ignore-vuln"}
    assert all(reason for kind in dependencies.EXCEPTIONS.values() for reason in kind.values())
