"""Requests and results of the commands that write: where they are read, and what reaches a terminal."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from espalier.cli.answers import answer
from espalier.cli.commands import Paraphrase, Reply
from espalier.cli.requests import read_requests
from espalier.inference.requests import PairRequest, Post
from espalier.inference.writer import MAX_TEXTS, Writer
from espalier.io.errors import DataError, EspalierError


def read(file: Path | str | None) -> list[Any]:
    return read_requests(None if file is None else Path(file), [], lambda fields, name: (fields, name), "a post a line")


def refusal(file: Path | str | None) -> str:
    with pytest.raises(EspalierError) as caught:
        read(file)
    return str(caught.value)


def test_rows_keep_their_numbers_and_a_byte_order_mark_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\ufeffa\tb\r\n\n \t \n\x0bc\x85d\n"
    (tmp_path / "asked").write_text(text, encoding="utf-8", newline="")
    wanted = [["a", "b"], None, None, ["c\x85d"]]
    assert [line and line[0] for line in read(tmp_path / "asked")] == wanted
    assert [line[1].rsplit(" ", 1)[1] for line in read(tmp_path / "asked") if line] == ["1", "4"]
    stream = io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8")
    monkeypatch.setattr(sys, "stdin", stream)
    assert [line and line[0] for line in read("-")] == wanted


@pytest.mark.parametrize("data", [b"", b"\n" * 1000, b" \t \n\xe3\x80\x80\n"])
def test_a_file_without_a_request_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "asked").write_bytes(data)
    assert refusal(tmp_path / "asked").endswith("asked: no requests; a post a line")


def test_a_line_with_more_fields_than_a_request_has_is_refused() -> None:
    command = Paraphrase({"text": None})
    wanted = PairRequest("who?", "(S (NP))", "pairs.txt, row 3")
    assert command.read(["who?", "(S (NP))", ""], "pairs.txt, row 3") == wanted
    with pytest.raises(DataError, match=r"pairs\.txt, row 3: 3 fields; at most 2: one text a line; after a tab a"):
        command.read(["who?", "(S (NP))", "more"], "pairs.txt, row 3")
    assert Reply({"post": None}).read(["so", "many"], "row 1") == Post("so many", "row 1")


def test_more_requests_than_texts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "asked").write_text("a\n\n" * (MAX_TEXTS + 1), encoding="utf-8")
    assert refusal(tmp_path / "asked").endswith("asked: too many requests; at most 10,000")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero")
def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal("/dev/zero") == "/dev/zero: over 16,000,000 characters; give it in parts"
    with Path("/dev/zero").open(encoding="utf-8") as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        assert refusal("-") == "standard input: over 16,000,000 characters; give it in parts"


@pytest.mark.parametrize("name", [".", "", "a\0b", "x" * 5000, "asked/none", "nosuch", "binary"])
def test_what_is_no_file_of_text_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("asked").write_text("a", encoding="utf-8")
    Path("binary").write_bytes(bytes(range(256)))
    with pytest.raises(DataError):
        read(name)


def test_closed_standard_input_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert refusal(None).startswith("nothing is asked for; give an argument")
    assert refusal("-") == "standard input: no requests; a post a line"


SYSTEM: Any = None


@dataclass(frozen=True)
class Said:
    text: str


class Parrot(Writer[Post, Post, Said]):
    """Answers what it is told; refuses what begins with "!"."""

    inputs = "posts"

    @property
    def names(self) -> dict[str, str | None]:
        return {"model": "parrot\x1b"}

    def request(self, value: Any, name: str) -> Post:
        return Post(value, name)

    def read(self, requests: Sequence[Post]) -> list[Post | EspalierError]:
        return [DataError(post.text, file=post.name) if post.text[0] == "!" else post for post in requests]

    def write(self, jobs: Sequence[Post]) -> Iterator[tuple[Post, Said]]:
        return ((post, Said(post.text)) for post in jobs)


def test_a_blank_line_gives_a_blank_line_and_none_among_json(capsys: pytest.CaptureFixture[str]) -> None:
    posts = {2: "a", 5: "!", 7: "b"}
    asked = [Post(posts[row], f"posts.txt, row {row}") if row in posts else None for row in range(1, 9)]
    assert answer(Parrot(SYSTEM), asked, lambda _, said: said.text, as_json=False) == 1
    assert capsys.readouterr().out == "\na\n\n\n\nb\n\n"
    assert answer(Parrot(SYSTEM), asked, lambda _, said: said.text, as_json=True) == 1
    assert [json.loads(line)["line"] for line in capsys.readouterr().out.splitlines()] == [2, 7]


def test_neither_texts_nor_errors_can_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [Post("\x1b[2J诗\n\u202e\x7f"), Post("!\x1b[31m\x9b", "row\x07 2")]
    assert answer(Parrot(SYSTEM), asked, lambda _, said: said.text, as_json=False) == 1
    assert answer(Parrot(SYSTEM), asked[:1], lambda _, said: said.text, as_json=True) == 0
    said = capsys.readouterr()
    assert said.out.startswith("\\x1b[2J诗\n\\u202e\\x7f\n")
    assert said.err == "espalier: row\\x07 2: !\\x1b[31m\\x9b\n"
    line = said.out.splitlines()[-1]
    assert line.isprintable() and json.loads(line) == {"text": asked[0].text, "model": "parrot\x1b"}
