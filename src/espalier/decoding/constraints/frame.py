"""Constraints for verse without rhyme: bounded length, the tokens and tones of a frame, and repeated lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.constraints.constraint import Constraint
from espalier.decoding.constraints.places import COPIED, SIGN_OF, Places, as_bias, fitting, unmet
from espalier.verse.sounds import Sounds


@dataclass
class MaximumLengthState:
    """The current place of a batch of prefixes, and the length of each prefix's frame, (prefixes,)."""

    time: int
    lengths: Tensor

    def select(self, index: Tensor) -> MaximumLengthState:
        """The rows `index`."""
        return MaximumLengthState(self.time, self.lengths[index])


class MaximumLength:
    """Allow words, marks, separators and EOS, up to `slack` tokens more than the frame has."""

    def __init__(self, vocabulary: VerseVocabulary, slack: int) -> None:
        self.slack = slack
        self.free = torch.ones(vocabulary.text_size, dtype=torch.bool)
        self.free[[PAD, UNK, BOS]] = False
        self.end = torch.zeros(vocabulary.text_size, dtype=torch.bool)
        self.end[EOS] = True

    def start(self, batch: VerseBatch) -> MaximumLengthState:
        """The state at the first place of all frames."""
        return MaximumLengthState(0, (batch.c != PAD).sum(1) - 1)

    def mask(self, state: MaximumLengthState) -> Tensor:
        """Allow any word, mark, separator or EOS; at the largest length only EOS."""
        over = state.time >= state.lengths + self.slack
        free = self.free.to(over.device).expand(len(over), -1)
        return torch.where(over[:, None], self.end.to(over.device), free) if bool(over.any()) else free

    def advance(self, tokens: Tensor, state: MaximumLengthState) -> MaximumLengthState:
        """The state at the next place."""
        return replace(state, time=state.time + 1)


@dataclass
class FrameState:
    """The current place of a batch of prefixes.

    Attributes:
        places: the places of the frames.
        frame: (prefixes,) index of each prefix's frame.
        bias: (kinds, text size) 0 for words that fit a kind of place, -inf for others.
    """

    time: int
    places: Places
    frame: Tensor
    bias: Tensor

    def select(self, index: Tensor) -> FrameState:
        """The rows `index`."""
        return replace(self, frame=self.frame[index])

    @property
    def place(self) -> int:
        """The current column of the frames; past their end, the last column."""
        return min(self.time, len(self.places.kind) - 1)

    @property
    def kind(self) -> Tensor:
        """(prefixes,) kind of the current place."""
        return self.places.kind[self.place].index_select(0, self.frame)

    @property
    def token(self) -> Tensor:
        """(prefixes,) token to copy from the frame; `PAD` at blanks."""
        return self.places.token[self.place].index_select(0, self.frame)


class FrameConstraint:
    """Copy the frame's own tokens, and fill its blanks with words of the required tone.

    Args:
        marks: whether marks of the frame are copied; else they are blanks.
        sounds: whether tones are constrained, and the book that defines them.
        rhymes_only: whether the tones of rhyme places alone are.
    """

    def __init__(
        self, vocabulary: VerseVocabulary, marks: bool, sounds: Sounds | None = None, *, rhymes_only: bool = False
    ) -> None:
        self.vocabulary, self.marks, self.rhymes_only = vocabulary, marks, rhymes_only
        self.sounds = sounds or Sounds(vocabulary.language)
        self.fits = fitting(vocabulary, marks, self.sounds)
        self.bias = as_bias(self.fits)

    def start(self, batch: VerseBatch) -> FrameState:
        """The state at the first place of all frames.

        Raises:
            ConfigError: no word of the vocabulary fits a place.
        """
        marks = None if self.marks else self.vocabulary.mark_ids
        places = Places.of(batch, self.vocabulary.text_size, marks, self.sounds.tone, rhymes_only=self.rhymes_only)
        empty = [kind for kind in range(COPIED) if not self.fits[kind].any()]
        for kind in empty:
            for row, time in places.kind.T.eq(kind).nonzero().tolist():
                what = (
                    "this model has no word"
                    if kind not in SIGN_OF
                    else f"no word of this model has the tone {SIGN_OF[kind]}"
                )
                raise unmet(what, batch, row, time)
        rows = torch.arange(len(batch), device=batch.device)
        return FrameState(0, places, rows, self.bias.to(batch.device))

    def mask(self, state: FrameState) -> Tensor:
        """(prefixes, text size) 0 for words that fit a blank and for the frame's own token, -inf for others."""
        kind = state.kind
        return copied(state.bias.index_select(0, kind), kind, state.token)

    def advance(self, tokens: Tensor, state: FrameState) -> FrameState:
        """The state at the next place."""
        return replace(state, time=state.time + 1)


def copied(bias: Tensor, kind: Tensor, token: Tensor) -> Tensor:
    """Allow the frame's own token where it is copied. `bias` is changed in place."""
    own = torch.where(kind == COPIED, 0.0, -torch.inf)  # at blanks the token is PAD, which never fits
    return bias.scatter_(1, token[:, None], own[:, None])


@dataclass
class CopyState:
    """The state of a batch of prefixes.

    Attributes:
        inside: the state of the other constraints.
        source: (time, frames) the place that is repeated at each place, -1 for none.
        repeats: for each time whether any frame repeats a word there.
        frame: (prefixes,) index of each prefix's frame.
        written: (prefixes, length) the tokens so far.
    """

    inside: Any
    source: Tensor
    repeats: list[bool]
    frame: Tensor
    written: Tensor

    def select(self, index: Tensor) -> CopyState:
        """The rows `index`."""
        inside = self.inside.select(index)
        return replace(self, inside=inside, frame=self.frame[index], written=self.written[index])


class CopyConstraint:
    """Like another constraint; in addition, words are repeated where the frames repeat them (`Frame.copy`).

    The other constraint asks nothing of repeated places, and their sources satisfy what is asked for at either.
    """

    def __init__(self, inside: Constraint[VerseBatch, Any]) -> None:
        self.inside = inside

    def start(self, batch: VerseBatch) -> CopyState:
        """The state before the first token."""
        source = batch.copy.T.contiguous()
        rows = torch.arange(len(batch), device=batch.device)
        written = torch.empty(len(batch), 0, dtype=torch.long, device=batch.device)
        return CopyState(self.inside.start(batch), source, (source >= 0).any(1).tolist(), rows, written)

    def mask(self, state: CopyState) -> Tensor:
        """(prefixes, text size) the mask of the other constraint; at repeated places, of the repeated word alone."""
        mask, time = self.inside.mask(state.inside), state.written.shape[1]
        if time >= len(state.repeats) or not state.repeats[time]:
            return mask
        source = state.source[time].index_select(0, state.frame)
        word = state.written.gather(1, source.clamp(min=0)[:, None])
        alone = torch.full_like(mask, -torch.inf).scatter_(1, word, 0.0)
        return torch.where(source[:, None] >= 0, alone, mask)

    def advance(self, tokens: Tensor, state: CopyState) -> CopyState:
        """The state after one more token."""
        written = torch.cat([state.written, tokens[:, None]], dim=1)
        return replace(state, inside=self.inside.advance(tokens, state.inside), written=written)
