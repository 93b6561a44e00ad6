"""Forms: bracketed trees with slots. Slots are filled, and trees are written as English text.

    (S <agent> (VP (VBD was) (ADJP (JJ <state>))) (. .))

A slot is filled with nodes or with a word.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from espalier.nursery.lexicon_en import begins_with_vowel
from espalier.nursery.sampling import pick
from espalier.syntax.constituency import read_tree, tags, words, write_tree
from espalier.syntax.parse import Parse
from espalier.syntax.tree import Tree

#: Function from the name of a slot to its trees or word; raises `Unfit` if there is none.
Resolve = Callable[[str], Sequence[Tree | str]]
#: Function from a label and children to a node, or to several nodes if the label means several.
Build = Callable[[str, list[Any]], Sequence[Tree | str]]
#: Names and their forms, which are equally likely.
Rules = Mapping[str, Sequence[Tree | str]]

_SLOT = re.compile(r"<[^<>\s]+>")
#: The label of a sequence of sibling nodes without a parent.
_SPLICED = "+"
_AFTER_NOTHING = frozenset(["``", "(", "$"])
_BEFORE_NOTHING = frozenset(
    ["''", ")", ",", ".", "?", "!", ";", ":", "%", "'s", "'", "n't", "'ll", "'re", "'ve", "'m", "'d"]
)


class Unfit(Exception):  # noqa: N818 - a signal between forms, which no user sees
    """A form cannot express a meaning; another form may be able to."""


# --- Reading and filling ---------------------------------------------------------------------------------------------


@cache
def read_form(text: str) -> Tree:
    """Parse the form of a bracketed string. A slot becomes a node without children."""
    return read_tree(_SLOT.sub(r"(\g<0>)", text), file=text, words=False)


def read_rules(raw: Mapping[str, Sequence[str] | str]) -> dict[str, tuple[Tree | str, ...]]:
    """Parse rules of a YAML file. A name has a list of forms (one or several nodes), or words separated by spaces."""
    return {
        name: tuple(forms.split() if isinstance(forms, str) else (read_form(f"({_SPLICED} {form})") for form in forms))
        for name, forms in raw.items()
    }


def _node(label: str, children: list[Any]) -> list[Tree]:
    return [Tree(label, children)]


def fill(form: Tree | str, resolve: Resolve, build: Build = _node) -> list[Tree | str]:
    """Fill the slots of a form. The result is one tree, or the filling if the form is itself a slot.

    Args:
        resolve: function from a slot to its filling.
        build: function that makes nodes other than slots.
    """
    if isinstance(form, str):
        return [form]
    if form.label().startswith("<"):
        return list(resolve(form.label()[1:-1]))
    parts = [part for child in form for part in fill(child, resolve, build)]
    return parts if form.label() == _SPLICED else list(build(form.label(), parts))


def expand(rng: random.Random, rules: Rules, name: str) -> list[Tree | str]:
    """Choose a form of the given name, and fill its slots by the same rules."""
    return fill(pick(rng, rules[name]), lambda slot: expand(rng, rules, slot))


# --- Writing ---------------------------------------------------------------------------------------------------------


def finished(tree: Tree) -> Parse:
    """A complete sentence: "a" becomes "an" before a vowel sound, and the first letter is capitalized."""
    said = list(words(tree))
    for index, word in enumerate(said[:-1]):
        if word == "a" and begins_with_vowel(said[index + 1].lower()):
            said[index] = "an"
    first = next(index for index, word in enumerate(said) if word[0].isalnum())
    said[first] = said[first][0].upper() + said[first][1:]
    leaves = iter(said)
    return Parse(tuple(said), tags(tree), write_tree(_with_words(tree, leaves.__next__)))


def _with_words(node: Tree, following: Callable[[], str]) -> Tree:
    return Tree(
        node.label(), [following() if isinstance(child, str) else _with_words(child, following) for child in node]
    )


def text_of(said: Sequence[str]) -> str:
    """The words of a sentence as normal text, the inverse of NLTK's Treebank tokenizer for the nursery's sentences.

    Marks are attached ("the firm's", "$5", "12%"), `` and '' become ", and "can not" becomes "cannot".
    """
    parts: list[str] = []
    for index, word in enumerate(said):
        before = said[index - 1] if index else ""
        open_ = not index or word in _BEFORE_NOTHING or before in _AFTER_NOTHING
        if not open_ and (before.lower(), word) != ("can", "not"):
            parts.append(" ")
        parts.append('"' if word in ("``", "''") else word)
    return "".join(parts)
