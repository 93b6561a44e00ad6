"""What a verse frame allows: text that ends in time, every token at its place, one sound for each rhyme letter."""

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
    """How far each row of a batch has come in its frame."""

    time: int
    c: Tensor  # (batch, frame length)

    def select(self, index: Tensor) -> FrameState:
        """The rows `index`."""
        return FrameState(self.time, self.c[index])


@dataclass
class RhymeState:
    """Which words have rhymed so far, and how."""

    time: int
    letter: Tensor  # (batch, frame length) the rhyme letter of each place, -1 for none
    group: Tensor  # (batch, letters) each letter's rhyme group, -1 while it is open
    words: Tensor  # (batch, frame length) the words that stand at rhyme places, PAD elsewhere and where none is yet

    def select(self, index: Tensor) -> RhymeState:
        """The rows `index`."""
        return RhymeState(self.time, self.letter[index], self.group[index], self.words[index])


class _OnItsWay(Protocol):
    """Both states: a place in time, and rows that run along it."""

    time: int


def _at(state: _OnItsWay, rows: Tensor) -> Tensor:
    """(batch,) what stands in `rows` at the present place; past the end, its last column."""
    return rows[:, min(state.time, rows.shape[1] - 1)]


class _AlongFrame:
    """Goes one place on with each token, whatever the token is."""

    def start(self, batch: VerseBatch) -> FrameState:
        """At the first place of every frame."""
        return FrameState(0, batch.c)

    def advance(self, tokens: Tensor, state: FrameState) -> FrameState:
        """One place on."""
        return replace(state, time=state.time + 1)


class Within(_AlongFrame):
    """Text, no specials; it ends, at the latest, `slack` places after its own frame, whatever its neighbours do."""

    def __init__(self, vocabulary: VerseVocabulary, slack: int) -> None:
        self.slack = slack
        self.free = torch.ones(vocabulary.text_size, dtype=torch.bool)
        self.free[[PAD, UNK, BOS]] = False
        self.end = torch.zeros(vocabulary.text_size, dtype=torch.bool)
        self.end[EOS] = True

    def mask(self, state: FrameState) -> Tensor:
        """Any word, mark, separator or end mark, until nothing but the end mark is left."""
        over = state.time >= (state.c != PAD).sum(1) - 1 + self.slack
        free = self.free.to(over.device).expand(len(over), -1)
        return torch.where(over[:, None], self.end.to(over.device), free) if bool(over.any()) else free


class InFrame(_AlongFrame):
    """Every token stands where the frame has a place for it."""

    def __init__(self, vocabulary: VerseVocabulary, marks: bool) -> None:
        self.first_symbol, self.marks = vocabulary.text_size, marks
        self.is_mark = torch.zeros(vocabulary.size, dtype=torch.bool)
        self.is_mark[torch.from_numpy(vocabulary.mark_ids)] = True
        self.free = torch.ones(vocabulary.text_size, dtype=torch.bool)
        self.free[[PAD, UNK, BOS, EOS, SEP]] = False
        if marks:
            self.free &= ~self.is_mark[: vocabulary.text_size]

    def mask(self, state: FrameState) -> Tensor:
        """At a blank any word; elsewhere the token itself. Marks are blanks unless they are to be copied."""
        expected = _at(state, state.c)
        expected = torch.where(expected == PAD, EOS, expected)  # shorter frames of the batch have ended
        blank = expected >= self.first_symbol
        if not self.marks:
            blank = blank | self.is_mark.to(expected.device)[expected]
        copied = torch.zeros(len(expected), self.first_symbol, dtype=torch.bool, device=expected.device)
        copied.scatter_(1, expected.clamp(max=self.first_symbol - 1)[:, None], True)
        return torch.where(blank[:, None], self.free.to(expected.device), copied)


class InRhyme:
    """At rhyme places of one letter, different words of one rhyme group.

    A letter's group is that of its literal, which the frame gives; without a literal, that of its first word. A word
    rhymes with itself only when its group has no other left.
    """

    def __init__(self, vocabulary: VerseVocabulary) -> None:
        groups, _ = group_ids([vocabulary.token(i) for i in range(vocabulary.text_size)], vocabulary.language)
        self.group = torch.tensor(groups)
        self.fixed = vocabulary.text_size

    def start(self, batch: VerseBatch) -> RhymeState:
        """Letters whose place holds a literal have their group, and that word, from the start."""
        letters = max(1, int(batch.letter.max()) + 1)
        group = torch.full((len(batch), letters), -1, device=batch.c.device)
        literal = (batch.letter >= 0) & (batch.c < self.fixed)
        for row, place in literal.nonzero().tolist():
            letter = batch.letter[row, place]
            if group[row, letter] < 0:
                group[row, letter] = self.group[batch.c[row, place]]
        return RhymeState(0, batch.letter, group, torch.where(literal, batch.c, PAD))

    def mask(self, state: RhymeState) -> Tensor:
        """At an open letter any word whose sound is known; at a chosen one the words of its group not yet used."""
        letter = _at(state, state.letter)
        group = state.group.gather(1, letter.clamp(min=0)[:, None])
        sound = self.group.to(letter.device)
        fits = torch.where(group < 0, sound >= 0, sound == group)
        used = torch.where(state.letter == letter[:, None], state.words, PAD)
        fresh = fits.scatter(1, used, False)  # PAD has no sound: it fits nowhere anyway
        fits = torch.where(fresh.any(1, keepdim=True), fresh, fits)
        return fits | (letter < 0)[:, None]

    def advance(self, tokens: Tensor, state: RhymeState) -> RhymeState:
        """A word at an open letter chooses its group; each word at a letter is used."""
        place = min(state.time, state.letter.shape[1] - 1)
        letter = state.letter[:, place]
        column, at_rhyme = letter.clamp(min=0)[:, None], letter >= 0
        before = state.group.gather(1, column)
        now = self.group.to(letter.device)[tokens][:, None]
        group = state.group.scatter(1, column, torch.where(at_rhyme[:, None] & (before < 0), now, before))
        words = state.words.clone()
        words[:, place] = torch.where(at_rhyme, tokens, words[:, place])
        return replace(state, time=state.time + 1, group=group, words=words)
