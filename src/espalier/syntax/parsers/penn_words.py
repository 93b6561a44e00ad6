"""English text as the words of the Penn treebank: do n't, John 's, `` and '' for quotes.

NLTK's `NLTKWordTokenizer` makes them, by rules alone, without data to fetch. It leaves well-known and 1/2 whole, as the
treebank does; spaCy's rules for English split both. A text is taken for one sentence: of its full stops only the last
stands apart.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from espalier.io.imports import nltk_module

#: What a quote in the treebank may stand for in a text.
_QUOTES: Final = {"``": ('"', "``", "''"), "''": ('"', "''", "``")}
_SPACES: Final = re.compile(r"\s*")


def penn_words(text: str) -> tuple[tuple[str, ...], list[bool]] | None:
    """The words of a sentence, and for each whether white space follows it; None where they do not make up the text."""
    words = tuple(_tokenizer().tokenize(text))
    follows: list[bool] = []
    position = _SPACES.match(text).end()  # type: ignore[union-attr]
    for word in words:
        forms = (word, *_QUOTES.get(word, ()))
        spelling = next((form for form in forms if text.startswith(form, position)), None)
        if not spelling:
            return None
        end = position + len(spelling)
        position = _SPACES.match(text, end).end()  # type: ignore[union-attr]
        follows.append(position > end)
    return (words, follows) if position == len(text) else None


@cache
def _tokenizer() -> Any:
    return nltk_module("tokenize").NLTKWordTokenizer()
