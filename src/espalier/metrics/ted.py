"""Tree edit distance between the parses of outputs and references (GuiG, section 4), by level and in full.

TED is the smallest number of node insertions, deletions and renamings that turn one ordered tree into another (Zhang
and Shasha 1989). TED-l compares the top l levels of both trees, with the root at level 1; TED-f compares whole trees.
Parts of speech are leaves; words are not part of a tree.

N-TED, "TED divided by the number of nodes in a tree", does not say which tree: `n_ted_*` uses the reference,
`n_ted_max_*` the larger of the two, both cut as for the distance. Either can exceed 1. All values are means over pairs.

`ted_guide_*` and `n_ted_guide_*` compare with the tree that guided the output instead of the reference's tree, for
outputs with such a guide. If the guide is only a template, or cut at level 8, the full distance also counts nodes that
the guide does not specify.

An output that could not be parsed is an empty string without nodes: its distance is the size of the reference, and its
N-TED is 1. `ted_unparsed` is the share of such outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, share_of, signature_of
from espalier.syntax.constituency import linearize, read_tree
from espalier.syntax.tree import Tree

#: The leaves of a tree: parts of speech (the words go), words in place of them, or words below them.
Leaves = Literal["tags", "words", "both"]

#: The levels of TED-l; TED-f comes after them.
LEVELS: Final = (3, 4, 5, 6, 7, 8)

_CUTS: Final = (*map(str, LEVELS), "full")
_WIDTH: Final = len(_CUTS)
_UNPARSED, _PAIRS = 3 * _WIDTH, 3 * _WIDTH + 1

#: The keys of `Ted`, always all of them, in this order.
KEYS: Final = (*(f"{kind}_{cut}" for kind in ("ted", "n_ted", "n_ted_max") for cut in _CUTS), "ted_unparsed")

#: The keys of `GuideTed`, and the columns of `ted_statistics` that they are of.
GUIDE_KEYS: Final = ("ted_guide_8", "ted_guide_full", "n_ted_guide_8", "n_ted_guide_full")
_GUIDE_COLUMNS: Final = (_WIDTH - 2, _WIDTH - 1, 2 * _WIDTH - 2, 2 * _WIDTH - 1)


# --- One pair --------------------------------------------------------------------------------------------------------


class Nodes(NamedTuple):
    """A tree in the form of `constituency.linearize`: nodes in pre-order, and the level of each, from 1."""

    labels: tuple[str, ...]
    levels: tuple[int, ...]


def nodes_of(tree: Tree, leaves: Leaves = "tags") -> Nodes:
    """The nodes to compare. Words are prefixed by a space, so that no word equals a label."""
    if leaves == "tags":
        return Nodes(*linearize(tree))
    labels, levels = list[str](), list[int]()
    waiting: list[tuple[Tree | str, int]] = [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        if leaves == "words" and not isinstance(node, str) and len(node) == 1 and isinstance(node[0], str):
            node = node[0]
        levels.append(level)
        if isinstance(node, str):
            labels.append(f" {node}")
        else:
            labels.append(node.label())
            waiting += [(child, level + 1) for child in reversed(node)]
    return Nodes(tuple(labels), tuple(levels))


def cut_nodes(nodes: Nodes, levels: int) -> Nodes:
    """The top levels of a tree, as in `constituency.cut`."""
    if max(nodes.levels, default=0) <= levels:
        return nodes
    top = [(label, level) for label, level in zip(*nodes, strict=True) if level <= levels]
    return Nodes(*zip(*top, strict=True))


def distance(one: Nodes, other: Nodes) -> int:
    """The tree edit distance of two trees. Either may be empty."""
    if not one.labels or not other.labels:
        return len(one.labels) + len(other.labels)
    labels: dict[str, int] = {}
    return _compare(_arrays(one, labels), _arrays(other, labels))


def _arrays(nodes: Nodes, labels: dict[str, int]) -> tuple[Array, Array]:
    """The labels of a tree as numbers, and its levels. New labels are added to `labels`, which has the numbers."""
    numbers = [labels.setdefault(label, len(labels)) for label in nodes.labels]
    return np.array(numbers, np.int64), np.array(nodes.levels, np.int64)


def _compare(one: tuple[Array, Array], other: tuple[Array, Array]) -> int:
    from espalier.metrics.zhang_shasha import tree_edit_distance

    return int(tree_edit_distance(*one, *other))


# --- The family ------------------------------------------------------------------------------------------------------


class _Forest:
    """All trees of a corpus at all cuts, without duplicates, and the distances computed so far.

    Outputs may share a reference, a cut may keep a whole tree, and many trees have equal top levels. Each such
    coincidence saves some of the seven distances of a pair.
    """

    def __init__(self) -> None:
        self.labels: dict[str, int] = {}
        self.numbers: dict[Nodes, int] = {}
        self.sizes: list[int] = []
        self.arrays: list[tuple[Array, Array]] = []
        self.cuts_of: dict[str, tuple[int, ...]] = {}
        self.known: dict[tuple[int, int], int] = {}

    def cuts(self, text: str, what: str, row: int) -> tuple[int, ...]:
        """The numbers of the cuts of a tree, one for each of `_CUTS`."""
        cached = self.cuts_of.get(text)
        if cached is None:
            nodes = nodes_of(read_tree(text, file=what, row=row, words=False))
            cuts = (*(cut_nodes(nodes, levels) for levels in LEVELS), nodes)
            cached = self.cuts_of[text] = tuple(self.number(cut) for cut in cuts)
        return cached

    def number(self, nodes: Nodes) -> int:
        if (number := self.numbers.get(nodes)) is None:
            number = self.numbers[nodes] = len(self.numbers)
            self.sizes.append(len(nodes.labels))
            self.arrays.append(_arrays(nodes, self.labels))
        return number

    def distance(self, one: int, other: int) -> int:
        if one == other:
            return 0
        pair = (one, other) if one < other else (other, one)  # unit costs are the same both ways
        if (cached := self.known.get(pair)) is None:
            cached = self.known[pair] = _compare(self.arrays[one], self.arrays[other])
        return cached


def ted_statistics(references: Sequence[str], hypotheses: Sequence[str]) -> Array:
    """Statistics of each pair, (pairs, 23).

    Columns: the distance at levels 3 to 8 and in full; the same divided by the number of nodes of the reference, and of
    the larger tree; whether the hypothesis is unparsed; 1.

    Args:
        references: uncut Penn strings; words may be missing.
        hypotheses: one per reference; an empty string means that the text could not be parsed.

    Raises:
        TreeError: a string is not a tree; the message names the row, from 1.
        EspalierError: the lists differ in length, or a reference is empty.
    """
    require_lengths("references", len(references), hypotheses=hypotheses)
    forest = _Forest()
    distances, nodes, larger = np.zeros((3, len(references), _WIDTH))
    for row, (reference, hypothesis) in enumerate(zip(references, hypotheses, strict=True)):
        if not reference:
            raise EspalierError("the reference has no tree", where=f"row {row + 1}", remedy="filter it out before")
        reference_cuts = forest.cuts(reference, "references", row + 1)
        nodes[row] = [forest.sizes[cut] for cut in reference_cuts]
        if not hypothesis:
            distances[row] = larger[row] = nodes[row]
            continue
        hypothesis_cuts = forest.cuts(hypothesis, "hypotheses", row + 1)
        distances[row] = [
            forest.distance(one, other) for one, other in zip(reference_cuts, hypothesis_cuts, strict=True)
        ]
        larger[row] = np.maximum(nodes[row], [forest.sizes[cut] for cut in hypothesis_cuts])
    unparsed = np.array([not text for text in hypotheses], dtype=float)[:, None]
    return np.hstack([distances, distances / nodes, distances / larger, unparsed, np.ones_like(unparsed)])


def full_distances(statistics: Array) -> Array:
    """(pairs, 23) -> (pairs,): distances of whole trees."""
    return statistics[:, _WIDTH - 1]


@dataclass(frozen=True, eq=False)
class Trees:
    """Constituency trees as Penn strings.

    Attributes:
        references: parses of the references, uncut.
        hypotheses: parses of the outputs by the same parser, or the trees that an expander wrote, without words; an
            empty string means that there is none.
        templates: the parses, or their top levels, that guided the outputs; None means those of the references.
        guides: the tree that guided each output, "" for none; None if no output had a tree.
    """

    references: Sequence[str]
    hypotheses: Sequence[str]
    templates: Sequence[str] | None = None
    guides: Sequence[str] | None = None

    @cached_property
    def distances(self) -> Array:
        """`ted_statistics`."""
        return ted_statistics(self.references, self.hypotheses)


@checked_call
class Ted(Family[Trees]):
    """Tree edit distances between outputs and references."""

    name = "ted"

    def statistics(self, trees: Trees, /) -> Array:
        return trees.distances

    @property
    def metrics(self) -> tuple[Metric, ...]:
        norms = ("none", "reference", "larger")
        distances = (
            Metric(
                key,
                ratio(column, _PAIRS),
                signature_of(
                    "ted", levels=_CUTS[column % _WIDTH], leaves="tags", costs="unit", norm=norms[column // _WIDTH],
                    mean="macro", unparsed="deletes-all",
                ),
                "no pairs",
            )
            for column, key in enumerate(KEYS[:_UNPARSED])
        )  # fmt: skip
        return *distances, share_of(
            KEYS[_UNPARSED], _UNPARSED, _PAIRS, signature_of("ted", counts="unparsed"), "no pairs"
        )


# --- The guide -------------------------------------------------------------------------------------------------------


def guide_statistics(
    guides: Sequence[str], references: Sequence[str], hypotheses: Sequence[str], statistics: Array
) -> Array:
    """Statistics of each pair, (pairs, 5): distances between output and guide, and 1. Zeros without a guide.

    Columns: the distance at level 8 and in full; the same divided by the number of nodes of the guide; 1.

    Args:
        guides: tree that guided each output, as a Penn string; "" for none.
        references: as in `ted_statistics`; hypotheses likewise.
        statistics: result of `ted_statistics`, reused for guides that equal the reference.

    Raises:
        TreeError: a guide is not a tree.
        EspalierError: the lists differ in length.
    """
    require_lengths("references", len(references), guides=guides)
    own = statistics.copy()
    others = [row for row, guide in enumerate(guides) if guide and guide != references[row]]
    own[others] = ted_statistics([guides[row] for row in others], [hypotheses[row] for row in others])
    return own[:, [*_GUIDE_COLUMNS, _PAIRS]] * np.array([[bool(guide)] for guide in guides], float).reshape(-1, 1)


@checked_call
class GuideTed(Family[Trees]):
    """Tree edit distances between outputs and guides."""

    name = "ted_guide"

    def statistics(self, trees: Trees, /) -> Array:
        guides = [""] * len(trees.references) if trees.guides is None else trees.guides
        return guide_statistics(guides, trees.references, trees.hypotheses, trees.distances)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        metrics = Ted().metrics
        return tuple(
            Metric(key, ratio(place, len(GUIDE_KEYS)), f"{metrics[column].signature}|to:guide", "no guides")
            for place, (key, column) in enumerate(zip(GUIDE_KEYS, _GUIDE_COLUMNS, strict=True))
        )
