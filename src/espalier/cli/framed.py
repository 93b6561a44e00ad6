"""What the commands `check` and `grammar` do with frames. It is imported when they run."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from espalier.cli.models import models
from espalier.frames.compiled import NO_FORMAT
from espalier.frames.frame import frame_of
from espalier.frames.judge import Grammar
from espalier.frames.melody import Melody, read_melody
from espalier.frames.report import Report
from espalier.inference.writer import ArgumentError, InferenceWarning
from espalier.io.errors import ConfigError
from espalier.syntax.parsers.parser import Parser
from espalier.syntax.parsers.registry import load_parser
from espalier.text.language import HAN, Language, language_of, mostly
from espalier.verse.ci_books import CiBooks, open_books

#: Options that say how long the lines are.
_SIZED: Final = ("tune", "format", "form", "syllables")
#: Of a format, what is Chinese.
_CHINESE: Final = re.compile(f"[{HAN}，。、！？；：（）]")


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


def melody_of(values: Mapping[str, Any]) -> Melody | None:
    """The melody that the options of a command name, with a note on what was chosen of it; None without any.

    Raises:
        ArgumentError: the score has no such part or verse, or other rules say how long the lines are.
    """
    given = {name: values[name] for name in ("part", "verse", "by") if values.get(name) is not None}
    if values.get("melody") is None:
        if given:
            raise ArgumentError("there is no melody", where=min(given), remedy="give --melody as well")
        return None
    if other := next((name for name in _SIZED if values.get(name) is not None), None):
        raise ArgumentError(f"a melody beside --{other}", where="melody", remedy="leave out one of them")
    try:
        melody = read_melody(values["melody"], **given)
    except ConfigError as error:
        raise ArgumentError(error.what, where=str(error.where), remedy=error.remedy) from error
    several = [
        f"{name} {own} of {', '.join(every)}"
        for name, own, every in (("part", melody.part, melody.parts), ("verse", melody.verse, melody.verses))
        if len(every) > 1 and name not in given
    ]
    chosen = f" ({'; '.join(several)})" if several else ""
    warnings.warn(f"the syllables of the melody: {melody}{chosen}", InferenceWarning, stacklevel=2)
    return melody


def lined(rules: Mapping[str, Any], melody: Melody | None, language: Language) -> Mapping[str, Any]:
    """Rules, and the lines of a melody: syllables in English, characters in Chinese."""
    if melody is None:
        return rules
    if other := next((name for name in _SIZED if rules.get(name) is not None), None):
        raise ConfigError(f"a melody beside the text's own {other}", where="melody", remedy="leave out one of them")
    if language == "en":
        return {**rules, "syllables": str(melody)}
    return {**rules, "format": str(melody), "marks": bool(rules.get("marks"))}


def checked(
    rules: Mapping[str, Any],
    text: str,
    books: CiBooks | None,
    parser: Parser | None = None,
    melody: Melody | None = None,
    called: Callable[[str], str] = str,
) -> Report:
    """The report on a text by rules (`frame_of`), and by a melody in the language of the text.

    A format without Chinese characters or marks counts the words of an English text.
    """
    language: Language = "zh" if mostly(text, "zh") else "en"
    lines = lined(rules, melody, language)
    if language == "en" and lines.get("format") and not _CHINESE.search(lines["format"]):
        lines = {**lines, "language": "en"}
    with _calling(called):
        return frame_of(lines, called).check(text, books, parser)


def written(
    rules: Mapping[str, Any], options: Mapping[str, Any], books: CiBooks | None, called: Callable[[str], str]
) -> Grammar:
    """The grammar of rules (`frame_of`), as the options of the command say."""
    of_grammar = {name: options[name] for name in ("groups", "repeated", "alternatives") if name in options}
    with _calling(called):
        return frame_of(rules, called).grammar(options.get("notation", "lark"), books, **of_grammar)


@contextmanager
def _calling(called: Callable[[str], str]) -> Iterator[None]:
    """Let an error on a field of a rule name it as it was given, and one on rules without a format what gives one."""
    try:
        yield
    except ConfigError as error:
        _, comma, field = str(error.where).partition(", ")
        if isinstance(error, ArgumentError) and comma:
            raise ConfigError(error.what, where=called(field), remedy=error.remedy) from error
        if error.what != NO_FORMAT:
            raise
        names = filter(None, map(called, ("format", "tones", "tune", "syllables", "meter")))
        remedy = f"give {', '.join(names)} or {called('form')} as well"
        raise ConfigError(NO_FORMAT, remedy=remedy) from error
