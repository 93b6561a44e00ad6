"""The part of a batch that one of several processes computes, and where it stands in the whole batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor

#: What the first dimension of a tensor counts: rows of the batch, its targets without padding, or nodes of its trees.
Unit: TypeAlias = Literal["row", "target", "node"]
#: Places of a part among those of the whole batch, and their number there.
Places: TypeAlias = "tuple[slice | Tensor, int]"

_present: ContextVar[Part | None] = ContextVar("part", default=None)


@dataclass(frozen=True)
class Part:
    """The places of a part by unit. Random numbers are drawn for the whole batch, of which a part takes its own.

    So the numbers of a row do not depend on how many processes share the batch, and every process draws equally many.
    """

    places: Mapping[Unit, Places]


def present_part() -> Part | None:
    """The part that this process computes; None if it computes the whole batch."""
    return _present.get()


@contextmanager
def computing(part: Part | None) -> Iterator[None]:
    """Compute a part in this block."""
    token = _present.set(part)
    try:
        yield
    finally:
        _present.reset(token)
