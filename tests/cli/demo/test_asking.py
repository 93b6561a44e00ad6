from __future__ import annotations

import shlex
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import espalier
from espalier.cli.app import app
from espalier.cli.check import Check
from espalier.cli.commands import Compose, Generate, Paraphrase, Polish
from espalier.cli.demo.asking import KeptModels, ask, check, command_line, given
from espalier.inference.requests import VerseRequest
from espalier.io.errors import ConfigError
from pipeline.shell.models import ProfileModels


def test_an_answer_is_that_of_the_library(models: Path) -> None:
    answer = ask(Generate, {"format": "3。3。", "rhyme": "AA", "n": 2, "seed": 5, "model": str(models / "verse")})
    expected = espalier.load(models / "verse").answer("generate", [VerseRequest("3。3。", "AA")], n=2, seed=5)
    assert list(answer.results) == expected and len(expected) == 2


def test_the_command_below_an_answer_prints_it(models: Path) -> None:
    values = {"format": "3。3。", "rhyme": "AA", "tune": "", "n": 2, "seed": 5, "model": str(models / "verse")}
    words = shlex.split(command_line(Generate, values))
    assert words[:2] == ["espalier", "generate"] and "--tune" not in words
    printed = CliRunner().invoke(app, words[1:])
    assert printed.exit_code == 0, printed.output
    for result in ask(Generate, values).results:
        assert all(unit in printed.output for unit in result.text.split("\n"))


@pytest.mark.parametrize(
    ("command", "values", "line"),
    [
        (Polish, {"template": "_雨'。", "seed": 1}, """espalier polish '_雨'"'"'。' --seed 1"""),
        (Paraphrase, {"text": "a b", "strict": True, "full": False}, "espalier paraphrase 'a b' --strict"),
        (Compose, {"template": "a", "topics": ["x", "y z"]}, "espalier compose --template a --topic x --topic 'y z'"),
        (Paraphrase, {"text": "a", "length_power": 0.0}, "espalier paraphrase a --length-power 0.0"),
        (Check, {"text": "灯。", "format": "1。"}, "espalier check '灯。' --format '1。'"),
    ],
)  # fmt: skip
def test_a_command_has_the_options_that_were_given(command: type, values: dict[str, object], line: str) -> None:
    assert command_line(command, values) == line


def test_a_number_of_0_is_given_and_an_empty_field_is_not() -> None:
    """0 equals False, and must not pass for an unchecked box."""
    values = {"beam": 0, "length_power": 0.0, "tune": "", "n": None, "tone": False, "topics": [], "seed": 1}
    assert given(values) == {"beam": 0, "length_power": 0.0, "seed": 1}


def test_a_mistake_names_its_option(models: Path) -> None:
    with pytest.raises(ConfigError, match=r"^--n: 0 is too small; at least 1$"):
        ask(Generate, {"format": "3。", "n": 0, "model": str(models / "verse")})
    with pytest.raises(ConfigError, match=r"^--model: no model in 'nowhere'"):
        ask(Generate, {"format": "3。", "model": "nowhere"})


def test_notes_are_part_of_an_answer_and_do_not_reach_the_terminal(models: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = ask(Polish, {"template": "_龘。", "model": str(models / "verse")})
    assert any("龘" in note for note in answer.notes)


def test_a_model_is_loaded_once(models: Path, folders: KeptModels) -> None:
    first, second = (folders.open("generate", "zh", model=str(models / "verse")) for _ in range(2))
    assert first is second and folders.open("polish", "zh", model=str(models / "verse")) is first


def test_tabs_that_take_one_model_by_default_load_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """songci generates and polishes; a model that a profile trained does both too."""
    monkeypatch.chdir(Path(__file__).parents[3])
    kept = KeptModels(ProfileModels())
    assert kept.open("generate", "zh") is kept.open("polish", "zh")
    assert kept.open("generate", "zh").name == "songci"


def test_a_text_is_checked_by_its_rules() -> None:
    report, _ = check({"text": "江上一灯明，照我过长桥。", "format": "5,4。"})
    assert not report.kept and report.text.startswith("江上")
    with pytest.raises(ConfigError, match="--rhyme"):
        check({"text": "江上一灯明。", "format": "5。", "rhyme": "AAA"})
