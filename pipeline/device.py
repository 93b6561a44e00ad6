"""Which device computes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def device() -> torch.device:
    """The GPU where there is one; `ESPALIER_DEVICE=cpu` keeps away from it."""
    import torch

    gpu = torch.cuda.is_available() and os.environ.get("ESPALIER_DEVICE") != "cpu"
    return torch.device("cuda" if gpu else "cpu")
