"""Requests and results of the commands that write: where they are read, and what reaches a terminal."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from espalier.cli.answers import FIRST, LARGEST, answer
from espalier.cli.command import Command
from espalier.cli.commands import COMMANDS, Chat, Paraphrase, Reply
from espalier.cli.requests import LOOKED_AT, looked_at, read_requests
from espalier.inference.requests import PairRequest, Post
from espalier.inference.writer import Writer
from espalier.io.errors import DataError, EspalierError


def read(file: Path | str | None) -> list[Any]:
    path = None if file is None else Path(file)
    return [*read_requests(path, [], lambda fields, name: (fields, name), "a post a line")]


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


def test_a_file_on_a_disk_is_read_through_before_its_first_line_is_answered(tmp_path: Path) -> None:
    (tmp_path / "asked").write_bytes(b"a\n" * 100_000 + b"\xff\n")
    with pytest.raises(DataError, match="asked: not UTF-8"):
        read_requests(tmp_path / "asked", [], lambda fields, name: name, "a post a line")


def test_lines_of_a_pipe_are_read_as_they_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)  # so that the writer need not wait
    os.set_blocking(reader, True)
    with (tmp_path / "pipe").open("w", encoding="utf-8") as writer, os.fdopen(reader, encoding="utf-8") as standard:
        monkeypatch.setattr(sys, "stdin", standard)
        lines = read_requests(Path("-"), [], lambda fields, name: (fields, name), "a post a line")
        for row, text in enumerate("abc", start=1):
            writer.write(f"{text}\n")
            writer.flush()
            assert next(lines) == ([text], f"standard input, row {row}")


def test_the_first_requests_are_looked_at_and_none_is_lost() -> None:
    lines = [None if row % 3 else row for row in range(1, 9 * LOOKED_AT)]
    taken = list[int]()
    looked, every = looked_at(taken.append(row) or line for row, line in enumerate(lines))  # type: ignore[func-returns-value]
    assert looked == [line for line in lines if line][:LOOKED_AT] and len(taken) == 3 * LOOKED_AT
    assert [*every] == lines


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero")
def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal("/dev/zero") == "/dev/zero, row 1: over 1,000,000 characters; give one request a line"
    with Path("/dev/zero").open(encoding="utf-8") as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        assert refusal("-") == "standard input, row 1: over 1,000,000 characters; give one request a line"


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


def test_the_first_lines_are_printed_before_the_last_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    seen = dict[int, int]()

    def asked() -> Iterator[Post]:
        for row in range(1, 2001):
            seen[row] = capsys.readouterr().out.count("\n") + max(seen.values(), default=0)
            yield Post("!" if row == 1700 else f"{row}", f"row {row}")

    assert answer(Parrot(SYSTEM), asked(), lambda _, said: said.text, as_json=False) == 1
    assert (seen[FIRST], seen[FIRST + 1], seen[1000]) == (0, FIRST, FIRST * (1 + 2 + 4 + 8 + 16))
    assert max(row - printed for row, printed in seen.items()) <= LARGEST
    assert seen[2000] + capsys.readouterr().out.count("\n") == 1999


def test_the_lines_before_one_that_cannot_be_read_are_answered_first(capsys: pytest.CaptureFixture[str]) -> None:
    def asked() -> Iterator[Post]:
        yield from (Post(f"{row}", f"row {row}") for row in range(1, FIRST + 4))
        raise DataError("3 fields", file="row 20")

    with pytest.raises(DataError, match="row 20: 3 fields"):
        answer(Parrot(SYSTEM), asked(), lambda _, said: said.text, as_json=False)
    assert capsys.readouterr().out.split() == [str(row) for row in range(1, FIRST + 4)]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_no_command_of_a_file_keeps_all_requests(command: type[Command]) -> None:
    # They are answered in parts by one loop, which has the tests above.
    own = {name for base in command.__mro__ if base not in Command.__mro__ for name in vars(base)}
    assert command is Chat or not own & {"run", "print"}


def test_neither_texts_nor_errors_can_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [Post("\x1b[2J诗\n\u202e\x7f"), Post("!\x1b[31m\x9b", "row\x07 2")]
    assert answer(Parrot(SYSTEM), asked, lambda _, said: said.text, as_json=False) == 1
    assert answer(Parrot(SYSTEM), asked[:1], lambda _, said: said.text, as_json=True) == 0
    said = capsys.readouterr()
    assert said.out.startswith("\\x1b[2J诗\n\\u202e\\x7f\n")
    assert said.err == "espalier: row\\x07 2: !\\x1b[31m\\x9b\n"
    line = said.out.splitlines()[-1]
    assert line.isprintable() and json.loads(line) == {"text": asked[0].text, "model": "parrot\x1b"}
