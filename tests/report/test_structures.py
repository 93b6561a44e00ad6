"""The structures of a template and of a text, one above the other: in a terminal and as a drawing."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from espalier.datasets.structure.structures import StructuredText
from espalier.report import html
from espalier.report.alignment import lines_of, render_structures
from espalier.report.drawing import LIGHT, standalone
from espalier.report.html import render_drawing
from espalier.report.structures import structures_figure

NAMES = ("pc", "pos")
TEMPLATE = StructuredText.of([list("雨石"), ["灯"], list("山人")], ["n", "v", "n"], NAMES)
TEXT = StructuredText.of([["令"], ["舟"], ["灯"], list("桥前")], ["n", "n", "v", "v"], NAMES)
DOG = StructuredText.of([["a"], ["dog"], ["runs"]], ["DT", "NN", "VBZ"], ["pos"])
CATS = StructuredText.of([["old"], ["cats"]], ["JJ", "NN"], ["pos"])


def places(line: str, label: int) -> list[int]:
    """The columns of a terminal at which the cells of a line begin."""
    text = line[label:]
    return [label + cell_len(text[: found.start()]) for found in re.finditer(r"\S+", text)]


# --- What is aligned --------------------------------------------------------------------------------------------------


def test_each_place_is_compared_with_the_template_s_own() -> None:
    lines = lines_of(TEMPLATE, TEXT)
    assert [(line.label, "".join(line.cells)) for line in lines] == [
        ("template", "雨石灯山人"), ("pc", "BESBE"), ("pos", "nnvnn"),
        ("text", "令舟灯桥前"), ("pc 3/5", "SSSBE"), ("pos 3/5", "nnvvv"),
    ]  # fmt: skip
    assert [line.differs for line in lines[-2:]] == [
        (True, True, False, False, False), (False, False, False, True, True),
    ]  # fmt: skip
    assert not any(any(line.differs) for line in lines[:4])


@pytest.mark.parametrize(("template", "text"), [(DOG, CATS), (CATS, DOG)])
def test_a_place_that_one_of_the_two_lacks_counts_as_different(template: StructuredText, text: StructuredText) -> None:
    # DT NN VBZ and JJ NN: the first place differs, the second does not, and the third is of one of them alone.
    *_, last = lines_of(template, text)
    assert (last.label, last.differs) == ("pos 1/3", (True, False, True))
    assert {len(line.cells) for line in lines_of(template, text)} == {3}


def test_a_text_that_could_not_be_tagged_keeps_nothing() -> None:
    *_, last = lines_of(DOG, StructuredText(("zzz",), {"pos": ()}))
    assert (last.label, last.cells, last.differs) == ("pos 0/3", ("", "", ""), (True, True, True))


WORDS = st.lists(st.text("山ab", min_size=1, max_size=9), min_size=1, max_size=12)


@given(WORDS, WORDS, st.integers(20, 60))
def test_all_cells_of_a_place_begin_in_one_column_and_no_line_is_too_wide(
    template: list[str], text: list[str], width: int
) -> None:
    one, other = (StructuredText(tuple(words), {"pos": ("NN",) * len(words)}) for words in (template, text))
    label = len("pos 12/12") + 2
    found = list[list[str]]()
    for block in render_structures(one, other, width).plain.split("\n\n"):
        lines = block.split("\n")
        first = cell_len("template") + 2 if len(lines_of(one, other)[-1].label) <= 8 else label
        columns = [places(line, first) for line in lines]
        longest = max(columns, key=len)
        assert all(each == longest[: len(each)] for each in columns)
        assert all(cell_len(line) <= width for line in lines) or len(longest) == 1
        found.append([line[first:] for line in lines])
    for row, words in ((0, template), (2, text)):
        assert " ".join(block[row] for block in found).split() == words


def test_what_differs_is_red_and_underlined_in_a_terminal_and_plain_elsewhere() -> None:
    shown = render_structures(DOG, CATS, 80)
    terminal = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=80)
    plain = Console(file=io.StringIO(), force_terminal=False, width=80)
    for console in (terminal, plain):
        console.print(shown, soft_wrap=True)
    coloured, text = terminal.file.getvalue(), plain.file.getvalue()  # type: ignore[attr-defined]
    assert re.findall(r"\x1b\[4;31m(\w+)\x1b", coloured) == ["JJ"]
    assert Text.from_ansi(coloured).plain.split() == text.split() and "\x1b" not in text


# --- The drawing ------------------------------------------------------------------------------------------------------


def texts_of(svg: str) -> list[str]:
    return ["".join(each.itertext()).strip() for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_drawing_has_every_heading_token_and_symbol_and_frames_what_differs() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as matplotlib's, that its own font lacks a character
        svg = structures_figure([("no. 1", TEMPLATE, TEXT), ("no. 2", DOG, CATS)], "structures", "a <b>")
    texts = texts_of(svg)
    for heading, template, text in (("no. 1", TEMPLATE, TEXT), ("no. 2", DOG, CATS)):
        lines = lines_of(template, text)
        wanted = [heading, *(line.label for line in lines), *(cell for line in lines for cell in line.cells if cell)]
        assert all(texts.count(each) >= wanted.count(each) for each in wanted)
    assert 'aria-label="a &lt;b&gt;"' in svg
    assert len(re.findall(r"stroke: var\(--hue-a\)", svg)) == 4 + 2
    assert svg == structures_figure([("no. 1", TEMPLATE, TEXT), ("no. 2", DOG, CATS)], "structures", "a <b>")


def test_a_long_text_goes_on_below_and_no_cell_is_outside_of_the_drawing() -> None:
    long = StructuredText(("marvellous",) * 30, {"pos": ("NNP",) * 30})
    svg = structures_figure([("no. 1", long, long)], "structures", "long")
    assert texts_of(svg).count("marvellous") == 60 and texts_of(svg).count("template") > 1
    assert texts_of(svg).count("no. 1") == 1
    right = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])  # type: ignore[index]
    assert all(0 <= float(x) < right for x in re.findall(r'<text [^>]*\bx="([-\d.]+)"', svg))


def test_a_drawing_alone_has_the_light_page_s_colours_and_a_page_has_both() -> None:
    svg = structures_figure([("no. 1", DOG, CATS)], "structures", "two")
    style = (Path(html.__file__).parent / "templates/style.css.jinja").read_text(encoding="utf-8")
    light = dict(re.findall(r"--([\w-]+): (#\w{6})", style.split("@media")[0]))
    assert LIGHT.items() <= light.items()
    assert "var(" not in standalone(svg) and LIGHT["hue-a"] in standalone(svg)
    page = render_drawing(svg, "a <b>")
    assert svg in page and "<title>a &lt;b&gt; · Espalier</title>" in page
    assert "prefers-color-scheme: dark" in page and "<script" not in page
