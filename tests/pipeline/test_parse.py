"""Corpora and outputs through a parser: every row keeps its id, and what cannot be parsed its reason."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_params import corpus, empty, parser, write

from espalier.corpora.record_tables import chunk_of, schema_of
from espalier.corpora.records import Pair, Quarantined, records_of
from espalier.io.chunks import table_writer
from espalier.io.errors import DataError
from espalier.io.tables import read_table, table_metadata
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused, Sentence
from espalier.syntax.parsers.registry import load_parser, save_parser
from pipeline import layout
from pipeline.graph import corpus_parses, shards
from pipeline.params.entries import Corpus, Params, Sources
from pipeline.stages import parse

#: Chunks of one row, of a few, and of all.
CHUNKS = ("1", "7", "")
TEXTS = ("我们喝茶", "好的", "花开了", "", "今天天气真好", "坏\ufffd", "  ", "你喜欢什么", "茶")


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose corpus `tiny` are the pairs of a file; shards and windows are small."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ESPALIER_WORKERS", "1")
    monkeypatch.setattr(shards, "SHARD_SIZE", 3)
    monkeypatch.setattr(corpus_parses, "WINDOW", 2)
    tree = empty() | {"parsers": {"words": parser()}}
    tree["sources"]["local"] = {"mine": {"shelf": "talk", "file": "mine.tsv"}}
    tree["corpora"] = {
        "tiny": corpus("zh", "tsv", shelf="talk", parser="words"), "plain": corpus("zh", "tsv", shelf="talk"),
        "lines": corpus("zh", "text_table", shelf="talk", options={"columns": ["group", "text"]}, parser="words"),
    }  # fmt: skip
    write(tmp_path, tree)
    save_parser(layout.parser("words"), "jieba", None, {})
    return layout.raw("talk") / "mine" / "mine.tsv"


def put(file: Path, rows: Sequence[Sequence[str]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def written(key: str) -> dict[str, bytes]:
    files = [*layout.parsed(key).iterdir(), layout.metrics("parsing", key), layout.details("parsing", key)]
    return {"/".join(file.parts[-3:]): file.read_bytes() for file in files}


@given(st.lists(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3), max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
def test_every_row_has_its_parses_or_its_reason_whatever_the_chunks(talk: Path, rows: list[list[str]]) -> None:
    put(talk, rows)
    slow = load_parser(layout.parser("words"))
    for key, sides in (("tiny", ("source", "target")), ("plain", ("source", "target")), ("lines", ("target",))):
        kept, aside = [], list[tuple[str, str]]()
        for number, row in enumerate(rows, start=1):
            texts = [" ".join(text.split()) for text in (row if key != "lines" else row[1:])]
            if len(row) != 2:
                aside.append((str(number), "wrong number of fields"))
            elif not all(texts):
                aside.append((str(number), "empty line" if key == "lines" else "empty side"))
            elif any("\ufffd" in text for text in texts):
                aside.append((str(number), "damaged character"))
            else:
                kept.append((str(number), texts))
        found = list[dict[str, bytes]]()
        for chunk in CHUNKS:
            os.environ["ESPALIER_CHUNK_ROWS"] = chunk
            try:
                if kept or key == "plain":
                    parse.run(key)
                else:
                    with pytest.raises(DataError, match="no records to parse: "):
                        parse.run(key)
            finally:
                del os.environ["ESPALIER_CHUNK_ROWS"]
            found.append(written(key) if kept else {})
            quarantine = read_table(layout.parsed(key) / "quarantine.parquet")
            names = [id.rpartition("/")[2] for id in quarantine["id"]]
            assert [*zip(names, quarantine["reason"], strict=True)] == aside
        assert found[0] == found[1] == found[2]
        if not kept:
            continue
        table = read_table(layout.parsed(key) / "records.parquet")
        assert [id.rpartition("/")[2] for id in table["id"]] == [number for number, _ in kept]
        for place, side in enumerate(sides):
            assert table[side].tolist() == [texts[place] for _, texts in kept]
            for text, words in zip(table[side], table[f"{side}_words"], strict=True):
                (answer,) = slow.parse([text])
                assert isinstance(answer, Parse) and words == ("" if key == "plain" else " ".join(answer.words))
        assert ("group" in table) == (key != "lines" or any(rows[int(number) - 1][0].strip() for number, _ in kept))


class Picky:
    """Parses each text as one word, and refuses those with a mark."""

    signature = "picky"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | Refused]:
        self.asked += map(str, sentences)
        return [Refused(f"a {text[-1]}") if str(text)[-1] in "!?" else Parse((str(text),)) for text in sentences]


@pytest.mark.parametrize("rows", [1, 7, 100])
def test_equal_texts_of_far_chunks_are_parsed_once_and_the_first_refused_side_quarantines_a_pair(
    talk: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    picky = Picky()
    monkeypatch.setattr(shards, "_loaded", lambda folder: picky)
    pairs = [
        (f"s{number % 11}{'!' * (number % 5 == 0)}", f"t{number % 4}{'?' * (number % 3 == 0)}") for number in range(60)
    ]
    records = [
        Pair(id=str(number), origin="o", language="en", source=source, target=target, group="g")
        for number, (source, target) in enumerate(pairs)
    ]
    with table_writer(Path("r.parquet"), schema_of(Pair)) as write_rows:
        write_rows(chunk_of(records, Pair))
    parses = corpus_parses.CorpusParses(Path("r.parquet"), Pair, rows, layout.parser("words"), Path("scratch"))
    kept, aside = zip(*parses.chunks(), strict=True)
    good = [record for record in records if record.source[-1] != "!" and record.target[-1] != "?"]
    assert sorted(picky.asked) == sorted({text for pair in pairs for text in pair})
    assert records_of(pa.concat_tables(kept).to_pandas(), Pair) == [
        replace(record, source_words=record.source, target_words=record.target) for record in good
    ]
    assert parses.kept.tolist() == [record in good for record in records]
    assert records_of(pa.concat_tables(aside).to_pandas(), Quarantined) == [
        Quarantined(id=record.id, stage="parse", reason=f"a {text[-1]}", text=text)
        for record in records if record not in good
        for text in [record.source if record.source[-1] == "!" else record.target]
    ]  # fmt: skip


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_reader_that_fails_between_chunks_leaves_the_old_records_and_a_killed_parser_its_shards(
    talk: Path, monkeypatch: pytest.MonkeyPatch, chunk: str
) -> None:
    monkeypatch.setenv("ESPALIER_CHUNK_ROWS", chunk)
    put(talk, [("花开了", f"茶{'花' * number}") for number in range(20)])
    parse.run("tiny")
    before, real, parsed = written("tiny"), shards.parse_shard, list[int]()

    def killed(folder: str, part: Sequence[Sentence]) -> list[shards.Row]:
        if len(parsed) == 4:
            raise KeyboardInterrupt
        parsed.append(len(part))
        return real(folder, part)

    put(talk, [("花开了", f"好{'花' * number}") for number in range(20)])
    monkeypatch.setattr(shards, "parse_shard", killed)
    with pytest.raises(KeyboardInterrupt):
        parse.run("tiny")
    assert written("tiny") == before

    def counted(folder: str, part: Sequence[Sentence]) -> list[shards.Row]:
        parsed.append(len(part))
        return real(folder, part)

    monkeypatch.setattr(shards, "parse_shard", counted)
    parse.run("tiny")
    assert sum(parsed) == 21 and len(read_table(layout.parsed("tiny") / "records.parquet")) == 20
    assert not layout.scratch("parse", "tiny").exists()
    monkeypatch.setattr(parse, "chunk_of", lambda rows, kind: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        parse.run("plain")
    assert not layout.parsed("plain").exists()


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
