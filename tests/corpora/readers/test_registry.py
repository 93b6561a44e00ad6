"""The registry of readers: what params.yaml can name, and one registered from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.readers import READERS, Reader, reader
from espalier.corpora.records import Pair, Quarantined, Record, Sentence
from espalier.io.errors import ConfigError
from espalier.text.language import Language


def read(folders: Mapping[str, Path], *, language: Language, word: str, count: int = 1) -> Iterator[Sentence]:
    for origin in folders:
        for number in range(count):
            yield Sentence(id=f"{origin}/{number}", origin=origin, language=language, target=word)


MINE = Reader(Sentence, read)


def rows(one: Reader, folders: Mapping[str, Path] | None = None, **options: Any) -> list[Record | Quarantined]:
    return list(one.rows(folders or {}, options, language="en", where="corpora.mine"))


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_reader_can_be_imported_and_its_options_have_defaults_or_are_asked_for(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"corpora\.mine\.options: unknown option 'colour'"):
        rows(READERS[name], {"mine": tmp_path}, colour="red")


def test_a_reader_from_outside_is_given_its_folders_language_and_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(READERS, "mine", MINE)
    one = reader("mine", where="corpora.mine")
    assert [(row.id, row.language, row.target) for row in rows(one, {"a": tmp_path}, word="lamp", count=2)
            if isinstance(row, Sentence)] == [("a/0", "en", "lamp"), ("a/1", "en", "lamp")]  # fmt: skip
    (row,) = rows(one, {"a": tmp_path}, word="灯", language="zh")
    assert isinstance(row, Sentence) and row.language == "zh"


def test_a_generator_is_given_no_folders(tmp_path: Path) -> None:
    assert len(rows(READERS["news_en"], {"a": tmp_path}, count=3, seed=1)) == 3


def test_options_are_checked_in_one_line() -> None:
    with pytest.raises(ConfigError, match=r"unknown option 'words'; allowed: count, language, word$"):
        rows(MINE, words="lamp")
    with pytest.raises(ConfigError, match=r"corpora\.mine\.options: word: Field required; add it$"):
        rows(MINE, count=2)


@pytest.mark.parametrize(
    ("name", "option", "value", "words"),
    [
        ("brown", "sentences", "14", "should be a valid integer; it is '14'"),
        ("poems", "rhyme", 5, "should be a valid string; it is 5"),
        ("tsv", "columns", 3, "should be an instance of Sequence; it is 3"),
        ("tsv", "columns", "source", "instances are not allowed as a Sequence value; it is 'source'"),
        ("tsv", "columns", ["source", 2], "should be a valid string; it is 2"),
        ("paraphrases", "lower", "false", "should be a valid boolean; it is 'false'"),
        ("paraphrases", "count", True, "should be a valid integer; it is True"),
        ("paraphrases", "shares", [0.5, 0.5], r"should be a valid dictionary; it is \[0.5, 0.5\]"),
        ("quora", "unshared", "answer", "should be 'pair' or 'question'; it is 'answer'"),
        ("news_en", "seed", "one", "should be a valid integer; it is 'one'"),
    ],
)
def test_an_option_of_another_type_is_one_line(name: str, option: str, value: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"corpora\.mine\.options: {option}.*: .*{words}$"):
        rows(READERS[name], {"mine": tmp_path}, **{option: value})


@pytest.mark.parametrize("name", ["dialogues", "lines", "lrc", "mrg", "pairs", "poems", "text_table", "tsv", "verse"])
def test_a_language_that_no_reader_knows_is_refused_not_read_as_english(name: str, tmp_path: Path) -> None:
    message = r"^corpora\.mine\.options: language: .*should be 'zh' or 'en'; it is 'fr'$"
    with pytest.raises(ConfigError, match=message):
        rows(READERS[name], {"mine": tmp_path}, language="fr")
    with pytest.raises(ConfigError, match=message):
        list(READERS[name].rows({"mine": tmp_path}, {}, language="fr", where="corpora.mine"))


def test_rows_of_another_type_than_the_reader_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the reader gives Sentence rows, not Pair"):
        rows(Reader(Pair, read), {"a": tmp_path}, word="lamp")


def test_a_reader_of_records_that_nothing_reads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(READERS, "mine", Reader(Record, read))
    assert reader("songci", where="corpora.ci") is READERS["songci"] and READERS["songci"].records == "verse"
    with pytest.raises(ConfigError, match=r"corpora\.ci\.reader: the reader mine gives Record rows; give Verse, Sent"):
        reader("mine", where="corpora.ci")
    with pytest.raises(ConfigError, match=r"corpora\.ci\.reader: unknown reader 'songs'; allowed: brown, chinese"):
        reader("songs", where="corpora.ci")


def test_a_function_that_cannot_be_imported_is_one_line() -> None:
    for name in ("espalier.nowhere:read", "espalier.corpora.readers.local:nothing", "no name"):
        with pytest.raises(ConfigError, match="cannot import the reader"):
            rows(Reader(Pair, name))
