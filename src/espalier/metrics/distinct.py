"""Distinct-n (Li et al. 2016): how many of the n-grams are different, times 100.

A text is a verse, whose language says what its tokens are, or words: a list of them, or joined by spaces. N-grams of
verse run over the tokens of the joined units, marks included and across units. The paper (SongNet, 4.3) leaves that
open; the released code does so. N-grams of words run over the words as they are given, marks among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, ratio, signature_of
from espalier.text.language import Language, tokens_of
from espalier.verse.text import units_of

#: A verse, or words.
Text: TypeAlias = str | Sequence[str]

_ORDERS = (1, 2)
_TEXTS = len(_ORDERS)


def ngrams(text: Text, n: int, language: Language | None = None) -> Iterator[tuple[str, ...]]:
    """The n-grams of a verse, its units joined; without a language, of words."""
    tokens = _tokens(text, language)
    return (tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def _tokens(text: Text, language: Language | None) -> Sequence[str]:
    if not isinstance(text, str):
        return text
    if language is None:
        return text.split()
    return [token for unit in units_of(text) for token in tokens_of(unit, language)]


def distinct_statistics(texts: Sequence[Text], language: Language | None = None) -> Array:
    """(texts, 3): Distinct-1, Distinct-2 of the text itself, 1. A text without an n-gram has 0: nothing is diverse."""
    found = np.zeros((len(texts), _TEXTS + 1))
    for row, text in zip(found, texts, strict=True):
        for column, n in enumerate(_ORDERS):
            grams = list(ngrams(text, n, language))
            row[column] = len(set(grams)) / len(grams) if grams else 0.0
        row[_TEXTS] = 1.0
    return found


def pooled_statistics(
    texts: Sequence[Text], language: Language | None = None, samples: Sequence[int] | None = None
) -> Array:
    """(3,): the sums, over draws, of Distinct-1 and Distinct-2 of all their n-grams pooled, and how many draws.

    Args:
        texts: what was generated.
        language: of verse; None for words.
        samples: which draw each text belongs to. Pooled Distinct falls as a corpus grows, so that several samples per
            poem are scored draw by draw and averaged (as the paper's five runs are), never pooled together.
    """
    found = np.zeros(_TEXTS + 1)
    draws: dict[int, list[Text]] = {}
    for sample, text in zip(samples if samples is not None else [0] * len(texts), texts, strict=True):
        draws.setdefault(sample, []).append(text)
    for draw in draws.values():
        for column, n in enumerate(_ORDERS):
            grams = [gram for text in draw for gram in ngrams(text, n, language)]
            found[column] += len(set(grams)) / len(grams) if grams else 0.0
        found[_TEXTS] += 1.0
    return found


def pooled_shares(texts: Sequence[Text], language: Language | None = None) -> Array:
    """(texts, 5): what each text adds to the different n-grams of all, and how many it has, for orders 1 and 2; 1.

    Of an n-gram that all texts together have m times, each time counts 1/m, so that the sum of all rows holds the
    number of different n-grams, in whatever order the texts come. A resample of the rows is no corpus' number: see
    `MICRO`.
    """
    found = np.ones((len(texts), 2 * _TEXTS + 1))
    for column, n in enumerate(_ORDERS):
        own = [list(ngrams(text, n, language)) for text in texts]
        times = Counter(gram for grams in own for gram in grams)
        for row, grams in zip(found, own, strict=True):
            row[2 * column : 2 * column + 2] = sum(1 / times[gram] for gram in grams), len(grams)
    return found


def _metric(level: str, order: int, *, interval: str) -> Metric:
    return Metric(
        f"distinct_{order}_{level}",
        ratio(_ORDERS.index(order), _TEXTS, scale=100.0),
        signature_of("distinct", n=order, mean=level, tokens="words+marks", across="units", interval=interval),
        "no texts",
    )


#: Mean over texts; over `distinct_statistics`.
MACRO = tuple(_metric("macro", order, interval="bootstrap") for order in _ORDERS)

#: Over `pooled_statistics`. Without an interval: a resample repeats texts, and repeated texts share their n-grams, so
#: every bootstrap value lies below the corpus' own and the interval would not contain it.
MICRO = tuple(_metric("micro", order, interval="none") for order in _ORDERS)

#: Of words: mean over texts; over `distinct_statistics`.
WORDS_MACRO = tuple(
    Metric(
        f"distinct_{order}_macro",
        ratio(column, _TEXTS, scale=100.0),
        signature_of("distinct", n=order, mean="macro", tokens="words", interval="bootstrap"),
        "no texts",
    )
    for column, order in enumerate(_ORDERS)
)

#: Of words, all texts in one pool; over `pooled_shares`. Without an interval, as `MICRO`.
WORDS_POOLED = tuple(
    Metric(
        f"distinct_{order}",
        ratio(2 * column, 2 * column + 1, given=2 * _TEXTS, scale=100.0),
        signature_of("distinct", n=order, mean="pooled", tokens="words", interval="none"),
        "no texts",
    )
    for column, order in enumerate(_ORDERS)
)
