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
from espalier.layers.shared_memory import shared_pasts
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
    best: int | None = None,
    constraint: Constraint[Batch_, Rule_] | None = None,
) -> list[list[Hypothesis]]:
    """The `best` sequences for each row of `batch`, the best first, without `begin` and `end`.

    A row is done when it has `best` finished sequences and no open sequence can overtake the worst of them: fewer are
    the same as the first of more, and found sooner. Rows that do not fit into memory together are searched in parts.

    Args:
        beam: the number of open sequences of a row.
        begin, end: the ids of BOS and EOS.
        constraint: masks the next tokens of each sequence.
        max_ids: the largest length, including `end`; a sequence of this length is finished without `end`.
        min_ids: the smallest length, excluding `end`; 0 allows an empty sequence.
        length_power: a sequence of n tokens, with `end`, is ranked by log-probability / n**length_power.
        best: the number of sequences wanted; None for `beam`.

    Raises:
        ConfigError: the beams of one row do not fit into memory.
    """
    wanted = best or beam

    def search(rows: Tensor) -> list[list[Hypothesis]]:
        first = rows.repeat_interleave(beam)
        with shared_pasts():
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
            sums, parent, token = best_sums(open_.scores, scores, 2 * beam)
            ending = (token == end) | (length == max_ids)
            open_.collect(finished, sums, parent, token, ending, beam, length, end, length_power)
            # Candidates that do not end come first.
            order = ending.long().sort(dim=1, stable=True).indices[:, :beam]
            sums, parent, token = (part.gather(1, order) for part in (sums, parent, token))
            sums = sums.masked_fill(ending.gather(1, order), -torch.inf)
            keep = open_.undone(finished, sums, wanted, max_ids, length_power)
            if not keep.any():
                break
            kept = _without_holes(keep)
            open_ = open_.advance(kept, sums, parent, token)
            index = (kept[:, None] * beam + parent[kept]).flatten()
            state = state.select(index)
            if rule:
                rule = rule.select(index).advance(open_.last.flatten())
        return [sorted(row, key=lambda hypothesis: -hypothesis.score)[:wanted] for row in finished]

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


def _without_holes(keep: Tensor) -> Tensor:
    """The kept rows, (rows,) bool, as indices in such an order that the last of them fill the places of the others."""
    count = int(keep.sum())
    kept = torch.arange(count, device=keep.device)
    kept[~keep[:count]] = count + keep[count:].nonzero()[:, 0]
    return kept


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
        rows, places = good.nonzero().unbind(1)
        if not len(rows):
            return
        paths = torch.cat([self.tokens[rows, parent[rows, places]], token[rows, places, None]], dim=1).tolist()
        for row, tokens, value in zip(rows.tolist(), paths, best[rows, places].tolist(), strict=True):
            if tokens[-1] == end:
                tokens.pop()
            finished[self.rows[row]].append(Hypothesis(tokens, value, value / length**power))

    def undone(self, finished: list[list[Hypothesis]], sums: Tensor, wanted: int, max_ids: int, power: float) -> Tensor:
        """(rows,) bool: whether an open sequence can still enter the best `wanted` of its row."""
        # Log-probabilities do not rise: the final score of an open sequence is at most its own / max_ids**power.
        largest = sums.amax(1)
        bound = largest / max_ids**power
        scores = [_score_to_beat(finished[row], wanted) for row in self.rows]
        return (largest > -torch.inf) & (bound > torch.tensor(scores, dtype=bound.dtype, device=bound.device))

    def advance(self, kept: Tensor, sums: Tensor, parent: Tensor, token: Tensor) -> _Open:
        """Extend the rows `kept` by one token."""
        path = self.tokens.gather(1, parent[..., None].expand(-1, -1, self.tokens.shape[2]))
        tokens = torch.cat([path, token[..., None]], dim=2)[kept]
        return _Open([self.rows[row] for row in kept.tolist()], sums[kept], token[kept], tokens)


def _score_to_beat(finished: list[Hypothesis], wanted: int) -> float:
    """The score of the last of the best `wanted` hypotheses; -inf if there are fewer."""
    if len(finished) < wanted:
        return -float("inf")
    return sorted((hypothesis.score for hypothesis in finished), reverse=True)[wanted - 1]
