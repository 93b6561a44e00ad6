"""The Weibo reader, on dialogues written for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.readers.weibo import read
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ConfigError, DataError


def lccc(folder: Path, valid: Any, test: Any = ()) -> Path:
    folder.mkdir(exist_ok=True)
    for name, dialogues in (("valid", valid), ("test", list(test))):
        (folder / f"LCCC-base_{name}.json").write_text(json.dumps(dialogues, ensure_ascii=False), encoding="utf-8")
    return folder


def cdial(folder: Path, train: str, valid: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "toy_train.txt").write_text(train, encoding="utf-8")
    (folder / "toy_valid.txt").write_text(valid, encoding="utf-8")
    return folder


def test_neighbours_of_a_dialogue_are_pairs_and_the_dialogue_is_their_group(tmp_path: Path) -> None:
    folder = lccc(tmp_path / "one", [["灯 亮 了 。", "桥 边 见 ！", "好 ， 8 点 4 5"]], [["山 路 遠", "慢 走"]])
    rows = list(read({"weibo_one": folder}))
    assert [row.id for row in rows] == ["lccc-valid-000000.0", "lccc-valid-000000.1", "lccc-test-000000.0"]
    assert rows[1] == Pair(
        id="lccc-valid-000000.1",
        origin="weibo_one",
        language="zh",
        source="桥边见！",
        target="好，8点45",
        group="lccc-valid-000000",
    )
    assert rows[2].source == "山路遠", "nothing is converted"  # type: ignore[union-attr]


def test_lines_are_dialogues_of_two(tmp_path: Path) -> None:
    folders = {"a": cdial(tmp_path / "two", "灯 亮\t桥 远\n山 高\t水 长\n", "石 小\t舟 轻")}
    assert [(row.id, row.source, row.target) for row in read(folders) if isinstance(row, Pair)] == [
        ("cdial-train-000000.0", "灯亮", "桥远"),
        ("cdial-train-000001.0", "山高", "水长"),
        ("cdial-valid-000000.0", "石小", "舟轻"),
    ]


def test_both_collections_come_one_after_the_other_and_repeats_stay(tmp_path: Path) -> None:
    folders = {"a": lccc(tmp_path / "one", [["灯 亮", "桥 远"]]), "b": cdial(tmp_path / "two", "灯 亮\t桥 远\n")}
    assert [(row.origin, row.source) for row in read(folders) if isinstance(row, Pair)] == [
        ("a", "灯亮"),
        ("b", "灯亮"),
    ]


def test_what_is_no_pair_is_put_aside_and_nothing_is_lost(tmp_path: Path) -> None:
    rows = list(read({"a": lccc(tmp_path / "one", [["灯 亮"], [], ["灯 亮", " ", "桥 远"]])}))
    assert [(row.id, row.reason) for row in rows if isinstance(row, Quarantined)] == [
        ("lccc-valid-000000", "no response"),
        ("lccc-valid-000001", "no response"),
        ("lccc-valid-000002.0", "empty side"),
        ("lccc-valid-000002.1", "empty side"),
    ]
    assert len(rows) == 4


def test_malformed_files_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"LCCC-base_valid\.json: not a list of dialogues"):
        list(read({"a": lccc(tmp_path / "one", {"a": 1})}))
    with pytest.raises(DataError, match="dialogue 2 is not a list of texts"):
        list(read({"a": lccc(tmp_path / "one", [["灯", "桥"], ["灯", 7]])}))
    with pytest.raises(DataError, match=r"toy_train\.txt, row 2: 3 fields; expected 2, separated by tabs"):
        list(read({"a": cdial(tmp_path / "two", "灯\t桥\n灯\t桥\t山\n")}))
    with pytest.raises(ConfigError, match="two sources of one kind; each once"):
        list(read({"a": tmp_path / "one", "b": tmp_path / "one"}))
