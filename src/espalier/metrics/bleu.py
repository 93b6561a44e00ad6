"""Corpus BLEU-4 (Papineni et al. 2002), as sacreBLEU computes it for texts that are tokens already.

The texts are words joined by single spaces; case and punctuation stay as they are. Smoothing is NIST's (sacreBLEU's
`exp`): the k-th order without a match counts as one match in 2^k times its n-grams. A corpus without any match, or
without a 4-gram, has 0, as in sacreBLEU; so does a single segment of less than four words.

Against the source instead of the reference the same number tells how much was copied: `bleu_source`, self-BLEU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, require_lengths, signature_of

#: The longest n-gram.
ORDER: Final = 4

_LENGTH, _REFERENCE = 0, 1
_CORRECT, _TOTAL = slice(2, 2 + ORDER), slice(2 + ORDER, 2 + 2 * ORDER)


def bleu_statistics(references: Sequence[str], hypotheses: Sequence[str]) -> Array:
    """What one segment contributes, (segments, 10): words, words of the reference, matches of orders 1 to 4, n-grams.

    Raises:
        EspalierError: lists of different lengths.
    """
    require_lengths("references", len(references), hypotheses=hypotheses)
    rows = [_row(wanted.split(), given.split()) for wanted, given in zip(references, hypotheses, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(-1, 2 + 2 * ORDER)


def matches(one: Sequence[object], other: Sequence[object]) -> int:
    """How many entries two lists share, each as often as it is in both."""
    first, second = set(one), set(other)
    common = first & second
    if len(first) == len(one) or len(second) == len(other):
        return len(common)
    once, again = Counter(one), Counter(other)
    return sum(min(once[each], again[each]) for each in common)


def ngrams(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All n-grams, in order."""
    return list(zip(*(tokens[start:] for start in range(n)), strict=False))


def _row(reference: list[str], hypothesis: list[str]) -> list[int]:
    size = len(hypothesis)
    correct = [matches(hypothesis, reference)]
    for n in range(2, ORDER + 1):
        # An n-gram that matches holds one of n - 1 that does.
        correct.append(matches(ngrams(hypothesis, n), ngrams(reference, n)) if correct[-1] else 0)
    return [size, len(reference), *correct, *(max(size - n, 0) for n in range(ORDER))]


def _bleu(sums: Array) -> Array:
    length, reference = sums[..., _LENGTH], sums[..., _REFERENCE]
    correct, total = sums[..., _CORRECT], sums[..., _TOTAL]
    missed = correct == 0
    # A match where there was none: the first such order counts half of one, the next a quarter, and so on.
    smoothed = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), correct)
    with np.errstate(divide="ignore", invalid="ignore"):
        brevity = np.exp(np.minimum(0.0, 1.0 - reference / length))
        value = 100.0 * brevity * np.exp(np.log(smoothed / total).mean(axis=-1))
    value = np.where(correct.any(axis=-1) & total.all(axis=-1), value, 0.0)
    return np.where(reference > 0, value, np.nan)


def _metric(key: str, against: str) -> Metric:
    signature = signature_of(
        "bleu", order=ORDER, against=against, refs=1, mean="corpus", case="mixed", eff="no", tok="none", smooth="exp"
    )
    return Metric(key, _bleu, signature)


#: Over `bleu_statistics(references, hypotheses)`.
METRICS: Final = (_metric("bleu", "reference"),)
#: Over `bleu_statistics(sources, hypotheses)`.
SOURCE_METRICS: Final = (_metric("bleu_source", "source"),)
