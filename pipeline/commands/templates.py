"""Templates as people write them, checked against the trees that the models know."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import read_json
from espalier.syntax.constituency import cut, linearize, read_tree, write_tree
from espalier.syntax.tree import Tree
from pipeline import layout
from pipeline.progress import say

if TYPE_CHECKING:
    from espalier.datasets.pairs.tree_symbols import TreeSymbols

#: How a template is written.
EXAMPLE = "(S (NP) (VP) (.))"


def written(text: str, symbols: TreeSymbols, where: str) -> str:
    """The canonical string of a template that somebody wrote.

    A phrase without children stands for any of its kind, yet nothing can stand below it where another has children of
    the same level: the template is then cut above that level, with a note.

    Raises:
        TreeError: it is no tree.
        ConfigError: a single node, more levels than the models know, or unknown labels.
    """
    tree = read_tree(text, file=where, words=False)
    labels, levels = linearize(tree)
    if len(labels) == 1:
        raise ConfigError(f"the single node {labels[0]} says nothing", where=where, remedy=f"write it as {EXAMPLE}")
    if (deepest := max(levels)) > symbols.depth:
        raise ConfigError(
            f"a template of {deepest} levels", where=where, remedy=f"the models know at most {symbols.depth}"
        )
    known(labels, symbols, where)
    kept = _closed(tree, symbols)
    if kept < deepest:
        say(f"espalier: note: {where}: only the top {kept} levels guide: there, a phrase has no children")
    return write_tree(cut(tree, kept))


def _closed(tree: Tree, symbols: TreeSymbols) -> int:
    """How many levels of a template can be kept: down to the first phrase that is left open."""
    labels, levels = linearize(tree)
    phrases = {label for label, opens, ends in zip(symbols.labels, symbols.opens, symbols.ends, strict=True)
               if opens and not ends}  # fmt: skip
    nodes = zip(labels, levels, [*levels[1:], 0], strict=True)
    return min((level for label, level, after in nodes if label in phrases and after <= level), default=max(levels))


def known(labels: Iterable[str], symbols: TreeSymbols, where: str) -> None:
    """Make sure that a tree's labels are ones that the models know.

    Raises:
        ConfigError: naming those that are not, and the nearest that are.
    """
    odd = sorted({*labels} - {*symbols.labels})
    if not odd:
        return
    near = [f"{label}: {' or '.join(get_close_matches(label.upper(), symbols.labels, 2, 0.0))}" for label in odd[:5]]
    more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
    raise ConfigError(
        f"unknown label{'s' * (len(odd) > 1)} {', '.join(odd[:5])}{more}",
        where=where,
        remedy=f"the nearest known are {', '.join(near)}",
    )


def top(tree: str, symbols: TreeSymbols, levels: int, where: str) -> str:
    """The top levels of a parse, `symbols.depth` at most.

    Raises:
        ConfigError: labels in them that the models do not know.
    """
    found = cut(read_tree(tree, words=False), min(levels, symbols.depth))
    known(linearize(found)[0], symbols, where)
    return write_tree(found)


def frequent(dataset: str, n: int, symbols: TreeSymbols) -> list[str]:
    """The `n` most frequent templates of a dataset, the most frequent first.

    Raises:
        ArtifactError: they are not counted yet.
        ConfigError: there are fewer.
    """
    path = layout.ready(dataset) / "templates.json"
    if not path.exists():
        raise ArtifactError("no such file", where=path, remedy=f"dvc repro linearize@{dataset}, or give a --template")
    found = read_json(path)
    if n > len(found):
        raise ConfigError(f"{n} templates", where="--templates", remedy=f"dataset {dataset} keeps {len(found)}")
    return [top(each["template"], symbols, symbols.depth, str(path)) for each in found[:n]]
