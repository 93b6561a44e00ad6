"""The Brown reader, on documents written for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.readers.brown import read
from espalier.corpora.records import Quarantined, Verse
from espalier.io.errors import ArtifactError, ConfigError, DataError


def write(folder: Path, **documents: str) -> Path:
    (folder / "brown").mkdir()
    (folder / "brown" / "cats.txt").write_text("ca01 news\ncb02 letters\n")
    for name, text in documents.items():
        (folder / "brown" / name).write_text(text)
    return folder


def rows_of(folder: Path, **options: Any) -> list[Verse | Quarantined]:
    return list(read({"brown": folder}, **options))


def test_runs_of_sentences_become_verse_without_rhyme(tmp_path: Path) -> None:
    text = "\n\n\t".join(f"The/at lamp/nn {word}/vbd ./." for word in ("one", "two", "three"))
    other = "Moss/nn --/-- ``/`` in/in 1/2/cd ''/'' ./."
    rows = rows_of(write(tmp_path, ca01=text, cb02=other, README="x"), sentences=2)
    assert [(row.id, row.tune, row.rhyme) for row in rows if isinstance(row, Verse)] == [
        ("brown/ca01/0", "news/ca01", ".."),
        ("brown/ca01/2", "news/ca01", "."),
        ("brown/cb02/0", "letters/cb02", "."),
    ]
    first = rows[0]
    assert isinstance(first, Verse) and first.target == "the lamp one .\nthe lamp two ."
    last = rows[2]
    assert isinstance(last, Verse) and last.target == 'moss — " in 1 / 2 " .'
    assert first.author == "" and first.language == "en" and first.origin == "brown"


def test_a_word_without_its_tag_is_named_with_file_and_row(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"ca01, row 3: word 'lamp' has no tag"):
        rows_of(write(tmp_path, ca01="The/at moss/nn ./.\n\nThe/at lamp ./.\n"))


def test_an_empty_document_has_no_rows(tmp_path: Path) -> None:
    assert rows_of(write(tmp_path, ca01="\n\n")) == []


def test_runs_of_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="runs of 0 sentences"):
        rows_of(tmp_path, sentences=0)
    with pytest.raises(DataError, match="no document ca01 to cr09"):
        rows_of(tmp_path)
    write(tmp_path, ca01="The/at lamp/nn").joinpath("brown/cats.txt").unlink()
    with pytest.raises(ArtifactError, match=r"cats\.txt: no such file; run the download stage"):
        rows_of(tmp_path)
