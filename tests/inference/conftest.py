"""Folders of tiny models."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from espalier.datasets.pairs.encode import PairSettings
from espalier.datasets.structure.encode import StructureSettings
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import WordVocabulary
from espalier.inference.folder import save_system

sys.path.insert(0, str(Path(__file__).parent))
from tiny_models import (
    CHINESE,
    DIALOGUE,
    PAIRS,
    SAT,
    TEMPLATES,
    TEXT,
    TREE,
    build,
    pair_vocabulary,
    structure_vocabulary,
)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Systems in folders beside each other; none names a parser."""
    root = tmp_path_factory.mktemp("models")
    verse = VerseVocabulary(tuple(CHINESE), "zh", 8, 16)
    sizes = {"layers": 1, "width": 8, "heads": 1, "inner": 8, "positions": 64}
    build(root / "verse", "songnet", sizes, verse, seeds=(3, 11))
    save_system(root / "verse", {"units": 8, "length": 16, "max_tokens": 60})

    pairs = PairSettings(max_length=20).model_dump(mode="json")
    known = [{"template": text, "count": 9 - place} for place, text in enumerate(TEMPLATES)]
    for name, network in {
        "writer": {"encoders": [TEXT, {**TREE, "attention": "path"}]},
        "unguided": {"encoders": [TEXT]},
        "expander": {
            "writes": "tree",
            "encoders": [{**TREE, "reads": ["source_tree"]}, {**TREE, "reads": ["template"]}],
        },
    }.items():
        build(root / name, "guig", {**PAIRS, **network}, pair_vocabulary())
        expander = root / "expander" if name == "writer" else None
        save_system(root / name, pairs, expander=expander, templates=known)
    deep = build(root / "other_depth", "guig", {**PAIRS, "writes": "tree", "encoders": [
        {**TREE, "reads": ["source_tree"]}]}, pair_vocabulary(6))  # fmt: skip
    save_system(deep, pairs)

    plain = {"encoder_layers": 2, "layers": 2, "width": 12, "heads": 2, "inner": 12, "positions": 32}
    for name, arch, network in (
        ("plain", "cdnpg", {"granularity": "product"}),
        ("transformer", "cdnpg", {"granularity": "none"}),
        ("levels", "dnpg", {}),
    ):
        build(root / name, arch, {**plain, **network}, pair_vocabulary(trees=False))
        save_system(root / name, PairSettings(max_length=20, trees=False).model_dump(mode="json"))

    for name, language, structures, topics in (
        ("lines", "zh", ["pc", "pos"], 0), ("topics", "zh", ["pc"], 2), ("news", "en", ["pos"], 0),
        ("gpt2", "en", [], 0),
    ):  # fmt: skip
        network = {"structures": structures, "topic": topics > 0}
        build(root / name, "sat", {**SAT, **network}, structure_vocabulary(language))
        own = ["pc", "pos"] if language == "zh" else ["pos"]
        settings = StructureSettings(structures=tuple(own), max_length=12, topics=topics)
        save_system(root / name, settings.model_dump(mode="json"))

    for name, arch in (("tree", "x2tree"), ("chain", "rnn_seq2seq")):
        build(root / name, arch, DIALOGUE, WordVocabulary(tuple(CHINESE), "zh"))
        save_system(root / name, {"max_words": 10})
    return root
