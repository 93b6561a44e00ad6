"""Constraints for verse without rhyme: bounded length; the tokens, tones and repeated lines of a frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.constraints.places import COPIED, TONES, Places, as_bias, fitting, plans_of, unmet
from espalier.verse.sounds import Sounds


@dataclass
class MaximumLengthState:
    """The current place of a batch of prefixes.

    Attributes:
        longest: (prefixes,) the largest length of each, without the end mark.
        bias: (2, text size) 0 for what is allowed, -inf for others: before the largest length, and at it.
    """

    time: int
    longest: Tensor
    bias: Tensor

    def select(self, index: Tensor) -> MaximumLengthState:
        """The rows `index`."""
        return replace(self, longest=self.longest[index])


class MaximumLength:
    """Allow words, marks, separators and EOS, up to `slack` tokens more than the frame has."""

    def __init__(self, vocabulary: VerseVocabulary, slack: int) -> None:
        self.slack = slack
        allowed = np.zeros((2, vocabulary.text_size), dtype=np.bool_)
        allowed[0], allowed[:, EOS] = True, True
        allowed[0, [PAD, UNK, BOS]] = False
        self.bias = as_bias(allowed)

    def start(self, batch: VerseBatch) -> MaximumLengthState:
        """The state at the first place of all frames."""
        return MaximumLengthState(0, (batch.c != PAD).sum(1) - 1 + self.slack, self.bias.to(batch.device))

    def mask(self, state: MaximumLengthState) -> Tensor:
        """Allow any word, mark, separator or EOS; at the largest length only EOS."""
        return state.bias.index_select(0, (state.time >= state.longest).long())

    def advance(self, tokens: Tensor, state: MaximumLengthState) -> MaximumLengthState:
        """The state at the next place."""
        return replace(state, time=state.time + 1)


@dataclass
class FrameState:
    """The current place of a batch of prefixes.

    Attributes:
        places: the places of the plans.
        frame: (prefixes,) index of the plan of each prefix's frame.
        bias: (kinds, text size) 0 for words that fit a kind of place, -inf for others.
        written: (prefixes, time) the tokens so far, if any frame repeats one; else (prefixes, 0).
    """

    time: int
    places: Places
    frame: Tensor
    bias: Tensor
    written: Tensor

    def select(self, index: Tensor) -> FrameState:
        """The rows `index`."""
        return replace(self, frame=self.frame[index], written=self.written[index])

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
        """(prefixes,) token to copy from the frame, or from the place that is repeated; `PAD` at blanks."""
        token = self.places.token[self.place].index_select(0, self.frame)
        if not self.places.repeats[self.place]:
            return token
        source = self.places.source[self.place].index_select(0, self.frame)
        return torch.where(source < 0, token, self.written.gather(1, source.clamp(min=0)[:, None])[:, 0])


class FrameConstraint:
    """Copy the frame's own tokens and the words that it repeats, and fill its blanks with words of the required tone.

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

    def start(self, batch: VerseBatch, *, rhyme: bool = False) -> FrameState:
        """The state at the first place of all frames.

        Args:
            rhyme: whether the plans of the frames have their rhyme letters.

        Raises:
            ConfigError: no word of the vocabulary fits a place.
        """
        plans, frames = plans_of(
            batch, self.vocabulary, self.sounds, marks=self.marks, rhyme=rhyme, rhymes_only=self.rhymes_only
        )
        places = Places.of(plans, frames, self.vocabulary, batch.device)
        for kind, tone in enumerate(TONES):
            if not self.fits[kind].any() and (empty := places.kind.T.eq(kind).nonzero().tolist()):
                what = f"no word of this model has the tone {tone}" if tone else "this model has no word"
                raise unmet(what, places, *empty[0])
        frame = torch.tensor(frames, device=batch.device)
        return FrameState(0, places, frame, self.bias.to(batch.device), frame.new_empty(len(frames), 0))

    def mask(self, state: FrameState) -> Tensor:
        """(prefixes, text size) 0 for words that fit a blank and for the frame's own token, -inf for others."""
        kind = state.kind
        return copied(state.bias.index_select(0, kind), kind, state.token)

    def advance(self, tokens: Tensor, state: FrameState) -> FrameState:
        """The state at the next place."""
        repeats = any(state.places.repeats)
        written = torch.cat([state.written, tokens[:, None]], dim=1) if repeats else state.written
        return replace(state, time=state.time + 1, written=written)


def copied(bias: Tensor, kind: Tensor, token: Tensor) -> Tensor:
    """Allow the frame's own token where it is copied. `bias` is changed in place."""
    own = torch.where(kind == COPIED, 0.0, -torch.inf)  # at blanks the token is PAD, which never fits
    return bias.scatter_(1, token[:, None], own[:, None])
