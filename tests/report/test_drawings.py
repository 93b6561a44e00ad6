"""Structures of a template and of what several runs wrote for it, drawn in a report (SAT, figures 2 and 3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from espalier.io.errors import ConfigError
from espalier.report.build import build
from espalier.report.html import render_html
from espalier.report.printed import Printed, load_printed
from espalier.report.results import RunResult

DRAWINGS = """
drawings:
  - {id: figure-3, title: Figure 3, caption: Aligned, of: structures, structures: [pos], examples: table-2, count: 1,
     runs: {guided: G, plain: P}}
"""


@pytest.fixture
def drawn(write: Callable[[str], Path], pairs_text: str) -> Printed:
    return load_printed(write(pairs_text + DRAWINGS))


def tagged(run: RunResult, words: str, tags: str) -> RunResult:
    """The run with tagged texts, whose first two tokens are the prompt; under a second seed others."""
    template = {"reference": "a dog runs", "reference_words": "a dog runs", "reference_tags": "DT NN VBZ"}
    own = {"prompt": "2", "text": words, "text_words": words if tags else "", "text_tags": tags}
    rows = [
        {**row, **template, **own, "seed": str(seed)}
        | ({} if seed == 1 else {"text": "never", "text_words": "never", "text_tags": "RB"})
        for seed in (1, 2)
        for row in run.rows
    ]
    return replace(run, rows=rows)


def lines(page: str) -> list[str]:
    """The texts of the drawing in their order."""
    drawing = page[page.index('id="figure-3"', page.index("<section")) :]
    return [" ".join(text.split()) for text in re.findall(r"<text [^>]*>([^<]*)</text>", drawing)]


def test_each_run_stands_under_the_template_with_its_own_symbols_and_how_many_are_kept(
    drawn: Printed, pair_runs: list[RunResult]
) -> None:
    plain, guided, _ = pair_runs
    runs = [tagged(plain, "a dog barks loudly", "DT NN VBZ RB"), tagged(guided, "a dog sleeps", "DT NN NNS")]
    page = render_html(build(drawn, runs))
    assert lines(page) == [
        *("template", "a", "dog", "runs", "pos", "DT", "NN", "VBZ"),
        *("text", "a", "dog", "sleeps", "pos 2/3", "DT", "NN", "NNS", "G, prompt: a dog"),
        *("template", "a", "dog", "runs", "pos", "DT", "NN", "VBZ"),
        *("text", "a", "dog", "barks", "loudly", "pos 3/4", "DT", "NN", "VBZ", "RB", "P, prompt: a dog"),
    ]
    assert 'href="#figure-3"' in page and "Not run: guided" not in page


def test_a_text_that_could_not_be_tagged_is_drawn_without_symbols(drawn: Printed, pair_runs: list[RunResult]) -> None:
    plain, guided, _ = pair_runs
    page = render_html(build(drawn, [plain, tagged(guided, "zzz", "")]))
    assert lines(page)[8:] == ["text", "zzz", "pos 0/3", "G, prompt: a dog"]
    assert "Not run: plain." in page


def test_a_structure_that_is_not_registered_is_refused(
    write: Callable[[str], Path], pairs_text: str, pair_runs: list[RunResult]
) -> None:
    printed = load_printed(write(pairs_text + DRAWINGS.replace("[pos]", "[mood]")))
    with pytest.raises(ConfigError, match="unknown structure 'mood'; allowed: pc, pos, tone"):
        build(printed, [pair_runs[0], tagged(pair_runs[1], "a dog sleeps", "DT NN NNS")])


@pytest.mark.parametrize("other", ["of: structures, ", "of: granularity, structures: [pos], "])
def test_drawings_of_structures_name_them_and_no_others_do(
    write: Callable[[str], Path], pairs_text: str, other: str
) -> None:
    wrong = DRAWINGS.replace("of: structures, structures: [pos], ", other)
    with pytest.raises(ConfigError, match="structures: a drawing of structures names some, and no other drawing does"):
        load_printed(write(pairs_text + wrong))
