"""The reader of SongNet's own test poems and of what its model wrote, on lines written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.published import published_texts
from espalier.corpora.readers.songnet_released import read, written
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import DataError

LINES = [
    "某甲<s1>石桥令<s2>云白，山青。</s>一灯明。\t<bos>山远，</s>水长。</s>",
    "某甲<s1>石桥令",
    "<s1>灯下曲<s2>桥□远。</s></s>\t<bos></s>归。</s>",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("out1.txt", "out2.txt"):
        (tmp_path / name).write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return tmp_path


def test_a_line_is_a_poem_and_a_broken_one_is_put_aside(folder: Path) -> None:
    first, broken, last = read({"mine": folder})
    assert first == Verse(
        id="mine-test-000000", origin="mine", language="zh", target="云白，山青。\n一灯明。", author="某甲",
        tune="石桥令", rhyme="AA",
    )  # fmt: skip
    assert broken == Quarantined(id="mine-test-000001", stage="read", reason="not author, tune and poem", text=LINES[1])
    assert isinstance(last, Verse) and (last.author, last.target, last.rhyme) == ("", "桥□远。", "A")


def test_what_the_model_wrote_stands_behind_the_tab(folder: Path) -> None:
    ids = ["mine-test-000002", "mine-test-000000"]
    assert published_texts(folder / "out2.txt", ids, written) == ["归。", "山远，\n水长。"]


def test_outputs_that_are_cut_for_integrity_stand_in_the_place_of_the_poem() -> None:
    assert written("某甲<s1>石桥令<s2>山远，</s>水长</s>") == "山远，\n水长"
    with pytest.raises(DataError, match="without <bos> behind a tab, and without <s2>"):
        written("某甲<s1>石桥令<s2>山远，</s>\t")


def test_a_line_without_a_text_is_refused(folder: Path) -> None:
    with pytest.raises(DataError, match="without <bos>"):
        published_texts(folder / "out2.txt", ["mine-test-000001"], written)
