"""Perplexity: 2 to the power of the mean bits per token of the reference, given its format."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, exp_ratio, ratio, require_lengths, signature_of
from espalier.metrics.texts import CorpusLikelihood, Pairs, Verses

_NLL, _TOKENS, _WORD_NLL, _WORDS, _RELEASED, _DEFINED = range(6)


def perplexity_statistics(likelihood: CorpusLikelihood) -> Array:
    """(texts, 6): nll, tokens, nll of words, words, 2^(nll / tokens), 1; zeros for a text without tokens.

    Raises:
        EspalierError: the four lists differ in length, or a likelihood is not a number.
    """
    require_lengths(
        "texts", len(likelihood.nll), tokens=likelihood.tokens, word_nll=likelihood.word_nll, words=likelihood.words
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
    """exp of a column of nats divided by a column of counts. `over` names the counted items in the signature."""
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


@checked_call
@dataclass(frozen=True)
class Perplexity(Family[Verses]):
    """The perplexities of verse.

    Attributes:
        split: "dev" for the references of the dev split, whose perplexities the paper prints too.
    """

    name = "perplexity"
    in_parts = ("perplexity", "perplexity_words")
    split: Literal["dev"] | None = None

    def statistics(self, verses: Verses, /) -> Array:
        return perplexity_statistics(
            verses.likelihood or CorpusLikelihood(*([0] * len(verses.references) for _ in range(4)))
        )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return on_split(METRICS, self.split)


@checked_call
class PairPerplexity(Family[Pairs]):
    """The perplexity of paraphrases' references."""

    name = "perplexity"
    metrics = METRICS[:1]

    def statistics(self, pairs: Pairs, /) -> Array:
        count = len(pairs.references)
        nll, tokens = pairs.likelihood if pairs.likelihood is not None else ([0.0] * count, [0] * count)
        require_lengths("references", count, likelihood=nll, tokens=tokens)
        return perplexity_statistics(CorpusLikelihood(nll, tokens, [0.0] * count, [0] * count))


def on_split(metrics: tuple[Metric, ...], split: str | None) -> tuple[Metric, ...]:
    """Metrics with the name of a split other than that of the run at their end."""
    return tuple(replace(metric, name=f"{metric.name}_{split}") for metric in metrics) if split else metrics
