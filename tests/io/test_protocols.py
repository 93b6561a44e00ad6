"""What an object lacks of a protocol is named: a member, or the arguments that a method is called with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from pydantic import BaseModel

from espalier.io.protocols import fault, first_fault, members


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
