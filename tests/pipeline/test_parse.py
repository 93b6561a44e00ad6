"""Corpora and outputs through a parser: every row keeps its id, and what cannot be parsed its reason."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from espalier.corpora.records import Pair
from espalier.io.tables import read_table, table_metadata
from espalier.syntax.parsers.registry import save_parser
from pipeline import layout
from pipeline.params import Corpus
from pipeline.stages import parse

CORPUS = Corpus.model_validate(
    {
        "task": "pairs", "language": "zh", "reader": "weibo", "options": {}, "parser": "words", "filters": {},
        "split": {"kind": "all_train"}, **dict.fromkeys([f"source_{number}" for number in range(1, 10)], "none"),
    }
)  # fmt: skip


def pair(id: str, source: str, target: str) -> Pair:
    return Pair(id=id, origin="made", language="zh", source=source, target=target, group="g")


def test_both_sides_get_their_words_and_an_unparsed_side_puts_the_pair_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_parser(layout.parser("words"), "jieba", None, {})
    rows = [pair("a", "我们喝茶", "好的"), pair("b", "", "好的"), pair("c", "花开了", "我们喝茶")]
    kept, aside, speed = parse._parsed(rows, CORPUS, "made", Path("scratch"))
    assert [row.id for row in kept] == ["a", "c"]
    assert (kept[0].source_words, kept[0].target_words) == ("我们 喝茶", "好 的")
    assert kept[1].target_words == kept[0].source_words and kept[0].source_tags == "r v"
    assert speed["sentences"] == 4 and speed["sentences_per_second"] > 0  # equal texts are parsed once
    assert [(row.id, row.stage, row.reason) for row in aside] == [("b", "parse", "empty")]


def test_annotations_stand_for_every_text_in_order(built: Path) -> None:
    texts = pd.read_parquet(built / "outputs/songnet/songnet_free.parquet")
    table = read_table(built / "annotations/again.parquet")
    assert table[["id", "seed", "sample"]].equals(texts[["id", "seed", "sample"]])
    for words, reason, text in zip(table["target_words"], table["reason"], texts["text"], strict=True):
        assert words.replace(" ", "") == "".join(text.split()) and (reason == "") == bool(words)
    assert table_metadata(built / "annotations/again.parquet")["parser"].startswith("jieba 0.")
