"""Folders of tiny models."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from tiny_models import make_models


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Systems in folders beside each other; none names a parser."""
    root = tmp_path_factory.mktemp("models")
    make_models(root)
    return root
