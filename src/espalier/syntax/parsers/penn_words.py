"""English text as the words of the Penn treebank: do n't, John 's, `` and '' for quotes.

They come from NLTK's `NLTKWordTokenizer`, which uses only rules and needs no data. Like the treebank, it does not split
well-known and 1/2, unlike spaCy's rules for English. A text is treated as one sentence: only its last full stop is a
token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from espalier.io.imports import nltk_module
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import EMPTY, NO_ROUND_TRIP, Refused, Sentence

#: The quotation marks in texts that a quote in the treebank can represent.
QUOTES: Final = {"``": ('"', "``", "''"), "''": ('"', "''", "``")}
_SPACES: Final = re.compile(r"\s*")


def penn_words(text: str) -> tuple[tuple[str, ...], list[bool]] | None:
    """The words of a sentence, and whether white space follows each; None if they do not spell the text."""
    words = tuple(_tokenizer().tokenize(text))
    follows: list[bool] = []
    position = _SPACES.match(text).end()  # type: ignore[union-attr]
    for word in words:
        forms = (word, *QUOTES.get(word, ()))
        spelling = next((form for form in forms if text.startswith(form, position)), None)
        if not spelling:
            return None
        end = position + len(spelling)
        position = _SPACES.match(text, end).end()  # type: ignore[union-attr]
        follows.append(position > end)
    return (words, follows) if position == len(text) else None


class PennWords:
    """A parser that splits texts by `penn_words` and predicts nothing else."""

    signature = "penn_words"

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        """The words of each sentence, given as a text or as words."""
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: Sentence) -> Parse | Refused:
        found = penn_words(sentence) if isinstance(sentence, str) else (tuple(sentence), [])
        if found is None:
            return NO_ROUND_TRIP
        return Parse(found[0]) if found[0] else EMPTY


@cache
def _tokenizer() -> Any:
    return nltk_module("tokenize").NLTKWordTokenizer()
