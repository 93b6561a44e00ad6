"""The project is under the Apache License 2.0: nothing that it installs may be under the GPL or AGPL alone."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from email.message import Message
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

import pytest
from packaging.requirements import Requirement

from pipeline import layout

PROJECT: dict[str, Any] = tomllib.loads((layout.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
#: GPL and AGPL, by their short and their long names. The LGPL is neither.
STRICT = re.compile(r"\bA?GPL|GNU (Affero )?General Public License", re.IGNORECASE)
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


def is_strict(metadata: Message) -> bool:
    """Whether a package states the GPL or AGPL and offers no other licence instead."""
    name = metadata["License-Expression"] or (metadata["License"] or "").strip().partition("\n")[0]
    choices = re.split(r" OR |\|", name)
    if len(choices) > 1 and not all(map(STRICT.search, choices)):
        return False
    return any(map(STRICT.search, [name, *metadata.get_all("Classifier", [])]))


def strict(requirements: Iterable[str]) -> set[str]:
    return {package.name for package in installed(requirements) if is_strict(package.metadata)}


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
    assert is_strict(metadata) is expected


def test_the_library_installs_no_gpl_package() -> None:
    found = {package.name.lower() for package in installed(PROJECT["dependencies"])}
    assert {"torch", "sympy", "mpmath"} <= found  # sympy is torch's, mpmath is sympy's
    assert strict(PROJECT["dependencies"]) == set()


@pytest.mark.parametrize("extra", ["cli", "parse", "pipeline"])
def test_an_extra_installs_no_gpl_package_that_may_not_be_linked_to(extra: str) -> None:
    assert strict(EXTRAS[extra]) <= {LINKABLE}
