"""The command `compose`: texts under the structure of a template (SAT)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.cli.models import models
from espalier.cli.requests import (
    answer,
    as_options,
    columns,
    read_requests,
    require_count,
    require_drawing,
    write_drawing,
)
from espalier.datasets.structure.structures import StructuredText
from espalier.inference.requests import TemplateRequest
from espalier.inference.results import Composition
from espalier.io.errors import DataError
from espalier.io.terminal import printable_line
from espalier.text.language import LANGUAGES, Language, has_words, language_name, mostly

if TYPE_CHECKING:
    from rich.text import Text


def requests_of(file: Path | None, given: Sequence[TemplateRequest]) -> list[TemplateRequest]:
    """Requests, one per line: template, prompt, topics."""
    return read_requests(
        file, given, _request, "one template a line; after tabs its prompt, and its topics with spaces", fields=3
    )


def _request(fields: list[str], name: str) -> TemplateRequest:
    template, prompt, topics = [*fields, "", ""][:3]
    return TemplateRequest(template, prompt, tuple(topics.split()), name)


def write(
    requests: Sequence[TemplateRequest], model: str | None, *, out: Path | None, json: bool, **options: Any
) -> None:
    """Print `n` texts for each template, with both structures below each text, and draw them.

    Args:
        out: where the drawing is written, as SVG or HTML; None draws nothing.
        options: keyword arguments of `espalier.inference.compose.ComposeWriter`.
    """
    require_count(options["n"] * len(requests))
    require_drawing(out, options["n"] * len(requests), [".svg", ".html"])
    system = models().open("compose", language_of(requests), model=model)
    results: list[Composition] = []
    width = columns()
    with as_options():
        writer = system.writer("compose", **options)
        keep = results.append if out is not None else lambda result: None
        unread = answer(writer, requests, lambda _, result: page_of(result, width), as_json=json, then=keep)
    if out is not None and results:
        draw(results, out)
    if unread:
        raise SystemExit(1)


def language_of(requests: Sequence[TemplateRequest]) -> Language:
    """The language of the first template that has words of a known language.

    Raises:
        DataError: no template has words.
    """
    for request in requests:
        for language in LANGUAGES:
            if has_words(request.template) and mostly(request.template, language):
                return language
    first = requests[0]
    named = [language_name(language) for language in LANGUAGES]
    what = f"neither {' nor '.join(named)}" if has_words(first.template) else "no words"
    raise DataError(what, file=first.name, remedy=f"give a sentence in {' or '.join(named)}")


def page_of(result: Composition, width: int) -> Text:
    """The text with the structures of template and text below it."""
    from rich.text import Text

    from espalier.report.structures import render_structures

    template, text = (_printable(each) for each in (result.template_structure, result.text_structure))
    topics = f"  ({printable_line(' '.join(result.topics))})" if result.topics else ""
    heading = Text.assemble((printable_line(result.text), "bold"), (topics, "dim"), "\n")
    return heading + render_structures(template, text, width) + Text("\n")


def draw(results: Sequence[Composition], out: Path) -> None:
    """Write one drawing of the structures of all results."""
    from espalier.report.drawing import standalone
    from espalier.report.html import render_drawing
    from espalier.report.structures import structures_figure

    pairs = [
        (" · ".join([f"no. {result.sample + 1}", *result.topics]), result.template_structure, result.text_structure)
        for result in results
    ]
    texts = "; ".join(f"{result.text} after {result.template}" for result in results)
    svg = structures_figure(pairs, "structures", f"Structures of {texts}")
    write_drawing(out, standalone(svg) if out.suffix == ".svg" else render_drawing(svg, "Structures"))


def _printable(structures: StructuredText) -> StructuredText:
    return replace(structures, tokens=tuple(map(printable_line, structures.tokens)))
