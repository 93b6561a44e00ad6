"""The sonnets' reader, on poems made up line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.readers.sonnets import read
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ConfigError, DataError

WORDS = "amber basin cedar delta ember fable gravel harbour island jasper kettle lantern meadow nettle".split()  # noqa: SIM905


def lines(name: str, count: int = 14) -> list[str]:
    """`count` lines that no poem of another name has."""
    return [f"The {WORDS[index % 14]} of {name} sleeps till morning," for index in range(count)]


def friedman(folder: Path, **authors: list[list[str]]) -> Path:
    folder.mkdir(exist_ok=True)
    poems = {author: [["title", "\n".join(text)] for text in texts] for author, texts in authors.items()}
    (folder / "sonnets.json").write_text(json.dumps(poems), encoding="utf-8")
    return folder


def deepspeare(folder: Path, *texts: list[str], split: str = "train") -> Path:
    folder.mkdir(exist_ok=True)
    rows = [" <eos> ".join(line.lower().removesuffix(",") for line in text) + " <eos>\n" for text in texts]
    (folder / f"sonnet_{split}.txt").write_text("".join(rows), encoding="utf-8")
    return folder


def rows_of(*folders: Path, **options: Any) -> dict[str, Verse | Quarantined]:
    rows = list(read({folder.name: folder for folder in folders}, **options))
    assert len({row.id for row in rows}) == len(rows)
    return {row.id: row for row in rows}


def test_both_collections_come_out_alike(tmp_path: Path) -> None:
    rows = rows_of(friedman(tmp_path / "one", Moss=[lines("a")]), deepspeare(tmp_path / "two", lines("b")))
    first, second = rows["friedman/0"], rows["deepspeare/train/0"]
    assert isinstance(first, Verse) and isinstance(second, Verse)
    assert first.target.split("\n")[0] == "the amber of a sleeps till morning ,"
    assert second.target.split("\n")[13] == "the nettle of b sleeps till morning"
    assert (first.author, first.origin, first.tune, first.language) == ("Moss", "one", "sonnet", "en")
    assert (second.author, second.origin) == ("", "two")
    assert first.rhyme == second.rhyme == "ABABCDCDEFEFGG"


def test_of_a_poem_in_both_the_one_with_its_marks_is_kept_in_either_order(tmp_path: Path) -> None:
    marked, bare = friedman(tmp_path / "one", Moss=[lines("a")]), deepspeare(tmp_path / "two", lines("a"))
    for folders in ((marked, bare), (bare, marked)):
        rows = rows_of(*folders)
        assert isinstance(rows["friedman/0"], Verse)
        twin = rows["deepspeare/train/0"]
        assert isinstance(twin, Quarantined) and twin.reason == "duplicate"
        assert twin.text.startswith("of friedman/0: the amber of a")


def test_three_lines_in_common_are_one_poem_and_two_are_not(tmp_path: Path) -> None:
    near, far = lines("a")[:3] + lines("b")[3:], lines("a")[:2] + lines("c")[2:]
    rows = rows_of(friedman(tmp_path / "one", Moss=[lines("a"), near, far]))
    assert [type(row) for row in rows.values()] == [Verse, Quarantined, Verse]
    assert all(isinstance(row, Verse) for row in rows_of(tmp_path / "one", same_lines=4).values())


def test_lines_of_a_few_letters_prove_nothing(tmp_path: Path) -> None:
    short = ["Ah me!"] * 5
    rows = rows_of(friedman(tmp_path / "one", Moss=[short + lines("a", 9), short + lines("b", 9)]))
    assert [type(row) for row in rows.values()] == [Verse, Verse]


def test_a_clean_copy_of_a_poem_put_aside_is_kept_under_its_author(tmp_path: Path) -> None:
    noted = [*lines("a")[:13], "The nettle of [lost] sleeps"]
    rows = rows_of(friedman(tmp_path / "one", Moss=[noted]), deepspeare(tmp_path / "two", lines("a"), lines("a")))
    assert isinstance(rows["friedman/0"], Quarantined) and rows["friedman/0"].reason == "note in brackets"
    kept, third = rows["deepspeare/train/0"], rows["deepspeare/train/1"]
    assert isinstance(kept, Verse) and kept.author == "Moss"
    assert isinstance(third, Quarantined) and third.text.startswith("of deepspeare/train/0: ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (lines("a", 13), "not 14 lines"),
        (lines("a", 15), "not 14 lines"),
        ([], "empty"),
        (["", " "], "empty"),
        ([*lines("a", 13), "a note [1]"], "note in brackets"),
        ([*lines("a", 13), "in 1742"], "digit"),
        ([*lines("a", 13), "a man¹s world"], "digit"),
        ([*lines("a", 13), "the _moss_"], "foreign character"),
        ([*lines("a", 13), "— — !"], "line without words"),
    ],
)
def test_what_is_no_sonnet_is_put_aside_with_its_reason(tmp_path: Path, text: list[str], reason: str) -> None:
    (row,) = rows_of(friedman(tmp_path / "one", Moss=[text])).values()
    assert row == Quarantined(id="friedman/0", stage="read", reason=reason, text="\n".join(text))


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("honour ’ d by the lamp 's light", "honour'd by the lamp's light"),
        ("they do n't stay ; they 'll go", "they don't stay ; they'll go"),
        ("o ’ er the hill and ne ’ er home", "o'er the hill and ne'er home"),
        ("‘ tis late , ‘ twas early", "'tis late , 'twas early"),
        ("the nations ’ lanes , gettin ’ dark", "the nations' lanes , gettin' dark"),
        ("th ’ air and o ’ stone", "th' air and o' stone"),
        ("the bless è d lamp", "the blessèd lamp"),
        ("“ come , ” she said : — ‘ no ’", '" come , " she said : — " no "'),
    ],
)
def test_words_that_were_cut_are_whole_again(tmp_path: Path, raw: str, line: str) -> None:
    (row,) = rows_of(deepspeare(tmp_path / "two", [raw, *lines("a", 13)])).values()
    assert isinstance(row, Verse)
    assert row.target.split("\n")[0] == line


def test_ids_tell_the_published_split_and_number(tmp_path: Path) -> None:
    deepspeare(tmp_path / "two", lines("a"), lines("b"))
    deepspeare(tmp_path / "two", lines("c"), split="test")
    assert list(rows_of(tmp_path / "two")) == ["deepspeare/train/0", "deepspeare/train/1", "deepspeare/test/0"]


def test_malformed_and_missing_files_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    with pytest.raises(DataError, match="neither"):
        rows_of(tmp_path / "one")
    (tmp_path / "one/sonnets.json").write_text('{"Moss": [["title"]]}')
    with pytest.raises(DataError, match=r"sonnets\.json, row 1: a poem by 'Moss' is not \[title, text\]"):
        rows_of(tmp_path / "one")
    (tmp_path / "one/sonnets.json").write_text("[]")
    with pytest.raises(DataError, match="not a map of authors"):
        rows_of(tmp_path / "one")
    with pytest.raises(ConfigError, match="give a source"):
        rows_of()
    with pytest.raises(ConfigError, match="14 letters"):
        rows_of(tmp_path / "one", rhyme="AABB")
