"""The couplets reader, on poems written for it."""

from pathlib import Path

import pytest

from espalier.corpora.readers.couplets import read
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ConfigError
from tests.corpora.readers.test_shi import poem, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(write(tmp_path / "shi", "tang"), "song")


def test_a_couplet_is_a_sentence_without_its_last_mark_and_its_poem_is_its_group(folder: Path) -> None:
    write(folder, "tang", poem("遠山疎，一燈明。歸鴈來，秋風去。"))
    assert list(read({"mine": folder})) == [
        Sentence(id=f"shi/tang/0/0.{number}", origin="mine", language="zh", target=target, group="shi/tang/0/0")
        for number, target in enumerate(["远山疏，一灯明", "归雁来，秋风去"])
    ]


@pytest.mark.parametrize("unit", ["山山水水。", "山山，水水，风风。", "山山，水。"])
def test_a_unit_that_does_not_have_two_clauses_of_one_length_is_quarantined(folder: Path, unit: str) -> None:
    write(folder, "tang", poem(f"遠山疎，一燈明。{unit}"))
    [bad, kept] = read({"mine": folder})
    assert isinstance(bad, Quarantined)
    assert (bad.id, bad.reason) == ("shi/tang/0/0.1", "not a couplet")
    assert kept.id == "shi/tang/0/0.0"


def test_a_couplet_of_two_poems_is_kept_once_and_a_quarantined_poem_stays_so(folder: Path) -> None:
    write(folder, "tang", poem("山□。水水。"), poem("遠山疎，一燈明。山山，水水。"))
    write(folder, "song", poem("遠山疏，一燈明。風風，雨雨。"))
    rows = list(read({"mine": folder}))
    assert [(row.id, row.reason) for row in rows if isinstance(row, Quarantined)] == [
        ("shi/tang/0/0", "illegible character"),
        ("shi/song/0/0.0", "duplicate"),
    ]
    assert [row.target for row in rows if isinstance(row, Sentence)] == ["远山疏，一灯明", "山山，水水", "风风，雨雨"]


def test_a_draw_keeps_what_it_drew_when_it_grows(folder: Path) -> None:
    units = ["山山，水水。", "风风，雨雨。", "花花，草草。", "云云，月月。"]
    write(folder, "tang", poem("".join(units)))

    def drawn(count: int) -> set[str]:
        return {row.id for row in read({"mine": folder}, count=count) if isinstance(row, Sentence)}

    assert [len(drawn(count)) for count in (1, 3, 9)] == [1, 3, 4]
    assert drawn(1) < drawn(3) < drawn(9)
    with pytest.raises(ConfigError, match="count 0"):
        list(read({"mine": folder}, count=0))
