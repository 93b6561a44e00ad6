"""Entries by name, and objects by the name of their module."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.io.errors import ConfigError
from espalier.io.registry import entry, imported


def test_an_unknown_name_lists_those_that_there_are() -> None:
    assert entry("colour", {"red": 1, "blue": 2}, "blue") == 2
    with pytest.raises(ConfigError, match=r"^wall\.colour: unknown colour 'green'; allowed: blue, red$"):
        entry("colour", {"red": 1, "blue": 2}, "green", where="wall.colour")


def test_an_object_is_imported_by_name_or_is_given() -> None:
    assert imported("path", "pathlib:Path", where="PATHS") is Path
    assert imported("path", Path, where="PATHS") is Path


@pytest.mark.parametrize("target", ["no_such_module:Path", "pathlib:NoPath", "no name"])
def test_an_object_that_cannot_be_imported_is_one_line(target: str) -> None:
    with pytest.raises(ConfigError, match=rf"^PATHS: cannot import the path {target} \(") as caught:
        imported("path", target, where="PATHS")
    assert "\n" not in str(caught.value)
