"""Scores of a parser against gold parses: brackets for trees, attachment for heads, or tag accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.attachment import Attachment
from espalier.metrics.bootstrap import Array
from espalier.metrics.brackets import Brackets
from espalier.metrics.family import Family, family_scores, statistics_of
from espalier.metrics.metric import Metric, Score, ratio, signature_of
from espalier.metrics.texts import Parses
from espalier.syntax.parse import UNKNOWN, Parse

#: The metrics that `dvc metrics show` prints, by their short names there.
HEADLINE: Final = {"f1": "bracket_f1", "exact": "bracket_exact", "uas": "uas", "las": "las", "tags": "tag_accuracy"}


def parsing_scores(gold: Sequence[Parse], predicted: Sequence[Parse], *, resamples: int = 1000) -> dict[str, Score]:
    """Scores of all families that the gold parses allow.

    If there are only tags: `tag_accuracy`, and `tag_accuracy_unknown` for the words `UNKNOWN` if they occur.

    Args:
        gold: sentences that all have a tree, or heads and relations, or both; or only tags.
        predicted: parses of the same words; a parse without words means that the sentence could not be parsed.
        resamples: number of resamples; 0 for no intervals.
    """
    parses = Parses(gold, predicted)
    families: list[Family[Parses]] = []
    if any(parse.tree for parse in gold):
        families.append(Brackets())
    if any(parse.heads for parse in gold):
        families.append(Attachment())
    if not families and any(parse.tags for parse in gold):
        families.append(Tags(unknown=any(UNKNOWN in parse.words[: len(parse.tags)] for parse in gold)))
    return family_scores(statistics_of(families, parses), seed=1, resamples=resamples)


@checked_call
@dataclass(frozen=True)
class Tags(Family[Parses]):
    """Accuracy of tags.

    Attributes:
        unknown: whether the words `UNKNOWN` have an accuracy of their own.
    """

    name = "tags"
    unknown: bool = False

    def statistics(self, parses: Parses, /) -> Array:
        """(sentences, 4): words with the right tag, words, and the same two for unknown words."""
        rows = []
        for one, other in zip(*parses, strict=True):
            found = other.tags if other.words == one.words else ()
            right = [*map(str.__eq__, one.tags, found), *[False] * (len(one.tags) - len(found))]
            unknown = [is_right for word, is_right in zip(one.words, right, strict=False) if word == UNKNOWN]
            rows.append((sum(right), len(right), sum(unknown), len(unknown)))
        return np.array(rows, dtype=float).reshape(-1, 4)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        every = (
            Metric(
                "tag_accuracy", ratio(0, 1, scale=100.0), signature_of("tags", words="gold", mean="micro"), "no tags"
            ),
            Metric(
                "tag_accuracy_unknown",
                ratio(2, 3, scale=100.0),
                signature_of("tags", words=f"gold {UNKNOWN}", mean="micro"),
                f"no {UNKNOWN}",
            ),
        )
        return every if self.unknown else every[:1]
