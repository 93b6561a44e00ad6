"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004): mean F1 over segments of n-grams and of longest common subsequences.

F1 weights precision and recall equally, and a text is one sentence (no ROUGE-Lsum). GuiG used py-rouge on raw text.
Like ROUGE-1.5.5 and Google's rouge-score, it lower-cases texts and keeps only runs of a-z and 0-9, so punctuation is
ignored. The same holds here. A segment whose reference has no such token, as in Chinese, is not counted; without any
other segment the scores are undefined.

py-rouge compares Porter stems by default, and the paper mentions no other setting. So `rouge_*` compares stems like
rouge-score, which stems words of more than three letters. `rouge_*_words` compares unstemmed words.

Corpus scores come from rouge-score (`library_rouge`). The statistics of segments are computed here, for intervals and
comparisons; the score stage checks that both values are equal. rouge-score takes a quarter of a millisecond for a pair
of questions, so of many segments it scores a sample (`confirmed_rows`); the corpus scores are then those of the
statistics.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from importlib.metadata import version
from typing import Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.imports import nltk_module
from espalier.metrics.bleu import matches, ngrams
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, signature_of
from espalier.metrics.texts import Pairs
from espalier.text.words import stem

#: A token, in lower case.
_RUN = re.compile("[a-z0-9]+")
#: Why ROUGE is undefined.
NO_TOKENS: Final = "no reference has a letter from a to z or a digit"
_TYPES: Final = ("1", "2", "l")
#: The metrics of stems, then those of words.
KEYS: Final = (*(f"rouge_{kind}" for kind in _TYPES), *(f"rouge_{kind}_words" for kind in _TYPES))
#: rouge-score stems no shorter words.
_MIN_LETTERS: Final = 4


def rouge_statistics(references: Sequence[str], hypotheses: Sequence[str]) -> Array:
    """Statistics of each segment, (segments, 7): F1 of ROUGE-1, -2, -L on stems, the same on words, and 1 if it counts.

    F1 is 0 if a text has no n-gram of that order. A segment counts if its reference has a token.

    Raises:
        EspalierError: lists of different lengths.
    """
    require_lengths("references", len(references), hypotheses=hypotheses)
    rows = [_row(*pair) for pair in zip(references, hypotheses, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(-1, len(KEYS) + 1)


def library_rouge(
    references: Sequence[str], hypotheses: Sequence[str], keys: Collection[str] = KEYS
) -> dict[str, float]:
    """Values of `keys` (a subset of `KEYS`) by rouge-score, times 100; empty for no segments."""
    if not hypotheses:
        return {}
    nltk_module()  # rouge-score imports it, and with it what makes that slow
    from rouge_score.rouge_scorer import RougeScorer

    types = ("rouge1", "rouge2", "rougeL")
    values: dict[str, float] = {}
    for stems, names in ((True, KEYS[: len(types)]), (False, KEYS[len(types) :])):
        kinds = {name: kind for name, kind in zip(names, types, strict=True) if name in keys}
        scorer = RougeScorer([*kinds.values()], use_stemmer=stems)
        found = [scorer.score(*pair) for pair in zip(references, hypotheses, strict=True)] if kinds else []
        values |= {name: 100.0 * float(np.mean([row[kind].fmeasure for row in found])) for name, kind in kinds.items()}
    return values


def countable(references: Sequence[str], hypotheses: Sequence[str]) -> tuple[list[str], list[str]]:
    """The references with a token, and their hypotheses."""
    pairs = [pair for pair in zip(references, hypotheses, strict=True) if _RUN.search(pair[0].lower())]
    return [reference for reference, _ in pairs], [hypothesis for _, hypothesis in pairs]


def stems_of(text: str) -> list[str]:
    """The stems of a text's tokens."""
    return _stemmed(_RUN.findall(text.lower()))


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence, computed one row of the table at a time (Hyyrö 2004).

    Bit i of `row` is 0 if the table grows at the i-th word of `one`.
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


@checked_call
class Rouge(Family[Pairs]):
    """ROUGE of stems and of words."""

    name = "rouge"

    def statistics(self, pairs: Pairs, /) -> Array:
        return rouge_statistics(pairs.references, pairs.hypotheses)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return tuple(
            Metric(
                key,
                ratio(column, len(KEYS), scale=100.0),
                signature_of(
                    "rouge", type=_TYPES[column % len(_TYPES)].upper(), f="1", mean="macro", tokens="alphanumeric",
                    stems="porter" if column < len(_TYPES) else "no", case="lower",
                    **{"rouge-score": version("rouge-score")},
                ),
                undefined=NO_TOKENS,
            )
            for column, key in enumerate(KEYS)
        )  # fmt: skip


def _row(reference: str, hypothesis: str) -> tuple[float, ...]:
    sides = [_RUN.findall(text.lower()) for text in (reference, hypothesis)]
    return *_scores(*map(_stemmed, sides)), *_scores(*sides), float(bool(sides[0]))


def _stemmed(words: Iterable[str]) -> list[str]:
    return [stem(word) if len(word) >= _MIN_LETTERS else word for word in words]


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
