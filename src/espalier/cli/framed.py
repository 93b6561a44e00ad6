"""What the commands `check` and `grammar` do with frames. It is imported when they run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from espalier.cli.models import models
from espalier.frames.frame import frame_of
from espalier.frames.judge import Grammar
from espalier.frames.report import Report
from espalier.syntax.parsers.parser import Parser
from espalier.syntax.parsers.registry import load_parser
from espalier.text.language import language_of
from espalier.verse.ci_books import CiBooks, open_books


def books_of(values: Mapping[str, Path | None]) -> CiBooks | None:
    """The books of a command, those of --books or of the clone; None without any."""
    # Rhymes are those of single characters; without its dictionary of phrases pypinyin is imported 0.3 s sooner.
    os.environ.setdefault("PYPINYIN_NO_PHRASES", "1")
    folder = values["books"] or models().books()
    return open_books(folder) if folder else None


def parser_of(name: str | None, texts: Sequence[str]) -> Parser:
    """The parser that a name says, else the one for the language of the first text that has one."""
    language = next(filter(None, map(language_of, texts)), "en")
    return load_parser(models().parser(name, language))


def checked(rules: Mapping[str, Any], text: str, books: CiBooks | None, parser: Parser | None) -> Report:
    """The report on a text by rules (`frame_of`)."""
    return frame_of(rules).check(text, books, parser)


def written(rules: Mapping[str, Any], options: Mapping[str, Any], books: CiBooks | None) -> Grammar:
    """The grammar of rules (`frame_of`), as the options `notation`, `groups` and `repeated` say."""
    return frame_of(rules).grammar(
        options.get("notation", "lark"), books, options.get("groups", ()), options.get("repeated", "")
    )
