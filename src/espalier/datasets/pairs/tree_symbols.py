"""Trees as rows of ids: one symbol for a node's label and level together, or SCPN's brackets.

GuiG predicts a label and a level at each step (section 3.1). Their product is small (74 labels at 8 levels are 592), so
that a symbol names both: encoders, decoders and beams see one row of ids. Ids 0 to 3 are PAD, UNK, BOS and EOS, as they
are in a text's vocabulary; UNK is never written and stands for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from espalier.io.errors import ConfigError
from espalier.syntax.levels import bracketed, linearize, tree_of, tree_of_brackets
from espalier.syntax.tree import Tree

IntArray = npt.NDArray[np.int64]
FIRST = 4  # the first id after the specials
OPEN, CLOSE, FIRST_BRACKETED = 4, 5, 6


@dataclass(frozen=True)
class TreeSymbols:
    """The labels of a corpus's trees, and how many levels are kept.

    Attributes:
        labels: the most frequent first.
        depth: trees are cut below this level (8 in GuiG).
        opens: for each label whether a node of it was seen to have children.
        ends: for each label whether a node of it was seen without children above level `depth`: a part of speech.
    """

    labels: tuple[str, ...]
    depth: int
    opens: tuple[bool, ...]
    ends: tuple[bool, ...]

    @classmethod
    def build(cls, trees: Iterable[Tree], depth: int) -> TreeSymbols:
        """From the trees that train; labels of equal frequency stand in code-point order."""
        counts, opens, ends = dict[str, int](), set[str](), set[str]()
        for tree in trees:
            labels, levels = linearize(tree)
            for label, level, following in zip(labels, levels, [*levels[1:], 0], strict=True):
                if level > depth:
                    continue
                counts[label] = counts.get(label, 0) + 1
                if following > level:
                    opens.add(label)
                elif level < depth:
                    ends.add(label)
        found = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
        return cls(found, depth, tuple(each in opens for each in found), tuple(each in ends for each in found))

    # --- Labels with levels ------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """All symbols, specials included."""
        return FIRST + len(self.labels) * self.depth

    @property
    def nodes(self) -> int:
        """Ids of labels, specials included: 4 + labels."""
        return FIRST + len(self.labels)

    @property
    def levels(self) -> int:
        """Ids of levels, specials included: 4 + depth; level 1 is id 4."""
        return FIRST + self.depth

    def symbol(self, label: str, level: int) -> int:
        """The id of a node.

        Raises:
            ConfigError: no such label, or a level below `depth`.
        """
        if label not in self._ids:
            raise ConfigError.unknown("label", label, self.labels, where="tree")
        if not 1 <= level <= self.depth:
            raise ConfigError(f"level {level}", where="tree", remedy=f"this model knows levels 1 to {self.depth}")
        return FIRST + self._ids[label] * self.depth + level - 1

    def encode(self, tree: Tree) -> list[int]:
        """The nodes of the top `depth` levels in pre-order.

        Raises:
            ConfigError: an unknown label.
        """
        pairs = zip(*linearize(tree), strict=True)
        return [self.symbol(label, level) for label, level in pairs if level <= self.depth]

    def decode(self, symbols: Sequence[int]) -> Tree:
        """The tree that symbols, without specials, write.

        Raises:
            TreeError: their levels are no tree's.
        """
        return tree_of(
            [self.labels[(each - FIRST) // self.depth] for each in symbols],
            [(each - FIRST) % self.depth + 1 for each in symbols],
        )

    @cached_property
    def node_of(self) -> IntArray:
        """(size,) each symbol's label id; specials are themselves."""
        symbols = np.arange(self.size)
        return np.where(symbols < FIRST, symbols, FIRST + (symbols - FIRST) // self.depth)

    @cached_property
    def level_of(self) -> IntArray:
        """(size,) each symbol's level id (level + 3); specials are themselves."""
        symbols = np.arange(self.size)
        return np.where(symbols < FIRST, symbols, FIRST + (symbols - FIRST) % self.depth)

    # --- Brackets ----------------------------------------------------------------------------------------------------

    @property
    def bracketed_size(self) -> int:
        """Ids of the bracketed form: specials, "(", ")", labels."""
        return FIRST_BRACKETED + len(self.labels)

    def encode_bracketed(self, symbols: Sequence[int]) -> list[int]:
        """A row of symbols as SCPN reads it: three ids a node."""
        names = {"(": OPEN, ")": CLOSE}
        tokens = bracketed(self.decode(symbols)) if len(symbols) else []
        return [names[each] if each in names else FIRST_BRACKETED + self._ids[each] for each in tokens]

    def decode_bracketed(self, ids: Sequence[int]) -> Tree:
        """The tree that bracketed ids, without specials, write.

        Raises:
            TreeError: they are no tree's.
        """
        names = {OPEN: "(", CLOSE: ")"}
        return tree_of_brackets([names[each] if each in names else self.labels[each - FIRST_BRACKETED] for each in ids])

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def as_json(self) -> dict[str, Any]:
        """Plain values; `TreeSymbols(**value)` with tuples gives it back."""
        return {"labels": list(self.labels), "depth": self.depth, "opens": list(self.opens), "ends": list(self.ends)}
