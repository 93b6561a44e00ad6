"""A command of a service, made of the types of its inputs and options."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from typer.testing import CliRunner

from espalier.cli import command as module
from espalier.cli.app import app
from espalier.cli.command import add
from espalier.cli.commands import COMMANDS
from espalier.cli.models import Models
from espalier.inference.requests import ParaphraseOptions, ReplyOptions, VerseOptions, described
from espalier.inference.writer import Writer
from espalier.io.errors import ConfigError
from espalier.verse.books import Book

NAME = "tests.plugin.echoes"


@pytest.fixture
def echoes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The plugin, whose command the command line of other tests does not have."""
    monkeypatch.setattr(app, "registered_commands", [*app.registered_commands])
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    return importlib.import_module(NAME)


class Found(Models):
    """One model, whose own default is to say each word three times."""

    name, language, synthetic = "cave", "en", False

    def __init__(self, echoes: Any) -> None:
        self.echoes = echoes

    def open(self, method: str, language: str, **named: Any) -> Any:
        self.asked = method, language, named
        return self

    def writer(self, service: str, **options: Any) -> Any:
        self.given, echoes = options, self.echoes

        @dataclass(frozen=True)
        class EchoWriter(echoes.EchoOptions, Writer[Any, Any, Any]):  # type: ignore[misc, name-defined]
            def read(self, requests: Sequence[Any]) -> list[Any]:
                return [*requests]

            def write(self, jobs: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
                return ((job, echoes.Said(job.text * self.times + (job.end or ""))) for job in jobs)

        return EchoWriter(self, **{"times": 3, **options})


@pytest.fixture
def echo(echoes: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The command, with the model that it has found."""
    line, found = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None), Found(echoes)
    add(line, echoes.Echo)
    line.command("other")(lambda: None)
    monkeypatch.setattr(module, "models", lambda: found)

    def call(*arguments: str, stdin: str = "") -> Any:
        return CliRunner().invoke(line, ["echo", *arguments], input=stdin), found

    return call


def test_options_bounds_defaults_and_help_are_those_of_the_fields(echo: Callable[..., Any]) -> None:
    help_, _ = echo("--help")
    text = " ".join(help_.output.split())
    assert "Say a word again." in text and "word The word that is said." in text.replace("<str> ", "")
    assert "--times <int> How often it is said. [default: 2]" in text and "--loud Say it loudly." in text
    refused, _ = echo("oh", "--times", "10")
    assert isinstance(refused.exception, ConfigError)
    assert str(refused.exception) == "--times: 10 is too large; at most 9"


def test_a_service_is_given_the_options_that_are_given_so_that_a_model_has_its_own_defaults(
    echo: Callable[..., Any],
) -> None:
    said, found = echo("oh", "--json")
    assert json.loads(said.output) == {"text": "ohohoh", "model": "cave"} and found.given == {}
    said, found = echo("oh", "--times", "1", "--end", "!", "--language", "en")
    assert said.output == "oh!\n" and found.given == {"times": 1} and found.asked[:2] == ("echo", "en")


def test_lines_have_the_fields_of_the_input(echo: Callable[..., Any]) -> None:
    said, _ = echo("--json", "--file", "-", stdin="oh\t?\nah\n")
    lines = [json.loads(line) for line in said.output.splitlines()]
    assert [(each["text"], each["line"]) for each in lines] == [("ohohoh?", 1), ("ahahah", 2)]
    refused, _ = echo("--end", "!")
    assert str(refused.exception) == "--end: no text; give --text as well"


def test_a_plugin_of_params_yaml_adds_its_command(tmp_path: Path, cli: Callable[..., Any], echoes: Any) -> None:
    del sys.modules[NAME], app.registered_commands[-1]
    assert "No such command 'echo'" in cli(tmp_path, "echo").err
    (tmp_path / "params.yaml").write_text(f"plugins: [{NAME}]\n", encoding="utf-8")
    answer = cli(tmp_path, "echo", "--help")
    assert answer.status == 0 and answer.out.startswith("Usage: espalier echo [OPTIONS] [word]"), answer.err
    assert "No such command 'echoes'" in cli(tmp_path, "echoes").err


def test_every_option_of_a_command_is_said_and_named_once() -> None:
    for each in COMMANDS:
        parameters = [*each.parameters()]
        assert len({parameter.name for parameter in parameters}) == len(parameters)
        assert {"model", "profile", "quiet"} <= {parameter.name for parameter in parameters}


def test_books_are_those_of_the_verse_and_each_length_penalty_is_described_once() -> None:
    books = {field.name: kind for field, kind, _ in described(VerseOptions)}["book"]
    assert get_args(books) == get_args(Book)
    penalties = {option for kind in (ParaphraseOptions, ReplyOptions) for field, _, option in described(kind)
                 if field.name == "length_power"}  # fmt: skip
    assert len(penalties) == 1
