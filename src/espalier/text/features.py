"""What the filters of sentences and pairs ask of a text, of its words and of its tree."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Any

_LABEL = re.compile(r"\(([^\s()]+)")


def folded(text: str) -> str:
    """What is left of a text when case, width, spaces and punctuation do not count: its letters, digits and symbols.

    A text of nothing else is left as it is.
    """
    kept = "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c)[0] not in "PZC")
    return kept or text


def longest_run(words: Sequence[str]) -> int:
    """How often, at most, one word follows on itself, the first time included; 0 where there are none."""
    return max((sum(1 for _ in run) for _, run in groupby(words)), default=0)


def levels_of(tree: str) -> int:
    """The levels of a Penn string, from 1 at the root to the parts of speech; words are no level."""
    depth = deepest = 0
    for character in tree:
        if character == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif character == ")":
            depth -= 1
    return deepest


def labels_of(tree: str) -> list[str]:
    """The labels of all nodes of a Penn string, parts of speech included, words not."""
    return _LABEL.findall(tree)


def is_traditional(text: str) -> bool:
    """Whether OpenCC's conversion from Traditional to Simplified characters (t2s) would change a text."""
    return simplified(text) != text


def simplified(text: str) -> str:
    """A text with its Traditional characters converted to Simplified ones (OpenCC, t2s)."""
    return str(_converter().convert(text))


@cache
def _converter() -> Any:
    from opencc import OpenCC

    return OpenCC("t2s")
