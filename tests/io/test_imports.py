"""Libraries without the packages that they load if these are installed."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from espalier.io.imports import nltk_module, without_packages


def test_a_package_is_missing_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "optional_package.py").write_text("VALUE = 1", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with without_packages("optional_package"), pytest.raises(ImportError):
        importlib.import_module("optional_package")
    assert importlib.import_module("optional_package").VALUE == 1
    with without_packages("optional_package"):
        assert importlib.import_module("optional_package").VALUE == 1
    del sys.modules["optional_package"]


def test_an_error_brings_a_package_back() -> None:
    with pytest.raises(RuntimeError), without_packages("no_such_package"):
        raise RuntimeError
    assert "no_such_package" not in sys.modules


def test_nltk_comes_without_scipy_and_its_stems_are_its_own() -> None:
    script = (
        "import sys; from espalier.io.imports import nltk_module; "
        "stemmer = nltk_module('stem.porter').PorterStemmer(); assert stemmer.stem('generalizations') == 'gener'; "
        "assert not {'scipy', 'sklearn'} & {*sys.modules}; import scipy.stats"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert nltk_module().stem.porter is nltk_module("stem.porter")
