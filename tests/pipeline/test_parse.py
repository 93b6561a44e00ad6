"""Corpora and outputs through a parser: every row keeps its id, and what cannot be parsed its reason."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from espalier.corpora.records import Pair
from espalier.io.tables import read_table, table_metadata
from espalier.syntax.parsers.registry import save_parser
from pipeline import layout
from pipeline.params.entries import Corpus, Params, Sources
from pipeline.stages import parse


def pair(id: str, source: str, target: str) -> Pair:
    return Pair(id=id, origin="made", language="zh", source=source, target=target, group="g")


def test_both_sides_get_their_words_and_an_unparsed_side_quarantines_the_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_parser(layout.parser("words"), "jieba", None, {})
    rows = [pair("a", "我们喝茶", "好的"), pair("b", "", "好的"), pair("c", "花开了", "我们喝茶")]
    kept, quarantined, speed = parse.with_trees(rows, layout.parser("words"), Path("scratch"))
    assert [row.id for row in kept] == ["a", "c"]
    assert (kept[0].source_words, kept[0].target_words) == ("我们 喝茶", "好 的")
    assert kept[1].target_words == kept[0].source_words and kept[0].source_tags == "r v"
    assert speed["sentences"] == 4 and speed["sentences_per_second"] > 0  # equal texts are parsed once
    assert [(row.id, row.stage, row.reason) for row in quarantined] == [("b", "parse", "empty")]


def test_a_corpus_reads_the_sources_of_its_shelves_that_are_named_and_other_corpora() -> None:
    sources = {
        "published": {"b": {"shelf": "talk/web"}, "a": {"shelf": "talk"}, "other": {"shelf": "talking"}},
        "local": {"mine": {"shelf": "talk", "file": "mine.tsv"}},
    }
    params = Params.model_construct(sources=Sources.model_validate(sources))
    corpus = Corpus.model_construct(shelf="talk", also_1="corpora/news", also_2="raw/talking")
    assert parse.source_folders(corpus, params) == {
        "b": Path("data/raw/talk/web/b"),
        "a": Path("data/raw/talk/a"),
        "mine": Path("data/raw/talk/mine"),
        "other": Path("data/raw/talking/other"),
        "news": Path("data/corpora/news"),
    }
    nested = Corpus.model_construct(shelf="talk/web", also_1="none", also_2="none")
    assert list(parse.source_folders(nested, params)) == ["b"]
    assert parse.source_folders(Corpus.model_construct(shelf="none", also_1="none", also_2="none"), params) == {}


def test_annotations_stand_for_every_text_in_order(built: Path) -> None:
    texts = pd.read_parquet(built / "data/outputs/songnet/songnet_free.parquet")
    table = read_table(built / "data/annotations/again.parquet")
    assert table[["id", "seed", "sample"]].equals(texts[["id", "seed", "sample"]])
    for words, reason, text in zip(table["target_words"], table["reason"], texts["text"], strict=True):
        assert words.replace(" ", "") == "".join(text.split()) and (reason == "") == bool(words)
    assert table_metadata(built / "data/annotations/again.parquet")["parser"].startswith("jieba 0.")
