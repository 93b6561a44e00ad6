"""Weibo and XDailyDialog in one corpus, on dialogues written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.chinese_dialogues import read
from espalier.corpora.records import Pair
from espalier.io.errors import ArtifactError, ConfigError, DataError


def daily(folder: Path) -> Path:
    folder.mkdir()
    for name, text in (("dialogues_text_Zh", "灯亮了吗？ __eou__ 亮了。 __eou__\n"), ("zh_dev_human", "")):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / "zh_test_human.txt").write_text("", encoding="utf-8")
    return folder


def cdial(folder: Path) -> Path:
    folder.mkdir()
    (folder / "toy_train.txt").write_text("灯 亮\t桥 远\n", encoding="utf-8")
    return folder


def test_each_folder_is_read_by_the_reader_of_its_files(tmp_path: Path) -> None:
    rows = list(read({"x": daily(tmp_path / "x"), "c": cdial(tmp_path / "c")}))
    assert [(row.id, row.origin, row.source, row.target) for row in rows if isinstance(row, Pair)] == [
        ("cdial-train-000000.0", "c", "灯亮", "桥远"),
        ("xdailydialog-train-000000.0", "x", "灯亮了吗？", "亮了。"),
    ]


def test_no_folder_a_strange_one_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no source"):
        list(read({}))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: no LCCC-base_valid\.json or toy_train\.txt"):
        list(read({"x": daily(tmp_path / "x"), "e": tmp_path / "empty"}))
    (tmp_path / "x" / "zh_test_human.txt").unlink()
    with pytest.raises(ArtifactError, match=r"zh_test_human\.txt: no such file"):
        list(read({"x": tmp_path / "x"}))
