"""The command `grammar`, in a project with books and without."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_params import empty, write

from espalier.cli.grammar import NO_GRAMMAR
from tests.frames.scores import score, sung, write_mxl
from tests.frames.test_check import TUNES
from tests.verse.couyun import write_couyun

FORMAT = ("--format", "3，3。", "--rhyme", "A")
#: Its second sentence is the first again.
REPEATED = ("2。2。2。", "中平中平中平", [[1, 3, 5]], ["中平韵。", "中平叠。", "中平韵。"], "江风。江风。山中。")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write(folder, empty())
    write_couyun(folder / "data/raw/forms/couyun", tunes={**TUNES, ("叠灯词",): [REPEATED]})
    return folder


def test_a_tune_is_printed_as_a_grammar_with_a_note_of_the_group_that_was_chosen(
    project: Path, cli: Callable[..., Any]
) -> None:
    answer = cli(project, "grammar", "--tune", "灯词", "--variant", "2", "--notation", "regex")
    assert answer.status == 0
    assert "note: rhyme groups: A 1; --group chooses others" in answer.err
    assert re.search(r"\{2\}\[.*[空风].*\]。", answer.out)
    assert cli(project, "grammar", "--tune", "灯词", "--group", "8平", "--quiet").out.startswith("start: TEXT\n")


def test_a_text_may_choose_between_groups_that_the_note_names(project: Path, cli: Callable[..., Any]) -> None:
    answer = cli(project, "grammar", "--format", "3。3。", "--rhyme", "AA", "--alternatives", "3")
    assert re.search(r"note: rhyme groups: A \w+ or \w+ or \w+; --group", answer.err), answer.err
    assert re.match(r"start: HEAD \(FIRST1 REST1 \| FIRST2 REST2 \| FIRST3 REST3\)\nHEAD: ", answer.out)


def test_a_form_is_printed_with_the_opening_that_is_asked_for(project: Path, cli: Callable[..., Any]) -> None:
    command = ("grammar", "--form", "五绝", "--notation", "regex", "--quiet")
    first, third = (re.sub(r"\[[^]]*\]", "x", cli(project, *command, *more).out) for more in ((), ("--opening", "3")))
    assert first != third and re.sub(r"[^，。]", "", third) == "，。，。"


def test_the_answer_as_json_has_the_choices(project: Path, cli: Callable[..., Any]) -> None:
    found = json.loads(cli(project, "grammar", "--tune", "灯词", "--group", "8平", "--notation", "gbnf", "--json").out)
    assert found["groups"] == {"A": "8平"} and found["repeated"] == "" and found["text"].startswith("root ::= ")


def test_the_grammar_of_a_melody_has_a_character_for_each_syllable(project: Path, cli: Callable[..., Any]) -> None:
    song = write_mxl(project, score(sung("la la la r la la"))).name
    answer = cli(project, "grammar", "--melody", song, "--rhyme", "AA", "--group", "ang", "--notation", "regex")
    assert answer.status == 0 and answer.err == "espalier: note: the syllables of the melody: 3/2\n"
    assert re.sub(r"\[[^]]*\]", "x", answer.out) == "x{2}x\\x0Axx\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ((), "no rule is given; give one of: --format, --rhyme,"),
        ((*FORMAT, "--notation", "ebnf"), "--notation: unknown notation 'ebnf'; allowed: gbnf, lark, regex"),
        (("--tune", "灯词", "--group", "9平"), "--group: unknown rhyme group '9平'; allowed: 15入, 1仄"),
        (("--tune", "无名"), "--tune: no tune '无名' in the book"),
        ((*FORMAT, "--alternatives", "14"), "--alternatives: 14 alternatives; give a number from 1 to 13"),
        ((*FORMAT, "--repeated", "明"), "--repeated: 1 words where 0 are repeated"),
        (("--tune", "叠灯词", "--repeated", "ab"), "--repeated: 'a' is no Chinese character; repeat another word"),
        (("--tune", "叠灯词", "--repeated", "江笑"), "--repeated: '笑' does not suit the places of letter A in any"),
        ((), "no rule is given; give one of: --format, --rhyme, --tones, --acrostic, --word, --tune, --form\n"),
        (("--rhyme", "AA"), "the rules give no format; give --format, --tones, --tune or --form as well\n"),
        (("--form", "haiku"), "grammar: the words of the dictionary are too many"),
        ((*FORMAT, "--word", "春风", "--word", "秋月江山"), "--word: "),
    ],
)
def test_a_mistake_is_one_line_that_names_the_option(
    project: Path, cli: Callable[..., Any], command: tuple[str, ...], message: str
) -> None:
    answer = cli(project, "grammar", *command)
    assert answer.status == 1 and not answer.out
    assert answer.err.startswith(f"espalier: {message}"), answer.err
    assert answer.err.count("\n") == 1


def test_rules_of_which_there_is_no_grammar_are_no_options(project: Path, cli: Callable[..., Any]) -> None:
    help_ = cli(project, "grammar", "--help").out
    assert "--tones" in help_ and "most Song ci follow" in " ".join(help_.split())
    assert not any(f"--{rule} " in help_ for rule in NO_GRAMMAR)
