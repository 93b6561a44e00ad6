"""What the filter stage counts of the records that it keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_params import corpus, empty, write

from espalier.corpora.records import Quarantined, Verse
from espalier.io.files import read_json
from espalier.io.tables import write_table
from pipeline import layout
from pipeline.stages import filter as stage
from tests.corpora.whole_tables import table_of


def filtered(folder: Path, monkeypatch: pytest.MonkeyPatch, toned: int) -> dict[str, object]:
    """The details of twelve poems of twelve tunes, of which the first few have tones."""
    tree = empty()
    tree["corpora"] = {"tiny": corpus("zh", "verse_zh") | {"split": {"kind": "random", "seed": 1, "dev": 2, "test": 3}}}
    write(folder, tree)
    records = [
        Verse(
            id=f"p{n}", origin="test", language="zh", target=f"{'山' * (n + 1)}水。", author="甲", tune=f"曲{n}",
            rhyme="A", tones="平" * (n + 2) if n < toned else "",
        )
        for n in range(12)
    ]  # fmt: skip
    monkeypatch.chdir(folder)
    write_table(layout.parsed("tiny") / "records.parquet", table_of(records, Verse))
    write_table(layout.parsed("tiny") / "quarantine.parquet", table_of([], Quarantined))
    stage.run("tiny")
    return read_json(layout.details("corpora", "tiny"), dict[str, object])


def test_the_rows_that_fill_an_optional_column_are_counted_in_every_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = filtered(tmp_path, monkeypatch, 5)["filled"]
    assert isinstance(filled, dict) and filled.keys() == {"tones"}
    assert filled["tones"].keys() == {"train", "dev", "test"} and sum(filled["tones"].values()) == 5


def test_a_column_that_no_row_fills_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "filled" not in filtered(tmp_path, monkeypatch, 0)
