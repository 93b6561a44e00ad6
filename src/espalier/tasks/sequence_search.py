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
    from espalier.tasks.dialogue_decoder import DialogueDecoder
    from espalier.tasks.verse_search import VerseDecoder

Batch_ = TypeVar("Batch_", bound=Batch)
State_ = TypeVar("State_", bound=State)
Rule_ = TypeVar("Rule_", bound=State)


def decode(
    model: ChainModel[Batch_, Vocabulary, object, State_],
    batch: Batch_,
    decoder: VerseDecoder | ComposeDecoder | DialogueDecoder,
    seeds: Sequence[int],
    constraint: Constraint[Batch_, Rule_],
    max_ids: int,
    min_ids: int = 0,
) -> list[list[Hypothesis]]:
    """The texts for each row of a batch: at most `beam` by search, or samples, in the order in which they are drawn.

    Args:
        seeds: those of the samples, equally many for each row.
        max_ids, min_ids: as in `beam_search`; a sample may be shorter.
    """
    from espalier.decoding import beam, sampling

    if decoder.method == "beam":
        return beam.beam_search(
            model, batch, beam=decoder.beam, max_ids=max_ids, begin=BOS, end=EOS, min_ids=min_ids,
            length_power=decoder.length_power, constraint=constraint,
        )  # fmt: skip
    drawn = sampling.hypotheses(
        model, batch, seeds=seeds, max_ids=max_ids, begin=BOS, end=EOS, top_k=decoder.top_k,
        temperature=decoder.temperature, length_power=decoder.length_power, constraint=constraint,
    )  # fmt: skip
    each = len(drawn) // max(1, len(batch))
    return [drawn[place * each : (place + 1) * each] for place in range(len(batch))]
