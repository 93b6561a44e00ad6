"""What a drawing's SVG keeps, and what is replaced in it."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from espalier.report.drawing import INK, drawing, standalone, svg_of

WORDS = (
    "#010101",
    'id="a',
    'href="#',
    "url(#b)",
    'a width="2pt"',
    "var(--ink)",
    'style="var(--ink)"',
    "<svg >",
    "]]>",
)


def _drawn(text: str, label: str = "a drawing") -> str:
    with drawing(1, across=1, height=1) as (figure, [axes]):
        axes.text(0.5, 0.5, text, color=INK, parse_math=False)
        return svg_of(figure, "Figure 1", label)


def _texts(svg: str) -> list[str]:
    return ["".join(each.itertext()).strip() for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("word", WORDS)
def test_a_drawn_word_stays_as_it_is_whatever_it_looks_like(word: str) -> None:
    svg = _drawn(word)
    assert word in _texts(svg) and word in _texts(standalone(svg))


@pytest.mark.parametrize("word", WORDS)
def test_the_label_of_a_drawing_stays_as_it_is(word: str) -> None:
    svg = _drawn("word", label=word)
    assert ET.fromstring(svg).get("aria-label") == word
    assert ET.fromstring(standalone(svg).encode()).get("aria-label") == word


def test_colours_are_the_page_s_ids_have_the_name_and_the_size_is_left_to_the_page() -> None:
    svg = _drawn("word")
    root = ET.fromstring(svg)
    assert "#0101" not in svg and "fill: var(--ink)" in svg and "fill: #1e2220" in standalone(svg)
    assert all(each.get("id", "figure-1-").startswith("figure-1-") for each in root.iter())
    assert root.get("width") is None and root.get("viewBox")
