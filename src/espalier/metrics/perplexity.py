"""Perplexity: 2 to the power of the mean bits that a model needs for a token of the reference, given its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, exp_ratio, ratio, require_lengths, signature_of

_NLL, _TOKENS, _WORD_NLL, _WORDS, _RELEASED, _DEFINED = range(6)


@dataclass(frozen=True, slots=True)
class CorpusLikelihood:
    """What a model says of each text: summed negative log-likelihoods in nats, and what they were summed over.

    Attributes:
        nll: over every target, separators and end marks included. One entry per text, as in the other three.
        tokens: how many targets.
        word_nll: over the words alone, without marks, separators and end marks.
        words: how many words.
    """

    nll: Sequence[float]
    tokens: Sequence[int]
    word_nll: Sequence[float]
    words: Sequence[int]


def perplexity_statistics(likelihood: CorpusLikelihood) -> Array:
    """(texts, 6): nll, tokens, nll of the words, words, 2^(nll / tokens), 1; a text of no tokens gives zeros.

    Raises:
        EspalierError: the four lists differ in length, or a likelihood is not a number.
    """
    require_lengths(
        "texts",
        len(likelihood.nll),
        tokens=likelihood.tokens,
        word_nll=likelihood.word_nll,
        words=likelihood.words,
    )
    broken = np.flatnonzero(np.isnan(likelihood.nll) | np.isnan(likelihood.word_nll))
    if len(broken):
        raise EspalierError(
            "the likelihood is not a number", where=f"scoring, row {broken[0] + 1}", remedy="the model has diverged"
        )
    statistics = np.zeros((len(likelihood.nll), 6))
    statistics[:, _NLL], statistics[:, _TOKENS] = likelihood.nll, likelihood.tokens
    statistics[:, _WORD_NLL], statistics[:, _WORDS] = likelihood.word_nll, likelihood.words
    some = statistics[:, _TOKENS] > 0
    with np.errstate(over="ignore"):  # an infinite value is reported as such, not warned about
        statistics[some, _RELEASED] = np.exp2(statistics[some, _NLL] / statistics[some, _TOKENS])
    statistics[some, _DEFINED] = 1.0
    return statistics


def perplexity_metric(name: str, nats: int, counts: int, *, over: str) -> Metric:
    """exp of the mean of one column of nats over a column that counts; `over` says in the signature what it counts."""
    signature = signature_of("perplexity", over=over, base="e", mean="pooled")
    return Metric(name, exp_ratio(nats, counts), signature, "no likelihoods of a model")


#: `perplexity` is exp of the mean nats per target; `perplexity_words` the same over words alone; `ppl_released` what
#: SongNet's released code prints, mean over texts of 2^(mean nats per target): bits and nats mixed, so that it is far
#: below the perplexity and comparable with the paper's PPL columns only.
METRICS = (
    perplexity_metric("perplexity", _NLL, _TOKENS, over="tokens"),
    perplexity_metric("perplexity_words", _WORD_NLL, _WORDS, over="words"),
    Metric(
        "ppl_released",
        ratio(_RELEASED, _DEFINED),
        signature_of("perplexity", protocol="released", over="tokens", base="2^nats", mean="texts"),
        "no likelihoods of a model",
    ),
)
