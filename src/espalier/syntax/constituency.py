"""Constituency trees: reading, writing and cleaning them; their words, tags and templates.

A tree is a `Tree`. Its leaves are words; each word is the only child of its part of speech. `write_tree` gives the
canonical string of a tree, which all records and tables contain:

    (S (NP (PRP I)) (VP (VBD ate) (NP (DT an) (NN apple))))

Only ASCII white space separates; U+2028, no-break and ideographic spaces are ordinary characters. In a word `(` is
written -LRB- and `)` is written -RRB-, as in the Penn treebank. A word that itself contains -LRB is written -L=RB, so
that different words have different strings. Labels contain no brackets: the tag of `(` is -LRB-.

No function recurses, so trees may be of any depth.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from espalier.syntax.levels import TreeError, cut, linearize, tree_of, unclosed, without_words
from espalier.syntax.tree import Tree

__all__ = [
    "TreeError", "clean", "cut", "frequent_templates", "linearize", "read_tree", "read_trees", "tags", "template",
    "tree_of", "without_words", "words", "write_tree",
]  # fmt: skip

_EXAMPLE: Final = "(S (NP (PRP I)) (VP (VBP sleep)))"
#: Labels of a wrapper above the root; the outer bracket in a treebank has no label.
WRAPPERS: Final = ("", "TOP", "ROOT", "S1")
#: The label of an empty element (a trace).
TRACE: Final = "-NONE-"

_NAME = re.compile(r"[^ \t\n\r\f\v()]+")
# A node that opens, with its word and end if that is all of it; an end; a word elsewhere, which is a mistake.
_TOKEN = re.compile(
    r"\([ \t\n\r\f\v]*+([^ \t\n\r\f\v()]*+)(?:[ \t\n\r\f\v]++([^ \t\n\r\f\v()]++)[ \t\n\r\f\v]*+\))?"
    r"|(\))|([^ \t\n\r\f\v()]++)"
)
_PLAIN = re.compile(r"[()]|-[LR](?==*RB)")
_ESCAPED = re.compile(r"-([LR])(?:(=)(?==*RB)|RB-)")
_CATEGORY = re.compile(r"\A([^-=]+)[-=].*", re.DOTALL)
_SPACES = " \t\n\r\f\v"


# --- Reading ---------------------------------------------------------------------------------------------------------


def read_tree(text: str, *, file: str | Path = "tree", row: int | str | None = None, words: bool = True) -> Tree:
    """Read one tree from a Penn string.

    A root with a single child and the label TOP, ROOT, S1 or "" is removed.

    Args:
        file: file name for errors; `row` likewise.
        words: whether every leaf must be a word; if not, leaves may be nodes, as after `cut` and `without_words`.

    Raises:
        TreeError: brackets do not match, there is no tree or more than one, there is text outside the tree, a node has
            no label or no words, or a word has siblings.
    """
    trees = _read(text, file, row, words)
    if len(trees) != 1:
        raise TreeError(f"{len(trees) or 'no'} trees", file=file, row=row, remedy="one is expected")
    return trees[0]


def read_trees(file: Path) -> Iterator[Tree]:
    """Iterate over the trees of a file, as in `read_tree`. A line may have a part of a tree, or several trees.

    Raises:
        TreeError: the file is missing or not UTF-8, or a tree is malformed. The message names the line on which the
            tree begins.
    """
    pending, start, depth = list[str](), 0, 0
    for row, line in _lines(file):
        start = start if pending else row
        pending.append(line)
        depth += line.count("(") - line.count(")")
        if depth <= 0:
            yield from _read("".join(pending), file, start, True)
            pending.clear()
    if pending:
        yield from _read("".join(pending), file, start, True)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    row = 0
    try:
        with Path(file).open("rb") as lines:
            for row, line in enumerate(lines, start=1):
                text = line.decode("utf-8-sig" if row == 1 else "utf-8")
                if text.strip(_SPACES):
                    yield row, text
    except OSError as error:
        raise TreeError((error.strerror or "cannot be read").lower(), file=file) from error
    except UnicodeDecodeError as error:
        raise TreeError("not UTF-8", file=file, row=row, remedy="convert it to UTF-8") from error


def _read(text: str, file: str | Path, row: int | str | None, words: bool) -> list[Tree]:
    trees: list[Tree] = []
    siblings: list[Tree] = trees  # the children of the open node, or the trees
    above: list[list[Tree]] = []
    escaped = "RB" in text and _ESCAPED.search(text) is not None
    for label, word, end, loose in _TOKEN.findall(text):
        if word:
            siblings.append(Tree(label, [_unescape(word) if escaped else word]))
        elif end:
            if not above:
                raise _mistake("a bracket closes nothing", text, file, row)
            if words and not siblings:
                label = above[-1][-1].label()
                fact = f"the node '{_short(label)}' has no words" if label else "a bracket with nothing in it"
                raise _mistake(fact, text, file, row)
            siblings = above.pop()
        elif loose:
            fact = "is not alone in its node" if above else "stands outside the brackets"
            raise _mistake(f"'{_short(loose)}' {fact}", text, file, row)
        elif above and not label:
            raise _mistake("a node without a label", text, file, row)
        else:
            node = Tree(label, [])
            siblings.append(node)
            above.append(siblings)
            siblings = node
    if above:
        raise _mistake("", text, file, row)
    return [_unwrap(tree, file, row) for tree in trees]


def _mistake(problem: str, text: str, file: str | Path, row: int | str | None) -> TreeError:
    # A bracket that is not closed causes the other errors.
    if (depth := text.count("(") - text.count(")")) > 0:
        return TreeError(unclosed(depth), file=file, row=row)
    return TreeError(problem, file=file, row=row, remedy=f"write a tree as {_EXAMPLE}")


def _unwrap(tree: Tree, file: str | Path, row: int | str | None) -> Tree:
    while tree.label() in WRAPPERS and len(tree) == 1 and not isinstance(tree[0], str):
        tree = tree[0]
    if not tree.label():
        raise TreeError(f"{len(tree) or 'no'} trees in an outer bracket", file=file, row=row, remedy="one is expected")
    return tree


def _unescape(word: str) -> str:
    return _ESCAPED.sub(lambda match: f"-{match[1]}" if match[2] else "()"[match[1] == "R"], word)


# --- Writing ---------------------------------------------------------------------------------------------------------


def write_tree(tree: Tree) -> str:
    """The canonical form of a tree: one line with single spaces. `read_tree` restores the tree.

    Nodes without words, as after `cut`, are written as (NP). Only a wrapper at the root is not restored.

    Raises:
        TreeError: a label or word is empty or contains ASCII white space, a label contains a bracket, or a word has
            siblings.
    """
    parts = list[str]()
    waiting: list[Tree | None] = [tree]  # None: a node ends
    while waiting:
        node = waiting.pop()
        if node is None:
            parts.append(")")
            continue
        label = node.label()
        if not _NAME.fullmatch(label):
            raise TreeError(
                f"the label '{_short(label)}' cannot be written", file="tree", remedy="no brackets, no white space"
            )
        if len(node) == 1 and isinstance(node[0], str):
            parts.append(f" ({label} {_escape(node[0])})")
            continue
        parts.append(f" ({label}")
        waiting.append(None)
        for child in reversed(node):
            if isinstance(child, str):
                raise TreeError(f"'{_short(child)}' is not alone in its node", file="tree")
            waiting.append(child)
    return "".join(parts)[1:]


def _escape(word: str) -> str:
    if "(" in word or ")" in word or "RB" in word:
        word = _PLAIN.sub(lambda match: {"(": "-LRB-", ")": "-RRB-"}.get(match[0], f"{match[0]}="), word)
    if not _NAME.fullmatch(word):
        raise TreeError(f"the word '{_short(word)}' has white space, or is empty", file="tree")
    return word


# --- Cleaning and cutting --------------------------------------------------------------------------------------------


def category(label: str) -> str:
    """A label without functions and indices: NP for NP-SBJ-1 and NP=2. Labels that begin with - or = stay: -LRB-."""
    return _CATEGORY.sub(r"\1", label)


def clean(tree: Tree) -> Tree:
    """The tree without functional tags, indices and empty elements: NP-SBJ-1 and NP=2 become NP, and -NONE- is removed.

    Nodes that contain only empty elements are removed too. Labels that begin with "-" or "=" stay (-LRB-). An only
    child stays even if it has the label of its parent: EVALB counts both. The argument is not changed.

    Raises:
        TreeError: the tree has only empty elements.
    """
    top = Tree("", [])
    order: list[tuple[Tree | str, Tree | str, Tree]] = []  # in pre-order: a node, its copy, the copy of the one above
    waiting: list[tuple[Tree | str, Tree]] = [(tree, top)]
    while waiting:
        node, above = waiting.pop()
        if isinstance(node, str):
            order.append((node, node, above))
        elif node.label() != TRACE:
            cleaned = Tree(category(node.label()))
            order.append((node, cleaned, above))
            waiting += [(child, cleaned) for child in reversed(node)]
    for node, copy, above in reversed(order):  # what is under a node comes before it, from the right
        if not isinstance(copy, str):
            copy.reverse()
        if copy or not node:
            above.append(copy)
    if not top:
        raise TreeError("nothing but empty elements", file="tree")
    return top[0]


def words(tree: Tree) -> tuple[str, ...]:
    """The words, from left to right."""
    return tuple(word for _, word in _leaves(tree))


def tags(tree: Tree) -> tuple[str, ...]:
    """The tag (part of speech) of each word: the label of its node."""
    return tuple(tag for tag, _ in _leaves(tree))


def _leaves(tree: Tree) -> Iterator[tuple[str, str]]:
    waiting: list[tuple[Tree | str, str]] = [(tree, "")]
    while waiting:
        node, above = waiting.pop()
        if isinstance(node, str):
            yield above, node
        else:
            label = node.label()
            waiting += [(child, label) for child in reversed(node)]


def template(tree: Tree, levels: int = 3) -> str:
    """The canonical string of the top `levels` levels (GuiG, section 2): (S (NP (PRP)) (VP (VBD) (NP)))."""
    return write_tree(cut(tree, levels))


def frequent_templates(trees: Iterable[Tree], levels: int, n: int) -> list[tuple[str, int]]:
    """The `n` most frequent templates with the number of trees of each (GuiG, table 5); ties in text order."""
    counts = Counter(template(tree, levels) for tree in trees)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:n]


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:17]}..."
