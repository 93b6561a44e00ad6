"""Results as people read them: a page for each type of result.

A page is a function of the values of the command's options, a request and its result.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from rich.cells import cell_len
from rich.text import Text

from espalier.inference.requests import PairRequest
from espalier.inference.results import (
    Composition,
    Expansion,
    Paraphrase,
    Poem,
    Reply,
    StrictParaphrase,
    TextGranularity,
)
from espalier.io.terminal import printable_line
from espalier.report.alignment import render_structures
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.tree import Tree
from espalier.text.language import mostly
from espalier.text.written import as_written
from espalier.verse.text import units_of

Values = Mapping[str, Any]

#: The columns of a line that no terminal shows, and of a node that is drawn on one line.
WIDTH: Final = 100


def poem_page(values: Values, request: object, poem: Poem) -> str:
    """A heading, then one unit per line, and an empty line between two stanzas.

    Rhyme letters and rhyme groups have their own columns. English is written with capitals and a mark at its end.
    """
    units = units_of(poem.text if mostly(poem.text, "zh") else as_written(poem.text))
    width = max((cell_len(unit) for unit in units), default=0)
    parts = [part for part in (poem.tune, poem.format.replace("\n", "/"), f"seed {poem.seed}") if part]
    lines = ["  ".join([*parts, f"no. {poem.sample + 1}"])]
    for index, (unit, groups) in enumerate(zip(units, poem.rhyme_groups, strict=True)):
        rhyme = f"   {poem.rhyme[index]} {groups}" if groups else ""
        lines.append(f"  {unit}{' ' * (width - cell_len(unit)) if rhyme else ''}{rhyme}")
        if index + 1 == poem.stanza:
            lines.append("")
    return "\n".join([*lines, ""])


def paraphrase_page(values: Values, request: PairRequest, paraphrase: Paraphrase) -> str:
    """The text, and indented below it its tree if wanted, else its template if none was given."""
    shown = paraphrase.template and values["template"] is None and request.template is None
    below = [f"  {paraphrase.template}"] if shown else []
    if values["show_tree"]:
        below = draw_tree(read_tree(paraphrase.tree, words=False), "  ")
    if isinstance(paraphrase, StrictParaphrase) and not paraphrase.template_kept:
        below.append("  note: no candidate keeps the template; this is the best")
    return "\n".join([paraphrase.text, *below])


def expansion_page(values: Values, request: object, expansion: Expansion) -> str:
    """The tree on one line."""
    return expansion.tree


def draw_tree(tree: Tree, indent: str) -> list[str]:
    """A tree in brackets. A node that is too long for one line has its children below it."""
    line = indent + write_tree(tree)
    if len(line) <= WIDTH or not len(tree):
        return [line]
    lines = [f"{indent}({tree.label()}", *(line for child in tree for line in draw_tree(child, f"{indent}  "))]
    return [*lines[:-1], f"{lines[-1]})"]


def reply_page(values: Values, request: object, reply: Reply) -> str:
    """The reply, and its tree if wanted."""
    return "\n".join([reply.text, *[f"  {reply.tree}"] * values["show_tree"]])


def granularity_page(values: Values, request: object, result: TextGranularity) -> str:
    """Two tables, for encoder and decoder: one column per piece, one row per layer, the last layer first."""
    lines = []
    for side, _, pieces, layers in result.sides:
        widths = [max(len(piece), 4) for piece in pieces]
        lines.append("  ".join([f"{side:8}", *map(str.rjust, pieces, widths)]))
        for layer, row in reversed([*layers.items()]):
            numbers = [f"{value:.2f}".rjust(width) for value, width in zip(row, widths, strict=True)]
            lines.append("  ".join([f"layer {layer}".ljust(8), *numbers]))
    return "\n".join([*lines, ""])


def composition_page(values: Values, request: object, result: Composition) -> Text:
    """The text with the structures of template and text below it."""
    template, text = (
        replace(each, tokens=tuple(map(printable_line, each.tokens)))
        for each in (result.template_structure, result.text_structure)
    )
    topics = f"  ({printable_line(' '.join(result.topics))})" if result.topics else ""
    heading = Text.assemble((printable_line(result.text), "bold"), (topics, "dim"), "\n")
    return heading + render_structures(template, text, columns()) + Text("\n")


def columns() -> int:
    """The width of the terminal that standard output is; `WIDTH` if it is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
