"""What each place of a batch's frames requires; shared by all prefixes."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

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
    """The kind and the token of each place of each frame, (time, frames) both; the token of a blank is `PAD`.

    The token after the end of a frame is EOS.
    """

    kind: Tensor
    token: Tensor

    @classmethod
    def of(
        cls,
        batch: VerseBatch,
        first_symbol: int,
        marks: npt.NDArray[np.int64] | None,
        tone: bool,
        *,
        rhymes_only: bool = False,
    ) -> Self:
        """The places of the frames of a batch.

        Args:
            first_symbol: the first id after those of texts.
            marks: ids of marks that are treated as blanks instead of being copied.
            tone: whether words must have the tones of their places.
            rhymes_only: whether this holds for rhyme places alone.
        """
        c = torch.where(batch.c == PAD, EOS, batch.c)
        blank = c >= first_symbol
        if marks is not None:
            blank |= torch.isin(c, torch.from_numpy(marks).to(c.device))
        kind = batch.tone.clamp(min=EITHER) if tone else torch.full_like(c, EITHER)
        if rhymes_only:
            kind = kind.masked_fill(batch.letter < 0, EITHER)
        if batch.copy.shape[1]:  # a repeated word has the tone of its source
            kind = kind.masked_fill(batch.copy >= 0, EITHER)
        return cls(torch.where(blank, kind, COPIED).T.contiguous(), torch.where(blank, PAD, c).T.contiguous())


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
    if sounds.tone:
        tones = [sounds.tones(vocabulary.token(i)) if word else frozenset() for i, word in enumerate(words)]
        for kind, sign in SIGN_OF.items():
            fits[kind] = [sign in each for each in tones]
    return fits


def as_bias(allowed: npt.NDArray[np.bool_]) -> Tensor:
    """0 where allowed, -inf elsewhere."""
    return torch.from_numpy(np.where(allowed, np.float32(0), -np.float32(np.inf)))


def unmet(what: str, batch: VerseBatch, row: int, time: int) -> ConfigError:
    """The error for a frame that the vocabulary cannot fill; it names the unit and the word."""
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
