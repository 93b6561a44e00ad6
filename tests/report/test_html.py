from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from espalier.report.build import build
from espalier.report.html import render_html
from espalier.report.markdown import render_markdown
from espalier.report.printed import Printed
from espalier.report.results import Comparison, CorpusResult, Curve, Provenance, RunResult, Sample

MakeRun = Callable[..., RunResult]
FullSet = tuple[list[RunResult], list[Curve], list[CorpusResult]]

VOID = {"meta", "br", "wbr", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """Collects tags, ids and text; checks that what opens closes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.tags if "id" in attributes]


@pytest.fixture(scope="module")
def html(full_set: FullSet, toy: Printed) -> str:
    return render_html(build(toy, *full_set))


def test_the_same_report_gives_the_same_bytes(html: str, toy: Printed, full_set: FullSet) -> None:
    assert render_html(build(toy, *full_set)) == html


def test_the_page_is_well_formed_and_its_ids_stand_once(html: str) -> None:
    page = Page(html)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))


def test_every_link_inside_the_page_leads_somewhere(html: str) -> None:
    page = Page(html)
    targets = [a.get("href") or a.get("xlink:href") or "" for _, a in page.tags if "href" in a or "xlink:href" in a]
    assert {target[1:] for target in targets if target.startswith("#")} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]*)\)", html)) <= set(page.ids)


def test_the_page_fetches_nothing_and_runs_nothing(html: str) -> None:
    page = Page(html)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert not any("src" in attributes for _, attributes in page.tags)
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    hrefs = [a["href"] or "" for tag, a in page.tags if tag == "a"]
    assert [href for href in hrefs if ":" in href] == ["https://example.org/toy"]
    assert "@import" not in html


def test_the_page_carries_no_date(html: str) -> None:
    assert "<dc:date>" not in html
    assert "<metadata>" not in html


def test_hostile_text_is_shown_and_never_run(toy: Printed, a_run: MakeRun) -> None:
    evil = "</span></svg><script>alert('$x$\\'\"')</script>&amp;"
    run = a_run(
        title=evil,
        model=evil,
        profile=evil,
        settings={"protocol": evil, evil: evil},
        metrics={"scores": {"ppl_released": None}, "undefined": {"ppl_released": evil}, "signatures": {evil: evil}},
        samples=[Sample(id=evil, tune=evil, format=evil, text=evil + "\n" + evil, rhyme='"<', reference=evil)],
        provenance=Provenance(hardware=evil, commit=evil),
    )
    curves = [Curve(model=evil, profile=evil, points=[(1, 2.0, 2.0), (2, 1.0, 1.5)])]
    html = render_html(build(toy, [run], curves))
    assert "<script" not in html
    page = Page(html)
    assert page.open == []
    assert page.words.count("<script>") >= 9


def test_colours_come_from_the_page_so_that_dark_and_light_share_one_drawing(html: str) -> None:
    drawings = re.findall(r"<svg .*?</svg>", html, flags=re.DOTALL)
    assert len(drawings) == 2
    for drawing in drawings:
        assert "var(--leaf)" in drawing
        assert "#0101" not in drawing
    assert "prefers-color-scheme: dark" in html


def test_rhyme_places_carry_their_colour_and_pinyin(html: str) -> None:
    assert '<ruby class="rhyme hue-a">烟<rt>yān</rt></ruby>。' in html


def test_places_of_a_variant_are_marked_without_colour_too_and_the_signs_are_explained(
    toy: Printed, a_run: MakeRun
) -> None:
    sample = Sample(id="a", text="灯烟。", rhyme="A", variant="灯词 2", tones="仄平", letters=".A", kept="t.")
    html = render_html(build(toy, [a_run(samples=[sample])]))
    wrong = '<ruby class="place wrong" title="oblique tone: it has none">灯<rt>●×</rt></ruby>'
    right = '<ruby class="place rhyme hue-a" title="level tone, rhyme A">烟<rt>○△ yān</rt></ruby>'
    assert wrong + right in html and "灯词 2" in html
    legend = "○ a level tone, ● an oblique one, ◐ either, △ a rhyme"
    assert legend in html
    assert legend not in render_html(build(toy, [a_run(samples=[Sample(id="a", text="灯烟。", rhyme="A")])]))


def test_a_run_with_fewer_steps_than_asked_for_is_named(html: str) -> None:
    words = " ".join(Page(html).words.split())
    assert "one GPU, 1.5 h, 4,000 of 10,000 steps, commit 0123456789 (fewer steps than asked for)" in words
    assert "made elsewhere 4,000 of 10,000 steps" in words


def test_an_empty_report_says_so_and_keeps_the_papers_numbers(toy: Printed) -> None:
    html = render_html(build(toy, []))
    words = " ".join(Page(html).words.split())
    assert "No run has been made yet" in words
    assert "toy_free not run" in words
    assert "12.50" in words
    assert "<svg" not in html


def test_curves_of_nothing_but_gaps_are_drawn_empty(toy: Printed) -> None:
    curves = [Curve(model="toy", points=[(1, None, None), (2, float("nan"), float("inf"))])]
    assert Page(render_html(build(toy, [], curves))).open == []


def test_markdown_has_one_row_per_line_and_escapes_what_would_break_it(toy: Printed, a_run: MakeRun) -> None:
    text = render_markdown(build(toy, [a_run(profile="a|b*")]))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert "| **System** | **12.50** ± 0.25 | **99.00** |" in rows
    assert r"| toy\_free (a\|b\*, free) | 21.25 | 98.50 (97.25–99.50) |" in rows


@pytest.fixture(scope="module")
def paired(pairs: Printed, pair_runs: list[RunResult]) -> str:
    comparison = Comparison(
        one="guided", other="plain", metric="bleu", profile="nursery", difference=2.0, low=1.0, high=3.0, p=0.02,
        seeds=(3, 3), clusters=32, segments=40,
    )  # fmt: skip
    origins = {"train": {"mill": 30, "brook": 10}, "dev": {"mill": 4}, "test": {}}
    corpus = CorpusResult(key="pairs", profile="nursery", origins=origins)
    return render_html(build(pairs, pair_runs, corpora=[corpus], comparisons=[comparison]))


def test_a_page_of_pairs_is_well_formed_its_ids_stand_once_and_its_links_lead_somewhere(paired: str) -> None:
    page = Page(paired)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    targets = [a.get("href") or a.get("xlink:href") or "" for _, a in page.tags if "href" in a or "xlink:href" in a]
    assert {target[1:] for target in targets if target.startswith("#")} <= set(page.ids)
    assert {"claims", "table-2", "table-3", "figure-1"} <= set(page.ids)


def _words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_a_claim_says_in_words_whether_it_holds(paired: str) -> None:
    words = _words(paired)
    meaning = "BLEU ↑ 22.00 20.00 2.00 1.00–3.00 0.020 0.020 holds 3 seeds, 40 texts in 32 clusters"
    assert f"Guiding serves the meaning. guided : plain {meaning}; printed effect excluded" in words
    syntax = "TED f ↓ 6.00 8.00 — — — not computed not computed"
    assert f"Guiding serves the syntax. guided : plain {syntax}" in words


def test_examples_stand_under_their_template(paired: str) -> None:
    words = _words(paired)
    assert "Node NP DT NN Level 1 2 2 r0 src source 0 gen frequent 0" in words
    assert "r2 src source 2 tgt target 2 Plain plain 2 Guided guided 2" in words


def test_a_row_that_the_paper_does_not_print_has_no_dashes(paired: str) -> None:
    row = paired[paired.index('<tr class="title bold">') :]
    assert "—" not in row[: row.index("</tr>")]


def test_a_figures_numbers_can_be_read_without_seeing_it(paired: str) -> None:
    words = _words(paired[paired.index("its numbers") :])
    assert words.startswith("its numbers TED ↓ 3 4 full plain 2.000 1.000–3.000 4.000")
    drawing = re.findall(r"<svg .*?</svg>", paired, flags=re.DOTALL)[0]
    assert "plain</text>" in drawing
    assert "#0101" not in drawing


def test_the_sources_of_a_corpus_stand_with_their_shares(paired: str) -> None:
    words = _words(paired)
    assert "Source train dev test mill 30 75.0 % 4 100.0 % 0 — brook 10 25.0 % 0 0.0 % 0 —" in words


def test_hostile_pairs_are_shown_and_never_run(pairs: Printed, pair_runs: list[RunResult]) -> None:
    evil = "</dd></svg><script>alert('$x$')</script>&amp;"
    rows = [{"id": evil, "source": evil, "reference": evil, "text": evil, "template": f"(S ({evil}"}]
    runs = [replace(run, rows=rows, profile=evil) for run in pair_runs]
    origins = {evil: {evil: 1, "other": 2}}
    html = render_html(build(pairs, runs, corpora=[CorpusResult(key=evil, profile=evil, origins=origins)]))
    assert "<script" not in html
    assert Page(html).open == []


def test_an_empty_report_of_pairs_keeps_claims_and_figures_and_says_what_is_missing(pairs: Printed) -> None:
    words = " ".join(Page(render_html(build(pairs, []))).words.split())
    assert "Guiding serves the meaning." in words
    assert "None of its runs has been made: plain, guided." in words
    assert "None of its runs has been made: frequent." in words
