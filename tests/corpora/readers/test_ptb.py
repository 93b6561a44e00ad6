"""The reader of PTB, on lines written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.corpora.readers.ptb import read
from espalier.corpora.records import Quarantined, Sentence
from espalier.io.errors import ArtifactError


def test_unknown_words_and_numbers_are_words_and_ids_name_the_split(tmp_path: Path) -> None:
    for split, text in {"train": " a <unk> fell N N \n\n do n't go \n", "valid": " b \n", "test": " c \n"}.items():
        (tmp_path / f"ptb.{split}.txt").write_text(text)
    rows = list(read({"ptb": tmp_path}))
    assert [(row.id, row.target_words) for row in rows if isinstance(row, Sentence)] == [
        ("ptb-train-00001", "a <unk> fell N N"), ("ptb-train-00003", "do n't go"),
        ("ptb-valid-00001", "b"), ("ptb-test-00001", "c"),
    ]  # fmt: skip
    assert rows[1] == Quarantined(id="ptb-train-00002", stage="read", reason="empty line", text="")
    assert all(row.target == row.target_words for row in rows if isinstance(row, Sentence))


def test_a_missing_file_is_told_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"ptb\.train\.txt: no such file; run the download stage"):
        list(read({"ptb": tmp_path}))
