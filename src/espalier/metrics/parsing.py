"""A parser's scores against gold trees: brackets where the gold has them, heads and relations where it has them."""

from __future__ import annotations

from collections.abc import Sequence

from espalier.metrics import attachment, brackets
from espalier.metrics.metric import Score, scores
from espalier.syntax.parse import Parse


def parsing_scores(
    gold: Sequence[Parse], found: Sequence[Parse], *, seed: int = 1, resamples: int = 1000
) -> dict[str, Score]:
    """The families that the gold parses allow, by `brackets.KEYS` and `attachment.KEYS`.

    Args:
        gold: sentences that all have a tree, or all have heads and relations, or both.
        found: as many, parses of the same words; one without words is a sentence that could not be parsed.
        seed: of the intervals' resampling.
        resamples: 0 for no intervals.
    """
    result: dict[str, Score] = {}
    if any(each.tree for each in gold):
        counts = brackets.bracket_statistics([each.tree for each in gold], [each.tree for each in found])
        result |= scores(brackets.METRICS, counts, seed=seed, resamples=resamples)
    if any(each.heads for each in gold):
        counts = attachment.attachment_statistics(gold, found)
        result |= scores(attachment.attachment_metrics(), counts, seed=seed, resamples=resamples)
    return result
