"""The command `check`, in a project with books and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_params import empty, write

from tests.frames.test_check import POEM, TUNES
from tests.verse.couyun import write_couyun

FORMAT = ("--format", "1。7。3，5。", "--rhyme", "AAA")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write(folder, empty())
    write_couyun(folder / "data/raw/forms/couyun", tunes=TUNES)
    return folder


def test_a_right_text_ends_with_status_0_and_a_wrong_one_with_1(project: Path, cli: Callable[..., Any]) -> None:
    right = cli(project, "check", POEM, *FORMAT)
    assert right.status == 0 and right.out.startswith("1.000  kept\n"), right.err
    wrong = cli(project, "check", POEM.replace("声", "山"), *FORMAT)
    assert wrong.status == 1 and "8  '山' (rhyme): a word of eng like 灯" in wrong.out


def test_each_line_of_a_file_is_a_text_with_its_own_tune_or_rules(project: Path, cli: Callable[..., Any]) -> None:
    rows = [
        "中中东。照笑动。孔孔空。\t灯词",
        json.dumps({"text": POEM, "format": "1。7。3，5。", "rhyme": "AAA"}),
        "A lamp.\t灯词",
    ]
    (project / "texts.txt").write_text("\n".join(rows), encoding="utf-8")
    answer = cli(project, "check", "--file", "texts.txt", "--json")
    assert answer.status == 1
    first, second = map(json.loads, answer.out.splitlines())
    assert (first["line"], first["variant"], first["kept"], first["score"]) == (1, "灯词 1", True, 1.0)
    assert (second["line"], second["variant"], second["kept"]) == (2, "", True)
    assert "texts.txt, row 3: text: it is not Chinese, as the frame is" in answer.err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ((POEM,), "no rule is given; give one of: format, rhyme,"),
        ((POEM, "--tune", "无名"), "--tune: no tune '无名' in the book"),
        ((POEM, "--tune", "灯词", "--variant", "9"), "--variant: no variant 9 of 灯词; there are 3, from 1"),
        (
            (POEM, "--format", "1。", "--variant", "2"),
            "--variant: variant is given, but no rule that it belongs to; give",
        ),
        ((POEM, "--format", "5x"), "--format: 'x' is no count, blank, mark or word"),
        ((POEM, "--format", "5。", "--book", "guangyun"), "--book: unknown book 'guangyun'"),
        (("lamp", "--format", "5。"), "text: it is not Chinese, as the frame is"),
    ],
)
def test_bad_input_is_one_line(project: Path, cli: Callable[..., Any], command: tuple[str, ...], message: str) -> None:
    answer = cli(project, "check", *command)
    assert answer.status == 1 and answer.err.count("\n") == 1 and message in answer.err


def test_without_books_it_is_said_what_to_do(tmp_path: Path, cli: Callable[..., Any]) -> None:
    write(tmp_path, empty())
    answer = cli(tmp_path, "check", POEM, "--tune", "卜算子")
    assert answer.status == 1 and "run dvc --cd profiles/small repro download@couyun in a clone" in answer.err
    assert cli(tmp_path, "check", POEM, "--tune", "卜算子", "--book", "mandarin").status == 1  # by the catalogue
