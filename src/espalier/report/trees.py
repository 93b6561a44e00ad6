"""Trees as nested lists of HTML, drawn by a style sheet (`templates/trees.css.jinja`) and readable without it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

from espalier.io.errors import EspalierError
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.dependency import children, mistake

_TOKEN = re.compile(r"\(([^ ()]+)|([^ ()]+)|\)")


def constituents_html(text: str) -> Markup:
    """A constituency tree, with words or cut, from its Penn string; the string itself if it is not a tree.

    A constituent is an item with its label and the list of its children.
    """
    try:
        text = write_tree(read_tree(text, words=False))
    except EspalierError:
        return Markup("<code>{}</code>").format(text)
    parts = ['<ul class="tree">']
    for label, word in _TOKEN.findall(text):
        if label:
            parts.append(f"<li><span>{escape(label)}</span><ul>")
        elif word:
            parts.append(f'<li><span class="word">{escape(word)}</span></li>')
        else:
            parts.append("</ul></li>")
    return Markup("".join([*parts, "</ul>"]).replace("<ul></ul>", ""))


def dependencies_html(words: Sequence[str], heads: Sequence[int]) -> Markup:
    """A dependency tree from the heads of its words, from 1, with 0 for a root; "" if they do not form a tree.

    An item has the list of its left dependents, its word, and the list of its right dependents: words keep their order.
    """
    if len(words) != len(heads) or mistake(heads):
        return Markup("")
    below = children(heads)
    parts = ['<ul class="tree heads">']
    # A stack of what remains to be written: text, or the subtree of a word.
    rest: list[str | int] = ["</ul>", *reversed(below[0])]
    while rest:
        item = rest.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        left, right = ([child for child in below[item] if (child < item) == before] for before in (True, False))
        rest += ["</ul></li>", *reversed(right)]
        rest += [f'</ul><span class="word">{escape(words[item - 1])}</span><ul>', *reversed(left), "<li><ul>"]
    return Markup("".join(parts).replace("<ul></ul>", ""))
