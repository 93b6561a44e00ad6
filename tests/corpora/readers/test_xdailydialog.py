"""The XDailyDialog reader, on dialogues written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.xdailydialog import read
from espalier.corpora.records import Pair, Quarantined
from espalier.io.errors import ArtifactError


def write(folder: Path, train: str, dev: str = "", test: str = "") -> Path:
    for name, text in (("dialogues_text_Zh", train), ("zh_dev_human", dev), ("zh_test_human", test)):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_dialogues_of_both_layouts_become_pairs_in_their_splits(tmp_path: Path) -> None:
    train = "灯亮了吗？ __eou__ 亮了。 __eou__ 那走吧，Anna。\n"
    dev = "桥远吗？__eou__不远。__eou__\t3\t2 1\t0 0\n"
    rows = list(read({"x": write(tmp_path, train, dev)}))
    assert [(row.id, row.source, row.target, row.group) for row in rows if isinstance(row, Pair)] == [
        ("xdailydialog-train-000000.0", "灯亮了吗？", "亮了。", "xdailydialog-train-000000"),
        ("xdailydialog-train-000000.1", "亮了。", "那走吧，Anna。", "xdailydialog-train-000000"),
        ("xdailydialog-dev-000000.0", "桥远吗？", "不远。", "xdailydialog-dev-000000"),
    ]
    assert {row.language for row in rows if isinstance(row, Pair)} == {"zh"}


def test_lines_without_a_response_are_put_aside(tmp_path: Path) -> None:
    rows = list(read({"x": write(tmp_path, "\n灯亮了。__eou__\n灯。__eou____eou__桥。\n")}))
    assert [(row.id, row.reason) for row in rows if isinstance(row, Quarantined)] == [
        ("xdailydialog-train-000000", "no response"),
        ("xdailydialog-train-000001", "no response"),
        ("xdailydialog-train-000002.0", "empty side"),
        ("xdailydialog-train-000002.1", "empty side"),
    ]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, "灯。__eou__桥。\n").joinpath("zh_test_human.txt").unlink()
    with pytest.raises(ArtifactError, match=r"zh_test_human\.txt: no such file"):
        list(read({"x": tmp_path}))
