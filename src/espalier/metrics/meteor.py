"""METEOR as computed by NLTK (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007), times 100.

Words are matched in three rounds: equal words, equal stems (Porter), synonyms (WordNet). Within a round, words of the
hypothesis are taken from last to first, and each is matched with the last free reference word that fits. This is NLTK's
greedy matching, not the one with the fewest crossings. As in NLTK, the third round looks up stems, not words. Case is
ignored.

    fmean = PR / (0.9 P + 0.1 R)        METEOR = fmean (1 - 0.5 (chunks / matches)^3)

A chunk is a run of matches adjacent in both texts. Without WordNet's data the third round is skipped, and the signature
says so. Values of the program METEOR 1.5 (with paraphrases and tuned weights) are not comparable.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, signature_of
from espalier.metrics.texts import Pairs
from espalier.metrics.wordnet import WordNet
from espalier.text.words import stem

_ALPHA: Final = 0.9
_BETA: Final = 3.0
_GAMMA: Final = 0.5

#: A place in a text and the word there, or its stem.
_Word = tuple[int, str]


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
    synonyms = WordNet(wordnet).synonyms if wordnet is not None else None
    statistics = np.ones((len(references), 2))
    for row, (reference, hypothesis) in enumerate(zip(references, hypotheses, strict=True)):
        statistics[row, 0] = meteor(reference.lower().split(), hypothesis.lower().split(), synonyms)
    return statistics


def meteor(
    reference: Sequence[str], hypothesis: Sequence[str], synonyms: Callable[[str], Iterable[str]] | None = None
) -> float:
    """METEOR of lower-case words, from 0 to 1."""
    matched = align(reference, hypothesis, synonyms)
    if not matched:
        return 0.0
    count = len(matched)
    precision, recall = count / len(hypothesis), count / len(reference)
    fmean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    chunks = sum(matched.get(place - 1) != other - 1 for place, other in matched.items())
    return (1 - _GAMMA * math.pow(chunks / count, _BETA)) * fmean


def align(
    reference: Sequence[str], hypothesis: Sequence[str], synonyms: Callable[[str], Iterable[str]] | None = None
) -> dict[int, int]:
    """For each matched index in the hypothesis, the index in the reference."""
    matched: dict[int, int] = {}
    hypothesis_words, reference_words = _match(list(enumerate(hypothesis)), list(enumerate(reference)), matched)
    if hypothesis_words and reference_words:
        hypothesis_words, reference_words = (
            [(place, stem(word)) for place, word in side] for side in (hypothesis_words, reference_words)
        )
        hypothesis_words, reference_words = _match(hypothesis_words, reference_words, matched)
    if hypothesis_words and reference_words and synonyms is not None:
        _match(hypothesis_words, reference_words, matched, synonyms)
    return matched


def _match(
    hypothesis_words: list[_Word],
    reference_words: list[_Word],
    matched: dict[int, int],
    synonyms: Callable[[str], Iterable[str]] | None = None,
) -> tuple[list[_Word], list[_Word]]:
    """One round of matching: add to `matched`, and return the unmatched words of both texts."""
    free: dict[str, list[int]] = {}
    for place, word in reference_words:
        free.setdefault(word, []).append(place)
    unmatched, matched_places = list[_Word](), set[int]()
    for place, word in reversed(hypothesis_words):
        places = free.get(word)
        if synonyms is not None:
            fitting = [free[form] for form in {word, *synonyms(word)} if free.get(form)]
            places = max(fitting, key=lambda places: places[-1], default=None)
        if places:
            matched[place] = places.pop()
            matched_places.add(matched[place])
        else:
            unmatched.append((place, word))
    remaining = [pair for pair in reference_words if pair[0] not in matched_places]
    return unmatched[::-1], remaining


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
