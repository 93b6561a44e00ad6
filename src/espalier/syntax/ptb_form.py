"""The form of PTB (Mikolov et al. 2010): lower case, no marks, N for numbers, `<unk>` for unknown words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from espalier.syntax.parse import UNKNOWN
from espalier.text.language import has_words

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
