"""Writing verse into frames: the two named ways, `free` and `frame`, and the constraints behind them.

free: everything is predicted, separators and the end mark too; only what is no text is ruled out.
frame: separators, the end mark and literals are copied from the frame, as the released code does, so that only words
and marks are predicted; `marks` also copies the punctuation, `rhyme` also keeps each rhyme letter to one rhyme group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from espalier.corpora.verse_data import VerseBatch
from espalier.corpora.vocabulary import BOS, EOS, PAD, SEP, UNK, Vocabulary
from espalier.decoding.beam import beam_search
from espalier.decoding.constraint import All, Constraint
from espalier.decoding.sampling import sample
from espalier.models.contract import ChainModel
from espalier.verse.format import BLANK, RHYME, Format
from espalier.verse.rhyme import group_ids
from espalier.verse.text import join_tokens, join_units


class VerseDecoder(BaseModel):
    """How verse is written, as it stands in params.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["free", "frame"] = "free"
    #: In `frame`: copy the punctuation as well.
    marks: bool = False
    #: In `frame`: the words of one rhyme letter share a rhyme group.
    rhyme: bool = False
    method: Literal["top_k", "beam"] = "top_k"
    top_k: int = Field(32, ge=1)
    temperature: float = Field(1.0, gt=0)
    beam: int = Field(5, ge=1)
    length_power: float = Field(0.0, ge=0)
    #: In `free`: how many tokens a text may outgrow its frame by; then it ends.
    slack: int = Field(8, ge=0)


def write(
    model: ChainModel, batch: VerseBatch, seeds: list[int], decoder: VerseDecoder, constraint: Constraint
) -> list[list[int]]:
    """One text, as ids without the end mark, for each row of `batch`."""
    steps = batch.c.shape[1] + (decoder.slack if decoder.mode == "free" else 0)
    if decoder.method == "beam":
        found = beam_search(
            model, batch, beam=decoder.beam, steps=steps, begin=BOS, end=EOS,
            length_power=decoder.length_power, constraint=constraint,
        )  # fmt: skip
        return [row[0].tokens if row else [] for row in found]
    return sample(
        model, batch, seeds=seeds, steps=steps, begin=BOS, end=EOS,
        top_k=decoder.top_k, temperature=decoder.temperature, constraint=constraint,
    )  # fmt: skip


def verse_constraint(decoder: VerseDecoder, vocabulary: Vocabulary) -> Constraint:
    """The constraint that a decoder's switches ask for."""
    if decoder.mode == "free":
        return Within(vocabulary, decoder.slack)
    parts: list[Constraint] = [InFrame(vocabulary, decoder.marks)]
    if decoder.rhyme:
        parts.append(InRhyme(vocabulary))
    return All(parts)


def text_of(ids: list[int], vocabulary: Vocabulary, format_: Format | None = None) -> str:
    """The verse that ids spell. With `format_` its literals stand as they were given, known to the model or not."""
    units: list[list[str]] = [[]]
    for identity in ids:
        if identity == SEP:
            units.append([])
        else:
            units[-1].append(vocabulary.token(identity))
    if not units[-1]:
        units.pop()
    if format_ is not None:
        units = [
            [
                word if slot in (BLANK, RHYME) or word != vocabulary.token(UNK) else slot
                for word, slot in zip(unit, slots, strict=False)
            ]
            for unit, slots in zip(units, format_.units, strict=False)
        ]
    return join_units(join_tokens(unit, vocabulary.language) for unit in units)


@dataclass
class FrameState:
    """How far each row of a batch has come in its frame."""

    time: int
    c: Tensor  # (batch, frame length)
    letter: Tensor  # (batch, frame length)
    chosen: Tensor  # (batch, letters) rhyme group of each letter, -1 where it is open

    def select(self, index: Tensor) -> FrameState:
        """The rows `index`."""
        return FrameState(self.time, self.c[index], self.letter[index], self.chosen[index])

    def at(self, rows: Tensor) -> Tensor:
        """(batch,) what stands in `rows` at the present place; its last column, past the end."""
        return rows[:, min(self.time, rows.shape[1] - 1)]


def _start(batch: VerseBatch) -> FrameState:
    letters = max(1, int(batch.letter.max()) + 1)
    return FrameState(0, batch.c, batch.letter, torch.full((len(batch), letters), -1, device=batch.c.device))


