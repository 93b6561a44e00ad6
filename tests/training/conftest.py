"""A small training, once without a break."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from toy_training import Toy


@pytest.fixture(scope="session")
def toy() -> Toy:
    return Toy()


@pytest.fixture(scope="session")
def straight(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    """Forty steps without a break: where they end, and the hash of their weights."""
    return toy.train(tmp_path_factory.mktemp("straight"))
