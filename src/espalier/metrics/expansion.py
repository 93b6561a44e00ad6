"""Templates, the top levels of a tree (GuiG, section 2), and the trees to which a model expands them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, share_of, signature_of
from espalier.metrics.ted import Nodes, Ted, Trees, cut_nodes, nodes_of
from espalier.syntax.constituency import read_tree

#: The levels of a template.
TEMPLATE_LEVELS: Final = 3
#: The levels that a model of GuiG's reads and writes.
DEPTH: Final = 8

_EXACT, _PREDICTED, _REFERENCE, _TAGGED, _TREES = range(5)


def template_statistics(templates: Sequence[str], hypothesis_trees: Sequence[str]) -> Array:
    """(trees, 2): whether the top levels of a tree equal its template, and 1. An unparsed tree does not."""
    require_lengths("templates", len(templates), hypothesis_trees=hypothesis_trees)
    template_nodes, hypothesis_nodes = _all_nodes("templates", templates), _all_nodes("hypotheses", hypothesis_trees)
    statistics = np.ones((len(templates), 2))
    for row, (one, other) in enumerate(zip(template_nodes, hypothesis_nodes, strict=True)):
        if not one.labels:
            raise EspalierError("the template has no tree", where=f"row {row + 1}", remedy="filter it out before")
        statistics[row, 0] = cut_nodes(one, TEMPLATE_LEVELS) == cut_nodes(other, TEMPLATE_LEVELS)
    return statistics


def keeps(template: str, tree: str) -> bool:
    """Whether a tree has every node of a template at its place. A node without children there may have any.

    For a template cut from a parse this is what `template_statistics` counts; other templates may end at any level.
    An empty string, an unparsed tree, keeps none.
    """
    if not tree:
        return False
    waiting = [(read_tree(template, words=False), read_tree(tree, words=False))]
    while waiting:
        given, found = waiting.pop()
        below, own = ([child for child in node if not isinstance(child, str)] for node in (given, found))
        if given.label() != found.label() or (below and len(below) != len(own)):
            return False
        waiting += zip(below, own, strict=False)
    return True


def expansion_statistics(references: Sequence[str], predicted: Sequence[str], depth: int = DEPTH) -> Array:
    """(trees, 5): whether the trees are equal; nodes of both; whether all leaves are tags of the references; and 1.

    Args:
        references: parses of the targets as uncut Penn strings.
        predicted: trees written by the expander, without words; an empty string counts as wrong.
        depth: number of levels that the expander writes, at which all trees are cut.

    Raises:
        EspalierError: the lists differ in length.
        TreeError: a string is not a tree.
    """
    reference_nodes = _all_nodes("references", references)
    predicted_nodes = _all_nodes("predictions", predicted)
    tags = {label for nodes in set(reference_nodes) for label, _ in _leaves(nodes)}
    counts = np.ones((len(reference_nodes), _TREES + 1))
    for row, (reference, nodes) in enumerate(zip(reference_nodes, predicted_nodes, strict=True)):
        one, other = cut_nodes(reference, depth), cut_nodes(nodes, depth)
        counts[row, _EXACT] = one == other
        counts[row, _PREDICTED], counts[row, _REFERENCE] = len(other.labels), len(one.labels)
        # At the lowest level a phrase may end that was cut.
        counts[row, _TAGGED] = bool(other.labels) and all(
            label in tags or level >= depth for label, level in _leaves(other)
        )
    return counts


@checked_call
class Template(Family[Trees]):
    """Kept templates."""

    name = "template"
    metrics = (
        share_of(
            "template_kept",
            0,
            1,
            signature_of("template", levels=TEMPLATE_LEVELS, leaves="tags", unparsed="lost"),
            "no trees",
        ),
    )

    def statistics(self, trees: Trees, /) -> Array:
        return template_statistics(trees.references if trees.templates is None else trees.templates, trees.hypotheses)


@checked_call
@dataclass(frozen=True)
class Expansion(Family[Trees]):
    """Equality, size and leaves of expanded trees.

    Attributes:
        depth: number of levels that the expander writes.
    """

    name = "expansion"
    depth: int = DEPTH

    def statistics(self, trees: Trees, /) -> Array:
        return expansion_statistics(trees.references, trees.hypotheses, self.depth)

    @property
    def metrics(self) -> tuple[Metric, ...]:

        def signature(key: str, mean: str) -> str:
            return signature_of("expansion", counts=key, mean=mean, cut=self.depth)

        return (
            share_of("exact", _EXACT, _TREES, signature("exact", "share"), "no trees"),
            Metric("nodes_ratio", ratio(_PREDICTED, _REFERENCE), signature("nodes_ratio", "pooled"), "no trees"),
            share_of("tags_at_leaves", _TAGGED, _TREES, signature("tags_at_leaves", "share"), "no trees"),
        )


#: The families of expanded trees. References are whole for the tree edit distance.
FAMILIES: Final = (Ted(), Template(), Expansion())


def _all_nodes(what: str, trees: Sequence[str]) -> list[Nodes]:
    """The nodes of every tree; an empty string has no nodes. Equal strings are parsed once."""
    read = {"": Nodes((), ())}
    for row, tree in enumerate(trees, start=1):
        if tree not in read:
            read[tree] = nodes_of(read_tree(tree, file=what, row=row, words=False))
    return [read[tree] for tree in trees]


def _leaves(nodes: Nodes) -> list[tuple[str, int]]:
    """The nodes without children, with their levels."""
    below = (*nodes.levels[1:], 0)
    return [pair for pair, following in zip(zip(*nodes, strict=True), below, strict=True) if following <= pair[1]]
