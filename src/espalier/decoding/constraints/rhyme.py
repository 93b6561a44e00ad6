"""A constraint for verse that rhymes by a book: all words of a rhyme letter share one rhyme group.

A word with several readings rhymes by any reading that has the tone of its place. Each letter therefore keeps a set of
possible groups: at first the groups with a word for each of the letter's places, later those that its words so far
share.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.verse.frames import EITHER, LEVEL, OBLIQUE
from espalier.datasets.vocabulary import PAD
from espalier.decoding.constraints.frame import FrameConstraint, FrameState, copied
from espalier.decoding.constraints.places import COPIED, SIGN_OF, unmet
from espalier.decoding.constraints.sound_classes import FIRST, Bits, classes_of, with_twins
from espalier.io.errors import ConfigError


@dataclass(frozen=True)
class Letters:
    """The rhyme letters of a batch's frames.

    Attributes:
        rhymes: for each time whether any frame rhymes there.
        letter: (time, frames) the letter of each place; places without a letter hold the number of letters.
        mixed: (frames, letters + 1) whether the words of a letter need only share a part, not a group
            (`Sounds.by_part`).
        every: (frames, letters + 1) whether every reading of a letter's literals counts: True if no other word rhymes
            with them.
        reading: (time, frames) the tone that a word's reading must have to rhyme: `EITHER`, `LEVEL` or `OBLIQUE`.
        slot: (time, frames) index of the rhyme place within its frame; other places hold the largest number of rhyme
            places.
        of_slot: (frames, rhyme places + 1) the letter of each rhyme place, -1 for none.
    """

    rhymes: list[bool]
    letter: Tensor
    mixed: Tensor
    every: Tensor
    reading: Tensor
    slot: Tensor
    of_slot: Tensor


@dataclass
class RhymeState:
    """The state of a batch of prefixes.

    Attributes:
        inside: the current places in the frames.
        letters: the rhyme letters of the frames.
        classes: the vocabulary's `SoundClasses` as tensors.
        possible: (prefixes, letters + 1, chunks) the groups that each letter can still have.
        used: (prefixes, rhyme places + 1) the different words at rhyme places so far, PAD elsewhere.
    """

    inside: FrameState
    letters: Letters
    classes: dict[str, Tensor]
    possible: Tensor
    used: Tensor

    def select(self, index: Tensor) -> Self:
        """The rows `index`."""
        return replace(self, inside=self.inside.select(index), possible=self.possible[index], used=self.used[index])

    @property
    def rhymes(self) -> bool:
        """Whether any frame has a rhyme at the current place."""
        return self.letters.rhymes[self.inside.place]

    def here(self, rows: Tensor) -> Tensor:
        """(prefixes,) values of `rows`, (time, frames), at the current place of each prefix."""
        return rows[self.inside.place].index_select(0, self.inside.frame)


class RhymeConstraint:
    """Like `FrameConstraint`; in addition, the rhyme places of a letter hold different words of one rhyme group.

    Literals count as words. A word is repeated only if no other word fits.
    """

    def __init__(self, frame: FrameConstraint) -> None:
        self.frame = frame
        self.classes = classes_of(frame.vocabulary, frame.marks, frame.sounds)
        self.tensors = {
            "of_word": torch.from_numpy(self.classes.of_word),
            "words": torch.from_numpy(self.classes.words),
            "groups": torch.from_numpy(self.classes.groups),
            "every": torch.from_numpy(self.classes.every),
            "tones": torch.from_numpy(self.classes.tones),
        }

    def start(self, batch: VerseBatch) -> RhymeState:
        """The state before the first token.

        Raises:
            ConfigError: no word of the vocabulary fits a place, or no group has words for all places of a letter.
        """
        inside, device = self.frame.start(batch), batch.device
        letters, possible, used = self._letters(batch, inside)
        named = {name: tensor.to(device) for name, tensor in self.tensors.items()}
        return RhymeState(inside, letters, named, possible.to(device), used.to(device))

    def mask(self, state: RhymeState) -> Tensor:
        """(prefixes, text size) 0 for unused words of the groups that are possible for the letter, -inf for others."""
        if not state.rhymes:
            return self.frame.mask(state.inside)
        kind, letters, tensors = state.inside.kind, state.letters, state.classes
        letter, reading = state.here(letters.letter), state.here(letters.reading)
        column = letter[:, None, None].expand(-1, 1, state.possible.shape[2])
        asked = state.possible.gather(1, column) & tensors["tones"].index_select(0, reading)[:, None]
        words = tensors["words"].index_select(0, kind)
        fits = ((tensors["groups"] & asked) != 0).any(2) & (words > 0)
        of_letter = letters.of_slot.index_select(0, state.inside.frame) == letter[:, None]
        used = torch.where(of_letter, state.used, PAD)
        # A word of PAD's class fits nowhere, and used words differ, so that they can be counted.
        spent = fits.gather(1, tensors["of_word"][used]).sum(1) >= (fits * words).sum(1)
        bias = torch.where(fits, 0.0, -torch.inf).gather(1, tensors["of_word"].expand(len(fits), -1))
        bias.scatter_(1, used.masked_fill_(spent[:, None], PAD), -torch.inf)
        return copied(bias, kind, state.inside.token)

    def advance(self, tokens: Tensor, state: RhymeState) -> RhymeState:
        """Keep the groups that the new word shares with its letter, and mark words at rhyme places as used."""
        inside = self.frame.advance(tokens, state.inside)
        if not state.rhymes:
            return replace(state, inside=inside)
        frame, letters, tensors = state.inside.frame, state.letters, state.classes
        letter, slot = state.here(letters.letter), state.here(letters.slot)[:, None]
        of_word, every = tensors["of_word"][tokens], letters.every[frame].gather(1, letter[:, None])
        every = every & (state.inside.kind[:, None] == COPIED)
        groups = torch.where(every, tensors["every"][of_word], tensors["groups"][of_word])
        groups = groups & tensors["tones"].index_select(0, state.here(letters.reading))
        mixed = letters.mixed[frame].gather(1, letter[:, None])
        groups = torch.where(mixed, with_twins(groups), groups)
        column = letter[:, None, None].expand(-1, 1, groups.shape[1])
        possible = state.possible.scatter(1, column, state.possible.gather(1, column) & groups[:, None])
        of_letter = letters.of_slot[frame] == letter[:, None]
        known = (of_letter & (state.used == tokens[:, None])).any(1)
        used = state.used.scatter(1, slot, torch.where(known, state.used.gather(1, slot)[:, 0], tokens)[:, None])
        return replace(state, inside=inside, possible=possible, used=used)

    def _letters(self, batch: VerseBatch, inside: FrameState) -> tuple[Letters, Tensor, Tensor]:
        """The letters of the frames, the groups that each can have, and their literals, which are used from the start.

        Raises:
            ConfigError: no group is possible for a letter.
        """
        letter, tone, c = (part.cpu().numpy() for part in (batch.letter, batch.tone, batch.c))
        if batch.copy.shape[1]:  # a repeated word rhymes as its source does
            letter = np.where(batch.copy.cpu().numpy() >= 0, -1, letter)
        kind, classes = inside.places.kind.T.cpu().numpy(), self.classes
        rhymes: npt.NDArray[np.bool_] = letter >= 0
        literal: npt.NDArray[np.bool_] = rhymes & (kind == COPIED)
        count, most = int(letter.max(initial=-1)) + 1, int(rhymes.sum(1).max(initial=0))
        row, time = rhymes.nonzero()
        turns = np.zeros((2, len(c), count + 1), dtype=np.bool_)
        for each, kind_of_tone in zip(turns, (LEVEL, OBLIQUE), strict=True):
            np.logical_or.at(each, (row, letter[row, time]), tone[row, time] == kind_of_tone)
        by_part = [self.frame.sounds.by_part(each) for each in (False, True)]
        mixed = np.array(by_part)[np.logical_and(*turns).astype(int)]
        counts = self.frame.sounds.tone | np.take_along_axis(mixed, letter, axis=1)
        reading = np.where(counts & rhymes, tone.clip(min=EITHER), EITHER)
        of_literal = classes.of_word[np.where(literal, c, PAD)]
        asked, asked_of_every = (
            np.where(literal[..., None], sets[of_literal], classes.found[kind]) & classes.tones[reading]
            for sets in (classes.groups, classes.every)
        )
        every = np.zeros_like(mixed)
        possible = np.zeros((len(c), count + 1, classes.groups.shape[1]), dtype=np.int64)
        possible[:, count, 0] = 1
        for number in range(count):
            here = letter == number
            left = _left(asked, here, mixed[:, number])
            every[:, number] = ~left[:, -1].any(1)
            if every[:, number].any():
                left_of_every = _left(asked_of_every, here, mixed[:, number])
                left = np.where(every[:, number, None, None], left_of_every, left)
            without_group: npt.NDArray[np.bool_] = (here & ~literal).any(1) & ~left[:, -1].any(1)
            if without_group.any():
                at = int(without_group.nonzero()[0][0])
                place = int((~left[at].any(1)).argmax())
                raise self._no_group(batch, at, place, int(reading[at, place]), bool(literal[at].any()))
            possible[:, number] = left[:, -1]
        order = rhymes.cumsum(1) - 1
        slot = np.where(rhymes, order, most)
        of_slot, used = np.full((len(c), most + 1), -1), np.full((len(c), most + 1), PAD)
        of_slot[row, order[row, time]] = letter[row, time]
        for at, place in zip(*literal.nonzero(), strict=True):
            if not (used[at] == c[at, place])[of_slot[at] == letter[at, place]].any():
                used[at, order[at, place]] = c[at, place]
        rows = (np.where(rhymes, letter, count).T, mixed, every, reading.T, slot.T)
        at_place, turning, all_readings, readings, slots, of_slots = (
            torch.from_numpy(np.ascontiguousarray(part)).to(batch.device) for part in (*rows, of_slot)
        )
        letters = Letters(
            np.logical_or.reduce(rhymes, axis=0).tolist(), at_place, turning, all_readings, readings, slots, of_slots
        )
        return letters, torch.from_numpy(possible), torch.from_numpy(used)

    def _no_group(self, batch: VerseBatch, row: int, time: int, reading: int, literals: bool) -> ConfigError:
        sign = SIGN_OF.get(reading)
        has = f" has the tone {sign} and" if sign else ""
        others = "the literals and the places before" if literals else "words of the places before"
        return unmet(f"no word of this model{has} rhymes with {others}", batch, row, time)


def _left(asked: Bits, here: npt.NDArray[np.bool_], mixed: npt.NDArray[np.bool_]) -> Bits:
    """(frames, time, chunks) the groups that remain possible for a letter after each place.

    Args:
        asked: (frames, time, chunks) groups of the words at each place.
        here: (frames, time) whether a place belongs to the letter.
        mixed: (frames,) whether the letter's words need only share a part, not a group.
    """
    places = np.where(mixed[:, None, None], with_twins(asked), asked)
    left = np.bitwise_and.accumulate(np.where(here[..., None], places, -1), axis=1)
    left[..., 0] &= -1 << FIRST  # the first bit, and its twin, are of no group
    return left
