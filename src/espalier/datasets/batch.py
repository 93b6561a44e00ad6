"""Batches: the base of all, and which examples form each. The same seed gives the same plan on every machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import numpy.typing as npt

from espalier.datasets.part import Part
from espalier.datasets.vocabulary import PAD
from espalier.io.errors import ConfigError

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def tensors(rows: Mapping[str, npt.NDArray[np.int64]]) -> dict[str, Tensor]:
    """Arrays as tensors, which share their memory where they are contiguous."""
    import torch  # settings of datasets are read without it

    return {name: torch.from_numpy(np.ascontiguousarray(row)) for name, row in rows.items()}


class Batch:
    """A base for frozen dataclasses whose fields are tensors, or tensors by name.

    Places without padding are found on the host before a batch moves to a device, which would have to be waited for.

    Attributes:
        PADDED: the rows of ids of which a model may take the places without padding.
        target: (batch, time) the ids to be predicted, right-padded with `PAD`.
    """

    PADDED: ClassVar[tuple[str, ...]] = ("target",)

    target: Tensor

    def __post_init__(self) -> None:
        """Begin without known places. A subclass that has this method calls it."""
        self._places: dict[str, Tensor]
        object.__setattr__(self, "_places", {})

    def to(self, device: torch.device | str) -> Self:
        """The same batch on another device."""
        moved = self.mapped(lambda tensor: tensor.to(device, non_blocking=True))
        if moved.device.type != "cpu":
            for row in self.PADDED:
                moved.keep_places(row, self.places(row).to(device, non_blocking=True))
        return moved

    def pinned(self) -> Self:
        """The same batch in memory that a GPU copies without the host."""
        pinned = self.mapped(lambda tensor: tensor.pin_memory())
        for row in self.PADDED:
            pinned.keep_places(row, self.places(row).pin_memory())
        return pinned

    def keep_places(self, row: str, places: Tensor) -> None:
        """Tell this batch what `places` of a row are."""
        self._places[row] = places

    def places(self, row: str = "target") -> Tensor:
        """The places without padding of a row of `PADDED`, (batch, time), when it is flattened."""
        if row not in self._places:
            self._places[row] = (getattr(self, row) != PAD).flatten().nonzero()[:, 0]
        return self._places[row]

    def unpadded(self, x: Tensor, row: str = "target") -> Tensor:
        """(batch, time, ...) to (places, ...): without what stands at the padding of a row."""
        return x.flatten(0, 1).index_select(0, self.places(row))

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Self:
        """The batch of changed tensors."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return type(self)(
            **{
                name: {key: change(tensor) for key, tensor in value.items()}
                if isinstance(value, Mapping)
                else change(value)
                for name, value in values.items()
            }
        )

    def part(self, rows: slice) -> tuple[Self, Part]:
        """Consecutive rows, as wide as the whole batch, and their places in it.

        Raises:
            ConfigError: the first dimension of a tensor is not that of the rows; its class must override `part`.
        """

        def taken(tensor: Tensor) -> Tensor:
            if len(tensor) != len(self):
                raise ConfigError(
                    f"a tensor of {type(self).__name__} has no first dimension of rows",
                    remedy="override Batch.part, or train with one process",
                )
            return tensor[rows]

        return self.mapped(taken), Part({"row": (rows, len(self)), "target": self._targets(rows)})

    def _targets(self, rows: slice) -> tuple[slice, int]:
        """The targets of these rows, without padding, among all of the batch, and the number of all."""
        ends = [0, *self.real.sum(1).cumsum(0).tolist()]
        return slice(ends[rows.start], ends[rows.stop]), ends[-1]

    @property
    def real(self) -> Tensor:
        """(batch, time) bool: True at targets, False at padding."""
        return self.target != PAD

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""
        return self.target.device

    def __len__(self) -> int:
        return len(self.target)


IntArray = npt.NDArray[np.int64]

#: Row lengths are padded to multiples of `GRAIN`, and batch sizes are cut to multiples of `SIZE_GRAIN`, so that few
#: shapes occur. bfloat16 kernels are compiled once per shape; on a CPU that can take longer than the products.
GRAIN, SIZE_GRAIN = 16, 4


def batch_plan(lengths: IntArray, *, budget: int, seed: int, epoch: int, pool: int = 100) -> list[IntArray]:
    """The batches of one epoch, as arrays of indices into `lengths`.

    Examples are shuffled, sorted by length within pools of about `pool` batches, and cut into batches, which are then
    shuffled. The padded size of a batch, at most `budget` tokens, is its number of examples times its longest length
    rounded up to a multiple of `GRAIN`. The plan depends only on the arguments.

    Args:
        lengths: (examples,) number of tokens of each example.
        budget: the largest padded size, in tokens. A longer example is a batch of its own.
    """
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    mean = max(1.0, float(lengths.mean())) if len(lengths) else 1.0
    size = max(1, int(pool * budget / mean))
    batches = []
    for start in range(0, len(order), size):
        part = order[start : start + size]
        batches += _cut(part[np.argsort(lengths[part], kind="stable")], lengths, budget)
    return [batches[index] for index in rng.permutation(len(batches))]


def length_batches(lengths: IntArray, *, budget: int) -> list[IntArray]:
    """Batches of all examples, the shortest first, for evaluation."""
    return _cut(np.argsort(lengths, kind="stable"), lengths, budget)


def _cut(order: IntArray, lengths: IntArray, budget: int) -> list[IntArray]:
    """Cut indices, sorted by increasing length, into runs whose padded size is at most `budget`."""
    padded = -(-lengths[order] // GRAIN) * GRAIN
    runs, start = [], 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end + 1 - start) * padded[end] <= budget:
            end += 1
        if end < len(order) and end - start > SIZE_GRAIN:
            end -= (end - start) % SIZE_GRAIN
        runs.append(order[start:end])
        start = end
    return runs
