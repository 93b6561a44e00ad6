"""Backends: how they are opened, and what is said where their library is not installed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from espalier.io.errors import ArtifactError, ConfigError, EspalierError
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Parser
from espalier.syntax.parsers.registry import BACKENDS, HASH, MODEL, Backend, load_parser, open_parser, save_parser
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
        ("spacy", {"words": "pkuseg"}, "words: Input should be 'spacy', 'jieba', 'spaces' or 'penn'; it is 'pkuseg'"),
    ],
)
def test_an_option_that_a_backend_does_not_have_is_one_line(backend: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=rf"{backend}'s options: {words}"):
        open_parser(backend, "model", options)


#: The smallest settings with which the backends learn.
SETTINGS: dict[str, dict[str, Any]] = {
    "benepar": {"epochs": 1, "batch": 4, "width": 32, "layers": 1, "heads": 2, "key": 8, "inner": 32, "character": 8,
                "hidden": 16, "positions": 40},
    "spacy": {"epochs": 1, "batch": 4, "width": 16, "depth": 1, "rows": 200, "pieces": 2, "hidden": 8},
    "trivial": {},
}  # fmt: skip


def made(backend: str, folder: Path) -> Parser:
    """A parser of the smallest settings, trained on one sentence, in a folder."""
    words, tags, tree = ("dogs", "see", "cats"), ("NN", "VB", "NN"), "(S (NP (NN dogs)) (VP (VB see) (NP (NN cats))))"
    bank = [Parse(words, tags, tree, (2, 0, 2), ("nsubj", "root", "obj"))] * 8
    trained, scratch = BACKENDS[backend], folder / "scratch"
    settings = trained.settings()(**SETTINGS[backend])
    trained.trained(bank, bank[:2], settings, folder / MODEL, scratch, seed=1, watch=lambda *_: None)
    return save_parser(folder, backend, None, {})


@pytest.mark.parametrize("backend", SETTINGS)
def test_a_model_of_which_one_bit_has_changed_is_not_loaded(backend: str, tmp_path: Path) -> None:
    assert HASH.search(made(backend, tmp_path).signature)
    places = [
        (file, byte) for file in (tmp_path / MODEL).rglob("*") if file.is_file() for byte in [file.stat().st_size]
    ]
    said, chance = list[str](), random.Random(1)
    for file, size in chance.choices(places, [size for _, size in places], k=10):
        whole = file.read_bytes()
        damaged = bytearray(whole)
        damaged[chance.randrange(size)] ^= 1 << chance.randrange(8)
        file.write_bytes(damaged)
        with pytest.raises(EspalierError) as error:
            load_parser(tmp_path)
        said.append(str(error.value))
        file.write_bytes(whole)
    load_parser(tmp_path)
    if backend != "trivial":  # whose table is JSON, and often no longer one
        assert any(f"{tmp_path / MODEL}: changed after it was written: " in line for line in said)


def test_a_model_is_loaded_by_another_version_of_its_library(tmp_path: Path) -> None:
    trained = BACKENDS["trivial"]
    bank = [Parse(("dogs", "see"), ("NN", "VB"), "(S (NN dogs) (VB see))")]
    trained.trained(bank, bank, trained.settings()(), tmp_path / MODEL, tmp_path, seed=1, watch=lambda *_: None)
    signature = save_parser(tmp_path, "trivial", None, {}).signature
    value = json.loads((tmp_path / "parser.json").read_text(encoding="utf-8"))
    for said, loads in ((f"trivial 2.0, model {HASH.findall(signature)[0]}", True), ("trivial 12345678", False)):
        (tmp_path / "parser.json").write_text(json.dumps({**value, "signature": said}), encoding="utf-8")
        if loads:
            load_parser(tmp_path)
        else:
            with pytest.raises(ArtifactError, match=f"it is {signature}, and parser.json names trivial 12345678; repl"):
                load_parser(tmp_path)


def train(backend: Backend, folder: Path) -> None:
    backend.trained([], [], SpacyTraining(), folder, folder, seed=1, watch=lambda *_: None)
