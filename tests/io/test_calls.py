"""A wrong call is one line of the library's own, and a right one does what it did."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pandas as pd
import pytest

from espalier.io.calls import checked_call, described, misfit, require_kind
from espalier.io.errors import ArgumentError, CallError, ConfigError

if TYPE_CHECKING:
    import email.message as mail
    import xml.dom
    from decimal import Decimal
    from email import charset


class Named(Protocol):
    name: str

    def said(self, times: int) -> str: ...


class Speaker:
    name = "a"

    def said(self, times: int) -> str:
        return ""


@checked_call
@dataclass(frozen=True)
class Pair:
    """Two fields."""

    one: str
    two: int | None = None


@checked_call
def shared(price: Decimal | None = None, *names: str, strict: bool = False, **others: object) -> tuple[Any, ...]:
    """A type that is imported for type checkers alone."""
    return price, names, strict, others


@checked_call
def posted(mail: mail.Message | None, node: xml.dom.Node | None, coding: charset.Charset | None) -> None:
    """Types in modules that are imported for type checkers alone: under another name, by a path, and from a package."""


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (int, [0, -1, np.int64(3), 10**30], [True, 1.0, "1", None, np.float64(1)]),
        (float, [0, 1.5, np.float32(2), float("nan")], [True, "1", None, 1j]),
        (bool, [True, False, np.bool_(1)], [0, 1, None, np.int64(1)]),
        (Sequence[float], [[1.0], np.zeros(2), (1, 2)], [np.array(["a"]), np.array(1.0), {1.0: 2.0}, {1.0}, list]),
        (str | None, ["", None], [b"", 0]),
        (Sequence[str], [[], ["a"], ("a",)], ["a", b"a", [1], {"a"}, None, [None], (each for each in "a")]),
        (Sequence[str], [pd.Series(["a"], index=[7])], [pd.DataFrame({"texts": ["a"]})]),
        (Sequence[str | int], [["a", 1]], [["a", 1.5]]),
        (Iterable[str], [["a"], {"a"}, (each for each in "a")], ["a", 1, [1]]),
        (tuple[str, ...], [(), ("a",), ["a"]], ["a", (1,), None]),
        (tuple[str, int], [("a", 1)], [("a",), (1, "a"), ()]),
        (Mapping[str, int], [{}, {"a": 1}], [{"a": "b"}, {1: 1}, [("a", 1)]]),
        (Literal["zh", "en"], ["zh"], ["de", None, ["zh"], np.zeros(2)]),
        (Callable[[int], int], [len], [1]),
        (Named, [Speaker()], [Speaker, object(), None, 5]),
        (Path, [Path("a")], ["a"]),
        (object, [None, 1], []),
        (Any, [None, 1], []),
    ],
)
def test_a_value_fits_a_type_as_callers_mean_it(kind: object, right: list[Any], wrong: list[Any]) -> None:
    assert [value for value in right if misfit(value, kind)] == []
    assert sum(misfit(value, kind) is None for value in wrong) == 0


def test_the_part_that_does_not_fit_is_shown_with_its_place() -> None:
    for kind, value, line in (
        (Sequence[str], ["a", 5], "f, x[1]: int 5 instead of str"),
        (Sequence[Sequence[int]], [[1], [2, "a"]], "f, x[1][1]: str 'a' instead of int"),
        (Mapping[str, int], {"a": None}, "f, x['a']: None instead of int"),
        (Sequence[str] | int, "ab", "f, x: str 'ab' instead of a list of str or int; write [...] around it"),
        (Literal["zh", "en"] | None, "de", "f, x: unknown x 'de'; allowed: en, zh"),
        (str, "a" * 9 and ["a" * 9], "f, x: list instead of str"),
    ):
        with pytest.raises(CallError) as caught:
            require_kind("f", "x", value, kind)
        assert str(caught.value) == line
        assert isinstance(caught.value, TypeError | ValueError) and isinstance(caught.value, ConfigError)


def test_a_huge_value_is_shown_by_its_beginning() -> None:
    with pytest.raises(CallError) as caught:
        require_kind("f", "x", "a" * 10**6, int)
    assert len(str(caught.value)) < 200


def test_a_type_is_described_as_it_is_written() -> None:
    assert described(Sequence[str] | int | None) == "a list of str or int or None"
    assert described(Mapping[str, tuple[int, ...]]) == "a mapping of str and tuple of int"


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: Pair(), "Pair: missing a required argument: 'one'; its arguments: one, two"),
        (lambda: Pair("a", three=3), "Pair: got an unexpected keyword argument 'three'; its arguments: one, two"),
        (lambda: Pair("a", 1, 2), "Pair: too many positional arguments; its arguments: one, two"),
        (lambda: Pair(None), "Pair, one: None instead of str"),
        (lambda: shared(5), "shared, price: int 5 instead of Decimal or None"),
        (lambda: posted(5, None, None), "posted, mail: int 5 instead of Message or None"),
        (lambda: posted(None, 5, None), "posted, node: int 5 instead of Node or None"),
        (lambda: posted(None, None, 5), "posted, coding: int 5 instead of Charset or None"),
        (lambda: shared(None, "a", 5), "shared, names: int 5 instead of str"),
        (lambda: shared(strict=1), "shared, strict: int 1 instead of bool"),
    ],
)
def test_a_wrong_call_is_one_line(call: Callable[[], Any], line: str) -> None:
    with pytest.raises(CallError) as caught:
        call()
    assert str(caught.value) == line


def test_a_right_call_does_what_it_did() -> None:
    pair = Pair("a", two=2)
    assert pair == replace(Pair("b", 2), one="a") == copy.deepcopy(pair) == pickle.loads(pickle.dumps(pair))
    assert shared(None, "a", "b", strict=True, other=1) == (None, ("a", "b"), True, {"other": 1})
    assert shared.__doc__ == "A type that is imported for type checkers alone."


def test_an_error_from_inside_is_not_hidden() -> None:
    @checked_call
    def broken(text: str) -> None:
        raise TypeError(f"a bug with {text}")

    with pytest.raises(TypeError, match=r"^a bug with a$") as caught:
        broken("a")
    assert not isinstance(caught.value, CallError)


def test_a_name_that_no_file_can_have_is_one_line() -> None:
    @checked_call
    def read(path: str) -> bytes:
        return Path(path).read_bytes()

    for name, line in (
        ("a\0b", "read: a null character in the name of a file"),
        ("a" * 5000, f"read, {'a' * 74}: too long for the name of a file"),
        ("\ud800", "read, path: a text that is not Unicode"),
    ):
        with pytest.raises(ArgumentError) as caught:
            read(name)
        assert str(caught.value) == line
    with pytest.raises(FileNotFoundError):
        read("nowhere")
