"""The models in released/: small, described, and exact in the format that is asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import espalier
from espalier.inference.requests import VerseRequest

ROOT = Path(__file__).resolve().parents[2]
MODELS = sorted(path.parent for path in (ROOT / "released").glob("*/model.json"))


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_a_released_model_is_small_and_described(folder: Path) -> None:
    assert sum(file.stat().st_size for file in folder.iterdir()) < 20e6
    assert (folder / "README.md").read_text(encoding="utf-8").startswith(f"# {folder.name}\n")


def test_songci_writes_what_is_asked_for() -> None:
    model = espalier.load(ROOT / "released/songci", device="cpu")
    poems = model.generate([VerseRequest("5,5。7,5。", rhyme="AA", acrostic="江月")], n=2)
    assert len(poems) == 2
    for poem in poems:
        lines = poem.text.split("\n")
        assert [re.sub("[^，。]", "5", line) for line in lines] == ["55555，55555。", "5555555，55555。"]
        assert [line[0] for line in lines] == ["江", "月"]
        first, second = poem.rhyme_groups
        assert first == second != "?"
