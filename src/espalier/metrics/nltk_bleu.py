"""Sentence BLEU by NLTK with smoothing method 7 (Chen and Cherry 2014), in three versions of its formula.

Method 7 first gives every order without a match a precision (method 4), then averages neighbouring orders (method 5).
The precision of method 4 has changed twice in NLTK. Let order i, counted from 0, be the k-th order without a match in a
hypothesis of L words, with N n-grams of this order. Its precision is:

    nltk_3_4    1 / (i + 5 / ln L)            up to NLTK 3.4.5
    nltk_3_5    (i + 5 / ln L) / N            NLTK 3.5
    nltk_3_6    ln L / (5 2^k) / N            from NLTK 3.6

Values of different formulas are not comparable. Since an average may exceed 1, so may BLEU: equal texts of five words
have 1.1167. The code does not call NLTK, so values do not depend on the installed version.

A hypothesis of one word has ln L = 0. Its orders without a match keep precision 0, as in NLTK since 3.6; earlier
releases divided by 0. A hypothesis that shares no word with the reference has BLEU 0.
"""

from collections.abc import Sequence
from typing import Final, Literal, assert_never

import numpy as np

from espalier.metrics.bleu import matches, ngrams
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import require_lengths

#: The releases of NLTK between which method 7 differs.
Smoothing = Literal["nltk_3_4", "nltk_3_5", "nltk_3_6"]

_ORDER: Final = 4
#: The constant of method 4.
_K: Final = 5.0


def nltk_bleu(references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]], smoothing: Smoothing) -> Array:
    """(segments, 2): BLEU-2 and BLEU-4 of each hypothesis against its only reference, from 0 to about 1.1.

    Raises:
        EspalierError: lists of different lengths.
    """
    require_lengths("references", len(references), hypotheses=hypotheses)
    pairs = list(zip(references, hypotheses, strict=True))
    counts = [[matches(ngrams(one, n), ngrams(other, n)) for n in range(1, _ORDER + 2)] for other, one in pairs]
    correct = np.array(counts, dtype=np.float64).reshape(-1, _ORDER + 1)
    lengths = np.array([[len(one), len(other)] for other, one in pairs], dtype=np.float64).reshape(-1, 2)
    words, wanted = lengths[:, 0], lengths[:, 1]
    total = np.maximum(words[:, None] - np.arange(_ORDER + 1), 1)
    precisions = correct / total
    smoothed = (correct[:, :_ORDER] == 0) & (words > 1)[:, None]
    precisions[:, :_ORDER] = np.where(smoothed, _filled(words, total, smoothed, smoothing), precisions[:, :_ORDER])
    with np.errstate(divide="ignore", invalid="ignore"):
        logs, mean = np.empty((len(pairs), _ORDER)), precisions[:, 0] + 1
        for order in range(_ORDER):
            mean = (mean + precisions[:, order] + precisions[:, order + 1]) / 3
            logs[:, order] = np.log(mean)
        brevity = np.exp(np.minimum(0.0, 1.0 - wanted / words))
    value = brevity[:, None] * np.exp(np.stack([logs[:, :2].mean(1), logs.mean(1)], axis=1))
    return np.where(correct[:, :1] > 0, value, 0.0)


def _filled(words: Array, total: Array, smoothed: Array, smoothing: Smoothing) -> Array:
    """(segments, 4): the precision of an order without a match (method 4)."""
    order, total = np.arange(_ORDER), total[:, :_ORDER]
    logs = np.log(np.maximum(words, 2))[:, None]  # shorter ones are not smoothed
    match smoothing:
        case "nltk_3_4":
            return 1 / (order + _K / logs)
        case "nltk_3_5":
            return (order + _K / logs) / total
        case "nltk_3_6":
            return logs / (_K * 2.0 ** np.cumsum(smoothed, axis=1)) / total
        case _:
            assert_never(smoothing)
