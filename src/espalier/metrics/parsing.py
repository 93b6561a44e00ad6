"""Scores of a parser against gold parses: of brackets if they have trees, of attachment if of heads, else of tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from espalier.metrics import attachment, brackets
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric, Score, ratio, scores, signature_of
from espalier.syntax.parse import UNKNOWN, Parse

#: The metrics that `dvc metrics show` prints, by their short names there.
HEADLINE: Final = {
    "f1": "bracket_f1",
    "exact": "bracket_exact",
    "uas": "uas",
    "las": "las",
    "tags": "tag_accuracy",
}
_TAGS: Final = (
    Metric("tag_accuracy", ratio(0, 1, scale=100.0), signature_of("tags", words="gold", mean="micro"), "no tags"),
    Metric(
        "tag_accuracy_unknown",
        ratio(2, 3, scale=100.0),
        signature_of("tags", words=f"gold {UNKNOWN}", mean="micro"),
        f"no {UNKNOWN}",
    ),
)


def parsing_scores(
    gold: Sequence[Parse], predicted: Sequence[Parse], *, seed: int = 1, resamples: int = 1000
) -> dict[str, Score]:
    """The families that the gold parses allow, by `brackets.KEYS` and `attachment.KEYS`.

    Of tags alone: `tag_accuracy`, and `tag_accuracy_unknown` of the words `UNKNOWN` where there are any.

    Args:
        gold: sentences that all have a tree, or all have heads and relations, or both; or tags alone.
        predicted: as many, parses of the same words; one without words is a sentence that could not be parsed.
        seed: of the intervals' resampling.
        resamples: 0 for no intervals.
    """
    result: dict[str, Score] = {}
    if any(parse.tree for parse in gold):
        counts = brackets.bracket_statistics([parse.tree for parse in gold], [parse.tree for parse in predicted])
        result |= scores(brackets.METRICS, counts, seed=seed, resamples=resamples)
    if any(parse.heads for parse in gold):
        counts = attachment.attachment_statistics(gold, predicted)
        result |= scores(attachment.attachment_metrics(), counts, seed=seed, resamples=resamples)
    if not result and any(parse.tags for parse in gold):
        counts = _tag_statistics(gold, predicted)
        metrics = _TAGS if counts[:, 3].any() else _TAGS[:1]
        result |= scores(metrics, counts, seed=seed, resamples=resamples)
    return result


def _tag_statistics(gold: Sequence[Parse], predicted: Sequence[Parse]) -> Array:
    """(sentences, 4) words with the right tag, words, and the same of unknown words."""
    rows = []
    for one, other in zip(gold, predicted, strict=True):
        found = other.tags if other.words == one.words else ()
        right = [*map(str.__eq__, one.tags, found), *[False] * (len(one.tags) - len(found))]
        unknown = [is_right for word, is_right in zip(one.words, right, strict=False) if word == UNKNOWN]
        rows.append((sum(right), len(right), sum(unknown), len(unknown)))
    return np.array(rows, dtype=float).reshape(-1, 4)
