"""What each place of a batch's frames requires: their plans, and these as tensors, which all prefixes share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.verse.frames import EITHER
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, SPECIALS, UNK
from espalier.frames.plan import Place, Plan, lettered
from espalier.frames.readings import SIGNS
from espalier.io.errors import ConfigError
from espalier.verse.sounds import Sounds

#: The kinds of blanks are the tones that they want, numbered as in `Frame.tone`.
TONES = ("", *SIGNS)
#: The kind of a place whose token is the frame's, or that of the place which it repeats.
COPIED = len(TONES)
_LINE, _END = Place("\n", word=False), Place(SPECIALS[EOS], word=False)


def plans_of(
    batch: VerseBatch, vocabulary: VerseVocabulary, sounds: Sounds, *, marks: bool, rhyme: bool, rhymes_only: bool
) -> tuple[list[Plan], list[int]]:
    """The different plans of a batch's frames, read from their rows of ids (`Frame`), and the index of each frame's.

    Args:
        marks: whether the marks of the frame stand in the text; else any word or mark may stand in their place.
        rhyme: whether words rhyme.
        rhymes_only: whether the tones of rhyme places alone count.
    """
    mark_ids, symbols = frozenset(vocabulary.mark_ids.tolist()), vocabulary.text_size

    @cache
    def place(id_: int, tone: int, letter: int, source: int) -> Place:
        if source >= 0:
            return Place(source=source)
        if id_ == SEP:
            return _LINE
        blank = id_ >= symbols or (id_ in mark_ids and not marks)
        wanted = TONES[max(tone, EITHER)] if letter >= 0 or not rhymes_only else ""
        name = chr(ord("A") + letter) if letter >= 0 and rhyme else ""
        return Place("" if blank else vocabulary.token(id_), id_ not in mark_ids, wanted, name)

    copy = batch.copy if batch.copy.shape[1] else torch.full_like(batch.c, -1)
    rows = torch.stack([batch.c, batch.tone, batch.letter, copy], dim=1).cpu().numpy()
    keys = [row.tobytes() for row in rows]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    plans = []
    for key in numbers:
        row = np.frombuffer(key, rows.dtype).reshape(rows.shape[1:])
        end = int((row[0] == EOS).argmax()) - 1  # the last separator and the end mark are of no line
        plans.append(Plan(*lettered([*map(place, *row[:, :end].tolist())], sounds), sounds))
    return plans, [numbers[key] for key in keys]


@dataclass(frozen=True)
class Places:
    """The places of the different plans of a batch, (time, plans) each. After the last are a separator and EOS.

    Attributes:
        frames: the index of the plan of each frame.
        kind: the index of its tone in `TONES` for a blank, else `COPIED`.
        token: the frame's own token; PAD at blanks and where a place is repeated.
        source: the place that is repeated, -1 for none.
        repeats: for each time whether any plan repeats a place there.
    """

    plans: Sequence[Plan]
    frames: Sequence[int]
    kind: Tensor
    token: Tensor
    source: Tensor
    repeats: list[bool]

    @classmethod
    def of(
        cls, plans: Sequence[Plan], frames: Sequence[int], vocabulary: VerseVocabulary, device: torch.device
    ) -> Self:
        """The places of plans, on a device."""
        width = 2 + max((len(plan.places) for plan in plans), default=0)
        known, numbers = {"": PAD, _LINE.given: SEP, _END.given: EOS}, defaultdict[Place, int](count().__next__)
        rows = [[*plan.places, _LINE, *[_END] * (width - len(plan.places) - 1)] for plan in plans]
        of_row = np.array([[*map(numbers.__getitem__, row)] for row in rows])
        compiled = [
            (
                COPIED if place.given or place.source >= 0 else TONES.index(place.tone),
                known[place.given] if place.given in known else vocabulary.id_of(place.given),
                place.source,
            )
            for place in numbers
        ]
        kind, token, source = (on_device(part, device) for part in np.array(compiled).T[:, of_row.T])
        return cls(plans, frames, kind, token, source, (source >= 0).any(1).tolist())


def on_device(array: npt.NDArray[np.int64], device: torch.device) -> Tensor:
    """An array as a contiguous tensor on a device."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


@lru_cache(maxsize=8)
def fitting(vocabulary: VerseVocabulary, marks: bool, sounds: Sounds) -> npt.NDArray[np.bool_]:
    """(kinds, text size) whether a word can fill a blank of each kind. `COPIED` is not a blank.

    Args:
        marks: whether marks are copied; else they are treated as words.
    """
    words = np.ones(vocabulary.text_size, dtype=np.bool_)
    words[[PAD, UNK, BOS, EOS, SEP]] = False
    if marks:
        words[vocabulary.mark_ids] = False
    fits = np.zeros((COPIED + 1, vocabulary.text_size), dtype=np.bool_)
    fits[EITHER] = words
    if sounds.tone or sounds.by_part(True):
        tones = [sounds.tones(vocabulary.token(i)) if word else frozenset() for i, word in enumerate(words)]
        for kind, tone in enumerate(TONES):
            fits[kind] |= [tone in each for each in tones]
    return fits


def as_bias(allowed: npt.NDArray[np.bool_]) -> Tensor:
    """0 where allowed, -inf elsewhere."""
    return torch.from_numpy(np.where(allowed, np.float32(0), -np.float32(np.inf)))


def unmet(what: str, places: Places, plan: int, time: int) -> ConfigError:
    """The error for a plan that the vocabulary cannot fill; it names the unit and the word."""
    before = places.plans[plan].places[: time + 1]
    ends = [index for index, place in enumerate(before) if place.given == "\n"]
    where = f"unit {len(ends) + 1}, word {sum(place.word for place in before[ends[-1] if ends else 0 :])}"
    return ConfigError(
        what,
        where=where if len(places.frames) == 1 else f"frame {places.frames.index(plan) + 1}, {where}",
        remedy="give this word no tone or its unit no rhyme letter, or use a model with a larger vocabulary",
    )
