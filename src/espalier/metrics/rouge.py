"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004): mean over segments of the F1 of n-grams and of longest common subsequences.

F1 weighs precision and recall alike, there is no stemming, and a text is one sentence (no ROUGE-Lsum). GuiG's scores
are py-rouge's, on raw text: like ROUGE-1.5.5 and Google's rouge-score it lowers the case and keeps runs of a-z and 0-9
alone, so punctuation counts for nothing. That is the default here, `alphanumeric`; `spaces` takes the words as given.
Whether the paper let py-rouge stem, its default, is not said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from espalier.io.errors import ConfigError
from espalier.metrics.bleu import matches, ngrams
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, ratio, require_lengths, signature_of

#: What is a token: a run of letters and digits, lower case; or what stands between spaces, as it is.
Tokens = Literal["alphanumeric", "spaces"]

_RUN = re.compile("[a-z0-9]+")
_KEYS: Final = ("rouge_1", "rouge_2", "rouge_l")


def rouge_statistics(references: Sequence[str], hypotheses: Sequence[str], *, tokens: Tokens = "alphanumeric") -> Array:
    """What one segment contributes, (segments, 4): its F1 of ROUGE-1, -2, -L, 0 where nothing can match; 1.

    Raises:
        EspalierError: lists of different lengths, unknown tokens.
    """
    require_lengths("references", len(references), hypotheses=hypotheses)
    rows = [
        (*_scores(_split(reference, tokens), _split(hypothesis, tokens)), 1.0)
        for reference, hypothesis in zip(references, hypotheses, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, len(_KEYS) + 1)


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence, a whole row of the table at a time (Hyyrö 2004).

    Bit i of `row` is 0 where the table grows at the i-th word of `one`.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(one)) - 1
    row = full
    for word in other:
        if matched := row & places.get(word, 0):
            row = (row + matched | row - matched) & full
    return len(one) - row.bit_count()


def rouge_metrics(*, tokens: Tokens = "alphanumeric") -> tuple[Metric, ...]:
    """The family's metrics over `rouge_statistics`, times 100."""
    return tuple(
        Metric(
            key,
            ratio(column, len(_KEYS), scale=100.0),
            signature_of(
                "rouge", type=key[-1].upper(), f="1", mean="macro", tokens=tokens, stems="no",
                case="lower" if tokens == "alphanumeric" else "mixed",
            ),
        )
        for column, key in enumerate(_KEYS)
    )  # fmt: skip


def _split(text: str, tokens: Tokens) -> list[str]:
    if tokens == "alphanumeric":
        return _RUN.findall(text.lower())
    if tokens != "spaces":
        raise ConfigError.unknown("tokens", tokens, ("alphanumeric", "spaces"), where="ROUGE")
    return text.split()


def _scores(reference: list[str], hypothesis: list[str]) -> tuple[float, float, float]:
    reference_length, hypothesis_length = len(reference), len(hypothesis)
    words = matches(hypothesis, reference)
    if not words:
        return 0.0, 0.0, 0.0
    pairs = matches(ngrams(hypothesis, 2), ngrams(reference, 2))
    longest = longest_common(reference, hypothesis)
    # 2PR / (P + R), with P = matched / in hypothesis and R = matched / in reference
    return (
        2 * words / (hypothesis_length + reference_length),
        2 * pairs / max(hypothesis_length + reference_length - 2, 1),
        2 * longest / (hypothesis_length + reference_length),
    )
