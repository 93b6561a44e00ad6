"""A constraint for verse that rhymes by a book: the words of a letter share one group, and no letter runs dry.

A word may have several readings, and rhymes by any that has the tone of its place. So a letter has a set of groups
that are still possible: at first those with a word for each of its places, then those of them that its words share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.verse.frames import EITHER, LEVEL, OBLIQUE
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import PAD
from espalier.decoding.constraints.frame import FrameState, InFrame, copied
from espalier.decoding.constraints.places import COPIED, SIGNS, fitting, unmet
from espalier.verse.sounds import Sounds

Bits = npt.NDArray[np.int64]
S = TypeVar("S", Bits, Tensor)
#: The bits of one integer of a set. It is even, so that two groups of a part are never parted.
WIDTH = 62
#: Every word has the first bit; a place without a letter asks for no other.
FIRST = 2
#: The lower bit of each pair: the level group of a part of Cilin. The upper is its oblique group.
LOWER = sum(1 << bit for bit in range(0, WIDTH, 2))


@dataclass(frozen=True, eq=False)
class Classes:
    """The words of a vocabulary by their sounds. Sets of groups are bits of `chunks` integers.

    Attributes:
        of_word: (text size,) the class of each id.
        words: (kinds, classes) the words of each class that fit a kind of place.
        groups: (classes, chunks) of any reading.
        tones: (kinds, chunks) the groups that words can have at a kind of place.
        found: (kinds, chunks) the groups of the words that fit a kind of place.
    """

    of_word: npt.NDArray[np.int64]
    words: npt.NDArray[np.float32]
    groups: Bits
    tones: Bits
    found: Bits


@lru_cache(maxsize=8)
def classes_of(vocabulary: VerseVocabulary, marks: bool, sounds: Sounds) -> Classes:
    """The classes of a vocabulary, computed once for each book."""
    fits = fitting(vocabulary, marks, sounds)
    readings = [sounds.groups(vocabulary.token(i)) if fits[EITHER, i] else frozenset() for i in range(fits.shape[1])]
    bits = _numbered(frozenset[str]().union(*readings), sounds)
    keys = list(zip(map(bytes, fits.T), readings, strict=True))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    of_word = np.array([numbers[key] for key in keys])
    words = np.stack([np.bincount(of_word, weights=row, minlength=len(numbers)) for row in fits])
    size = max(bits.values(), default=FIRST) + 1
    groups = _sets([[bits[group] for group in groups] for _, groups in numbers], size)
    signs = [SIGNS.get(kind, "") for kind in range(COPIED + 1)]
    tones = _sets([[bit for group, bit in bits.items() if sounds.has_tone(group, sign)] for sign in signs], size)
    own = np.where(words[..., None] > 0, groups & tones[:, None], 0)
    return Classes(of_word, words.astype(np.float32), groups, tones, np.bitwise_or.reduce(own, axis=1))


def _numbered(groups: frozenset[str], sounds: Sounds) -> dict[str, int]:
    """The bit of each group. The level and the oblique group of a part of Cilin are a pair."""
    if not sounds.has_parts:
        return {group: bit for bit, group in enumerate(sorted(groups), start=FIRST)}
    parts = {part: number for number, part in enumerate(sorted({sounds.rhyme_key(group, True) for group in groups}))}
    return {group: FIRST + 2 * parts[sounds.rhyme_key(group, True)] + ("仄" in group) for group in groups}


def _sets(members: list[list[int]], size: int) -> Bits:
    """(sets, chunks) the sets of these bits, which are below `size`, and of the first bit."""
    sets = np.zeros((len(members), -(-size // WIDTH)), dtype=np.int64)
    sets[:, 0] = 1
    for number, bits in enumerate(members):
        for bit in bits:
            sets[number, bit // WIDTH] |= 1 << (bit % WIDTH)
    return sets


@dataclass(frozen=True)
class Letters:
    """The rhyme letters of a batch's frames.

    Attributes:
        rhymes: for each time whether any frame rhymes there.
        letter: (time, frames) the letter of each place; the number of letters where there is none.
        mixed: (frames, letters + 1) whether a letter has level and oblique places, whose words share a part of Cilin.
        slot: (time, frames) how many rhyme places stand before; the largest number of them where it is none.
        of_slot: (frames, rhyme places + 1) the letter of each rhyme place, -1 for none.
    """

    rhymes: list[bool]
    letter: Tensor
    mixed: Tensor
    slot: Tensor
    of_slot: Tensor


@dataclass
class RhymeState:
    """A batch of prefixes.

    Attributes:
        inside: its places in the frames.
        letters: of the frames.
        classes: tensors of the vocabulary's `Classes`.
        possible: (prefixes, letters + 1, chunks) the groups that each letter can still have.
        used: (prefixes, rhyme places + 1) the different words at rhyme places so far, PAD elsewhere.
    """

    inside: FrameState
    letters: Letters
    classes: dict[str, Tensor]
    possible: Tensor
    used: Tensor

    def select(self, index: Tensor) -> RhymeState:
        """The rows `index`."""
        return replace(self, inside=self.inside.select(index), possible=self.possible[index], used=self.used[index])

    @property
    def rhymes(self) -> bool:
        """Whether any frame rhymes here."""
        return self.letters.rhymes[self.inside.place]

    @property
    def letter(self) -> Tensor:
        """(prefixes,) of the places."""
        return self.letters.letter[self.inside.place].index_select(0, self.inside.frame)


class InRhyme:
    """In a frame, at the rhyme places of a letter, different words of one rhyme group.

    Literals count as words. A word is repeated only where no other fits.
    """

    def __init__(self, frame: InFrame) -> None:
        self.frame = frame
        self.classes = classes_of(frame.vocabulary, frame.marks, frame.sounds)
        self.tensors = {
            "of_word": torch.from_numpy(self.classes.of_word),
            "words": torch.from_numpy(self.classes.words),
            "groups": torch.from_numpy(self.classes.groups),
            "tones": torch.from_numpy(self.classes.tones),
        }

    def start(self, batch: VerseBatch) -> RhymeState:
        """The state before the first token.

        Raises:
            ConfigError: the vocabulary has no words for a place, or no group for all places of a letter.
        """
        inside, device = self.frame.start(batch), batch.device
        letters, possible, used = self._letters(batch, inside)
        named = {name: tensor.to(device) for name, tensor in self.tensors.items()}
        return RhymeState(inside, letters, named, possible.to(device), used.to(device))

    def mask(self, state: RhymeState) -> Tensor:
        """(prefixes, text size) 0 at the unused words of the groups that a letter can still have, -inf elsewhere."""
        if not state.rhymes:
            return self.frame.mask(state.inside)
        kind, letter, tensors = state.inside.kind, state.letter, state.classes
        column = letter[:, None, None].expand(-1, 1, state.possible.shape[2])
        asked = state.possible.gather(1, column) & tensors["tones"].index_select(0, kind)[:, None]
        words = tensors["words"].index_select(0, kind)
        fits = ((tensors["groups"] & asked) != 0).any(2) & (words > 0)
        of_letter = state.letters.of_slot.index_select(0, state.inside.frame) == letter[:, None]
        used = torch.where(of_letter, state.used, PAD)
        # A word of PAD's class fits nowhere, and used words differ, so that they can be counted.
        spent = fits.gather(1, tensors["of_word"][used]).sum(1) >= (fits * words).sum(1)
        bias = torch.where(fits, 0.0, -torch.inf).gather(1, tensors["of_word"].expand(len(fits), -1))
        bias.scatter_(1, used.masked_fill_(spent[:, None], PAD), -torch.inf)
        return copied(bias, kind, state.inside.token)

    def advance(self, tokens: Tensor, state: RhymeState) -> RhymeState:
        """A letter keeps the groups of the word; each word at a rhyme place is used."""
        inside = self.frame.advance(tokens, state.inside)
        if not state.rhymes:
            return replace(state, inside=inside)
        letter, frame, tensors = state.letter, state.inside.frame, state.classes
        groups = tensors["groups"][tensors["of_word"][tokens]] & tensors["tones"][state.inside.kind]
        mixed = state.letters.mixed[frame].gather(1, letter[:, None])
        groups = torch.where(mixed, _with_twins(groups), groups)
        column = letter[:, None, None].expand(-1, 1, groups.shape[1])
        possible = state.possible.scatter(1, column, state.possible.gather(1, column) & groups[:, None])
        of_letter = state.letters.of_slot[frame] == letter[:, None]
        known = (of_letter & (state.used == tokens[:, None])).any(1)
        slot = state.letters.slot[state.inside.place][frame, None]
        used = state.used.scatter(1, slot, torch.where(known, state.used.gather(1, slot)[:, 0], tokens)[:, None])
        return replace(state, inside=inside, possible=possible, used=used)

    def _letters(self, batch: VerseBatch, inside: FrameState) -> tuple[Letters, Tensor, Tensor]:
        """The letters of the frames, the groups that each can have, and their literals, which are used from the start.

        Raises:
            ConfigError: a letter can have none.
        """
        letter, tone, c = (part.cpu().numpy() for part in (batch.letter, batch.tone, batch.c))
        kind, classes = inside.places.kind.T.cpu().numpy(), self.classes
        rhymes, literal = letter >= 0, (letter >= 0) & (kind == COPIED)
        count, most = int(letter.max(initial=-1)) + 1, int(rhymes.sum(1).max(initial=0))
        own = classes.groups[classes.of_word[np.where(literal, c, PAD)]]
        if self.frame.sounds.tone:
            own = own & classes.tones[np.clip(tone, EITHER, OBLIQUE)]
        asked = np.where(literal[..., None], own, classes.found[kind])
        mixed = np.zeros((len(c), count + 1), dtype=np.bool_)
        possible = np.zeros((len(c), count + 1, classes.groups.shape[1]), dtype=np.int64)
        possible[:, count, 0] = 1
        for number in range(count):
            here = letter == number
            if self.frame.sounds.has_parts:
                mixed[:, number] = (here & (tone == LEVEL)).any(1) & (here & (tone == OBLIQUE)).any(1)
            places = np.where(mixed[:, number, None, None], _with_twins(asked), asked)
            left = np.bitwise_and.accumulate(np.where(here[..., None], places, -1), axis=1)
            left[..., 0] &= ~1
            blank = (here & ~literal).any(1)
            if (dry := blank & ~left[:, -1].any(1)).any():
                row = int(dry.nonzero()[0][0])
                raise self._dry(batch, row, int((~left[row].any(1)).argmax()), bool(literal[row].any()))
            possible[:, number] = left[:, -1]
        order = rhymes.cumsum(1) - 1
        slot = np.where(rhymes, order, most)
        of_slot, used = np.full((len(c), most + 1), -1), np.full((len(c), most + 1), PAD)
        row, time = rhymes.nonzero()
        of_slot[row, order[row, time]] = letter[row, time]
        for at, place in zip(*literal.nonzero(), strict=True):
            if not (used[at] == c[at, place])[of_slot[at] == letter[at, place]].any():
                used[at, order[at, place]] = c[at, place]
        letter = np.where(rhymes, letter, count)
        tensors = (torch.from_numpy(np.ascontiguousarray(part)).to(batch.device) for part in (letter.T, mixed, slot.T))
        letters = Letters(rhymes.any(0).tolist(), *tensors, torch.from_numpy(of_slot).to(batch.device))
        return letters, torch.from_numpy(possible), torch.from_numpy(used)

    def _dry(self, batch: VerseBatch, row: int, time: int, literals: bool) -> Exception:
        sign = SIGNS.get(int(batch.tone[row, time])) if self.frame.sounds.tone else None
        has = f" has the tone {sign} and" if sign else ""
        others = "the literals and the places before" if literals else "words of the places before"
        return unmet(f"no word of this model{has} rhymes with {others}", batch, row, time)


def _with_twins(groups: S) -> S:
    """Sets of groups, with the oblique group of each level one, and the reverse."""
    twins: S = groups | ((groups & LOWER) << 1) | ((groups >> 1) & LOWER)
    return twins
