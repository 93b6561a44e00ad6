"""English text as the words of the Penn treebank: do n't, John 's, `` and '' for quotes.

`ptb_words` puts them in the form of PTB (Mikolov et al. 2010): lower case, no marks, N for numbers, `<unk>`.

They come from NLTK's `NLTKWordTokenizer`, which uses only rules and needs no data. Like the treebank, it does not split
well-known and 1/2, unlike spaCy's rules for English. A text is treated as one sentence: only its last full stop is a
token.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Final

from espalier.io.imports import nltk_module
from espalier.syntax.parse import UNKNOWN, Parse
from espalier.syntax.parsers.parser import EMPTY, NO_ROUND_TRIP, Refused, Sentence
from espalier.text.language import has_words

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


#: What PTB writes as N; a per cent sign too.
_NUMBER = re.compile(r"-?(?:\d[\d,.:\\/-]*|\.\d+)|%")
NUMBER = "N"


def ptb_word(word: str, known: Collection[str]) -> str:
    """A word of newspaper text in the form of PTB.

    Args:
        known: the words of PTB.
    """
    if _NUMBER.fullmatch(word):
        return NUMBER
    return word.lower() if word.lower() in known else UNKNOWN


def ptb_words(words: Sequence[str], known: Collection[str]) -> list[str]:
    """The words of a sentence in the form of PTB. Marks that are not words of PTB are left out."""
    written = [(word, word if word in (NUMBER, UNKNOWN) else ptb_word(word, known)) for word in words]
    return [form for word, form in written if form != UNKNOWN or has_words(word)]


def has_ptb_form(words: Collection[str]) -> bool:
    """Whether a vocabulary has the form of PTB: it contains N, and no other capital."""
    return NUMBER in words and all(word == word.lower() for word in words if word != NUMBER)
