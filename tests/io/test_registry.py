"""Registries, entries by name, and objects by the name of their module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from pydantic import BaseModel

from espalier.io.errors import ConfigError
from espalier.io.registry import Registry, entry, fault, first_fault, imported, members


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


class Shape(Protocol):
    def corners(self, *, scale: int) -> int: ...


class Square:
    def corners(self, *, scale: int) -> int:
        return 4


class Circle:
    pass


def shapes() -> Registry[Shape]:
    """A registry of objects, whose modules are not imported before they are used."""
    here = f"{__name__}:"
    return Registry(
        "SHAPES", "shape", Shape, {"square": f"{here}Square", "circle": f"{here}Circle", "lost": "lost:One"}
    )


def test_a_name_is_imported_when_it_is_looked_up_and_one_object_stands_for_it() -> None:
    registry = shapes()
    assert "lost" in registry and [*registry] == ["square", "circle", "lost"] and len(registry) == 3
    assert registry["square"] is registry.find("square") and registry["square"].corners(scale=1) == 4
    before = dict(registry.entries)
    registry["round"] = Square()
    del registry["lost"]
    registry.entries = before
    assert "round" not in registry and "lost" in registry


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("oval", "wall.shape: unknown shape 'oval'; allowed: circle, lost, square"),
        ("lost", "SHAPES['lost']: cannot import the shape lost:One (No module named 'lost')"),
        ("circle", f"SHAPES['circle']: it has no corners; see Shape in {__name__.replace('.', '/')}.py"),
    ],
)
def test_what_cannot_be_looked_up_is_one_line(name: str, told: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(told)}$"):
        shapes().find(name, where="wall.shape")


def test_an_object_of_another_type_is_refused_where_it_is_added() -> None:
    registry: Registry[Path] = Registry("PATHS", "path", Path)
    registry["here"] = Path()
    with pytest.raises(ConfigError, match=r"^PATHS\['there'\]: int is no Path; see Path in pathlib"):
        registry["there"] = 3  # type: ignore[assignment]
    with pytest.raises(ConfigError, match=r"^SHAPES\['mine'\]: it has no corners; see Shape in"):
        shapes()["mine"] = Circle()  # type: ignore[assignment]
    assert "there" not in registry


def test_a_registry_of_classes_holds_the_classes_and_refuses_their_objects() -> None:
    classes = Registry[type[Shape]]("SHAPES", "shape", type[Shape], {"square": f"{__name__}:Square"})
    assert classes["square"] is Square
    bases = Registry[type[Square]]("SQUARES", "square", type[Square])
    for registry, kind in ((classes, "Shape"), (bases, "Square")):
        with pytest.raises(ConfigError, match=rf"\['mine'\]: Square is no {kind}; see {kind} in"):
            registry["mine"] = Square()  # type: ignore[assignment]
    with pytest.raises(ConfigError, match=r"^SHAPES\['mine'\]: it has no corners"):
        classes["mine"] = Circle  # type: ignore[assignment]
    with pytest.raises(ConfigError, match=r"^SQUARES\['mine'\]: Circle is no Square"):
        bases["mine"] = Circle  # type: ignore[assignment]


class Base(Protocol):
    size: int

    def load(self, path: str) -> Any: ...


class Reads(Base, Protocol):
    @property
    def name(self) -> str: ...

    def read(self, rows: list[int], seed: int = 1, *, limit: int) -> Any: ...


class Good:
    size, name = 1, "good"

    @classmethod
    def load(cls, path: str) -> None: ...

    def read(self, rows: Any, seed: Any = 2, more: Any = None, *, limit: int) -> None: ...


def test_members_are_those_of_the_protocol_and_of_its_bases() -> None:
    assert members(Reads) == ["size", "load", "name", "read"]


def test_an_object_and_its_class_that_have_all_fit() -> None:
    assert first_fault(Good(), Reads) is None and first_fault(Good, Reads) is None


@pytest.mark.parametrize("member", ["size", "load", "name", "read"])
@pytest.mark.parametrize("built", [True, False])
def test_the_member_that_is_missing_is_named(member: str, built: bool) -> None:
    kind = type("Bad", (), {name: value for name, value in vars(Good).items() if name in members(Reads)} | {})
    delattr(kind, member)
    assert first_fault(kind() if built else kind, Reads) == f"has no {member}"


@pytest.mark.parametrize(
    ("method", "told"),
    [
        (lambda self, rows, *, limit: None, "has no read that takes (rows, seed, limit)"),
        (lambda self, rows, seed: None, "has no read that takes (rows, seed, limit)"),
        (lambda self, rows, seed, extra, *, limit: None, "has no read that takes (rows, seed, limit)"),
        (lambda self, *rows, **named: None, None),
        (3, "has no method read"),
    ],
)
def test_a_method_that_takes_other_arguments_is_named_with_those_it_must_take(method: Any, told: str | None) -> None:
    kind = type("Other", (Good,), {"read": method})
    assert fault(kind(), Reads, "read") == fault(kind, Reads, "read") == told


def test_fields_of_a_class_count_without_a_default_and_those_of_its_bases() -> None:
    class Settings(BaseModel):
        size: int

    @dataclass
    class Row:
        size: int

    for kind in (Settings, Row, type("Own", (Row,), {})):
        assert fault(kind, Reads, "size") is None and fault(kind, Reads, "name") == "has no name"
