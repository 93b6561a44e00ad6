"""The splits of Song ci in profile small, on the published files that `ESPALIER_MIRROR` names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.filters import screen
from espalier.corpora.readers.songci import read
from espalier.corpora.records import Verse
from pipeline import layout
from pipeline.params.read import load_params
from tests.corpora.whole_tables import leakage, split_of, table_of

MIRROR = os.environ.get("ESPALIER_MIRROR", "")


@pytest.fixture(scope="module")
def corpora() -> dict[str, Any]:
    return dict(load_params(layout.PROFILES["small"] / layout.PARAMS).corpora)


def test_the_test_names_are_those_of_both_profiles(corpora: dict[str, Any]) -> None:
    paper = load_params(layout.PROFILES["paper"] / layout.PARAMS).corpora
    for key in ("songci", "songci_authors", "songnet_released"):
        assert paper[key] == corpora[key]


@pytest.mark.skipif(not MIRROR, reason="the published files are not at hand")
@pytest.mark.parametrize(
    ("key", "sizes", "left_out", "seen"),
    [("songci", (16096, 904, 1039), 1536, 0), ("songci_authors", (17736, 910, 929), 0, 832)],
)
def test_splits_have_their_sizes_and_formats(
    corpora: dict[str, Any], key: str, sizes: tuple[int, ...], left_out: int, seen: int
) -> None:
    corpus, mirror = corpora[key], Path(MIRROR)
    sources = ["songci", "couyun", *(["songnet_released"] if key == "songci_authors" else [])]
    rows = [row for row in read({name: mirror / name for name in sources}) if isinstance(row, Verse)]
    table = table_of(screen(rows, corpus.filters)[0], Verse)
    split = split_of(table, corpus.split)
    parts = {name: table[split == name] for name in ("train", "dev", "test")}
    assert tuple(map(len, parts.values())) == sizes and (split == "").sum() == left_out
    found = leakage(parts, Verse)
    assert found["test_train_shared_format"] == seen
    if key == "songci":
        # Neither a format nor a tune, under whatever name, and no whole poem. Dev and test may share a format.
        shared = {way for way, count in found.items() if count and "shared_unit" not in way}
        assert shared == {"test_dev_shared_format"}
    else:
        lines = (mirror / "songnet_released/out1.txt").read_text(encoding="utf-8").splitlines()
        theirs = {line.partition("<s1>")[2].partition("<s2>")[0] for line in lines}
        assert theirs - set(corpus.split.test_names) == {"马家春慢"} and set(corpus.split.test_names) < theirs
