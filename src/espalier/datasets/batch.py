"""The base of all batches: named tensors with one row per example, including the target."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Self

from espalier.datasets.vocabulary import PAD

if TYPE_CHECKING:
    import torch
    from torch import Tensor


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
