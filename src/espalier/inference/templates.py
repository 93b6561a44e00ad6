"""Templates, checked against the labels and levels of a model."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from espalier.inference.writer import MAX_CHARACTERS
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import read_tree, words, write_tree
from espalier.syntax.levels import cut, linearize
from espalier.syntax.tree import Tree

if TYPE_CHECKING:
    from espalier.datasets.pairs.tree_symbols import TreeSymbols

#: How a template is written.
EXAMPLE = "(S (NP) (VP) (.))"


def canonical(text: str, symbols: TreeSymbols, where: str) -> str:
    """The canonical string of a template, including its words.

    Args:
        where: name of the template in errors.

    Raises:
        TreeError: the string is not a tree.
        ConfigError: the template is too long or a single node, or has unknown labels or more levels than the model
            knows.
    """
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(f"a template of {len(text):,} characters", where=where, remedy=f"at most {MAX_CHARACTERS:,}")
    tree = read_tree(text, file=where, words=False)
    labels, levels = linearize(tree)
    if len(labels) == 1:
        raise ConfigError(
            f"a single node {labels[0]} without children", where=where, remedy=f"give more nodes, as in {EXAMPLE}"
        )
    if (deepest := max(levels)) > symbols.depth:
        raise ConfigError(
            f"a template of {deepest} levels", where=where, remedy=f"the models know at most {symbols.depth}"
        )
    require_known(labels, symbols, where)
    return write_tree(tree)


def given_words(template: str) -> list[str]:
    """The words of a template, left to right."""
    return list(words(read_tree(template, words=False)))


def word_places(template: str, tree: str) -> list[tuple[int, str]]:
    """(number of leaves before it, word) for each word of a template, in a tree that keeps the template.

    A word given for a phrase is placed at the first leaf of the phrase.
    """
    places, leaves = list[tuple[int, str]](), 0
    waiting: list[tuple[Tree, Tree | None]] = [(read_tree(tree, words=False), read_tree(template, words=False))]
    while waiting:
        node, given = waiting.pop()
        children = list(node)
        own = list(given) if given is not None else []
        if own and isinstance(own[0], str):
            places.append((leaves, own[0]))
            own = []
        waiting += reversed(list(zip(children, own or [None] * len(children), strict=True)))
        leaves += not children
    return places


def require_known(labels: Iterable[str], symbols: TreeSymbols, where: str) -> None:
    """Raise a ConfigError if a label is unknown to the model; the message names similar labels."""
    unknown = sorted({*labels} - {*symbols.labels})
    if not unknown:
        return
    near = [
        f"{label}: {' or '.join(get_close_matches(label.upper(), symbols.labels, 2, 0.0))}" for label in unknown[:5]
    ]
    more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
    raise ConfigError(
        f"unknown label{'s' * (len(unknown) > 1)} {', '.join(unknown[:5])}{more}",
        where=where,
        remedy=f"the nearest known are {', '.join(near)}",
    )


def top(tree: str, symbols: TreeSymbols, levels: int, where: str) -> str:
    """The top levels of a parse, at most `symbols.depth`.

    Raises:
        ConfigError: it has labels that the model does not know.
    """
    kept = cut(read_tree(tree, words=False), min(levels, symbols.depth))
    require_known(linearize(kept)[0], symbols, where)
    return write_tree(kept)
