"""Distinct-n (Li et al. 2016): how many of the n-grams are different, times 100.

N-grams run over the tokens of the joined units, marks included and across units. The paper (SongNet, 4.3) leaves that
open; the released code does so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, ratio, signature_of
from espalier.verse.text import Language, tokens_of, units_of

_ORDERS = (1, 2)
_TEXTS = len(_ORDERS)


def ngrams(text: str, n: int, language: Language) -> Iterator[tuple[str, ...]]:
    """The n-grams of a verse, its units joined."""
    tokens = [token for unit in units_of(text) for token in tokens_of(unit, language)]
    return (tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def distinct_statistics(texts: Sequence[str], language: Language) -> Array:
    """(texts, 3): Distinct-1, Distinct-2 of the text itself, 1. A text without an n-gram has 0: nothing is diverse."""
    found = np.zeros((len(texts), _TEXTS + 1))
    for row, text in zip(found, texts, strict=True):
        for column, n in enumerate(_ORDERS):
            grams = list(ngrams(text, n, language))
            row[column] = len(set(grams)) / len(grams) if grams else 0.0
        row[_TEXTS] = 1.0
    return found


def pooled_statistics(texts: Sequence[str], language: Language, samples: Sequence[int] | None = None) -> Array:
    """(3,): the sums, over draws, of Distinct-1 and Distinct-2 of all their n-grams pooled, and how many draws.

    Args:
        texts: the generated verses.
        language: of the texts.
        samples: which draw each text belongs to. Pooled Distinct falls as a corpus grows, so that several samples per
            poem are scored draw by draw and averaged (as the paper's five runs are), never pooled together.
    """
    found = np.zeros(_TEXTS + 1)
    draws: dict[int, list[str]] = {}
    for sample, text in zip(samples if samples is not None else [0] * len(texts), texts, strict=True):
        draws.setdefault(sample, []).append(text)
    for draw in draws.values():
        for column, n in enumerate(_ORDERS):
            grams = [gram for text in draw for gram in ngrams(text, n, language)]
            found[column] += len(set(grams)) / len(grams) if grams else 0.0
        found[_TEXTS] += 1.0
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
