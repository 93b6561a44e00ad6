"""The page on prosody: its examples are run on the few entries that they need, its tables held against the code."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
import yaml

from tests.metrics.keys import PROSODY
from tests.verse.couyun import Tunes, link_couyun, write_couyun

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from markdown_page import ROOT, Page
from songci_prosody import ROWS, table

PAGE = Page("docs/prosody.md")

#: What the books say of the characters and the tunes of the examples.
RHYMES = """
geng = ["更声明", 1, 23, 11, 23]
zheng = ["灯", 1, 25, 11, 25]
qing = ["听", 1, 24, 11, 24]
dong = ["风", 1, 1, 1, 1]
xiao = ["桥", 1, 17, 8, 17]
qi = ["西", 1, 8, 3, 8]
tan = ["三", 1, 28, 14, 28]
xian = ["天眠船", 1, 16, 7, 16]
ge = ["我坐", 2, -20, -9, 50]
yu = ["雨", 2, -7, -4, 37]
jian = ["点", 2, -28, -14, 58]
xiao2 = ["照", 3, -18, -8, 77]
hao = ["到", 3, -20, -8, 79]
jing = ["更", 3, -24, -11, 83]
jing2 = ["听", 3, -25, -11, 84]
wu = ["独", 4, -1, 15, 90]
level = ["霜江枫渔愁姑苏城寒山钟乌啼", 1, 29, 14, 28]
oblique = ["月落满火对外寺夜半客", 4, -2, 15, 91]
"""
TUNES: Tunes = {
    ("归字谣", "苍梧谣", "十六字令"): [("1。7。3，5。", "平中仄平平中仄平平平仄中仄仄平平", [[0, 7, 15]])],
    ("菩萨蛮",): [
        (
            "7。7。5。5。5。5。5。5。",
            "中平中仄平平仄中平中仄平平仄中仄仄平平中平中仄平中平平仄仄中仄中平仄中仄仄平平中平中仄平",
            [[6, 13], [18, 23], [28, 33], [38, 43]],
        )
    ],
    ("西江月",): [
        (
            "6，6。7。6。6，6。7。6。",
            "中仄中平中仄中平中仄平平中平中仄仄平平中仄中平中仄中仄中平中仄中平中仄平平中平中仄仄平平中仄中平中仄",
            [[11, 18, -24, 36, 43, -49]],
        )
    ],
}


@pytest.mark.parametrize(("page", "least"), [("prosody", 20), ("songnet", 10), ("frames", 15)])
def test_every_worked_example_gives_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, least: int
) -> None:
    write_couyun(tmp_path / "data/raw/forms/couyun", RHYMES, TUNES, {"菩萨蛮": ("双调", 44)})
    (tmp_path / "released").symlink_to(ROOT / "released")  # whose books the page of frames reads
    monkeypatch.chdir(tmp_path)
    count, wrong = Page(f"docs/{page}.md").run_examples()
    assert count > least
    assert not wrong


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the books are not at hand")
@pytest.mark.parametrize("page", ["prosody", "songnet"])
def test_every_worked_example_gives_the_same_with_the_whole_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    link_couyun(tmp_path / "data/raw/forms/couyun")
    monkeypatch.chdir(tmp_path)
    assert not Page(f"docs/{page}.md").run_examples()[1]


def test_the_sizes_of_the_books_are_those_of_the_catalogue() -> None:
    title = yaml.safe_load((ROOT / "pipeline/params/sources.yaml").read_text(encoding="utf-8"))["sources"]["couyun"][
        "title"
    ]
    sizes = re.findall(r"[\d,]+ tunes with [\d,]+ variants|[\d,]+ characters", title)
    assert len(sizes) == 2 and all(size in PAGE.prose for size in sizes)


def test_every_metric_is_in_the_table() -> None:
    told = [name for row in PAGE.table("key", "value, times 100") for name in re.findall(r"`(\w+)`", row["key"])]
    assert told == [*PROSODY]


def test_every_count_of_genuine_ci_has_a_row() -> None:
    first = next(line for line in PAGE.lines if line.startswith("| of 20,021 poems"))
    rows = PAGE.table(*first.strip("| ").split(" | "))
    assert tuple(row["of 20,021 poems"] for row in rows) == ROWS


@pytest.mark.skipif(not os.environ.get("ESPALIER_MIRROR"), reason="the poems and the books are not at hand")
def test_genuine_ci_counted_anew_give_the_page_s_table() -> None:
    assert table(Path(os.environ["ESPALIER_MIRROR"])).markdown() in PAGE.text
