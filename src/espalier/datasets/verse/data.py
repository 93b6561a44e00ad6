"""A linearized verse corpus in memory, and the batches that a model of verse reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from espalier.datasets.batch import Batch
from espalier.datasets.batching import GRAIN
from espalier.datasets.ragged import IntArray, Ragged, read_ragged, write_ragged
from espalier.datasets.verse.frames import Frame
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, PAD

if TYPE_CHECKING:
    from torch import Tensor

#: The list columns of a linearized split; `title` is as long as the tune's name, the others as the target.
COLUMNS = ("target", "c", "p", "inverse", "s", "letter", "title")


@dataclass(frozen=True, slots=True)
class View:
    """What a model sees of a frame. Each ablation of the paper's table 4 is a value here.

    Attributes:
        order: "descending" (equation 4) or "ascending" (w/ inverse-P).
        literals: share of words whose C symbol is the word itself (section 3.3; 0.2 in the paper), in training.
        title: whether the tune's name is read as memory (released).
    """

    order: str = "descending"
    literals: float = 0.0
    title: bool = False


@dataclass(frozen=True)
class VerseBatch(Batch):
    """One batch. Every row is right-padded with `PAD`.

    Attributes:
        inputs: (batch, time) BOS, then the target shifted by one.
        target: (batch, time) what is to be predicted.
        c, p, s: (batch, time) the symbols of the target's places (equations 3-5).
        letter: (batch, time) rhyme letter numbers, -1 where none.
        title: (batch, title length) ids of the tune's name; width 0 where the model reads none.
    """

    inputs: Tensor
    target: Tensor
    c: Tensor
    p: Tensor
    s: Tensor
    letter: Tensor
    title: Tensor


@dataclass(frozen=True)
class VerseData:
    """A split of a linearized corpus: ids, and one ragged array for each of `COLUMNS`."""

    #: Lengths of batches that train are multiples of this.
    GRAIN: ClassVar[int] = GRAIN

    ids: list[str]
    columns: dict[str, Ragged]
    vocabulary: VerseVocabulary

    @classmethod
    def load(cls, path: Path, vocabulary: VerseVocabulary) -> VerseData:
        """Read a split that `save` wrote, without a Python object per token."""
        ids, columns = read_ragged(path, COLUMNS)
        return cls(ids, columns, vocabulary)

    @classmethod
    def of(
        cls,
        ids: list[str],
        frames: Sequence[Frame],
        vocabulary: VerseVocabulary,
        *,
        targets: Sequence[npt.ArrayLike] | None = None,
        titles: Sequence[npt.ArrayLike] | None = None,
    ) -> VerseData:
        """From frames; without `targets` (they are to be written) the target row is empty."""
        columns = {name: Ragged.of([getattr(frame, name) for frame in frames]) for name in COLUMNS[1:-1]}
        columns["target"] = Ragged.of(targets if targets is not None else [[] for _ in frames])
        columns["title"] = Ragged.of(titles if titles is not None else [[] for _ in frames])
        return cls(ids, columns, vocabulary)

    def save(self, path: Path) -> None:
        """Write as Parquet, one list column each."""
        write_ragged(path, self.ids, {name: self.columns[name] for name in COLUMNS})

    def select(self, places: IntArray) -> VerseData:
        """The rows at these places, in that order."""
        columns = {name: column.select(places) for name, column in self.columns.items()}
        return VerseData([self.ids[place] for place in places], columns, self.vocabulary)

    @property
    def lengths(self) -> IntArray:
        """(examples,) length of each frame."""
        return self.columns["c"].lengths

    def sizes(self, view: View) -> IntArray:
        """(examples,) what each counts for in a batch's budget: its length."""
        return self.lengths

    def longest(self, view: View) -> int:
        """The longest row that a model reads or writes."""
        return int(self.lengths.max(initial=0))

    def batch(
        self, indices: IntArray, view: View, rng: np.random.Generator | None = None, *, grain: int = 1
    ) -> VerseBatch:
        """Collate `indices` as a model with this `view` reads them.

        Args:
            rng: draws the literals of section 3.3; None (evaluation) keeps none.
            grain: lengths are padded to a multiple of it.
        """
        import torch

        voc = self.vocabulary
        take = {
            name: ragged.padded(indices, -1 if name == "letter" else PAD, grain)
            for name, ragged in self.columns.items()
        }
        c = take["c"]
        if view.literals and rng is not None:
            words = (c == voc.c_word) | (c == voc.c_rhyme)
            c = np.where(words & (rng.random(c.shape) < view.literals), take["target"], c)
        rows = {
            "inputs": _shifted(take["target"], len(indices)),
            "target": take["target"],
            "c": c,
            "p": take["p" if view.order == "descending" else "inverse"],
            "s": take["s"],
            "letter": take["letter"],
            "title": take["title"] if view.title else take["title"][:, :0],
        }
        return VerseBatch(**{name: torch.from_numpy(row) for name, row in rows.items()})

    def __len__(self) -> int:
        return len(self.ids)


def _shifted(target: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """BOS before the target, its last place dropped; PAD stays PAD."""
    if target.shape[1] == 0:
        return np.full((count, 1), BOS, dtype=np.int64)
    return np.concatenate([np.full((count, 1), BOS, dtype=np.int64), target[:, :-1]], axis=1)