class Within:
    """Text, no specials; it ends, at the latest, `slack` places after its own frame, whatever its neighbours do."""

    def __init__(self, vocabulary: Vocabulary, slack: int) -> None:
        self.slack = slack
        self.free = torch.ones(vocabulary.text_size, dtype=torch.bool)
        self.free[[PAD, UNK, BOS]] = False
        self.end = torch.zeros(vocabulary.text_size, dtype=torch.bool)
        self.end[EOS] = True

    def start(self, batch: VerseBatch) -> FrameState:
        """At the first place of every frame."""
        return _start(batch)

    def mask(self, state: FrameState) -> Tensor:
        """Any word, mark, separator or end mark, until nothing but the end mark is left."""
        over = state.time >= (state.c != PAD).sum(1) - 1 + self.slack
        free = self.free.to(over.device).expand(len(over), -1)
        return torch.where(over[:, None], self.end.to(over.device), free) if bool(over.any()) else free

    def advance(self, tokens: Tensor, state: FrameState) -> FrameState:
        """One place on."""
        return replace(state, time=state.time + 1)


class InFrame:
    """Every token stands where the frame has a place for it."""

    def __init__(self, vocabulary: Vocabulary, marks: bool) -> None:
        self.first_symbol, self.marks = vocabulary.text_size, marks
        self.is_mark = torch.zeros(vocabulary.size, dtype=torch.bool)
        self.is_mark[torch.from_numpy(vocabulary.mark_ids)] = True
        self.free = torch.ones(vocabulary.text_size, dtype=torch.bool)
        self.free[[PAD, UNK, BOS, EOS, SEP]] = False
        if marks:
            self.free &= ~self.is_mark[: vocabulary.text_size]

    def start(self, batch: VerseBatch) -> FrameState:
        """At the first place of every frame."""
        return _start(batch)

    def mask(self, state: FrameState) -> Tensor:
        """At a blank any word; elsewhere the token itself. Marks are blanks unless they are to be copied."""
        wanted = state.at(state.c)
        wanted = torch.where(wanted == PAD, EOS, wanted)  # shorter frames of the batch have ended
        blank = wanted >= self.first_symbol
        if not self.marks:
            blank = blank | self.is_mark.to(wanted.device)[wanted]
        copied = torch.zeros(len(wanted), self.first_symbol, dtype=torch.bool, device=wanted.device)
        copied.scatter_(1, wanted.clamp(max=self.first_symbol - 1)[:, None], True)
        return torch.where(blank[:, None], self.free.to(wanted.device), copied)

    def advance(self, tokens: Tensor, state: FrameState) -> FrameState:
        """One place on."""
        return replace(state, time=state.time + 1)


class InRhyme:
    """At rhyme places of one letter, words of one rhyme group; its first word, or its literal, chooses the group."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        groups, _ = group_ids([vocabulary.token(i) for i in range(vocabulary.text_size)], vocabulary.language)
        self.group = torch.tensor(groups)
        self.fixed = vocabulary.text_size

    def start(self, batch: VerseBatch) -> FrameState:
        """Letters whose place holds a literal have their group from the start."""
        state = _start(batch)
        given = (batch.letter >= 0) & (batch.c < self.fixed)
        for row, place in given.nonzero().tolist():
            letter = batch.letter[row, place]
            if state.chosen[row, letter] < 0:
                state.chosen[row, letter] = self.group[batch.c[row, place]]
        return state

    def mask(self, state: FrameState) -> Tensor:
        """At an open letter any word whose sound is known; at a chosen one the words of its group."""
        letter = state.at(state.letter)
        group = state.chosen.gather(1, letter.clamp(min=0)[:, None])
        sound = self.group.to(letter.device)
        fits = torch.where(group < 0, sound >= 0, sound == group)
        return fits | (letter < 0)[:, None]

    def advance(self, tokens: Tensor, state: FrameState) -> FrameState:
        """A word at an open letter chooses its group."""
        letter = state.at(state.letter)
        column = letter.clamp(min=0)[:, None]
        before = state.chosen.gather(1, column)
        now = self.group.to(letter.device)[tokens][:, None]
        chosen = state.chosen.scatter(1, column, torch.where((letter[:, None] >= 0) & (before < 0), now, before))
        return replace(state, time=state.time + 1, chosen=chosen)
