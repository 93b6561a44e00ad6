from __future__ import annotations

from collections.abc import Callable

import pytest

from espalier.judging.result import PREFIX
from espalier.metrics.ted import GUIDE_KEYS
from espalier.report.build import build
from espalier.report.printed import Printed
from tests.metrics.keys import EXPANSION, PARAPHRASE

Number = Callable[[Printed, str, str, str], float]


# Copied by hand from the paper: (table, row label, column, value).
@pytest.mark.parametrize(
    ("table", "row", "column", "value"),
    [
        ("table-1", "VGVAE", "rouge_l", 48.3),
        ("table-1", "SCPN", "meteor", 51.91),
        ("table-1", "Transformer", "bleu", 46.00),
        ("table-1", "w/o syn", "ted_full", 11.88),
        ("table-1", "w/o txt", "rouge_1", 39.74),
        ("table-1", "w/o PA", "ted_8", 5.88),
        ("table-1", "GuiG.TG", "rouge_2", 56.05),
        ("table-2", "SCPN + SCPN", "bleu", 11.83),
        ("table-2", "SCPN + GuiG.TG", "n_ted_full", 0.5125),
        ("table-2", "w/ PA + GuiG.TG", "meteor", 50.81),
        ("table-2", "w/o tmpl + GuiG.TG", "rouge_l", 45.38),
        ("table-2", "template + GuiG.TG", "rouge_1", 56.00),
        ("table-2", "GuiG.SE + GuiG.TG", "rouge_2", 37.13),
        ("table-3", "target parse: GuiG.TG", "syntactic", 4.67),
        ("table-3", "template: SCPN + GuiG.TG", "semantic", 3.52),
        ("data", "ParaNMT, the subset of Chen et al. (2019)", "labels", 74),
    ],
)
def test_a_printed_number_of_guig_is_the_papers(
    guig: Printed, printed_number: Number, table: str, row: str, column: str, value: float
) -> None:
    assert printed_number(guig, table, row, column) == value


#: Our columns of all texts: their length, on which BLEU depends, the kept templates, and words that nobody knows.
SHOWN = {"length_ratio", "brevity_penalty", "template_kept", "incomprehensible"}


def test_guig_has_every_row_of_the_papers_tables(guig: Printed) -> None:
    assert [(table.id, len(table.rows)) for table in guig.tables[:3]] == [
        ("table-1", 7),
        ("table-2", 6),
        ("table-3", 5),
    ]
    ours = {"near_semantic", "near_syntactic", *SHOWN, *GUIDE_KEYS}
    gaps = [row.label for table in guig.tables[:3] for row in table.rows if {*table.columns} - ours - {*row.printed}]
    assert gaps == ["VGVAE"]


def test_every_metric_that_guig_reads_exists(guig: Printed) -> None:
    corpora = {"train", "dev", "test", "pieces", "labels", "levels"}
    columns = {reading.metric for column in guig.columns.values() for reading in column.ours} - corpora
    columns = {name for name in columns if not name.startswith(PREFIX)}  # people's: test_judged.py
    points = {metric for figure in guig.figures for panel in figure.points for metric in panel.metrics.values()}
    assert columns - set(PARAPHRASE) - set(EXPANSION) == {"rouge_l_released"}
    assert points <= set(PARAPHRASE)


def test_every_table_of_texts_shows_their_length_the_template_and_unknown_words(guig: Printed) -> None:
    of_texts = set(PARAPHRASE) - set(EXPANSION)
    names = {name for name, column in guig.columns.items() if of_texts & {ours.metric for ours in column.ours}}
    tables = [table for table in guig.tables if table.about == "runs" and not table.judged]
    texts = [table for table in tables if names & set(table.columns)]
    assert {table.id for table in texts} >= {"table-1", "table-2", "defects", "released", "followers", "tried"}
    assert [table.id for table in texts if not set(table.columns) >= SHOWN] == []


def test_every_claim_agrees_with_the_numbers_that_the_paper_prints(guig: Printed) -> None:
    for ordering in build(guig, []).orderings:
        gains = [measure.printed_gain for measure in ordering.measures]
        # The paper prints nothing of what our own columns measure.
        own = ordering.measures[0].column.heading == "Template kept, %" or ordering.worse == "guig/copy"
        assert (None in gains) == own
        assert all(gain is None or gain > -(ordering.margin or 0.0) for gain in gains), ordering.claim


def test_what_is_claimed_of_meaning_is_claimed_by_bleu_rouge_and_meteor_and_no_loss_has_a_margin(guig: Printed) -> None:
    for ordering in guig.orderings:
        assert ("bleu" in ordering.columns) == (ordering.columns == ("bleu", "rouge_l", "meteor"))
    margins = {ordering.claim: ordering.margin for ordering in guig.orderings if ordering.margin}
    assert margins == {
        "Path attention does not make the syntax worse.": 0.5,
        "At the paper's sizes: path attention does not make the syntax worse.": 0.5,
        "Under the trees that SCPN expands, GuiG's text follows them as well as SCPN's.": 0.02,
    }


def test_the_runs_of_claims_figures_and_examples_stand_in_tables_too(guig: Printed) -> None:
    tabled = {ref.run for table in guig.tables for row in table.rows for ref in row.runs}
    named = {run for figure in guig.figures for run in figure.runs}
    named |= {run for ordering in guig.orderings for run in (ordering.better, ordering.worse)}
    assert {name for name in named if "/" not in name} <= tabled  # the others are rows without a model
    assert {run for each in guig.examples for run in each.written} - tabled == {"guig_frequent_tg"}
