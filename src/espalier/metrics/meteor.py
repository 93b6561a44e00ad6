"""METEOR, computed by NLTK (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007), times 100.

Words are matched in three rounds: equal words, equal stems (Porter), synonyms (WordNet). Within a round, words of the
hypothesis are taken from last to first, and each is matched with the last free reference word that fits. This is NLTK's
greedy matching, not the one with the fewest crossings. Its third round looks up stems, not words. Case is ignored.

    fmean = PR / (0.9 P + 0.1 R)        METEOR = fmean (1 - 0.5 (chunks / matches)^3)

A chunk is a run of matches adjacent in both texts. Without WordNet's data the third round is skipped, and the signature
says so. Values of the program METEOR 1.5 (with paraphrases and tuned weights) are not comparable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.imports import nltk_module
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, signature_of
from espalier.metrics.texts import Pairs
from espalier.metrics.wordnet import WordNet
from espalier.text.words import stem

_ALPHA: Final = 0.9
_BETA: Final = 3.0
_GAMMA: Final = 0.5


def meteor_statistics(references: Sequence[str], hypotheses: Sequence[str], *, wordnet: Path | None = None) -> Array:
    """Statistics of each segment, (segments, 2): METEOR, 0 if there is no match; and 1.

    Args:
        references: words joined by single spaces.
        hypotheses: one per reference.
        wordnet: the folder of WordNet's database files, for synonyms; None to match without synonyms.

    Raises:
        SourceError: a file of WordNet is missing or damaged.
        EspalierError: lists of different lengths.
    """
    require_lengths("references", len(references), hypotheses=hypotheses)
    score = partial(
        nltk_module("translate.meteor_score").single_meteor_score,
        stemmer=_Stemmer(), wordnet=_Reader(wordnet), alpha=_ALPHA, beta=_BETA, gamma=_GAMMA,
    )  # fmt: skip
    statistics = np.ones((len(references), 2))
    for row, (reference, hypothesis) in enumerate(zip(references, hypotheses, strict=True)):
        statistics[row, 0] = score(reference.split(), hypothesis.split())
    return statistics


class _Stemmer:
    """What NLTK asks of a stemmer."""

    stem = staticmethod(stem)


class _Reader:
    """What NLTK asks of WordNet: its own reader takes no folder but those on its path. No senses without a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._wordnet = WordNet(folder) if folder is not None else None
        self.synsets = cache(self._synsets)

    def _synsets(self, word: str) -> Sequence[SimpleNamespace]:
        names = self._wordnet.synonyms(word) if self._wordnet else ()
        lemmas = [SimpleNamespace(name=partial(str, name)) for name in names]
        return [SimpleNamespace(lemmas=lambda: lemmas)]


@checked_call
@dataclass(frozen=True)
class Meteor(Family[Pairs]):
    """METEOR.

    Attributes:
        wordnet: whether synonyms are matched.
    """

    name = "meteor"
    wordnet: bool = False

    def statistics(self, pairs: Pairs, /) -> Array:
        return meteor_statistics(pairs.references, pairs.hypotheses, wordnet=pairs.wordnet if self.wordnet else None)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        signature = signature_of(
            "meteor", alpha=_ALPHA, beta=_BETA, gamma=_GAMMA, mean="macro", case="lower", tok="none", stems="porter",
            synonyms="wordnet" if self.wordnet else "none", nltk=version("nltk"),
        )  # fmt: skip
        return (Metric("meteor", ratio(0, 1, scale=100.0), signature),)
