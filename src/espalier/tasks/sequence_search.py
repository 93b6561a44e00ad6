"""Decoding of texts token by token under a constraint, by sampling or by beam search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from espalier.datasets.vocabulary import BOS, EOS

if TYPE_CHECKING:
    from espalier.decoding.beam import Hypothesis
    from espalier.decoding.constraints.constraint import Constraint


def prefixes(decoder: Any) -> int:
    """The number of prefixes that the search keeps per prompt: the beam size; 1 for sampling."""
    return int(decoder.beam) if decoder.method == "beam" else 1


def decode(
    model: Any, batch: Any, decoder: Any, seeds: Sequence[int], constraint: Constraint, max_ids: int
) -> list[list[Hypothesis]]:
    """The texts for each prompt of a batch: one by sampling, with score NaN; at most `beam` by search.

    Args:
        decoder: settings with `method` ("top_k" or "beam"), `top_k`, `temperature`, `beam` and `length_power`.
    """
    from espalier.decoding.beam import Hypothesis, beam_search
    from espalier.decoding.sampling import sample

    if decoder.method == "beam":
        return beam_search(
            model, batch, beam=decoder.beam, max_ids=max_ids, begin=BOS, end=EOS,
            length_power=decoder.length_power, constraint=constraint,
        )  # fmt: skip
    texts = sample(
        model, batch, seeds=list(seeds), max_ids=max_ids, begin=BOS, end=EOS,
        top_k=decoder.top_k, temperature=decoder.temperature, constraint=constraint,
    )  # fmt: skip
    return [[Hypothesis(ids, float("nan"), float("nan"))] for ids in texts]
