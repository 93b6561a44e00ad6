"""A file of the user's own, from its copy to the splits of a corpus, by the stages themselves."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml

from espalier.io.errors import ConfigError, DataError, SourceError
from espalier.io.files import read_json
from espalier.io.tables import read_table
from pipeline.stages import copy, filter, parse

PARAMS = """
root: .
versions: pipeline/params/versions.yaml
catalogue: pipeline/params/sources.yaml
profile: nursery
plugins: []
sources:
  published: {}
  local:
    mine: {shelf: pairs, file: mydata/pairs.tsv}
parsers: {}
corpora:
  mine:
    language: zh
    reader: tsv
    options: {columns: [source, target, group]}
    shelf: pairs
    also_1: none
    also_2: none
    parser: none
    filters: {without_identical: true, deduplicate: true}
    split: {kind: group, seed: 1, dev: 4, test: 6, sides: false}
datasets: {linearize: {}, canonicalize: {}}
presets: {}
models: {}
runs: {}
annotations: {}
baselines: {}
reports: []
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A profile with one local source: 20 pairs in groups of two, one repeated, one with a field missing."""
    (tmp_path / "params.yaml").write_text(PARAMS, encoding="utf-8")
    rows = [f"问{n}\t答{n}\t组{n // 2}" for n in range(20)]
    (tmp_path / "mydata").mkdir()
    (tmp_path / "mydata/pairs.tsv").write_text("\n".join([*rows, rows[3], "没有回答", ""]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(folder: Path, **corpus: object) -> None:
    params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    params["corpora"]["mine"] |= corpus
    (folder / "params.yaml").write_text(yaml.safe_dump(params, allow_unicode=True), encoding="utf-8")


def test_every_row_is_in_a_split_or_in_quarantine_and_groups_stay_together(folder: Path) -> None:
    for stage in (copy, parse, filter):
        stage.run("mine")
    splits = [read_table(folder / f"data/corpora/mine/{name}.parquet") for name in ("train", "dev", "test")]
    assert [len(split) for split in splits] == [10, 4, 6]
    table = pd.concat([split.assign(split=name) for name, split in enumerate(splits)])
    assert set(table["id"]) == {f"mine/pairs/{row}" for row in range(1, 21)} and set(table["language"]) == {"zh"}
    assert table.groupby("group")["split"].nunique().max() == 1
    quarantine = read_table(folder / "data/corpora/mine/quarantine.parquet")
    assert dict(zip(quarantine["id"], quarantine["reason"], strict=True)) == {
        "mine/pairs/22": "wrong number of fields",
        "mine/pairs/21": "duplicate",
    }


def test_metrics_are_few_numbers_and_details_say_why(folder: Path) -> None:
    for stage in (copy, parse, filter):
        stage.run("mine")
    assert read_json(folder / "metrics/parsing/mine.json") == {"read": 22, "kept": 21, "quarantined": 1}
    assert read_json(folder / "metrics/details/parsing/mine.json") == {
        "quarantined": {"wrong number of fields": 1}, "parser": "none",
    }  # fmt: skip
    assert read_json(folder / "metrics/corpora/mine.json") == {
        "read": 22, "train": 10, "dev": 4, "test": 6, "quarantined": 2,
    }  # fmt: skip
    details = read_json(folder / "metrics/details/corpora/mine.json")
    assert details["quarantined"] == {"duplicate": 1, "wrong number of fields": 1}
    assert details["origins"]["dev"] == {"mine": 4} and details["distinct"] == {}


def test_leftovers_beside_the_named_sources_are_not_read(folder: Path) -> None:
    copy.run("mine")
    (folder / "data/raw/pairs/other").mkdir()
    (folder / "data/raw/pairs/other/more.tsv").write_text("a\tb\tc\n")
    parse.run("mine")
    assert read_json(folder / "metrics/parsing/mine.json")["read"] == 22


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"reader": "nowhere"}, r"corpora\.mine\.reader: unknown reader 'nowhere'; allowed: brown"),
        ({"reader": "news_en"}, r"corpora\.mine\.shelf: reader news_en reads no files; set it to none"),
        ({"reader": "dialogue_zh"}, r"corpora\.mine\.shelf: reader dialogue_zh reads no files; set it to none"),
        ({"shelf": "none"}, r"corpora\.mine\.shelf: reader tsv reads files; name a shelf"),
        ({"shelf": "empty"}, "no source stands on shelf empty"),
        ({"options": {"header": True}}, r"corpora\.mine\.options: unknown option 'header'; allowed: columns, language"),
    ],
)
def test_a_reader_that_does_not_fit_its_corpus_is_one_line(folder: Path, changed: dict[str, object], text: str) -> None:
    change(folder, **changed)
    with pytest.raises(ConfigError, match=text):
        parse.run("mine")
    assert not (folder / "data/parsed").exists()


def test_a_missing_file_and_a_source_that_was_not_copied_are_one_line(folder: Path) -> None:
    with pytest.raises(DataError, match="data/raw/pairs/mine: no file; run the download or copy stage"):
        parse.run("mine")
    (folder / "mydata/pairs.tsv").unlink()
    with pytest.raises(SourceError, match=r"sources\.local\.mine\.file: mydata/pairs\.tsv: no such file"):
        copy.run("mine")
