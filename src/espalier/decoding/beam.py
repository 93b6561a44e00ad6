"""Beam search over the chain contract, for whole batches of sources at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor

from espalier.datasets.batch import Batch
from espalier.datasets.encoding import Vocabulary
from espalier.decoding.constraints.constraint import Constrained, Constraint
from espalier.decoding.memory import chain_bytes, row_parts
from espalier.layers.linear import constant_weights
from espalier.layers.shared_memory import all_sources, shared_pasts
from espalier.models.contract import ChainModel, State

Batch_ = TypeVar("Batch_", bound=Batch)
State_ = TypeVar("State_", bound=State)
Rule_ = TypeVar("Rule_", bound=State)

#: The tokens of a chunk in `best_sums`.
CHUNK: Final = 64
#: The steps between two questions of the host to a device that computes ahead of it.
STEPS: Final = 16


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
        finished = _Finished.start(len(rows), wanted, max_ids, length_power, batch.device)
        open_ = _Open.start(len(rows), beam, begin, batch.device)
        ends = torch.full((1,), end, device=batch.device)
        for length in range(1, max_ids + 1):
            scores, state = model.step(open_.last.flatten(), state)
            if rule:
                scores = rule.masked(scores)
            if length <= min_ids:
                scores = scores.index_fill(1, ends, -torch.inf)
            # At most `beam` of the 2 x beam candidates are end marks, one for each open sequence.
            sums, parent, token = best_sums(open_.scores, scores, 2 * beam)
            ending = (token == end) | (length == max_ids)
            # Sums that are no numbers compare false.
            ended = sums.where(ending & (sums > -torch.inf), -torch.inf)[:, :beam]
            asks = may_ask(batch.device, length)
            if not asks or (ended > -torch.inf).any():
                finished.add(open_.rows, ended, open_.paths(parent[:, :beam], token[:, :beam]))
            if length == max_ids:
                break
            # Candidates that do not end come first.
            order = ending.long().sort(dim=1, stable=True).indices[:, :beam]
            sums, parent, token = (part.gather(1, order) for part in (sums, parent, token))
            sums = sums.masked_fill(ending.gather(1, order), -torch.inf)
            kept = None
            if asks:
                undone = finished.undone(open_.rows, sums)
                if not undone.any():
                    break
                kept = None if undone.all() else _without_holes(undone)
            open_, index = open_.advance(kept, sums, parent, token)
            with all_sources(not asks):
                state = state.select(index)
            if rule:
                rule = rule.select(index).advance(open_.last.flatten())
        return finished.hypotheses(end)

    parts = row_parts(len(batch), batch.device, beam=beam, each=chain_bytes(model, max_ids))
    with constant_weights():
        start = model.start(batch)
        start_rule = Constrained(constraint, constraint.start(batch)) if constraint else None
        return [row for part in parts for row in search(part)]


def may_ask(device: torch.device, step: int) -> bool:
    """Whether the host may read a value of a device after a step, for which it waits. A CPU never computes ahead."""
    return device.type == "cpu" or step % STEPS == 0


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
    """The open sequences of the unfinished rows, (rows, beam) each; `tokens` is (rows, beam, time).

    Attributes:
        rows: (rows,) their indices in the batch.
        last: the last token, or the first.
    """

    rows: Tensor
    scores: Tensor
    last: Tensor
    tokens: Tensor

    @classmethod
    def start(cls, count: int, beam: int, begin: int, device: torch.device) -> _Open:
        scores = torch.full((count, beam), -torch.inf, device=device)
        scores[:, 0] = 0.0  # all beams start with the same prefix, so only one is expanded
        tokens = torch.zeros(count, beam, 0, dtype=torch.long, device=device)
        return cls(torch.arange(count, device=device), scores, torch.full((count, beam), begin, device=device), tokens)

    def paths(self, parent: Tensor, token: Tensor) -> Tensor:
        """(rows, n, time + 1) the sequences `parent`, (rows, n), and a token for each."""
        path = self.tokens.gather(1, parent[..., None].expand(-1, -1, self.tokens.shape[2]))
        return torch.cat([path, token[..., None]], dim=2)

    def advance(self, kept: Tensor | None, sums: Tensor, parent: Tensor, token: Tensor) -> tuple[_Open, Tensor]:
        """Extend sequences by one token.

        Args:
            kept: the rows that go on; None for all.

        Returns:
            The longer sequences; their indices among all open sequences.
        """
        rows, beam = self.scores.shape
        first = beam * torch.arange(rows, device=parent.device)[:, None]
        parts = (self.rows, sums, token, self.paths(parent, token), first + parent)
        rows_, scores, last, tokens, index = parts if kept is None else (part[kept] for part in parts)
        return _Open(rows_, scores, last, tokens), index.flatten()


@dataclass
class _Finished:
    """The best finished sequences of each row, the best first, (rows, wanted) each. Padding has the score -inf.

    Attributes:
        power: the length power.
        sums: log-probabilities, float64, as scores are.
        tokens: (rows, wanted, longest), -1 after the end.
    """

    power: float
    sums: Tensor
    scores: Tensor
    tokens: Tensor

    @classmethod
    def start(cls, rows: int, wanted: int, longest: int, power: float, device: torch.device) -> _Finished:
        scores = torch.full((rows, wanted), -torch.inf, dtype=torch.float64, device=device)
        tokens = torch.full((rows, wanted, longest), -1, device=device)
        return cls(power, scores.clone(), scores, tokens)

    def add(self, rows: Tensor, sums: Tensor, tokens: Tensor) -> None:
        """Add sequences that have ended.

        Args:
            rows: (n,) their rows.
            sums: (n, sequences) log-probabilities; -inf for a sequence that has not ended.
            tokens: (n, sequences, length).
        """
        length, longest, sums = tokens.shape[2], self.tokens.shape[2], sums.double()
        scores = torch.cat([self.scores[rows], sums / length**self.power], dim=1)
        # Of equal scores the first one that was found is the better one.
        scores, order = (part[:, : self.scores.shape[1]] for part in scores.sort(dim=1, descending=True, stable=True))
        every = torch.cat([self.tokens[rows], F.pad(tokens, (0, longest - length), value=-1)], dim=1)
        self.sums[rows] = torch.cat([self.sums[rows], sums], dim=1).gather(1, order)
        self.tokens[rows] = every.gather(1, order[..., None].expand(-1, -1, longest))
        self.scores[rows] = scores

    def undone(self, rows: Tensor, sums: Tensor) -> Tensor:
        """(rows,) bool: whether an open sequence, of log-probability `sums`, can still become one of the best."""
        # Log-probabilities do not rise: the final score of an open sequence is at most its own / longest**power.
        largest = sums.amax(1)
        bound = largest / self.tokens.shape[2] ** self.power
        return (largest > -torch.inf) & (bound > self.scores[rows, -1].to(bound.dtype))

    def hypotheses(self, end: int) -> list[list[Hypothesis]]:
        """The sequences, without their end marks."""
        return [
            [
                Hypothesis([token for token in tokens if token not in (end, -1)], value, score)
                for value, score, tokens in zip(*row, strict=True)
                if score > -torch.inf
            ]
            for row in zip(self.sums.tolist(), self.scores.tolist(), self.tokens.tolist(), strict=True)
        ]
