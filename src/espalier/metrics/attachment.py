"""Attachment scores of dependency trees: shares of words with the right head (UAS), and also right relation (LAS).

Relations include subtypes (nsubj:pass). Both shares are over the words of the treebank, which are the input of the
parser. Punctuation counts, as in Universal Dependencies. A sentence without heads, or with other words than the gold
sentence, counts as all wrong; `attachment_errors` counts such sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from espalier.io.calls import checked_call
from espalier.io.errors import EspalierError
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, share_of, signature_of
from espalier.metrics.texts import Parses
from espalier.syntax.dependency import Dependencies
from espalier.syntax.parse import Parse

#: The relation of punctuation.
PUNCTUATION: Final = "punct"

_HEADS, _LABELLED, _TAGS, _WORDS, _TAGGED, _ERRORS, _SENTENCES = range(7)


def attachment_statistics(
    gold: Sequence[Parse | Dependencies], predicted: Sequence[Parse | Dependencies], *, punctuation: bool = True
) -> Array:
    """Statistics of each sentence, (sentences, 7).

    Columns: words with the right head; with the right head and relation; with the right tag; words; words that have a
    gold tag; 1 for a sentence without heads for its words; 1.

    Args:
        gold: sentences with heads and relations.
        predicted: parses of the same words; a sentence without heads could not be parsed.
        punctuation: whether to count words whose gold relation is `PUNCTUATION`.

    Raises:
        EspalierError: the lists differ in length, or a gold sentence lacks heads or relations.
    """
    require_lengths("gold sentences", len(gold), parses=predicted)
    counts = np.zeros((len(gold), _SENTENCES + 1))
    for row, (reference, prediction) in enumerate(zip(gold, predicted, strict=True)):
        words = len(reference.words)
        if not words == len(reference.heads) == len(reference.labels) > 0 or len(reference.tags) not in (0, words):
            raise EspalierError(
                "not one head and relation for each word", where=f"gold sentence {row + 1}", remedy="filter it out"
            )
        counted = np.array([punctuation or label.partition(":")[0] != PUNCTUATION for label in reference.labels])
        counts[row, [_WORDS, _TAGGED, _SENTENCES]] = counted.sum(), counted.sum() if reference.tags else 0, 1.0
        same = prediction.words == reference.words
        counts[row, _ERRORS] = not (same and len(prediction.heads) == words)
        if not same:
            continue
        heads = counted & _equal(reference.heads, prediction.heads)
        labels = _equal(reference.labels, prediction.labels)
        tags = counted & _equal(reference.tags, prediction.tags)
        counts[row, [_HEADS, _LABELLED, _TAGS]] = heads.sum(), (heads & labels).sum(), tags.sum()
    return counts


def _equal(reference: Sequence[object], prediction: Sequence[object]) -> NDArray[np.bool_]:
    """Which entries are equal; False if both are missing."""
    if not reference or len(reference) != len(prediction):
        return np.zeros(1, dtype=bool)
    return np.array([one == other for one, other in zip(reference, prediction, strict=True)], dtype=bool)


@checked_call
@dataclass(frozen=True)
class Attachment(Family[Parses]):
    """Attachment of words.

    Attributes:
        punctuation: whether punctuation counts, as in `attachment_statistics`.
    """

    name = "attachment"
    punctuation: bool = True

    def statistics(self, parses: Parses, /) -> Array:
        return attachment_statistics(*parses, punctuation=self.punctuation)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        counted: dict[str, object] = {
            "words": "gold",
            "punctuation": "in" if self.punctuation else "out",
            "mean": "micro",
        }
        plain = signature_of("attachment", **counted)
        labelled = signature_of("attachment", labels="subtypes", **counted)
        return (
            Metric("uas", ratio(_HEADS, _WORDS, scale=100.0), plain, "no words"),
            Metric("las", ratio(_LABELLED, _WORDS, scale=100.0), labelled, "no words"),
            Metric("tag_accuracy", ratio(_TAGS, _TAGGED, scale=100.0), plain, "no gold tags"),
            share_of(
                "attachment_errors",
                _ERRORS,
                _SENTENCES,
                signature_of("attachment", counts="sentences without a parse of their words"),
                "no sentences",
            ),
        )
