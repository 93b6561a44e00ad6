"""Decoding of texts token by token under a constraint, by sampling or by beam search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Vocabulary
from espalier.datasets.vocabulary import BOS, EOS
from espalier.models.contract import ChainModel, State

if TYPE_CHECKING:
    from espalier.decoding.beam import Hypothesis
    from espalier.decoding.constraints.constraint import Constraint
    from espalier.tasks.compose_decoder import ComposeDecoder
    from espalier.tasks.verse_search import VerseDecoder

Batch_ = TypeVar("Batch_", bound=Batch)
State_ = TypeVar("State_", bound=State)
Rule_ = TypeVar("Rule_", bound=State)


def decode(
    model: ChainModel[Batch_, Vocabulary, object, State_],
    batch: Batch_,
    decoder: VerseDecoder | ComposeDecoder,
    seeds: Sequence[int],
    constraint: Constraint[Batch_, Rule_],
    max_ids: int,
) -> list[list[Hypothesis]]:
    """The texts for each prompt of a batch: one by sampling, with score NaN; at most `beam` by search."""
    from espalier.decoding import beam, sampling

    if decoder.method == "beam":
        return beam.beam_search(
            model, batch, beam=decoder.beam, max_ids=max_ids, begin=BOS, end=EOS,
            length_power=decoder.length_power, constraint=constraint,
        )  # fmt: skip
    texts = sampling.sample(
        model, batch, seeds=list(seeds), max_ids=max_ids, begin=BOS, end=EOS,
        top_k=decoder.top_k, temperature=decoder.temperature, constraint=constraint,
    )  # fmt: skip
    return [[beam.Hypothesis(ids, float("nan"), float("nan"))] for ids in texts]
