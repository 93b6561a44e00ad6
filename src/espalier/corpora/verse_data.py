"""A linearized verse corpus in memory, and the batches that a model of verse reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from torch import Tensor

from espalier.corpora.frames import Frame
from espalier.corpora.vocabulary import BOS, PAD, Vocabulary
from espalier.io.tables import read_arrow, write_table

IntArray = npt.NDArray[np.int64]
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
class VerseBatch:
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

    def to(self, device: torch.device | str) -> VerseBatch:
        """The same batch on another device."""
        moved = {field.name: getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)}
        return VerseBatch(**moved)

    @property
    def real(self) -> Tensor:
        """(batch, time) bool: True where there is a target, not padding."""
        return self.target != PAD

    @property
    def device(self) -> torch.device:
        """Where the batch lies."""
        return self.c.device

    def __len__(self) -> int:
        return len(self.c)


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths in one flat array."""

    flat: npt.NDArray[np.int32]
    offsets: IntArray

    @classmethod
    def of(cls, rows: Sequence[npt.ArrayLike]) -> Ragged:
        """From one array per row."""
        arrays = [np.asarray(row, dtype=np.int32) for row in rows]
        flat = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int32)
        return cls(flat, np.concatenate([[0], np.cumsum([len(row) for row in arrays])]).astype(np.int64))

    def padded(self, indices: IntArray, fill: int, grain: int = 1) -> npt.NDArray[np.int64]:
        """(len(indices), longest) the chosen rows, `fill` after each end; the width is a multiple of `grain`."""
        lengths = self.lengths[indices]
        longest = int(lengths.max()) if len(lengths) else 0
        places = np.arange(-(-longest // grain) * grain)
        inside = places < lengths[:, None]
        flat = self.flat if len(self.flat) else np.zeros(1, dtype=np.int32)
        taken = flat[np.where(inside, self.offsets[indices][:, None] + places, 0)]
        return np.where(inside, taken, fill).astype(np.int64)

    @property
    def lengths(self) -> IntArray:
        """(rows,) how long each is."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class VerseData:
    """A split of a linearized corpus: ids, and one ragged array for each of `COLUMNS`."""

    ids: list[str]
    columns: dict[str, Ragged]
    vocabulary: Vocabulary

    @classmethod
    def load(cls, path: Path, vocabulary: Vocabulary) -> VerseData:
        """Read a split that `save` wrote, without a Python object per token."""
        table = read_arrow(path, ["id", *COLUMNS]).combine_chunks()
        columns = {}
        for name in COLUMNS:
            column = table[name].chunk(0) if table.num_rows else pa.array([], pa.list_(pa.int32()))
            columns[name] = Ragged(
                column.flatten().to_numpy(), np.asarray(column.offsets, dtype=np.int64) - column.offsets[0].as_py()
            )
        return cls(table["id"].to_pylist(), columns, vocabulary)

    @classmethod
    def of(
        cls,
        ids: list[str],
        frames: Sequence[Frame],
        vocabulary: Vocabulary,
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
        lists = {
            name: pa.ListArray.from_arrays(pa.array(ragged.offsets, pa.int32()), pa.array(ragged.flat, pa.int32()))
            for name, ragged in self.columns.items()
        }
        write_table(path, pa.table({"id": pa.array(self.ids, pa.string())} | {name: lists[name] for name in COLUMNS}))

    @property
    def lengths(self) -> IntArray:
        """(examples,) length of each frame."""
        return self.columns["c"].lengths

    def batch(
        self, indices: IntArray, view: View, rng: np.random.Generator | None = None, *, grain: int = 1
    ) -> VerseBatch:
        """Collate `indices` as a model with this `view` reads them.

        Args:
            rng: draws the literals of section 3.3; None (evaluation) keeps none.
            grain: lengths are padded to a multiple of it.
        """
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
