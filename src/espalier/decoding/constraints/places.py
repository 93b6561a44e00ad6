"""What the frames of a batch ask of each place, shared by all prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from espalier.datasets.verse.data import VerseBatch
from espalier.datasets.verse.frames import EITHER, LEVEL, NO_TONE, OBLIQUE
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK
from espalier.io.errors import ConfigError
from espalier.verse.sounds import Sounds

#: The kind of a place whose token is the frame's; those of blanks are `EITHER`, `LEVEL` and `OBLIQUE`.
COPIED = 3
SIGN_OF = {LEVEL: "平", OBLIQUE: "仄"}


@dataclass(frozen=True)
class Places:
    """The kind of each place of each frame, and its token: (time, frames) both; `PAD` at blanks.

    Past the end of a frame its token is EOS.
    """

    kind: Tensor
    token: Tensor

    @classmethod
    def of(cls, batch: VerseBatch, first_symbol: int, marks: npt.NDArray[np.int64] | None, tone: bool) -> Places:
        """The places of a batch's frames.

        Args:
            first_symbol: the first id that is no text.
            marks: the ids of marks that are blanks, if they are not copied.
            tone: whether words must have their places' tones.
        """
        c = torch.where(batch.c == PAD, EOS, batch.c)
        blank = c >= first_symbol
        if marks is not None:
            blank |= torch.isin(c, torch.from_numpy(marks).to(c.device))
        kind = batch.tone.clamp(min=EITHER) if tone else torch.full_like(c, EITHER)
        return cls(torch.where(blank, kind, COPIED).T.contiguous(), torch.where(blank, PAD, c).T.contiguous())


@lru_cache(maxsize=8)
def fitting(vocabulary: VerseVocabulary, marks: bool, sounds: Sounds) -> npt.NDArray[np.bool_]:
    """(kinds, text size) whether a word can fill a blank of each kind; `COPIED` is no blank.

    Args:
        marks: whether marks are copied; else they are words.
    """
    words = np.ones(vocabulary.text_size, dtype=np.bool_)
    words[[PAD, UNK, BOS, EOS, SEP]] = False
    if marks:
        words[vocabulary.mark_ids] = False
    fits = np.zeros((COPIED + 1, vocabulary.text_size), dtype=np.bool_)
    fits[EITHER] = words
    if sounds.tone:
        tones = [sounds.tones(vocabulary.token(i)) if word else frozenset() for i, word in enumerate(words)]
        for kind, sign in SIGN_OF.items():
            fits[kind] = [sign in each for each in tones]
    return fits


def as_bias(allowed: npt.NDArray[np.bool_]) -> Tensor:
    """0 where allowed, -inf elsewhere."""
    return torch.from_numpy(np.where(allowed, np.float32(0), -np.float32(np.inf)))


def unmet(what: str, batch: VerseBatch, row: int, time: int) -> ConfigError:
    """The error of a frame that no text of the vocabulary fills; it names the unit, and the word of it."""
    before = batch.c[row, :time].tolist()
    unit = before.count(SEP)
    start = len(before) - before[::-1].index(SEP) if unit else 0
    word = int((batch.tone[row, start : time + 1] != NO_TONE).sum())
    where = f"unit {unit + 1}, word {word}"
    return ConfigError(
        what,
        where=where if len(batch) == 1 else f"frame {row + 1}, {where}",
        remedy="give this word no tone or its unit no rhyme letter, or use a model with a larger vocabulary",
    )
