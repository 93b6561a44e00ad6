from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio
from espalier.metrics.registry import METRICS
from espalier.report.build import build
from espalier.report.comparisons import RunSegments
from espalier.report.html import FIRST, items_js, render_html, render_items
from espalier.report.items import Items, RunTexts, items_of, trees_of
from espalier.report.printed import Printed, load_printed

MADE = {
    "bleu": Metric("bleu", ratio(0, 1, scale=100), "bleu"),
    "ted": Metric("ted_full", ratio(0, 1), "ted"),
    "corpus": Metric("meteor", ratio(0, 1), "meteor", corpus_level=True),
}
NOUN, VERB = "(NP (NN a))", "(VP (VB go))"


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Families of one metric each."""
    for name, metric in MADE.items():
        members = {"name": name, "metrics": (metric,), "statistics": lambda self, texts: texts}
        monkeypatch.setitem(METRICS, f"made/{name}", type(name, (Family,), members))


def _run(
    key: str, texts: list[tuple[str, int, int, str]], title: str = "", language: Any = "en", **columns: Any
) -> RunTexts:
    """Rows of (id, seed, sample, text); of BLEU every text has a hundredth of its length."""
    outputs = pd.DataFrame(texts, columns=["id", "seed", "sample", "text"]).assign(**columns)
    table = outputs[["id", "seed", "sample"]].assign(
        **{
            "bleu.0": outputs["text"].str.len(), "bleu.1": 100.0, "ted.0": 1.0, "ted.1": 0.0, "corpus.0": 1.0,
            "corpus.1": 1.0,
        }
    )  # fmt: skip
    return RunTexts(key, title, language, outputs, RunSegments(table, "made"))


def _data(items: Items) -> dict[str, Any]:
    script = items_js(items)
    assert script.startswith("const items = ") and script.endswith(";\n")
    data: dict[str, Any] = json.loads(script.removeprefix("const items = ").removesuffix(";\n"))
    return data


def test_items_have_the_texts_of_the_first_seed_in_the_order_of_samples(pairs: Printed) -> None:
    rows = [("b", 2, 0, "never"), ("b", 1, 1, "second"), ("b", 1, 0, "first"), ("a", 1, 0, "other")]
    items = items_of(pairs, [_run("one", rows, source=["x", "x", "x", "y"])])
    assert items.ids == ("b", "a") and items.total == 2
    assert items.given == {"source": ("x", "y")}
    assert [output and output.texts for output in items.outputs[0]] == [("first", "second"), ("other",)]


def test_a_score_is_that_of_the_first_text_and_an_undefined_or_corpus_score_is_none(pairs: Printed) -> None:
    items = items_of(pairs, [_run("one", [("a", 1, 0, "four"), ("a", 1, 1, "longer")])])
    assert [column.heading for column in items.scores] == ["BLEU"]
    assert [output and output.scores for output in items.outputs[0]] == [(4.0,)]


def test_a_template_to_be_polished_is_a_text_and_one_to_be_expanded_a_tree(pairs: Printed) -> None:
    rows = [("a", 1, 0, "one"), ("b", 1, 0, "two")]
    items = items_of(pairs, [_run("one", rows, template=["_a _#", "(S (NP) (VP))"])])
    assert items.given == {"template": ("_a _#", "")}
    assert [trees_of(items, place) for place in (0, 1)] == [[], [("one: template", "(S (NP) (VP))")]]


SAT = Path(__file__).parents[2] / "papers" / "printed" / "sat.yaml"


def _lines(key: str, places: int) -> RunTexts:
    """One test text, and the likelihoods of it and of a dev text, of which no run writes anything."""
    outputs = pd.DataFrame({"id": ["a"], "seed": 1, "sample": 0, "text": ["x"]})
    keys = [{"id": "a", "seed": 1, "sample": 0, f"likelihood:{places}.{n}": value} for n, value in enumerate(SUMS)]
    dev = [{"id": "d", "seed": 1, "sample": 0, f"likelihood:{places}:dev.{n}": value} for n, value in enumerate(SUMS)]
    merged = [{name: value for row in rows for name, value in row.items()} for rows in (keys, dev)]
    return RunTexts(key, key, "en", outputs, RunSegments(pd.DataFrame(merged), "compose"))


SUMS = [2.0, 2.0, 1.0, 1.0, 4.0]


def test_a_column_that_no_item_has_a_score_of_is_left_out_and_columns_with_one_heading_are_one() -> None:
    items = items_of(load_printed(SAT), [_lines("lyrics", 42), _lines("ptb", 50)])
    # Of the dev split no item is shown; padded to 42 and to 50 places is "Perplexity Test" of two corpora.
    headings = ["Perplexity Test", "Perplexity with ends", "Perplexity without"]
    assert [column.heading for column in items.scores] == headings
    # 2 nats over the 4 places of the text, over its 2 tokens with the end; 1 nat over its only word.
    e = 2.718281828
    for outputs in items.outputs:
        assert outputs[0] is not None and outputs[0].scores == pytest.approx((e**0.5, e, e), rel=1e-3)


def test_the_page_says_of_what_its_scores_are(pairs: Printed) -> None:
    page = render_items(build(pairs, []), items_of(load_printed(SAT), [_lines("lyrics", 42)]))["items.html"]
    assert "Perplexity Test, Perplexity with ends, Perplexity without: of the reference" in page
    assert "several texts" not in page
    several = _run("one", [("a", 1, 0, "four"), ("a", 1, 1, "longer")])
    page = render_items(build(pairs, []), items_of(pairs, [several]))["items.html"]
    assert "Where a run wrote several texts" in page and "of the reference" not in page


def test_a_run_without_an_item_has_none_there(pairs: Printed) -> None:
    items = items_of(pairs, [_run("one", [("a", 1, 0, "x")]), _run("two", [("b", 1, 0, "y")])])
    assert [[output and output.texts for output in outputs] for outputs in items.outputs] == [
        [("x",), None], [None, ("y",)]
    ]  # fmt: skip
    assert _data(items)["runs"][0]["texts"][1] is None


def test_words_of_chinese_texts_are_joined_and_a_tree_keeps_them(pairs: Printed) -> None:
    tree = "(IP (NP (NN 好)))"
    run = _run("one", [("a", 1, 0, "好 啊")], language="zh", source="今天 吗", heads="0 1", source_tree=tree)
    items = items_of(pairs, [run])
    output = items.outputs[0][0]
    assert items.trees == {"source": (tree,)}
    assert items.given == {"source": ("今天吗",)} and output is not None
    assert (output.texts, output.heads) == (("好啊",), "好/0 啊/1")


def test_equal_trees_are_named_once(pairs: Printed) -> None:
    runs = [
        _run("one", [("a", 1, 0, "x")], "Same", source_tree=NOUN, guide=VERB),
        _run("two", [("a", 1, 0, "y")], "Same", guide=NOUN, template=""),
    ]
    items = items_of(pairs, runs)
    assert trees_of(items, 0) == [("source, Same two: guide", NOUN), ("Same one: guide", VERB)]


def test_a_tree_of_the_segments_is_an_output(pairs: Printed) -> None:
    run = _run("one", [("a", 1, 0, "x")], "One", tree="")
    run.segments.table["tree"] = VERB
    assert trees_of(items_of(pairs, [run]), 0) == [("One: output", VERB)]


def test_beyond_the_bound_items_are_left_out_evenly(pairs: Printed) -> None:
    rows = [(f"i{place}", 1, 0, "ten chars.") for place in range(100)]
    items = items_of(pairs, [_run("one", rows)], characters=250)
    assert items.ids == tuple(f"i{place}" for place in range(0, 100, 4)) and items.total == 100
    page = render_items(build(pairs, []), items)["items.html"]
    assert "25 of 100 test items, evenly spread over all" in page and "shows the first 20 items" in page


def test_the_script_has_every_distinct_text_once(pairs: Printed) -> None:
    rows = [(f"i{place}", 1, 0, "same") for place in range(3)]
    data = _data(items_of(pairs, [_run("one", rows, reference="same"), _run("two", rows)]))
    assert data["strings"] == ["", "same"]
    assert data["given"] == {"reference": [1, 1, 1]} and data["runs"][1]["texts"] == [[1]] * 3
    assert data["runs"][0]["scores"] == [[4.0] * 3]


def test_markup_in_a_text_is_text(pairs: Printed) -> None:
    evil = "</script><script>x</script>"
    items = items_of(pairs, [_run("one", [("a", 1, 0, evil)], evil, source=evil, source_tree=f"(S ({evil}")])
    report = build(pairs, [])
    assert "<script>x" not in render_html(report, items)
    assert "<script>x" not in render_items(report, items)["items.html"]
    assert evil in _data(items)["strings"]


@pytest.mark.parametrize("count", [0, 1, FIRST + 1])
def test_the_page_lists_the_first_items_and_its_scripts_are_beside_it(pairs: Printed, count: int) -> None:
    items = items_of(pairs, [_run("one", [(f"i{place}", 1, 0, "x") for place in range(count)])]) if count else Items()
    files = render_items(build(pairs, []), items)
    assert files["items.html"].count('<article class="item">') == min(count, FIRST)
    assert [name for name in files if f'<script src="{name}" defer>' in files["items.html"]] == [
        "items.js",
        "browse.js",
    ]
    assert files == render_items(build(pairs, []), items)
