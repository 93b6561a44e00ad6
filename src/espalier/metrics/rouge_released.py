"""ROUGE-L as py-rouge 1.1 computes it with the weight 1.2, which is meant for ROUGE-W.

py-rouge raises precision and recall of ROUGE-L to the power 1 / `weight_factor` too, so that the scores rise:

    P = (L / m)^(1 / 1.2)    R = (L / n)^(1 / 1.2)    F = 2 P R / (P + R)

L is the length of the longest common subsequence of the stems, m of the hypothesis, n of the reference. GuiG prints
ROUGE-L above ROUGE-1 in 11 of 13 rows, which ROUGE-L of single sentences cannot be. That the authors used this weight,
which stands in the example of py-rouge's page, is inferred from that.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, require_lengths, signature_of
from espalier.metrics.rouge import NO_TOKENS, longest_common, stems_of
from espalier.metrics.texts import Pairs

#: py-rouge's `weight_factor`.
WEIGHT: Final = 1.2


def released_rouge_l(references: Sequence[str], hypotheses: Sequence[str]) -> Array:
    """Statistics of each segment, (segments, 2): F, and 1 if the segment counts, as in `rouge_statistics`.

    Raises:
        EspalierError: lists of different lengths.
    """
    require_lengths("references", len(references), hypotheses=hypotheses)
    rows = [_row(stems_of(one), stems_of(other)) for one, other in zip(references, hypotheses, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


@checked_call
class ReleasedRouge(Family[Pairs]):
    """ROUGE-L with precision and recall to the power 1 / 1.2."""

    name = "rouge_released"

    metrics = (
        Metric(
            "rouge_l_released",
            ratio(0, 1, scale=100.0),
            signature_of(
                "rouge", type="L", f="1", power=f"1/{WEIGHT}", mean="macro", tokens="alphanumeric", stems="porter",
                case="lower",
            ),
            undefined=NO_TOKENS,
        ),
    )  # fmt: skip

    def statistics(self, pairs: Pairs, /) -> Array:
        return released_rouge_l(pairs.references, pairs.hypotheses)


def _row(reference: list[str], hypothesis: list[str]) -> tuple[float, float]:
    longest = longest_common(reference, hypothesis)
    if not longest:
        return 0.0, float(bool(reference))
    precision, recall = ((longest / len(side)) ** (1 / WEIGHT) for side in (hypothesis, reference))
    return 2 * precision * recall / (precision + recall), 1.0
