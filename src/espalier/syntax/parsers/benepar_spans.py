"""Trees as benepar's labelled spans, and back. A unary chain is one label, S::VP. Tags are not constituents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from espalier.syntax.constituency import WRAPPERS
from espalier.syntax.tree import Tree

#: Joins a unary chain's labels.
CHAIN: Final = "::"
#: The tag of a word where the model has no tagger.
UNKNOWN: Final = "UNK"


class Span(NamedTuple):
    """A constituent: words `start` (from 0) to `end` (exclusive), and its labels from the top, joined by `CHAIN`."""

    start: int
    end: int
    label: str


def spans_of(tree: Tree) -> list[Span]:
    """The labelled constituents of a tree, children before parents, without the root's empty label and the tags."""
    spans: list[Span] = []
    position = 0
    # A stack instead of recursion: a node is followed by its children, and they by the label that closes it.
    stack: list[Tree | tuple[int, str]] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            start, label = node
            if label:
                spans.append(Span(start, position, label))
            continue
        chain: list[str] = []
        while not isinstance(node[0], str):
            if chain or node.label() not in WRAPPERS:
                chain.append(node.label())
            if len(node) > 1:
                break
            node = node[0]
        stack.append((position, CHAIN.join(chain)))
        if isinstance(node[0], str):
            position += 1
        else:
            stack.extend(reversed(node))
    return spans


def tree_over(words: Sequence[str], tags: Sequence[str], spans: Iterable[Span]) -> Tree:
    """Build the tree of labelled spans.

    Args:
        tags: one per word; empty if the model has no tagger.
        spans: nested, parents before children (by start, then the longest first).

    Returns:
        A tree without TOP, unless no label spans all words.
    """
    top = Tree("TOP", [])
    open_spans = [(len(words), top)]
    position = 0
    for span in spans:
        position = _add_words(open_spans, words, tags, position, span.start)
        node = open_spans[-1][1]
        for label in span.label.split(CHAIN):
            node.append(child := Tree(label, []))
            node = child
        open_spans.append((span.end, node))
    _add_words(open_spans, words, tags, position, len(words))
    return top[0] if len(top) == 1 else top


def _add_words(
    open_spans: list[tuple[int, Tree]], words: Sequence[str], tags: Sequence[str], position: int, until: int
) -> int:
    """Attach words up to `until` to the constituents that contain them, and close constituents that end there."""
    while True:
        while len(open_spans) > 1 and open_spans[-1][0] <= position:
            open_spans.pop()
        if position == until:
            return position
        open_spans[-1][1].append(Tree(tags[position] if tags else UNKNOWN, [words[position]]))
        position += 1
