"""Corpus BLEU-4 (Papineni et al. 2002) as computed by sacreBLEU, for tokenized texts.

The corpus score comes from sacreBLEU (`library_bleu`). The statistics of segments are computed here, for intervals and
comparisons; the score stage checks that both values are equal.

Texts are words joined by single spaces; case and punctuation are unchanged. Smoothing is NIST's (sacreBLEU's
`exp`): the k-th order without a match counts as one match in 2^k times its n-grams. A corpus without any match, or
without a 4-gram, has 0, as in sacreBLEU; so does a single segment of less than four words.

A text may have several references: each n-gram is clipped to its largest count in any reference, and the reference
length is the closest one (the shorter one in a tie).

BLEU against the source instead of the reference measures copying: `bleu_source`, also called self-BLEU. `length_ratio`
is the number of words of the outputs divided by that of the references. `brevity_penalty` is BLEU's factor for outputs
shorter than the references: exp(1 - reference / output), at most 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, signature_of
from espalier.metrics.texts import Pairs

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

#: The longest n-gram.
ORDER: Final = 4

_LENGTH, _REFERENCE = 0, 1
_CORRECT, _TOTAL = slice(2, 2 + ORDER), slice(2 + ORDER, 2 + 2 * ORDER)


def bleu_statistics(references: Sequence[str], hypotheses: Sequence[str]) -> Array:
    """Statistics of each segment, (segments, 10): words, reference words, and matches and n-grams of orders 1 to 4.

    Raises:
        EspalierError: lists of different lengths.
    """
    return bleu_statistics_all([(reference,) for reference in references], hypotheses)


def bleu_statistics_all(references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> Array:
    """Like `bleu_statistics`, with several references per segment. Their number may vary.

    Raises:
        EspalierError: lists of different lengths, a segment without references.
    """
    require_lengths("references", len(references), hypotheses=hypotheses)
    for row, texts in enumerate(references, start=1):
        if not texts:
            raise EspalierError("no reference", where=f"scoring, row {row}", remedy="leave the row out")
    rows = [
        _row([text.split() for text in texts], hypothesis.split())
        for texts, hypothesis in zip(references, hypotheses, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 2 + 2 * ORDER)


def matches(one: Sequence[object], other: Sequence[object]) -> int:
    """The size of the multiset intersection of two lists."""
    first, second = set(one), set(other)
    common = first & second
    if len(first) == len(one) or len(second) == len(other):
        return len(common)
    once, again = Counter(one), Counter(other)
    return sum(min(once[token], again[token]) for token in common)


def ngrams(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All n-grams, in order."""
    return list(zip(*(tokens[start:] for start in range(n)), strict=False))


def _row(references: list[list[str]], hypothesis: list[str]) -> list[int]:
    size = len(hypothesis)
    correct: list[int] = []
    for n in range(1, ORDER + 1):
        # An n-gram that matches holds one of n - 1 that does.
        reference_grams = [ngrams(reference, n) for reference in references] if all(correct) else []
        correct.append(_most_matches(ngrams(hypothesis, n), reference_grams) if reference_grams else 0)
    closest = min(map(len, references), key=lambda words: (abs(words - size), words))
    return [size, closest, *correct, *(max(size - n, 0) for n in range(ORDER))]


def _most_matches(hypothesis_grams: list[tuple[str, ...]], reference_grams: list[list[tuple[str, ...]]]) -> int:
    if len(reference_grams) == 1:
        return matches(hypothesis_grams, reference_grams[0])
    limits = Counter[tuple[str, ...]]()
    for grams in reference_grams:
        limits |= Counter(grams)
    return (Counter(hypothesis_grams) & limits).total()


def sentence_bleu(statistics: Array) -> Array:
    """(segments, 10) -> (segments,): sentence BLEU over the orders for which a segment is long enough.

    This is sacreBLEU's `sentence_bleu` with effective order: a text of two words is judged by unigrams and bigrams
    only.
    """
    return corpus_bleu(statistics, effective=True)


