"""Words and text: joining words, plain punctuation, an estimate of the number of words."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: ASCII punctuation and the characters that `ascii_punctuation` replaces by it.
ASCII = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u00b4",  # single quotes, the apostrophe, the prime, the acute accent
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",  # double quotes, the double prime, guillemets
    "-": "\u2010\u2011\u2012\u2013\u2212",  # hyphens, the figure dash, the en dash, the minus sign
    "--": "\u2014\u2015",  # the em dash, the horizontal bar
    "...": "\u2026",
    # Invisible characters: soft hyphen, zero-width spaces and joiners, marks of direction, byte order mark.
    "": "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff",
}
_ASCII = str.maketrans({mark: plain for plain, marks in ASCII.items() for mark in marks})

# A contraction by itself; letters and digits with the marks inside them; a mark, repeated or not.
_WORD = re.compile(
    r"(?:n't|'(?:s|m|d|ll|re|ve))\b|\w+(?:(?:\.?[-'/]|\.|(?<=\d)[,:](?=\d))\w+)*|([^\w\s])\1*", re.IGNORECASE
)
_CONTRACTION = re.compile(r"(?<=\w)(?:n't|'(?:s|m|d|ll|re|ve))\b", re.IGNORECASE)


def join_words(words: Sequence[str], language: str) -> str:
    """The words of a sentence as text, separated by spaces; in Chinese only Latin words and numbers are separated.

    In Chinese a single Latin letter or digit counts as part of a word, for corpora that separate all characters.
    """
    if language != "zh":
        return " ".join(words)
    return "".join(
        f" {word}" if before and _is_latin(before) and _is_latin(word) else word
        for before, word in zip(("", *words), words, strict=False)
    )


def _is_latin(word: str) -> bool:
    return len(word) > 1 and word.isascii() and word.isalnum()


def ascii_punctuation(text: str) -> str:
    """A text with ASCII quotes, dashes and ellipses, without invisible characters; see `ASCII`."""
    return text.translate(_ASCII)


def estimate_words(text: str) -> int:
    """Approximate number of words of an English text under the Penn treebank's rules, at a fraction of their cost.

    Words are separated by spaces. A mark is a word, repeated or not, except inside a word or a number (well-known,
    1,000.5, and/or). A contraction is two words (do n't, John 's), also where it is already split.
    """
    return sum(1 for _ in _WORD.finditer(text)) + len(_CONTRACTION.findall(text))
