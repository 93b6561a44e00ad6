"""Trees as rows of ids: one symbol for both the label and the level of a node, or SCPN's brackets.

GuiG predicts a label and a level at each step (section 3.1). There are few combinations (74 labels x 8 levels = 592),
so one symbol stands for both, and a tree is one row of ids. Ids 0 to 3 are PAD, UNK, BOS and EOS, as in a text's
vocabulary; UNK is never written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from espalier.io.errors import ConfigError
from espalier.syntax.levels import linearize, tree_of, tree_of_brackets
from espalier.syntax.tree import Tree

IntArray = npt.NDArray[np.int64]
FIRST = 4  # the first id after the specials
OPEN, CLOSE, FIRST_BRACKETED = 4, 5, 6


@dataclass(frozen=True)
class TreeSymbols:
    """The labels of a corpus's trees, and the number of levels.

    Attributes:
        labels: labels, the most frequent first.
        depth: trees are cut below this level (8 in GuiG).
        opens: for each label, whether nodes with it have children in the training trees.
        ends: for each label, whether nodes with it above level `depth` have no children in the training trees, like a
            part of speech.
    """

    labels: tuple[str, ...]
    depth: int
    opens: tuple[bool, ...]
    ends: tuple[bool, ...]

    @classmethod
    def build(cls, trees: Iterable[Tree], depth: int) -> Self:
        """Build from the training trees. Labels of equal frequency are in code-point order."""
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
        ranked = tuple(sorted(counts, key=lambda label: (-counts[label], label)))
        return cls(ranked, depth, tuple(label in opens for label in ranked), tuple(label in ends for label in ranked))

    # --- Labels with levels ------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of symbols, specials included."""
        return FIRST + len(self.labels) * self.depth

    @property
    def nodes(self) -> int:
        """The number of label ids, specials included: 4 + labels."""
        return FIRST + len(self.labels)

    @property
    def levels(self) -> int:
        """The number of level ids, specials included: 4 + depth. Level 1 has id 4."""
        return FIRST + self.depth

    def symbol(self, label: str, level: int) -> int:
        """The id of a node.

        Raises:
            ConfigError: the label is unknown, or the level is below `depth`.
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
        """Convert symbols, without specials, to a tree.

        Raises:
            TreeError: the levels do not form a tree.
        """
        return tree_of(
            [self.labels[(symbol - FIRST) // self.depth] for symbol in symbols],
            [(symbol - FIRST) % self.depth + 1 for symbol in symbols],
        )

    def leaves(self, symbols: Sequence[int]) -> list[str]:
        """The labels of the nodes without children, in order. `symbols` are a tree, without specials."""
        nodes = [divmod(symbol - FIRST, self.depth) for symbol in symbols]
        after = [*nodes[1:], (0, 0)]
        return [self.labels[label] for (label, level), (_, next_) in zip(nodes, after, strict=False) if next_ <= level]

    @cached_property
    def phrases(self) -> frozenset[str]:
        """The labels with which nodes have children in the training trees."""
        return frozenset(label for label, opens in zip(self.labels, self.opens, strict=True) if opens)

    @cached_property
    def label_ids(self) -> IntArray:
        """(size,) label id of each symbol; a special has its own id."""
        symbols = np.arange(self.size)
        return np.where(symbols < FIRST, symbols, FIRST + (symbols - FIRST) // self.depth)

    @cached_property
    def level_ids(self) -> IntArray:
        """(size,) level id of each symbol (level + 3); a special has its own id."""
        symbols = np.arange(self.size)
        return np.where(symbols < FIRST, symbols, FIRST + (symbols - FIRST) % self.depth)

    def levels_of(self, symbols: npt.NDArray[np.integer[Any]]) -> IntArray:
        """The level of each symbol, from 1 at the root. Specials are not allowed."""
        return self.level_ids[symbols] - FIRST + 1

    # --- Brackets ----------------------------------------------------------------------------------------------------

    @property
    def bracketed_size(self) -> int:
        """The number of ids of the bracketed form: specials, "(", ")", labels."""
        return FIRST_BRACKETED + len(self.labels)

    def decode_bracketed(self, ids: Sequence[int]) -> Tree:
        """Convert bracketed ids, without specials, to a tree.

        Raises:
            TreeError: the brackets do not form a tree.
        """
        names = {OPEN: "(", CLOSE: ")"}
        return tree_of_brackets([names[id_] if id_ in names else self.labels[id_ - FIRST_BRACKETED] for id_ in ids])

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def as_json(self) -> dict[str, Any]:
        """Plain values. `TreeSymbols(**value)`, with tuples, restores the object."""
        return {"labels": list(self.labels), "depth": self.depth, "opens": list(self.opens), "ends": list(self.ends)}
