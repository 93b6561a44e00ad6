"""A constraint for verse that rhymes by a book: all words of a rhyme letter share one rhyme group.

A word with several readings rhymes by any reading that has the tone of its place. Each letter therefore keeps a set of
possible keys (`espalier.frames.readings.Readings`): at first those that its given words leave and that have a word for
each of its places, later those that its words so far share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import count, repeat
from typing import Self

import numpy as np
import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.vocabulary import PAD
from espalier.decoding.constraints.frame import FrameConstraint, FrameState, copied
from espalier.decoding.constraints.places import TONES, Places, on_device, unmet
from espalier.decoding.constraints.sound_classes import Bits, case_of, classes_of
from espalier.frames.plan import Letter
from espalier.io.errors import ConfigError


@dataclass
class RhymeState:
    """The state of a batch of prefixes. Given words are no rhyme places: they say what a letter can be at first.

    Attributes:
        inside: the current places in the frames.
        rhymes: for each time whether any frame rhymes there.
        of_place: (3, time, plans) the number of each place's letter, what words can share there (`case_of`), and the
            index of the place within its letter. Places without a letter have the largest number.
        classes: the vocabulary's `SoundClasses` as tensors.
        possible: (prefixes, letters + 1, chunks) the keys that the words of each letter can still share.
        used: (prefixes, letters + 1, words) the different words of each letter so far, PAD elsewhere.
    """

    inside: FrameState
    rhymes: list[bool]
    of_place: Tensor
    classes: dict[str, Tensor]
    possible: Tensor
    used: Tensor

    def select(self, index: Tensor) -> Self:
        """The rows `index`."""
        return replace(self, inside=self.inside.select(index), possible=self.possible[index], used=self.used[index])

    @property
    def here(self) -> Tensor:
        """(3, prefixes) what `of_place` says of each prefix's current place."""
        return self.of_place[:, self.inside.place].index_select(1, self.inside.frame)


class RhymeConstraint:
    """Like `FrameConstraint`; in addition, the rhyme places of a letter hold different words of one rhyme group.

    Literals count as words. A word is repeated only if no other word fits.
    """

    def __init__(self, frame: FrameConstraint) -> None:
        self.frame = frame
        self.classes = classes_of(frame.vocabulary, frame.marks, frame.sounds)
        self.tensors = {name: torch.from_numpy(getattr(self.classes, name)) for name in ("of_word", "words", "keys")}

    def start(self, batch: VerseBatch) -> RhymeState:
        """The state before the first token.

        Raises:
            ConfigError: no word of the vocabulary fits a place, or no group has words for all places of a letter.
        """
        inside = self.frame.start(batch, rhyme=True)
        tensors = {name: tensor.to(batch.device) for name, tensor in self.tensors.items()}
        of_place, possible, used = (on_device(part, batch.device) for part in self._letters(inside.places))
        rhymes = (of_place[0] < used.shape[1] - 1).any(1).tolist()
        return RhymeState(inside, rhymes, of_place, tensors, possible[inside.frame], used[inside.frame])

    def mask(self, state: RhymeState) -> Tensor:
        """(prefixes, text size) 0 for unused words of the groups that are possible for the letter, -inf for others."""
        if not state.rhymes[state.inside.place]:
            return self.frame.mask(state.inside)
        kind, tensors, (letter, case, _) = state.inside.kind, state.classes, state.here
        words, used = tensors["words"].index_select(0, kind), _of(state.used, letter)
        shared = tensors["keys"].index_select(0, case) & _of(state.possible, letter)[:, None]
        fits = (shared != 0).any(2) & (words > 0)
        # A word of PAD's class fits nowhere, and used words differ, so that they can be counted.
        spent = fits.gather(1, tensors["of_word"][used]).sum(1) >= (fits * words).sum(1)
        bias = torch.where(fits, 0.0, -torch.inf).gather(1, tensors["of_word"].expand(len(fits), -1))
        bias.scatter_(1, used.masked_fill(spent[:, None], PAD), -torch.inf)
        return copied(bias, kind, state.inside.token)

    def advance(self, tokens: Tensor, state: RhymeState) -> RhymeState:
        """Keep the keys that the new word shares with its letter, and mark words at rhyme places as used."""
        inside = self.frame.advance(tokens, state.inside)
        if not state.rhymes[state.inside.place]:
            return replace(state, inside=inside)
        (letter, case, slot), rows = state.here, torch.arange(len(tokens), device=tokens.device)
        possible, used = state.possible.clone(), state.used.clone()
        possible[rows, letter] &= state.classes["keys"][case, state.classes["of_word"][tokens]]
        known = (_of(used, letter) == tokens[:, None]).any(1) | (letter == used.shape[1] - 1)
        used[rows, letter, slot] = torch.where(known, used[rows, letter, slot], tokens)
        return replace(state, inside=inside, possible=possible, used=used)

    def _letters(self, places: Places) -> tuple[Bits, Bits, Bits]:
        """`of_place`, and for each plan the keys and the used words of its letters before the first place.

        Raises:
            ConfigError: no group is possible for a letter.
        """

        @cache
        def left(keys: frozenset[str] | None, cases: tuple[int, ...]) -> Bits:
            """(cases + 1, chunks) what words can share that have some keys, and after each place of some cases."""
            return np.bitwise_and.accumulate([self.classes.given(keys), *self.classes.found[[*cases]]])

        letters = [[*plan.letters.values()] for plan in places.plans]
        size = max(map(len, letters), default=0)
        longest = max((len(letter.places) + len(letter.given) for own in letters for letter in own), default=1)
        possible = np.zeros((len(letters), size + 1, self.classes.keys.shape[2]), dtype=np.int64)
        possible[:, size, 0] = 1
        used = np.full((len(letters), size + 1, longest), PAD)
        at = list[tuple[int, ...]]()
        for index, (plan, own) in enumerate(zip(places.plans, letters, strict=True)):
            for number, letter in enumerate(own):
                cases = tuple(case_of(TONES.index(plan.places[time].tone), letter.mixed) for time in letter.places)
                shared = left(letter.keys, cases)
                if cases and not shared[-1].any():
                    raise _no_group(places, index, letter.places[max(int((~shared.any(1)).argmax()) - 1, 0)], letter)
                possible[index, number] = shared[-1]
                if letter.given:
                    used[index, number, -len(letter.given) :] = self.frame.vocabulary.encode(sorted(letter.given))
                at += zip(letter.places, repeat(index), repeat(number), cases, count())
        kind = places.kind.cpu().numpy()
        of_place = np.stack([np.full_like(kind, size), kind, np.zeros_like(kind)])
        time, plan_of, *values = np.array(at, dtype=np.int64).reshape(-1, 5).T
        of_place[:, time, plan_of] = values
        return of_place, possible, used


def _of(rows: Tensor, letter: Tensor) -> Tensor:
    """(prefixes, n) what (prefixes, letters + 1, n) rows say of each prefix's letter."""
    return rows.gather(1, letter[:, None, None].expand(-1, 1, rows.shape[2]))[:, 0]


def _no_group(places: Places, plan: int, time: int, letter: Letter) -> ConfigError:
    tone = places.plans[plan].places[time].tone
    has = f" has the tone {tone} and" if tone else ""
    others = "the literals and the places before" if letter.given else "words of the places before"
    return unmet(f"no word of this model{has} rhymes with {others}", places, plan, time)