def corpus_bleu(sums: Array, order: int = ORDER, *, effective: bool = False) -> Array:
    """(..., 10) summed statistics -> (...) BLEU over n-grams of up to `order` words; NaN without references."""
    correct, total = sums[..., _CORRECT][..., :order], sums[..., _TOTAL][..., :order]
    missed, orders = correct == 0, np.count_nonzero(total, axis=-1)
    # Orders without a match: the first such order counts half a match, the next a quarter, and so on.
    smoothed = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), correct)
    with np.errstate(divide="ignore", invalid="ignore"):
        precisions = np.where(total > 0, np.log(smoothed / total), 0.0)
        value = 100.0 * _brevity(sums) * np.exp(precisions.sum(axis=-1) / orders)
    value = np.where(correct.any(axis=-1) & (effective | (orders == order)), value, 0.0)
    return np.where(sums[..., _REFERENCE] > 0, value, np.nan)


def _brevity(sums: Array) -> Array:
    """The brevity penalty: 0 for no words, NaN without references."""
    length, reference = sums[..., _LENGTH], sums[..., _REFERENCE]
    with np.errstate(divide="ignore", invalid="ignore"):
        penalty = np.exp(np.minimum(0.0, 1.0 - reference / length))
    return np.where(reference > 0, penalty, np.nan)


# --- The library -----------------------------------------------------------------------------------------------------


@cache
def sacrebleu(tokenize: str, **options: Any) -> BLEU:
    """BLEU by sacreBLEU, which is imported when it is used. Texts that look tokenized are accepted."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=tokenize, force=True, **options)


def library_bleu(
    references: Sequence[Sequence[str]], hypotheses: Sequence[str], order: int = ORDER
) -> dict[str, float]:
    """The `bleu`, `length_ratio` and `brevity_penalty` of a corpus by sacreBLEU; empty for no segments.

    Args:
        order: largest n of the n-grams.
    """
    if not hypotheses:
        return {}
    # A stream has the n-th reference of every segment, None if missing.
    streams = [list(stream) for stream in zip_longest(*references)]
    score = sacrebleu("none", max_ngram_order=order).corpus_score(hypotheses, streams)
    return {"bleu": score.score, "length_ratio": score.ratio, "brevity_penalty": score.bp}


# --- Metrics ---------------------------------------------------------------------------------------------------------


def bleu_metric(key: str, *, against: str = "reference", refs: int | str = 1, **more: object) -> Metric:
    """A BLEU metric under its own key.

    Args:
        against: what the hypotheses were compared with.
        refs: number of references per segment.
        more: further entries of the signature.
    """
    signature = signature_of(
        "bleu", order=ORDER, against=against, refs=refs, mean="corpus", case="mixed", eff="no", tok="none",
        smooth="exp", sacrebleu=version("sacrebleu"), **more,
    )  # fmt: skip
    return Metric(key, corpus_bleu, signature)


def length_metrics(**more: object) -> tuple[Metric, ...]:
    """The length ratio and the brevity penalty, computed from BLEU's statistics."""
    library = {"sacrebleu": version("sacrebleu")}
    return (
        Metric("length_ratio", ratio(_LENGTH, _REFERENCE), signature_of("length", mean="corpus", **library, **more)),
        Metric("brevity_penalty", _brevity, signature_of("brevity", mean="corpus", **library, **more)),
    )


@checked_call
class Bleu(Family[Pairs]):
    """BLEU against the reference, with the length ratio and the brevity penalty."""

    name = "bleu"

    def statistics(self, pairs: Pairs, /) -> Array:
        return bleu_statistics(pairs.references, pairs.hypotheses)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return bleu_metric("bleu"), *length_metrics()


@checked_call
class SourceBleu(Family[Pairs]):
    """BLEU against the source."""

    name = "bleu_source"

    def statistics(self, pairs: Pairs, /) -> Array:
        return bleu_statistics(pairs.sources, pairs.hypotheses)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (bleu_metric("bleu_source", against="source"),)
