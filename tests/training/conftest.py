"""A small training, once without a break."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
from toy_training import Toy

from espalier.layers import readout


@pytest.fixture(scope="session")
def toy() -> Toy:
    return Toy()


@pytest.fixture(scope="session")
def straight(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    """Forty steps without a break: where they end, and the hash of their weights."""
    return toy.train(tmp_path_factory.mktemp("straight"))


@pytest.fixture
def without_autocast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Autocast knows no device without data, "meta"."""
    real = torch.autocast
    monkeypatch.setattr(
        torch, "autocast", lambda device, **more: nullcontext() if device == "meta" else real(device, **more)
    )
    monkeypatch.setattr(readout, "_precision", lambda x: x.dtype)
