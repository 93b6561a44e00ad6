"""A constituency tree: a label and, in order, what stands under it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Tree(list[Any]):
    """A node, which is the list of its children; one without any is left by a cut.

    The label is read by a call, as of an `nltk.Tree`, and what takes a tree takes either, though none equals the other;
    importing that class costs a second, and half of scipy. Comparing, copying and printing recurse.

    Args:
        label: a constituent or a part of speech.
        children: nodes, or the one word of a part of speech.
    """

    __slots__ = ("_label",)

    def __init__(self, label: str, children: Iterable[Tree | str] = ()) -> None:
        super().__init__(children)
        self._label = label

    def label(self) -> str:
        """Its constituent or part of speech."""
        return self._label

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self._label == other._label and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return f"Tree({self._label!r}, {super().__repr__()})"
