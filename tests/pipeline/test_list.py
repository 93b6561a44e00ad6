"""espalier list: what can be named, in columns, in lines with tabs, and as JSON."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_params import empty, write

from espalier.cli.streams import QUIET
from espalier.corpora.readers import READERS
from espalier.verse.tune_book import without_words
from espalier.verse.tunes import tunes
from pipeline.commands.list_entries import KINDS
from tests.verse.couyun import write_couyun

Cli = Callable[..., Any]
Refuse = Callable[..., str]


def rows(answer: Any) -> list[dict[str, Any]]:
    assert answer.status == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


def test_models_say_what_they_serve_and_whether_they_are_trained(project: Path, cli: Cli) -> None:
    shutil.rmtree(project / "data/models/songnet_no_s")
    models = {row["model"]: row for row in rows(cli(project, "list", "models", "--json"))}
    assert models["songnet"]["serves"] == ["generate*", "polish*"] and models["songnet"]["trained"] is True
    assert models["songnet_no_s"]["serves"] == ["generate", "polish"] and models["songnet_no_s"]["trained"] is False
    assert models["writer"]["language"] == "en" and models["expander"]["serves"] == ["expand*"]
    runs = {row["run"]: row for row in rows(cli(project, "list", "runs", "--json"))}
    assert runs["grown"] | {"model": "grower", "paper": "x2tree", "split": "test", "scored": True} == runs["grown"]


def test_lines_have_tabs_and_no_header_and_a_terminal_gets_columns(
    shared: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = cli(shared, "list", "tunes").out.splitlines()
    names = [line.split("\t")[0] for line in plain]
    assert names[: len(tunes())] == [*tunes()] and len({*names}) == len(names) > 800
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    head, first, *_ = cli(shared, "list", "tunes").out.splitlines()
    name, pattern, rhyme = plain[0].split("\t")
    assert head.split() == ["tune", "format", "rhyme"] and first.split() == [name, pattern, rhyme]


def test_templates_are_those_of_the_default_model_the_most_frequent_first(shared: Path, cli: Cli) -> None:
    found = rows(cli(shared, "list", "templates", "--json"))
    kept = json.loads((shared / "data/models/writer/templates.json").read_text(encoding="utf-8"))
    assert found == kept and len(found) > 3


def test_sources_have_their_licence_and_say_whether_they_are_here(shared: Path, cli: Cli) -> None:
    [found] = rows(cli(shared, "list", "sources", "--profile", "small", "--json"))
    assert (found["source"], found["licence"], found["here"]) == ("madeup", "none needed", False)
    assert cli(shared, "list", "sources").out == ""


def test_readers_have_their_records_and_options(tmp_path: Path, cli: Cli) -> None:
    write(tmp_path, empty())
    readers = {row["reader"]: row for row in rows(cli(tmp_path, "list", "readers", "--json"))}
    assert readers.keys() == READERS.keys() and all(row["what"].endswith(".") for row in readers.values())
    assert (
        readers["poems"] | {"records": "verse", "reads": "files", "options": ["rhyme", "encoding"]} == readers["poems"]
    )
    assert readers["news_en"]["reads"].startswith("nothing") and readers["news_en"]["records"] == "sentences"
    assert readers["pairs"]["options"] == [
        "columns", "labels", "least", "form", "separator", "quotes", "encoding", "within",
    ]  # fmt: skip


def test_what_cannot_be_listed_is_named(project: Path, refused: Refuse) -> None:
    assert refused(project, "list", "moons").endswith(f"allowed: {', '.join(sorted(KINDS))}")
    shutil.rmtree(project / "data/models/writer")
    assert "model writer is not trained; dvc repro train@writer" in refused(project, "list", "templates")


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (["export", "moon", "out"], "models"),
        (["generate", "--format", "5。", "--model", "moon"], "models"),
        (["score", "moon"], "runs"),
        (["generate", "--tune", "无名"], "tunes"),
        (["download", "moon"], "sources"),
        (["new", "corpus", "moon", "--reader", "moon"], "readers"),
    ],
)
def test_an_unknown_name_names_the_list(shared: Path, refused: Refuse, command: list[str], kind: str) -> None:
    assert refused(shared, *command).endswith(f"; see espalier list {kind}")


def test_the_version(shared: Path, cli: Cli) -> None:
    assert cli(shared, "--version").out == "espalier 0.1.0\n"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("espalier gr", ["granularity", "grammar"]),
        ("espalier train songnet_n", ["songnet_no_s"]),
        ("espalier parse t", ["tiny", "talk"]),
        ("espalier generate --model songnet_n", ["songnet_no_s"]),
        ("espalier generate --tune 卜算", ["卜算子"]),
        ("espalier repro decode@songnet_no", ["decode@songnet_no_s"]),
        ("espalier download --profile small m", ["madeup"]),
    ],
)
def test_names_are_completed(shared: Path, run: Callable[..., Any], words: str, found: list[str]) -> None:
    count = str(len(words.split(" ")) - 1)
    asked = {"_ESPALIER_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": count}
    assert run(shared, sys.executable, "pipeline", **asked).out.split() == found


def test_nothing_is_completed_where_params_cannot_be_read(project: Path, run: Callable[..., Any]) -> None:
    (project / "params.yaml").write_text("models: {", encoding="utf-8")
    asked = {"_ESPALIER_COMPLETE": "complete_bash", "COMP_WORDS": "espalier train s", "COMP_CWORD": "2"}
    answer = run(project, sys.executable, "pipeline", **asked)
    assert (answer.out.strip(), answer.err) == ("", "")


def test_quiet_prints_results_and_errors_alone_and_json_has_the_line(
    shared: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(QUIET, "")
    (tmp_path / "formats.txt").write_text("5,5。\n\nx,5。\n龘_。\n", encoding="utf-8")
    command = ["generate", "--file", str(tmp_path / "formats.txt"), "--json"]
    loud, quiet = cli(shared, *command), cli(shared, *command, "--quiet")
    assert [json.loads(line)["line"] for line in loud.out.splitlines()] == [1, 4]
    assert loud.out == quiet.out and "does not know 龘" in loud.err
    assert quiet.err.count("\n") == 1 and "formats.txt, row 3" in quiet.err
    given = cli(shared, "generate", "--format", "5,5。", "--json")
    assert "line" not in json.loads(given.out)


def test_the_variants_of_a_tune_are_listed_with_the_one_that_is_meant(tmp_path: Path, cli: Cli) -> None:
    write(tmp_path, empty())
    refused = cli(tmp_path, "list", "tunes", "江城子")
    assert refused.status == 1 and "no book of tunes; run dvc" in refused.err
    two, four = ("2。", "中平", [[1]]), ("4。", "中平中平", [[3]])
    write_couyun(tmp_path / "data/raw/forms/couyun", tunes={("江城子", "江神子"): [two, two, two, two, four]})
    rows = [line.split("\t") for line in cli(tmp_path, "list", "tunes", "江神子").out.splitlines()]
    assert [row[0] for row in rows] == ["江城子 1", "江城子 2", "江城子 3", "江城子 4", "江城子 5*"]
    assert rows[-1][1:] == ["4。", "A", "中平中平", "0", "169", "字字字字。"]
    assert cli(tmp_path, "list", "tunes", "村意远").out == cli(tmp_path, "list", "tunes", "江城子").out  # another name
    assert "models are not listed by name" in cli(tmp_path, "list", "models", "x").err


def test_books_without_words_leave_the_first_sentences_empty_with_one_note(tmp_path: Path, cli: Cli) -> None:
    write(tmp_path, empty())
    folder = write_couyun(tmp_path / "data/raw/forms/couyun", tunes={("江城子",): [("2。", "中平", [[1]])] * 2})
    form = folder / "couyun/ci_pu/ci_list/cipai_0.json"
    form.write_bytes(without_words(form))
    answer = cli(tmp_path, "list", "tunes", "江城子", "--json")
    assert [row["opens"] for row in rows(answer)] == ["", ""]
    assert answer.err.count("note: first sentences are not at hand; run dvc") == 1


def test_forms_are_listed_with_their_lines_and_rhymes(tmp_path: Path, cli: Cli) -> None:
    write(tmp_path, empty())
    forms = {row["form"]: row for row in rows(cli(tmp_path, "list", "forms", "--json"))}
    assert forms["五言绝句"] == {
        "form": "五言绝句", "pattern": "5，5。5，5。", "rhyme": "AA", "kinds": 4, "also": "五绝",
    }  # fmt: skip
    assert forms["haiku"]["pattern"] == "5/7/5" and forms["limerick"]["rhyme"] == "AABBA"
