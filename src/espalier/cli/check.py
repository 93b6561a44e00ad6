"""The command `check`: how well texts keep a frame. It needs no model; a template alone needs a parser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from espalier.cli.command import Command, is_repeated, parameter
from espalier.cli.models import absolute, models
from espalier.cli.requests import are_all, as_options, looked_at, read_requests
from espalier.cli.streams import result_line, told
from espalier.inference import requests as asked
from espalier.inference.writer import ArgumentError
from espalier.io.errors import ConfigError, EspalierError
from espalier.io.terminal import printable, printable_line

if TYPE_CHECKING:
    from espalier.frames.report import Report

#: How many of the other variants of a tune are shown.
SHOWN = 3

#: The option that names the books.
BOOKS = parameter(
    "books",
    Path,
    "The folder or archive of the books of rhymes and tunes; default: a clone's source couyun, else those of a "
    "released model.",
    resolve_path=True,
)

#: The options that take the lines of a melody.
MELODY = (
    parameter(
        "melody",
        Path,
        "A score in MusicXML (.musicxml, .xml, .mxl), whose syllables the lines have, each on a line of its own.",
        resolve_path=True,
    ),
    parameter("part", str, "The part of the score with the melody; default: the first with lyrics."),
    parameter("verse", str, "The number of the verse in the score; default: the first."),
    parameter("by", str, "Count the syllables of the lyrics, or the notes: lyrics or notes.  [default: lyrics]"),
)


class Check(Command):
    """Check texts by rules: a tune, a format, rhymes, tones, an acrostic, a melody, the template of a tree.

    The score is from 0 to 1, for each rule and as a whole. Each violation has the characters of the text, counted from
    0, what stands there and what would be right. The exit status is 1 if a text violates a rule.

    A line of --file is a text; its tune may follow after a tab. A line can also be a JSON object with a text and rules
    of its own, such as `espalier generate --json` prints.
    """

    service, request, options, argument = "check", asked.CheckRequest, asked.CheckOptions, "text"
    columns, line, without = 2, "one text a line; after a tab its tune", ("model", "language")
    shared: ClassVar[Sequence[str]] = ("tune",)
    more = (
        BOOKS,
        *MELODY,
        parameter(
            "parser", str, "What sees the tree: a parser of the profile, or its folder; default: that of its models.",
            callback=absolute,
        ),
    )  # fmt: skip

    def run(self) -> None:
        """Check all texts."""
        from espalier.cli import framed, progress

        requests, lines = looked_at(read_requests(self.values["file"], self.given(), self.read, self.line))
        models().enter(self.values["profile"])
        with as_options(self.names):
            options = self.chosen(requests)
            melody = framed.melody_of(self.values)
        books, parser, failed = framed.books_of(self.values), None, False
        if any(map(self.has_template, requests)):
            parser = framed.parser_of(self.values["parser"], [request.text for request in requests])
        elif self.values["parser"] is not None and are_all(requests):
            raise ConfigError("there is no template", where="--parser", remedy="give --template as well")
        for request in filter(None, lines):  # a text is checked, not written: no blank lines
            if parser is None and self.has_template(request):  # the first, after many that have none
                parser = framed.parser_of(self.values["parser"], [request.text])
            checked = partial(framed.checked, books=books, parser=parser, melody=melody)
            try:
                report = self.report(request, options, checked)
            except EspalierError as error:
                if len(requests) == 1:
                    raise
                report = None
                progress.say(f"espalier: {request.name}: {printable_line(told(error))}")
            failed = failed or report is None or not report.kept
            if report is not None:
                print(self.shown(request, report), flush=True)
        if failed:
            raise SystemExit(1)

    def has_template(self, request: asked.CheckRequest) -> bool:
        """Whether a parser must see the tree of a text."""
        return self.values["template"] is not None or request.template is not None

    def report(
        self,
        request: asked.CheckRequest,
        options: Mapping[str, Any],
        checked: Callable[[Mapping[str, Any], str], Report],
    ) -> Report:
        """The report on one text, by its own rules and by those of the options; `checked` makes it."""
        names = [field.name for field, *_ in asked.described(asked.CheckRequest) if field.name != "text"]
        own = {name: value for name in names if (value := getattr(request, name)) is not None}
        given = {name: value for name in names if (value := self.values.get(name)) is not None}
        with as_options(self.names):
            try:
                return checked({**given, **own, **options}, request.text)
            except ConfigError as error:
                if error.where in {*names, *options, "book"} and len(own) < 1:
                    raise ArgumentError(error.what, where=str(error.where), remedy=error.remedy) from error
                raise

    def read(self, cells: Sequence[str], name: str) -> asked.CheckRequest:
        """The text of a line and its tune, or those of a JSON object, which may have other rules too."""
        line = "\t".join(cells)
        if not line.startswith("{"):
            request: asked.CheckRequest = super().read(cells, name)
            return replace(request, text=request.text.replace("/", "\n"))
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or "text" not in row:
            raise ConfigError("no JSON object with a text", where=name, remedy='{"text": "..."}')
        if "log_probability" in row:  # what a model wrote, with its tokens as words
            row.pop("words", None)
        kinds = {field.name: kind for field, kind, _ in asked.described(asked.CheckRequest)}
        rules: dict[str, Any] = {key: row[key] for key in kinds.keys() & row.keys() if row[key] not in (None, "")}
        for key, value in rules.items():
            if remedy := _mistaken(value, kinds[key]):
                raise ConfigError(f"{key} is {json.dumps(value)[:40]}", where=name, remedy=remedy)
        text = rules.pop("text", "")
        if "words" in rules:
            rules["words"] = tuple(rules["words"])
        if not str(rules.get("template", "")).lstrip().startswith("("):  # that of `espalier compose` is no tree
            rules.pop("template", None)
        if "tune" in rules and "format" in rules:  # a poem that was written to a tune has the format of the tune
            rules = {key: rules[key] for key in rules.keys() - {"format", "rhyme", "tones"}}
        return asked.CheckRequest(text, **rules, name=name)

    def shown(self, request: asked.CheckRequest, report: Report) -> str:
        """A report as JSON, or as people read it."""
        if self.values.get("json"):
            return result_line(report, request.name)
        return printable(report_page(report))


def _mistaken(value: object, kind: object) -> str:
    """What to give instead of a value of JSON that has not the type of a field; "" if it has."""
    if is_repeated(kind):
        right = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return "" if right else "give a list of texts"
    if int in get_args(kind):
        return "" if type(value) is int else "give a number"
    return "" if isinstance(value, str) else "give a text"


def stanzas(report: Report) -> list[str]:
    """The text of two stanzas, a sentence in each line and an empty line between and after them; else nothing."""
    if not report.stanza:
        return []
    parts = (report.text[: report.stanza], report.text[report.stanza :])
    return [line for part in parts for line in (*re.findall(r"[^\s。！？][^\n。！？]*[。！？]*[”’」』]*", part), "")]


def report_page(report: Report) -> str:
    """The whole score, the scores of the rules, and the violations; before them, a text of two stanzas as these."""
    heading = [f"{report.score:.3f}", "kept" if report.kept else "not kept", *filter(None, [report.variant])]
    lines = [*stanzas(report), "  ".join(heading)]
    for score in report.scores:
        lines.append(f"  {score.rule:12} {score.kept}/{score.of}{'' if score.binding else '  (does not count)'}")
    for each in report.violations:
        where = f"{each.start}" if each.end <= each.start + 1 else f"{each.start}-{each.end - 1}"
        found = f"'{each.found}'" if each.found else "nothing"
        lines.append(f"  {where:>7}  {found} ({each.rule}): {each.wanted}")
    if report.others:
        others = [f"{name} {score:.3f}" for name, score in report.others[:SHOWN]]
        lines.append(f"  other variants: {', '.join(others)}")
    return "\n".join([*lines, *(f"  note: {note}" for note in report.notes)])
