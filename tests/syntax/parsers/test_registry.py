"""Backends: how they are opened, and what is said where their library is not installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from espalier.io.errors import ConfigError
from espalier.syntax.parsers.registry import BACKENDS, Backend, open_parser
from espalier.syntax.parsers.training_config import SpacyTraining

#: A backend's module, as a plugin has it; it imports a package that no machine has when it parses or trains.
PLUGIN = """
def load(**options):
    import no_such_library.words

def train(*args, **options):
    import no_such_library.words
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugin_parser.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "plugin_parser_at_once.py").write_text(f"import no_such_library\n{PLUGIN}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("module", ["plugin_parser", "plugin_parser_at_once"])
def test_a_plugin_whose_library_is_missing_is_not_told_to_install_an_extra_of_ours(
    plugin: None, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Backend(f"{module}:load", needs_model=False, train=f"{module}:train")
    monkeypatch.setitem(BACKENDS, "mine", backend)
    said = "the package no_such_library is not installed; install it$"
    with pytest.raises(ConfigError, match=said):
        open_parser("mine", None, {})
    with pytest.raises(ConfigError, match=said):
        train(backend, tmp_path)


def test_a_backend_of_ours_names_the_extra_that_installs_its_library(plugin: None, tmp_path: Path) -> None:
    assert {backend.extra for backend in BACKENDS.values() if not backend.baseline} == {"parse"}
    backend = Backend("plugin_parser:load", needs_model=False, train="plugin_parser:train", extra="parse")
    said = "the package no_such_library is not installed; install espalier\\[parse\\]"
    with pytest.raises(ConfigError, match=said):
        backend.open(None, {}, where="ours")
    with pytest.raises(ConfigError, match=said):
        train(backend, tmp_path)


@pytest.mark.parametrize(
    ("backend", "options", "words"),
    [
        ("benepar", {"max_words": "200"}, "max_words: Input should be a valid integer; it is '200'"),
        ("benepar", {"words": "jieba"}, "unknown option 'words'; allowed: batch_tokens, max_words"),
        ("jieba", {"batch": 3}, "unknown option 'batch'"),
        ("ltp", {"batch_tokens": 2.5}, "batch_tokens: Input should be a valid integer; it is 2.5"),
        ("spacy", {"words": "pkuseg"}, "words: Input should be 'spacy', 'jieba' or 'spaces'; it is 'pkuseg'"),
    ],
)
def test_an_option_that_a_backend_does_not_have_is_one_line(backend: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=rf"{backend}'s options: {words}"):
        open_parser(backend, "model", options)


def train(backend: Backend, folder: Path) -> None:
    backend.trained([], [], SpacyTraining(), folder, folder, seed=1, watch=lambda *_: None)
