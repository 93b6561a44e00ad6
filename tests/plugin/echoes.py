"""A service from outside with its command: a module named below `plugins` of params.yaml."""

from dataclasses import dataclass
from typing import Annotated, Any

from espalier.cli.app import app
from espalier.cli.command import Command, add
from espalier.inference.requests import Option, Options


@dataclass(frozen=True)
class Word:
    text: Annotated[str, Option("The word that is said.")]
    end: Annotated[str | None, Option("What is said last.")] = None
    name: str = "word"


@dataclass(frozen=True)
class EchoOptions(Options):
    times: Annotated[int, Option("How often it is said.", 1, 9)] = 2
    loud: Annotated[bool, Option("Say it loudly.")] = False


@dataclass(frozen=True)
class Said:
    text: str


def page(values: dict[str, Any], word: Word, said: Said) -> str:
    return said.text


class Echo(Command):
    """Say a word again."""

    service, request, options, argument, page = "echo", Word, EchoOptions, "word", page
    line = "one word a line; after a tab what is said last"


add(app, Echo)
