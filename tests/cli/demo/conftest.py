"""The tiny models of the tests of inference."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from espalier.cli.demo.asking import KeptModels
from espalier.cli.models import Models, find_in
from espalier.cli.models import models as found

_FILE = Path(__file__).parents[2] / "inference" / "conftest.py"
_SPEC = importlib.util.spec_from_file_location("inference_conftest", _FILE)
assert _SPEC is not None and _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
models = _MODULE.models


@pytest.fixture(autouse=True)
def folders() -> Iterator[KeptModels]:
    """Commands find models by their folders, and keep them."""
    before, kept = found(), KeptModels(Models())
    find_in(kept)
    yield kept
    find_in(before)
