"""How well the tree of a text keeps a template: the top levels of a tree, with words or without (GuiG, section 2).

A tree keeps a template if each node that has children in it has just these children, in this order. What is below the
leaves of the template is free; a given word is the first word of its node. For the top levels of a parse as the
template, this is what the metric `template_kept` counts.

Where a tree does not keep it, the fewest nodes to change are found (Selkow 1977, "The tree-to-tree editing problem"):
a node has another label, a subtree is missing, or one is too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from espalier.frames.report import Score, Violation
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import linearize, read_tree, words, write_tree
from espalier.syntax.parsers.parser import Parser, Refused
from espalier.syntax.parsers.penn_words import QUOTES
from espalier.syntax.tree import Tree
from espalier.text.language import LANGUAGES, language_name, mostly

#: More levels than any tree has that is written by hand; comparing is recursive.
MAX_LEVELS: Final = 100


@dataclass(frozen=True, slots=True)
class Change:
    """What a tree has and a template wants, both None if there is none, at the words from `start` up to `end`."""

    start: int
    end: int
    found: Tree | str | None
    wanted: Tree | str | None


def check_tree(template: str, text: str, parser: Parser | None) -> tuple[Score, list[Violation]]:
    """The score of the rule `template`, and each node that is not as wanted. A node too many is one more to keep.

    Raises:
        ConfigError: there is no parser, it reads another language, or it gives no tree for the text.
        TreeError: the template is none.
    """
    wanted = template_of(template)
    if parser is None:
        remedy = "give one: check(text, parser=...)"
        raise ConfigError("only a parser sees the tree of a text", where="template", remedy=remedy)
    own = getattr(parser, "language", None)
    if own in LANGUAGES and not mostly(text, own):
        what = f"it is not {language_name(own)}, which the parser ({parser.signature}) reads"
        raise ConfigError(what, where="text", remedy="give a parser of its language")
    (parse,) = parser.parse([text])
    if isinstance(parse, Refused):
        what = f"the parser refuses its {len(text)} characters ({parse.reason})"
        raise ConfigError(what, where="text", remedy="give one short sentence")
    if not parse.tree:
        what = f"the parser ({parser.signature}) gives no constituency trees"
        raise ConfigError(what, where="template", remedy="take one that does")
    tree = read_tree(parse.tree)
    changes = changes_of(wanted, tree)
    of = _size(wanted) + sum(change.wanted is None for change in changes)
    lost = sum(_lost(change) for change in changes)
    spans = spans_of(tuple(words(tree)), text)
    violations = [_violation(change, spans, text) for change in changes]
    return Score("template", of - lost, of), violations


def template_of(text: str) -> Tree:
    """The tree of a template.

    Raises:
        TreeError: the string is not a tree.
        ConfigError: it has over 100 levels.
    """
    tree = read_tree(text, file="template", words=False)
    if (deepest := max(linearize(tree)[1])) > MAX_LEVELS:
        raise ConfigError(f"a template of {deepest} levels", where="template", remedy=f"at most {MAX_LEVELS}")
    return tree


# --- Comparing -------------------------------------------------------------------------------------------------------


def changes_of(template: Tree, tree: Tree, start: int = 0) -> list[Change]:
    """The fewest changes between the top of a tree and a template, from left to right.

    Args:
        start: the number of words before the tree.
    """
    own, end = list(words(tree)), start + _length(tree)
    changes = [] if template.label() == tree.label() else [Change(start, end, tree, template)]
    children = list(template)
    if not children:
        return changes
    if isinstance(children[0], str):
        same = children[0].casefold() == own[0].casefold()
        return changes if same else [*changes, Change(start, start + 1, own[0], children[0])]
    return changes + _aligned(children, [child for child in tree if isinstance(child, Tree)], start)


def _aligned(wanted: Sequence[Tree], found: Sequence[Tree], start: int) -> list[Change]:
    """The fewest changes between the children of two nodes."""
    starts = list(accumulate(map(_length, found), initial=start))
    best: dict[tuple[int, int], list[Change]] = {(0, 0): []}
    for i in range(len(wanted) + 1):
        for j in range(len(found) + 1):
            ways = list[list[Change]]()
            if i and j:
                ways.append(best[i - 1, j - 1] + changes_of(wanted[i - 1], found[j - 1], starts[j - 1]))
            if i:
                ways.append([*best[i - 1, j], Change(starts[j], starts[j], None, wanted[i - 1])])
            if j:
                ways.append([*best[i, j - 1], Change(starts[j - 1], starts[j], found[j - 1], None)])
            if ways:
                best[i, j] = min(ways, key=_cost)
    return best[len(wanted), len(found)]


def _cost(changes: Sequence[Change]) -> tuple[int, int]:
    """The nodes that are not kept; of as many, it is better if fewer have another label."""
    return sum(map(_lost, changes)), sum(None not in (change.found, change.wanted) for change in changes)


def _lost(change: Change) -> int:
    """How many nodes are not kept: all of a missing subtree, else one."""
    return _size(change.wanted) if change.found is None and isinstance(change.wanted, Tree) else 1


def _size(tree: Tree) -> int:
    """The nodes of a template, its words included."""
    return len(linearize(tree)[0]) + len(list(words(tree)))


def _length(tree: Tree) -> int:
    return len(list(words(tree)))


# --- Telling ---------------------------------------------------------------------------------------------------------


def _violation(change: Change, spans: Sequence[tuple[int, int]], text: str) -> Violation:
    if change.start == change.end:
        at = spans[change.start - 1][1] if change.start else 0
        start, end = at, at
    else:
        start, end = spans[change.start][0], spans[change.end - 1][1]
    return Violation("template", start, end, text[start:end], _wanted(change))


def _wanted(change: Change) -> str:
    found, wanted = change.found, change.wanted
    if isinstance(wanted, str):
        return wanted
    if wanted is None:
        return f"no {found.label()}" if isinstance(found, Tree) else "nothing"
    return f"{wanted.label()}, not {found.label()}" if isinstance(found, Tree) else write_tree(wanted)


def spans_of(parsed: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Where each word of a parse stands in its text. A word that the parser has changed has no characters there."""
    return list(_spans(parsed, text))


def _spans(parsed: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for word in parsed:
        forms = (word, *QUOTES.get(word, ()))
        places = [(start, start + len(form)) for form in forms if (start := text.find(form, at)) >= 0]
        span = min(places, default=(at, at))
        yield span
        at = span[1]
