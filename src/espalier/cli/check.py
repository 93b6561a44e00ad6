"""The command `check`: how well texts keep a frame. It needs no model; a template alone needs a parser."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from espalier.cli.check_rows import request_of
from espalier.cli.command import Command, parameter
from espalier.cli.models import absolute, models
from espalier.cli.requests import are_all, as_options, looked_at, option_of, read_requests
from espalier.cli.streams import result_line, told
from espalier.inference import requests as asked
from espalier.inference.writer import ArgumentError
from espalier.io.errors import ConfigError, EspalierError
from espalier.io.terminal import printable, printable_line

if TYPE_CHECKING:
    from espalier.frames.report import Report

#: How many of the other variants of a tune are shown, and how many characters of a text of a file.
SHOWN, BEGINNING = 3, 24

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
    of its own, such as `espalier generate --json` prints. Lines that cannot be read are told, and the others checked.
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

        looked, lines = looked_at(read_requests(self.values["file"], self.given(), self.row, self.line))
        requests = [line for line in looked if isinstance(line, asked.CheckRequest)]
        models().enter(self.values["profile"])
        with as_options(self.names):
            options = self.chosen(requests)
            melody = framed.melody_of(self.values)
        books, parser, failed = framed.books_of(self.values), None, False
        if any(map(self.has_template, requests)):
            parser = framed.parser_of(self.values["parser"], [request.text for request in requests])
        elif self.values["parser"] is not None and are_all(looked):
            raise ConfigError("there is no template", where="--parser", remedy="give --template as well")
        for request in filter(None, lines):  # a text is checked, not written: no blank lines
            try:
                if isinstance(request, EspalierError):
                    raise request
                if parser is None and self.has_template(request):  # the first, after many that have none
                    parser = framed.parser_of(self.values["parser"], [request.text])
                checked = partial(framed.checked, books=books, parser=parser, melody=melody)
                report = self.report(request, options, checked)
            except EspalierError as error:
                if _is_of_command(request):
                    raise
                name = "" if isinstance(request, EspalierError) else f"{request.name}: "
                progress.say(f"espalier: {name}{printable_line(told(error))}")
                failed = True
                continue
            failed = failed or not report.kept
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
        checked: Callable[..., Report],
    ) -> Report:
        """The report on one text, by its own rules and by those of the options; `checked` makes it."""
        names = [field.name for field in fields(request) if field.name not in ("text", "name")]
        own = {name: value for name in names if (value := getattr(request, name)) is not None}
        # A flag that is not given is false, which is not what a format says of its marks.
        given = {name: value for name in names if (value := self.values.get(name)) is not None and value is not False}
        rules = {**given, **options, **own}
        called = str if own else partial(option_of, self.names)
        with as_options(self.names):
            try:
                return checked(rules, request.text, called=called)
            except ConfigError as error:
                if error.where in {*names, *options} and len(own) < 1:
                    raise ArgumentError(error.what, where=str(error.where), remedy=error.remedy) from error
                raise

    def read(self, cells: Sequence[str], name: str) -> asked.CheckRequest:
        """The text of a line and its tune, or those of a JSON object, which may have other rules too."""
        line = "\t".join(cells)
        if not line.startswith("{"):
            request: asked.CheckRequest = super().read(cells, name)
            return replace(request, text=request.text.replace("/", "\n"))
        return request_of(line, name)

    def shown(self, request: asked.CheckRequest, report: Report) -> str:
        """A report as JSON, or as people read it: below the beginning of the text, where it is one of a file."""
        if self.values.get("json"):
            return result_line(report, request.name)
        page = report_page(report)
        return printable(page if _is_of_command(request) else f"{_heading(request)}\n{page}")


def _is_of_command(request: object) -> bool:
    """Whether a text is that of the command line, not one of a file."""
    return isinstance(request, asked.CheckRequest) and ", row " not in request.name


def _heading(request: asked.CheckRequest) -> str:
    """The line of a text in its file, and its first characters."""
    text = " / ".join(filter(None, map(str.strip, request.text.splitlines())))
    return f"row {request.name.rpartition(' ')[2]}  {text[:BEGINNING]}{'…' * (len(text) > BEGINNING)}"


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
