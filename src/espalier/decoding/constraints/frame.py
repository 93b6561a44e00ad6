"""Constraints for verse: bounded length, the tokens of a frame, and one rhyme group for each rhyme letter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK
from espalier.verse.rhyme import group_ids


@dataclass
class FrameState:
    """The place in the frame of each row of a batch."""

    time: int
    c: Tensor  # (batch, frame length)

    def select(self, index: Tensor) -> FrameState:
        """The rows `index`."""
        return FrameState(self.time, self.c[index])


@dataclass
class RhymeState:
    """The rhyme words so far, and the rhyme group of each letter."""

    time: int
    letter: Tensor  # (batch, frame length) the rhyme letter of each place, -1 for none
    group: Tensor  # (batch, letters) each letter's rhyme group, -1 until it has one
    words: Tensor  # (batch, frame length) the words at rhyme places so far, PAD elsewhere

    def select(self, index: Tensor) -> RhymeState:
        """The rows `index`."""
        return RhymeState(self.time, self.letter[index], self.group[index], self.words[index])


class _Timed(Protocol):
    """Both states."""

    time: int


def _at(state: _Timed, rows: Tensor) -> Tensor:
    """(batch,) the values of `rows` at the state's time; past the end, the last column."""
    return rows[:, min(state.time, rows.shape[1] - 1)]


class _AlongFrame:
    """Advances one place with each token."""

    def start(self, batch: VerseBatch) -> FrameState:
        """The state at the first place of every frame."""
        return FrameState(0, batch.c)

    def advance(self, tokens: Tensor, state: FrameState) -> FrameState:
        """The state at the next place."""
        return replace(state, time=state.time + 1)


class Within(_AlongFrame):
    """Words, marks, separators and EOS; a text is at most `slack` tokens longer than its own frame."""

    def __init__(self, vocabulary: VerseVocabulary, slack: int) -> None:
        self.slack = slack
        self.free = torch.ones(vocabulary.text_size, dtype=torch.bool)
        self.free[[PAD, UNK, BOS]] = False
        self.end = torch.zeros(vocabulary.text_size, dtype=torch.bool)
        self.end[EOS] = True

    def mask(self, state: FrameState) -> Tensor:
        """Any word, mark, separator or EOS; at the largest length only EOS."""
        over = state.time >= (state.c != PAD).sum(1) - 1 + self.slack
        free = self.free.to(over.device).expand(len(over), -1)
        return torch.where(over[:, None], self.end.to(over.device), free) if bool(over.any()) else free


class InFrame(_AlongFrame):
    """The tokens that the frame has at each place."""

    def __init__(self, vocabulary: VerseVocabulary, marks: bool) -> None:
        self.first_symbol, self.marks = vocabulary.text_size, marks
        self.is_mark = torch.zeros(vocabulary.size, dtype=torch.bool)
        self.is_mark[torch.from_numpy(vocabulary.mark_ids)] = True
        self.free = torch.ones(vocabulary.text_size, dtype=torch.bool)
        self.free[[PAD, UNK, BOS, EOS, SEP]] = False
        if marks:
            self.free &= ~self.is_mark[: vocabulary.text_size]

    def mask(self, state: FrameState) -> Tensor:
        """Any word at a blank, and the frame's token elsewhere. Marks are blanks unless `marks` copies them."""
        expected = _at(state, state.c)
        expected = torch.where(expected == PAD, EOS, expected)  # shorter frames of the batch have ended
        blank = expected >= self.first_symbol
        if not self.marks:
            blank = blank | self.is_mark.to(expected.device)[expected]
        copied = torch.zeros(len(expected), self.first_symbol, dtype=torch.bool, device=expected.device)
        copied.scatter_(1, expected.clamp(max=self.first_symbol - 1)[:, None], True)
        return torch.where(blank[:, None], self.free.to(expected.device), copied)


class InRhyme:
    """At the rhyme places of a letter, different words of one rhyme group.

    A letter's group is that of its literal in the frame, or, without a literal, of its first word. A word is repeated
    only if its group has no other word.
    """

    def __init__(self, vocabulary: VerseVocabulary) -> None:
        groups, _ = group_ids([vocabulary.token(i) for i in range(vocabulary.text_size)], vocabulary.language)
        self.group = torch.tensor(groups)
        self.fixed = vocabulary.text_size

    def start(self, batch: VerseBatch) -> RhymeState:
        """The state before the first token: letters with a literal have its group and word."""
        letters = max(1, int(batch.letter.max()) + 1)
        group = torch.full((len(batch), letters), -1, device=batch.c.device)
        literal = (batch.letter >= 0) & (batch.c < self.fixed)
        for row, place in literal.nonzero().tolist():
            letter = batch.letter[row, place]
            if group[row, letter] < 0:
                group[row, letter] = self.group[batch.c[row, place]]
        return RhymeState(0, batch.letter, group, torch.where(literal, batch.c, PAD))

    def mask(self, state: RhymeState) -> Tensor:
        """For a letter without a group any word of known sound; else the unused words of its group."""
        letter = _at(state, state.letter)
        group = state.group.gather(1, letter.clamp(min=0)[:, None])
        sound = self.group.to(letter.device)
        fits = torch.where(group < 0, sound >= 0, sound == group)
        used = torch.where(state.letter == letter[:, None], state.words, PAD)
        fresh = fits.scatter(1, used, False)  # PAD has no sound: it fits nowhere anyway
        fits = torch.where(fresh.any(1, keepdim=True), fresh, fits)
        return fits | (letter < 0)[:, None]

    def advance(self, tokens: Tensor, state: RhymeState) -> RhymeState:
        """A letter without a group gets the word's; each word at a rhyme place is used."""
        place = min(state.time, state.letter.shape[1] - 1)
        letter = state.letter[:, place]
        column, at_rhyme = letter.clamp(min=0)[:, None], letter >= 0
        before = state.group.gather(1, column)
        now = self.group.to(letter.device)[tokens][:, None]
        group = state.group.scatter(1, column, torch.where(at_rhyme[:, None] & (before < 0), now, before))
        words = state.words.clone()
        words[:, place] = torch.where(at_rhyme, tokens, words[:, place])
        return replace(state, time=state.time + 1, group=group, words=words)
