"""Beam search over the chain contract, for whole batches of sources at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Vocabulary
from espalier.decoding.constraints.constraint import Constrained, Constraint
from espalier.decoding.memory import chain_bytes, row_parts
from espalier.layers.linear import constant_weights
from espalier.models.contract import ChainModel, State

Batch_ = TypeVar("Batch_", bound=Batch)
State_ = TypeVar("State_", bound=State)
Rule_ = TypeVar("Rule_", bound=State)

#: The tokens of a chunk in `best_sums`.
CHUNK = 64


@dataclass(frozen=True)
class Hypothesis:
    """A finished sequence with its log-probability and its ranking score."""

    tokens: list[int]
    log_probability: float
    score: float


def beam_search(
    model: ChainModel[Batch_, Vocabulary, object, State_],
    batch: Batch_,
    *,
    beam: int,
    max_ids: int,
    begin: int,
    end: int,
    min_ids: int = 0,
    length_power: float = 0.0,
    constraint: Constraint[Batch_, Rule_] | None = None,
) -> list[list[Hypothesis]]:
    """The `beam` best sequences for each row of `batch`, the best first, without `begin` and `end`.

    A row is done when it has `beam` finished sequences and no open sequence can overtake the worst of them. Rows that
    do not fit into memory together are searched in parts.

    Args:
        beam: the number of open sequences of a row.
        begin, end: the ids of BOS and EOS.
        constraint: masks the next tokens of each sequence.
        max_ids: the largest length, including `end`; a sequence of this length is finished without `end`.
        min_ids: the smallest length, excluding `end`; 0 allows an empty sequence.
        length_power: a sequence of n tokens, with `end`, is ranked by log-probability / n**length_power.

    Raises:
        ConfigError: the beams of one row do not fit into memory.
    """

    def search(rows: Tensor) -> list[list[Hypothesis]]:
        first = rows.repeat_interleave(beam)
        state = start.select(first)
        rule = start_rule.select(first) if start_rule else None
        open_ = _Open.start(len(rows), beam, begin, batch.device)
        finished: list[list[Hypothesis]] = [[] for _ in rows]
        for length in range(1, max_ids + 1):
            scores, state = model.step(open_.last.flatten(), state)
            if rule:
                scores = rule.masked(scores)
            if length <= min_ids:
                scores = scores.index_fill(1, torch.tensor([end], device=scores.device), -torch.inf)
            # At most `beam` of the 2 x beam candidates are end marks, one for each open sequence.
            best, parent, token = best_sums(open_.scores, scores, 2 * beam)
            ending = (token == end) | (length == max_ids)
            open_.collect(finished, best, parent, token, ending, beam, length, end, length_power)
            # Candidates that do not end come first, in their order.
            order = ending.long().sort(dim=1, stable=True).indices[:, :beam]
            best, parent, token = (part.gather(1, order) for part in (best, parent, token))
            best = best.masked_fill(ending.gather(1, order), -torch.inf)
            keep = open_.undone(finished, best, beam, max_ids, length_power)
            if not keep.any():
                break
            open_ = open_.advance(keep, best, parent, token)
            index = (keep.nonzero() * beam + parent[keep]).flatten()
            state = state.select(index)
            if rule:
                rule = rule.select(index).advance(open_.last.flatten())
        return [sorted(row, key=lambda hypothesis: -hypothesis.score)[:beam] for row in finished]

    parts = row_parts(len(batch), batch.device, beam=beam, each=chain_bytes(model, max_ids))
    with constant_weights():
        start = model.start(batch)
        start_rule = Constrained(constraint, constraint.start(batch)) if constraint else None
        return [row for part in parts for row in search(part)]


def best_sums(past: Tensor, scores: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The `count` largest sums past[row, beam] + scores[row * beams + beam, token] of each row, the largest first.

    `Tensor.topk` over all beams x tokens of a row would take half as long as the model. All of the best sums lie in the
    `count` chunks with the largest maxima, so `topk` reads only these chunks.

    Args:
        past: (rows, beams).
        scores: (rows * beams, tokens), contiguous.

    Returns:
        The sums, their beams and their tokens, (rows, count) each; fewer columns if there are fewer sums.
    """
    (rows, beams), size = past.shape, scores.shape[1]
    whole, rest = scores.split([size - size % CHUNK, size % CHUNK], dim=1)
    maxima = whole.unflatten(1, (size // CHUNK, CHUNK)).amax(-1)
    if rest.shape[1]:
        maxima = torch.cat([maxima, rest.amax(-1, keepdim=True)], dim=1)
    per_beam = maxima.shape[1]
    peaks = (past.flatten()[:, None] + maxima).view(rows, -1)
    chunk = peaks.topk(min(count, peaks.shape[1]), dim=1).indices[..., None]
    parent = (chunk // per_beam).expand(-1, -1, CHUNK).flatten(1)
    token = (chunk % per_beam * CHUNK + torch.arange(CHUNK, device=chunk.device)).flatten(1)
    beyond, token = token >= size, token.clamp(max=size - 1)
    sums = scores.view(rows, -1).gather(1, parent * size + token) + past.gather(1, parent)
    best, place = sums.masked_fill(beyond, -torch.inf).topk(min(count, beams * size), dim=1)
    return best, parent.gather(1, place), token.gather(1, place)


@dataclass
class _Open:
    """The open sequences of the unfinished rows, (rows, beam) each; `tokens` is (rows, beam, time)."""

    rows: list[int]
    scores: Tensor
    last: Tensor
    tokens: Tensor

    @classmethod
    def start(cls, count: int, beam: int, begin: int, device: torch.device) -> _Open:
        scores = torch.full((count, beam), -torch.inf, device=device)
        scores[:, 0] = 0.0  # all beams start with the same prefix, so only one is expanded
        tokens = torch.zeros(count, beam, 0, dtype=torch.long, device=device)
        return cls(list(range(count)), scores, torch.full((count, beam), begin, device=device), tokens)

    def collect(
        self,
        finished: list[list[Hypothesis]],
        best: Tensor,
        parent: Tensor,
        token: Tensor,
        ending: Tensor,
        beam: int,
        length: int,
        end: int,
        power: float,
    ) -> None:
        """Move candidates that end, among the best `beam`, to the finished sequences."""
        good = ending & (best > -torch.inf)
        good[:, beam:] = False
        for row, place in good.nonzero().tolist():
            tokens = self.tokens[row, parent[row, place]].tolist()
            if int(token[row, place]) != end:
                tokens.append(int(token[row, place]))
            value = float(best[row, place])
            finished[self.rows[row]].append(Hypothesis(tokens, value, value / length**power))

    def undone(self, finished: list[list[Hypothesis]], best: Tensor, beam: int, max_ids: int, power: float) -> Tensor:
        """(rows,) bool: whether an open sequence can still enter the best `beam` of its row."""
        # Log-probabilities do not rise: the final score of an open sequence is at most its own / max_ids**power.
        bound = best[:, 0] / max_ids**power
        scores = [_score_to_beat(finished[row], beam) for row in self.rows]
        return (best[:, 0] > -torch.inf) & (bound > torch.tensor(scores, dtype=bound.dtype, device=bound.device))

    def advance(self, keep: Tensor, best: Tensor, parent: Tensor, token: Tensor) -> _Open:
        """Extend the kept rows by one token."""
        path = self.tokens.gather(1, parent[..., None].expand(-1, -1, self.tokens.shape[2]))
        tokens = torch.cat([path, token[..., None]], dim=2)[keep]
        rows = [row for row, is_kept in zip(self.rows, keep.tolist(), strict=True) if is_kept]
        return _Open(rows, best[keep], token[keep], tokens)


def _score_to_beat(finished: list[Hypothesis], beam: int) -> float:
    """The score of the last of the best `beam` hypotheses; -inf if there are fewer."""
    scores = sorted((hypothesis.score for hypothesis in finished), reverse=True)
    return scores[beam - 1] if len(scores) >= beam else -float("inf")
