"""A constraint for texts in word pieces: given words occur in the text, in order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from espalier.datasets.batch import Batch
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.io.errors import ConfigError

_NEVER_DUE = 2**30


@dataclass(frozen=True)
class GivenWord:
    """A word that must occur in a text.

    Attributes:
        place: number of words before it.
        pieces: ids of its pieces. The first piece is one that begins a word.
    """

    place: int
    pieces: Sequence[int]


@dataclass
class WordState:
    """The state of a batch of prefixes.

    Attributes:
        time: number of ids so far.
        words: (batch,) number of words begun.
        given: (batch,) number of given words that are complete.
        inside: (batch,) number of written pieces of the next given word.
        whole: (batch,) whether the current word may not be continued: at the start, and after a given word.
        places: (batch, k + 1) places of the given words; 2**30 after the last.
        pieces: (batch, k + 1, m) pieces of the given words, padded with PAD.
        lengths: (batch, k + 1) number of pieces of each; 0 after the last.
        needs: (batch, k + 1) number of pieces of each and of all later ones.
    """

    time: int
    words: Tensor
    given: Tensor
    inside: Tensor
    whole: Tensor
    places: Tensor
    pieces: Tensor
    lengths: Tensor
    needs: Tensor

    def select(self, index: Tensor) -> Self:
        """The rows `index`."""
        names = ("words", "given", "inside", "whole", "places", "pieces", "lengths", "needs")
        return replace(self, **{name: getattr(self, name)[index] for name in names})


class GivenWords:
    """Each given word occurs whole, in the given order. PAD, UNK and BOS are never allowed.

    A given word is written after as many words as its place says, or earlier if it would not fit otherwise. The text
    cannot end before all given words are written.

    Args:
        words: the given words of each row of a batch, in the order of the text; places must not decrease.
        starts: for each id, whether it begins a word.
        max_ids: the largest number of ids, EOS included; `beam_search` must allow at least as many.

    Raises:
        ConfigError: the words of a row do not fit.
    """

    def __init__(self, words: Sequence[Sequence[GivenWord]], starts: Sequence[bool], max_ids: int) -> None:
        for number, row in enumerate(words, start=1):
            if (total := sum(len(word.pieces) for word in row)) >= max_ids:
                raise ConfigError(
                    f"the given words take {total} pieces", where=f"row {number}", remedy=f"at most {max_ids - 1}"
                )
        self.words, self.max_ids = words, max_ids
        self.starts = torch.tensor(starts)

    def start(self, batch: Batch) -> WordState:
        """The state before the first piece. `batch` has one row for each entry of `words`."""
        most = max((len(row) for row in self.words), default=0)
        longest = max((len(word.pieces) for row in self.words for word in row), default=0)
        places = torch.full((len(self.words), most + 1), _NEVER_DUE)
        pieces = torch.full((len(self.words), most + 1, longest + 1), PAD)
        lengths = torch.zeros(len(self.words), most + 1, dtype=torch.long)
        for row, words in enumerate(self.words):
            for number, word in enumerate(words):
                places[row, number], lengths[row, number] = word.place, len(word.pieces)
                pieces[row, number, : len(word.pieces)] = torch.tensor(word.pieces)
        needs = lengths.flip(1).cumsum(1).flip(1)
        none = torch.zeros(len(self.words), dtype=torch.long)
        parts = (none, none, none, none == 0, places, pieces, lengths, needs)
        return WordState(0, *(part.to(batch.device) for part in parts))

    def mask(self, state: WordState) -> Tensor:
        """Allow the next piece of an unfinished given word, else the first piece of a due word, else a continuation."""
        starts, (due, room) = self.starts.to(state.words.device), self._due(state)
        ids = torch.arange(len(starts), device=starts.device)
        begins = starts | (ids == EOS)
        allowed = torch.where(state.whole[:, None], begins, ids > UNK) & (ids != PAD) & (ids != UNK) & (ids != BOS)
        left = state.lengths.gather(1, state.given[:, None])[:, 0] > 0
        allowed &= ~(left[:, None] & (ids == EOS))
        # Where no room is left besides, not even the word before is continued.
        only = (state.inside > 0) | (due & (room <= 0))
        allowed &= ~(due[:, None] & begins) & ~only[:, None]
        return allowed | ((due | (state.inside > 0))[:, None] & (ids == self._next(state)[:, None]))

    def advance(self, tokens: Tensor, state: WordState) -> WordState:
        """The state after one more piece."""
        due, _ = self._due(state)
        follows = (state.inside > 0) | (due & (tokens == self._next(state)))
        inside = torch.where(follows, state.inside + 1, 0)
        whole = follows & (inside == state.lengths.gather(1, state.given[:, None])[:, 0])
        return replace(
            state,
            time=state.time + 1,
            words=state.words + self.starts.to(tokens.device)[tokens],
            given=state.given + whole,
            inside=inside.masked_fill(whole, 0),
            whole=whole,
        )

    def _due(self, state: WordState) -> tuple[Tensor, Tensor]:
        """(batch,) whether the next given word must begin now, and how many other ids still fit."""
        row = state.given[:, None]
        room = self.max_ids - state.time - 1 - (state.needs.gather(1, row)[:, 0] - state.inside)
        left = state.lengths.gather(1, row)[:, 0] > 0
        due = left & (state.inside == 0) & ((state.words >= state.places.gather(1, row)[:, 0]) | (room <= 0))
        return due, room

    def _next(self, state: WordState) -> Tensor:
        """(batch,) next piece of the next given word; PAD if there is none."""
        rows = torch.arange(len(state.given), device=state.given.device)
        return state.pieces[rows, state.given, state.inside]
