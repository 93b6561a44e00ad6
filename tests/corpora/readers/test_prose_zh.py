"""Songs, dialogues and sentences as passages, on texts written for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.readers.prose_zh import read
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ConfigError, DataError


def songs(folder: Path, *lyrics: Any) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    value = [{"title": "", "singer": "", "lyric": lyric} for lyric in lyrics]
    (folder / "songs.json").write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return {"sung": folder}


def lccc(folder: Path, *dialogues: list[str]) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    (folder / "LCCC-base_valid.json").write_text(json.dumps(dialogues, ensure_ascii=False), encoding="utf-8")
    return {"said": folder}


def treebank(folder: Path) -> dict[str, Path]:
    """Two sentences in Traditional characters."""
    folder.mkdir()
    words = [("山", "NOUN", 0, "root"), ("風", "NOUN", 1, "obj"), ("。", "PUNCT", 1, "punct")]
    rows = [f"{n}\t{w}\t{w}\t{tag}\t_\t_\t{head}\t{label}\t_\t_" for n, (w, tag, head, label) in enumerate(words, 1)]
    (folder / "zh_gsd-ud-dev.conllu").write_text(("\n".join(rows) + "\n\n") * 2, encoding="utf-8")
    return {"gsd": folder}


def passages(folders: dict[str, Path], **options: Any) -> list[tuple[str, str]]:
    return [(row.id, row.target) for row in read(folders, **options) if isinstance(row, Verse)]


def test_a_song_becomes_passages_of_at_most_so_many_lines(tmp_path: Path) -> None:
    folders = songs(tmp_path / "a", ["灯山", "桥 雨", "石\u3000舟", "风"], ["月"])
    assert passages(folders, units=3) == [
        ("songs-0000.0", "灯山\n桥雨\n石舟"), ("songs-0000.3", "风"), ("songs-0001.0", "月"),
    ]  # fmt: skip
    (row,) = [row for row in read(folders, units=9) if row.id == "songs-0000.0"]
    assert isinstance(row, Verse)
    assert (row.origin, row.language, row.author, row.tune, row.rhyme) == ("sung", "zh", "", "", "....")


def test_utterances_are_cut_at_their_sentences_and_a_dialogue_is_a_passage(tmp_path: Path) -> None:
    folders = lccc(tmp_path / "a", ["灯 亮 了 。 桥 边 见 ！ ！ ！", "好 , 走 吗 ？"], ["山 高 。", "水 长"])
    assert passages(folders) == [
        ("lccc-valid-000000.0", "灯亮了。\n桥边见！\n好，走吗？"), ("lccc-valid-000001.0", "山高。\n水长"),
    ]  # fmt: skip


def test_what_a_ci_could_not_have_is_put_aside_and_ends_the_passage(tmp_path: Path) -> None:
    lines = ["灯山", "桥abc雨", "石舟", "（白）月", "風", "，", "雨"]
    rows = list(read(songs(tmp_path / "a", lines)))
    assert [(row.id, row.target) for row in rows if isinstance(row, Verse)] == [
        ("songs-0000.0", "灯山"), ("songs-0000.2", "石舟"), ("songs-0000.6", "雨"),
    ]  # fmt: skip
    assert [(row.id, row.reason, row.text) for row in rows if isinstance(row, Quarantined)] == [
        ("songs-0000.1", "foreign character", "桥abc雨"), ("songs-0000.3", "note in brackets", "（白）月"),
        ("songs-0000.4", "Traditional characters", "風"), ("songs-0000.5", "misplaced mark", "，"),
    ]  # fmt: skip


def test_passages_do_not_run_from_one_source_into_the_next(tmp_path: Path) -> None:
    folders = (
        songs(tmp_path / "a", ["灯山"])
        | {"too": tmp_path / "a"}
        | lccc(tmp_path / "b", ["桥", "雨"])
        | treebank(tmp_path / "c")
    )
    assert passages(folders) == [
        ("songs-0000.0", "灯山"), ("songs-0000.0", "灯山"),
        ("lccc-valid-000000.0", "桥\n雨"), ("gsd-dev-000000.0", "山风。\n山风。"),
    ]  # fmt: skip


def test_a_malformed_song_or_folder_is_one_line(tmp_path: Path) -> None:
    for lyric in ("灯山", [1], None):
        with pytest.raises(DataError, match="not a song with its lines as lyric") as caught:
            list(read(songs(tmp_path / "a", ["灯"], lyric)))
        assert "\n" not in str(caught.value)
    (tmp_path / "b").mkdir()
    with pytest.raises(DataError, match=r"LCCC-base_valid\.json"):
        list(read({"b": tmp_path / "b"}))
    with pytest.raises(ConfigError, match=r"reader prose_zh: 0 sources, passages of 8 units"):
        list(read({}))
    with pytest.raises(ConfigError, match="passages of 0 units"):
        list(read(songs(tmp_path / "a", ["灯"]), units=0))
