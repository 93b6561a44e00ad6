"""The base of all batches: named tensors with one row per example, including the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Self

import numpy as np

from espalier.datasets.vocabulary import PAD

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch
    from torch import Tensor


def tensors(rows: Mapping[str, npt.NDArray[np.int64]]) -> dict[str, Tensor]:
    """Arrays as tensors, which share their memory where they are contiguous."""
    import torch  # settings of datasets are read without it

    return {name: torch.from_numpy(np.ascontiguousarray(row)) for name, row in rows.items()}


class Batch:
    """A base for frozen dataclasses whose fields are all tensors.

    Attributes:
        target: (batch, time) the ids to be predicted, right-padded with `PAD`.
    """

    target: Tensor

    def to(self, device: torch.device | str) -> Self:
        """The same batch on another device."""
        named = fields(self)  # type: ignore[arg-type]
        return type(self)(**{field.name: getattr(self, field.name).to(device, non_blocking=True) for field in named})

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
