"""Distinct-n (Li et al. 2016): the share of distinct n-grams, times 100.

A text is either a verse, tokenized by language, or words: a list, or a string with spaces. N-grams of verse are taken
over the tokens of the joined units, including marks and across units, as in the released code; the paper (SongNet, 4.3)
leaves this open. N-grams of words are taken over the given words, including marks.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bleu import ngrams
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, signature_of
from espalier.metrics.texts import Verses
from espalier.text.language import Language, tokens_of
from espalier.verse.text import units_of

#: A verse, or words.
Text: TypeAlias = str | Sequence[str]

_ORDERS = (1, 2)
_TEXTS = len(_ORDERS)


def _tokens(text: Text, language: Language | None) -> Sequence[str]:
    """The tokens of a verse with its units joined; words if `language` is None."""
    if not isinstance(text, str):
        return text
    if language is None:
        return text.split()
    return [token for unit in units_of(text) for token in tokens_of(unit, language)]


def distinct_statistics(texts: Sequence[Text], language: Language | None = None) -> Array:
    """(texts, 3): Distinct-1 and Distinct-2 of each text, and 1. A text without n-grams has 0."""
    statistics = np.zeros((len(texts), _TEXTS + 1))
    for row, text in zip(statistics, texts, strict=True):
        tokens = _tokens(text, language)
        for column, n in enumerate(_ORDERS):
            grams = ngrams(tokens, n)
            row[column] = len(set(grams)) / len(grams) if grams else 0.0
        row[_TEXTS] = 1.0
    return statistics


def pooled_shares(texts: Sequence[Text], language: Language | None = None) -> Array:
    """The contribution of each text to the distinct n-grams of all texts.

    Each occurrence of an n-gram that occurs m times in all texts counts 1/m. So the sum over all rows is the number of
    distinct n-grams, whatever the order of the texts.

    Returns:
        (texts, 5): share in the distinct 1-grams, number of 1-grams, the same two for 2-grams, and 1.
    """
    shares = np.ones((len(texts), 2 * _TEXTS + 1))
    tokens = [_tokens(text, language) for text in texts]
    for column, n in enumerate(_ORDERS):
        by_text = [ngrams(own, n) for own in tokens]
        times = Counter(gram for grams in by_text for gram in grams)
        for row, grams in zip(shares, by_text, strict=True):
            row[2 * column : 2 * column + 2] = sum(1 / times[gram] for gram in grams), len(grams)
    return shares


def draw_shares(
    texts: Sequence[Text], language: Language | None = None, draws: Sequence[Hashable] | None = None
) -> Array:
    """The contribution of each text to the Distinct-n of its draw. Sums over all rows are sums over draws.

    Pooled Distinct falls as a corpus grows. A corpus with several samples per poem is therefore pooled by draw, and the
    draws are averaged, as the paper averages five runs.

    Args:
        texts: the generated texts.
        language: language of verse; None for words.
        draws: the draw of each text, as a label; None if all texts are one draw.

    Returns:
        (texts, 3): share in the draw's Distinct-1, in its Distinct-2, and 1 / (texts of the draw).
    """
    rows_of_draws: dict[Hashable, list[int]] = {}
    for row, draw in enumerate(draws if draws is not None else [0] * len(texts)):
        rows_of_draws.setdefault(draw, []).append(row)
    shares = np.zeros((len(texts), _TEXTS + 1))
    for rows in rows_of_draws.values():
        pooled = pooled_shares([texts[row] for row in rows], language)
        for column in range(_TEXTS):
            # A draw without an n-gram has no different n-gram either, and its Distinct-n is 0.
            shares[rows, column] = pooled[:, 2 * column] / max(1.0, pooled[:, 2 * column + 1].sum())
        shares[rows, _TEXTS] = 1.0 / len(rows)
    return shares


def _verse_metric(level: str, order: int, *, corpus_level: bool) -> Metric:
    interval = "none" if corpus_level else "bootstrap"
    return Metric(
        f"distinct_{order}_{level}",
        ratio(_ORDERS.index(order), _TEXTS, scale=100.0),
        signature_of("distinct", n=order, mean=level, tokens="words+marks", across="units", interval=interval),
        "no texts",
        corpus_level=corpus_level,
    )


#: Metrics of verse, averaged over texts, from `distinct_statistics`.
MACRO = tuple(_verse_metric("macro", order, corpus_level=False) for order in _ORDERS)

#: Metrics of verse, with texts pooled by draw, from `draw_shares`. There is no interval. A resample repeats texts, and
#: repeated texts share their n-grams, so that every bootstrap value lies below the value of the corpus.
MICRO = tuple(_verse_metric("micro", order, corpus_level=True) for order in _ORDERS)

#: Metrics of words, averaged over texts, from `distinct_statistics`.
WORDS_MACRO = tuple(
    Metric(
        f"distinct_{order}_macro",
        ratio(column, _TEXTS, scale=100.0),
        signature_of("distinct", n=order, mean="macro", tokens="words", interval="bootstrap"),
        "no texts",
    )
    for column, order in enumerate(_ORDERS)
)

#: Metrics of words, with all texts pooled, from `pooled_shares`. There is no interval, as for `MICRO`.
WORDS_POOLED = tuple(
    Metric(
        f"distinct_{order}",
        ratio(2 * column, 2 * column + 1, evidence=2 * _TEXTS, scale=100.0),
        signature_of("distinct", n=order, mean="pooled", tokens="words", interval="none"),
        "no texts",
        corpus_level=True,
    )
    for column, order in enumerate(_ORDERS)
)


@checked_call
@dataclass(frozen=True)
class Distinct(Family[Verses]):
    """Distinct-n of verse.

    Attributes:
        pooled: whether the texts of a draw are pooled; else values are averaged over texts.
    """

    name = "distinct"
    pooled: bool = False

    def statistics(self, verses: Verses, /) -> Array:
        if self.pooled:
            return draw_shares(verses.hypotheses, verses.language, verses.draws)
        return distinct_statistics(verses.hypotheses, verses.language)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return MICRO if self.pooled else MACRO
