"""Top-k sampling (Fan et al. 2018) in batches; each sequence has its own seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Vocabulary
from espalier.decoding.beam import Hypothesis, may_ask
from espalier.decoding.constraints.constraint import REMEDY, Constrained, Constraint
from espalier.decoding.memory import chain_bytes, row_parts
from espalier.io.errors import ConfigError
from espalier.layers.linear import constant_weights
from espalier.models.contract import ChainModel, State

Batch_ = TypeVar("Batch_", bound=Batch)
State_ = TypeVar("State_", bound=State)
Rule_ = TypeVar("Rule_", bound=State)


def sample(
    model: ChainModel[Batch_, Vocabulary, object, State_],
    batch: Batch_,
    *,
    seeds: Sequence[int],
    max_ids: int,
    begin: int,
    end: int,
    top_k: int = 32,
    temperature: float = 1.0,
    constraint: Constraint[Batch_, Rule_] | None = None,
) -> list[list[int]]:
    """Sample one sequence for each row of `batch`: the tokens of `hypotheses`."""
    found = hypotheses(
        model, batch, seeds=seeds, max_ids=max_ids, begin=begin, end=end,
        top_k=top_k, temperature=temperature, constraint=constraint,
    )  # fmt: skip
    return [each.tokens for each in found]


def hypotheses(
    model: ChainModel[Batch_, Vocabulary, object, State_],
    batch: Batch_,
    *,
    seeds: Sequence[int],
    max_ids: int,
    begin: int,
    end: int,
    top_k: int = 32,
    temperature: float = 1.0,
    length_power: float = 0.0,
    constraint: Constraint[Batch_, Rule_] | None = None,
) -> list[Hypothesis]:
    """Sample the same number of sequences for each row of `batch`, those of a row one after the other.

    A sequence depends only on its row and its seed, not on other rows: at each step sequence i uses one uniform of
    a generator seeded with `seeds[i]`. Sequences that do not fit into memory together are sampled in parts.

    Args:
        seeds: a seed for each sequence.
        max_ids: the largest length; longer sequences are cut.
        begin, end: the ids before the first token and after the last.
        top_k: number of most probable tokens to draw from; 1 is greedy.
        temperature: the log-probabilities are divided by it.
        length_power: as in `beam_search`.

    Returns:
        The sequences, without `begin` and `end`. Their log-probabilities are the model's, as in `beam_search`: neither
        `top_k` nor `temperature` changes them.

    Raises:
        ConfigError: one sequence does not fit into memory, or no next token has a probability.
    """
    device = batch.device
    own_uniforms = uniforms(seeds, max_ids).to(device)
    drawn = _Drawn.start(len(seeds), max_ids, end, device)
    each = len(seeds) // max(1, len(batch))

    def write(rows: Tensor, state: State_, rule: Constrained[Rule_] | None) -> None:
        tokens = torch.full_like(rows, begin)
        going = torch.ones_like(rows, dtype=torch.bool)  # has not ended: an ended sequence stays for a while
        for step in range(max_ids):
            scores, state = model.step(tokens, state)
            if rule:
                scores = rule.masked(scores)
            tokens, possible = draw(scores, own_uniforms[rows, step], top_k, temperature)
            if rule:
                rule = rule.advance(tokens)
            drawn.tokens[rows, step] = tokens
            drawn.sums[rows] += scores.gather(1, tokens[:, None])[:, 0].where(going, 0.0)
            drawn.possible[rows] &= possible | ~going
            going &= tokens != end
            if not may_ask(device, step + 1):
                continue
            drawn.check()
            count = int(going.sum())
            if not count:
                break
            # Finished sequences are dropped when the saved computation outweighs the copying.
            if count <= 0.9 * len(rows):
                index = going.nonzero()[:, 0]
                rows, tokens, going, state = rows[index], tokens[index], going[index], state.select(index)
                rule = rule.select(index) if rule else None

    parts = row_parts(len(seeds), device, beam=1, each=chain_bytes(model, max_ids))
    with constant_weights():
        state = model.start(batch)
        rule = Constrained(constraint, constraint.start(batch)) if constraint else None
        for part in parts:
            own = part // each
            write(part, state.select(own), rule.select(own) if rule else None)
    return drawn.hypotheses(length_power)


def uniforms(seeds: Sequence[int], steps: int) -> Tensor:
    """(sequences, steps) float64 numbers from 0 to 1."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    return torch.stack([torch.rand(steps, generator=own, dtype=torch.float64) for own in generators])


@dataclass
class _Drawn:
    """The sequences so far, (sequences, longest) tokens.

    Attributes:
        end: the id after the last token.
        sums: (sequences,) log-probabilities.
        possible: (sequences,) False for a sequence to which no token could be added.
    """

    end: int
    tokens: Tensor
    sums: Tensor
    possible: Tensor

    @classmethod
    def start(cls, count: int, longest: int, end: int, device: torch.device) -> _Drawn:
        tokens = torch.full((count, longest), end, device=device)
        sums = torch.zeros(count, device=device)
        return cls(end, tokens, sums, torch.ones_like(sums, dtype=torch.bool))

    def check(self) -> None:
        """Raise ConfigError if there was no token for a sequence."""
        if not bool(self.possible.all()):
            what = "no next token has a probability: the constraint forbids all, or the model's scores are no numbers"
            raise ConfigError(what, where="sampling", remedy=REMEDY)

    def hypotheses(self, length_power: float) -> list[Hypothesis]:
        """The sequences, without their end marks."""
        self.check()
        longest = self.tokens.shape[1]
        rows = [row[: row.index(self.end)] if self.end in row else row for row in self.tokens.tolist()]
        # As in beam search, the end counts, which a sequence of the largest length may lack.
        lengths = [min(len(row) + 1, longest) for row in rows]
        return [
            Hypothesis(row, value, value / length**length_power)
            for row, length, value in zip(rows, lengths, self.sums.tolist(), strict=True)
        ]


def draw(scores: Tensor, uniform: Tensor, top_k: int, temperature: float) -> tuple[Tensor, Tensor]:
    """Draw (batch,) tokens from (batch, vocabulary) log-probabilities by (batch,) uniforms and inverse sampling.

    Returns:
        The tokens; (batch,) False where no token has a probability.
    """
    values, candidates = scores.topk(min(top_k, scores.shape[1]), dim=1)
    last = (values > -torch.inf).sum(1) - 1
    if top_k == 1:
        return candidates[:, 0], last >= 0
    mass = torch.softmax(values.double() / temperature, dim=1).cumsum(1)
    place = (mass < uniform[:, None] * mass[:, -1:]).sum(1).minimum(last).clamp(min=0)
    return candidates.gather(1, place[:, None])[:, 0], last >= 0
