"""A constituency tree: a label and ordered children."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Tree(list[Any]):
    """A node: a list of its children. It is empty only after a cut.

    The label is read by a method, as in `nltk.Tree`. All functions accept both classes, but their objects never compare
    equal. NLTK's class is not used, since importing it takes a second and loads half of scipy. Comparing, copying and
    printing are recursive.

    Args:
        label: a constituent or a part of speech.
        children: nodes, or the single word of a part of speech.
    """

    __slots__ = ("_label",)

    def __init__(self, label: str, children: Iterable[Tree | str] = ()) -> None:
        super().__init__(children)
        self._label = label

    def label(self) -> str:
        """The constituent or part of speech."""
        return self._label

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self._label == other._label and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return f"Tree({self._label!r}, {super().__repr__()})"
