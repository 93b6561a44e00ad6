"""Pages from templates: each number is that of its file, and what is not there is an error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from espalier.io.errors import ArtifactError
from espalier.report.page_numbers import PageNumbers, Training, claims_table
from espalier.report.pages import render_page
from espalier.report.printed import load_printed

DETAILS = {
    ("small", "guig", "one"): {
        "scores": {"bleu": 30.894, "ppl": None, "nodes": 12345.6, "ted_guide": 0.5},
        "counts": {"posts": 2000},
        "rows": {"train": 30157},
        "curve": [2.49, 2.4407],
    },
    ("small", "orderings", "guig"): {
        "orderings": [
            {
                "claim": "Words of an earlier report.",
                "better": "guig_tg",
                "worse": "guig_scpn",
                "margin": None,
                "profile": "small",
                "why": "compared by an earlier report",
                "p": 0.01,
                "p_holm": 0.02,
                "seeds": [3, 3],
                "verdict": "holds",
                "measures": [
                    {
                        "metric": "bleu",
                        "printed_effect": 9.12,
                        "effect": 0.2634,
                        "interval": [-0.1, 0.62],
                        "printed_effect_excluded": True,
                    },
                    *(
                        {
                            "metric": metric,
                            "printed_effect": None,
                            "effect": -1.0,
                            "interval": None,
                            "printed_effect_excluded": False,
                        }
                        for metric in ("rouge_l", "meteor")
                    ),
                ],
            },
            {
                "claim": "Another.",
                "better": "guig_tg",
                "worse": "guig_scpn",
                "margin": None,
                "measures": [
                    {
                        "metric": "ted_full",
                        "printed_effect": 1.5,
                        "effect": None,
                        "interval": None,
                        "printed_effect_excluded": False,
                    }
                ],
                "profile": "",
                "why": "not run: guig_scpn",
                "p": None,
                "p_holm": None,
                "seeds": [0, 0],
                "verdict": "not computed",
            },
            {"claim": "Of another profile.", "profile": "nursery", "p": 0.5},
        ]
    },
    **{
        ("small", "trivial", key): {
            "scores": {"bleu": bleu, "ted_full": ted, "empty": empty},
            "settings": {"dataset": "guig", "split": split, **row},
            "counts": {"records": 5 if key == "of_fewer" else 800},
            **({} if key == "older" else {"ids": "4d27" if key == "of_others" else "17aa"}),
        }
        for key, bleu, ted, empty, split, row in (
            ("below", 20.0, 9.0, 1.0, "test", {}),
            ("mixed", 22.5, 9.5, 1.0, "test", {}),
            ("on_dev", 20.0, 9.0, 1.0, "dev", {}),
            ("of_fewer", 20.0, 9.5, 1.0, "test", {}),
            ("of_others", 20.0, 9.5, 1.0, "test", {}),
            ("older", 20.0, 9.5, 1.0, "test", {}),
            ("baselines/copy", 22.0, 9.2, 0.0, "test", {"row": "copy", "trivial": True, "given": ["empty"]}),
            ("baselines/human", 100.0, 0.0, 0.0, "test", {"row": "human", "trivial": False}),
            ("reads_pos", 25.0, 8.0, 0.0, "test", {"model": "pos_model"}),
            ("reads_nothing", 25.0, 8.0, 0.0, "test", {"model": "plain"}),
            ("baselines/given_pos", 30.0, 9.5, 0.0, "test", {"row": "ngram", "trivial": True, "structures": ["pos"]}),
            (
                "baselines/given_both",
                40.0,
                9.5,
                0.0,
                "test",
                {"row": "ngram", "trivial": True, "structures": ["pos", "pc"]},
            ),
        )
    },
    ("small", "guig", "other"): {"scores": {"bleu": 30.634, "ppl": 10.0, "nodes": 1.0}},
}
TRAININGS = {
    "one": Training("guig", 3, 1.26),
    "other": Training("guig", 1, gpu_hours=0.5),
    "third": Training("guig", 1, gpu_hours=0.24),
    "verse": Training("songnet", 1, 9.0),
}
PRINTED = Path(__file__).parents[2] / "papers/printed/guig.yaml"


def details(profile: str, group: str, key: str) -> Mapping[str, Any]:
    if (profile, group, key) not in DETAILS:
        raise ArtifactError("no such file", where=key)
    return DETAILS[profile, group, key]


def render(template: str) -> str:
    numbers = PageNumbers(
        details,
        params=lambda profile: {"steps": 1800, "rate": 0.5, "of": profile},
        printed={"guig": load_printed(PRINTED)},
        tried=[{"system": "X"}],
        reads=lambda profile, model: {"pos_model": ["pos"]}.get(model, ()),
        trainings=lambda profile: TRAININGS if profile == "small" else {},
        baselines=lambda *place: [key for *others, key in DETAILS if others == [*place] and "baselines/" in key],
    )
    return render_page(template, "page.md", numbers)


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{{ score('small/guig/one', 'bleu') }}", "30.89"),
        ("{{ score('small/guig/one', 'bleu', 1) }}", "30.9"),
        ("{{ score('small/guig/one', 'ppl') }}", "—"),
        ("{{ score('small/guig/one', 'nodes', 1) }}", "12,345.6"),
        ("{{ count('small/guig/one', 'rows.train') }}", "30,157"),
        ("{{ count('small/guig/one', 'scores.bleu', 1) }}", "30.9"),
        ("{{ count('small/guig/one', 'curve.1', 3) }}", "2.441"),
        (
            "{{ param('small', 'steps') }}, {{ param('paper', 'rate') }}, {{ param('paper', 'of') }}",
            "1,800, 0.5, paper",
        ),
        ("{{ printed('guig', 'guig_tg', 'bleu') }}", "48.03"),
        ("{{ best('guig', 'table-2', 'rouge_l') }}", "63.04"),
        ("{{ tried[0].system }}", "X"),
    ],
)
def test_a_number_is_that_of_its_place(template: str, shown: str) -> None:
    assert render(template) == shown


def test_a_table_has_a_row_for_each_run_and_the_digits_that_a_column_asks_for() -> None:
    template = "{{ table('small/guig', {'one': 'first', 'other': 'second'}, {'BLEU': 'bleu', 'PPL': 'ppl:1'}) }}"
    assert render(template).splitlines() == [
        "| run |  | BLEU | PPL |",
        "| --- | --- | ---: | ---: |",
        "| `one` | first | 30.89 | — |",
        "| `other` | second | 30.63 | 10.0 |",
    ]
    template = "{{ table('small/guig', {'one': ''}, {'posts': 'counts.posts:0'}, heading='model') }}"
    assert render(template).splitlines()[::2] == ["| model |  | posts |", "| `one` |  | 2,000 |"]


def test_a_metric_that_only_other_rows_have_is_a_dash_and_one_that_no_row_has_an_error() -> None:
    table = render("{{ table('small/guig', {'one': '', 'other': ''}, {'TED': 'ted_guide'}) }}")
    assert table.splitlines()[2:] == ["| `one` |  | 0.50 |", "| `other` |  | — |"]
    with pytest.raises(ArtifactError, match="other: has no ted_guide"):
        render("{{ table('small/guig', {'other': ''}, {'TED': 'ted_guide'}) }}")


def test_hours_are_summed_over_models_and_by_paper() -> None:
    assert render("{{ gpu_hours('small', 'third', 'other') }}") == "0.7"
    assert render("{{ training_costs('small') }}").splitlines()[2:] == ["| GuiG | 3 | 5 | 1.3 | 0.7 |"]
    assert len(render("{{ training_costs('nursery') }}").splitlines()) == 2


def test_a_score_below_a_trivial_row_on_the_same_texts_is_marked_but_not_one_that_the_row_is_given() -> None:
    rows = dict.fromkeys(["below", "mixed", "on_dev", "of_fewer", "of_others", "baselines/copy", "baselines/human"], "")
    columns = {"BLEU": "bleu:1", "TED": "ted_full:1", "empty": "empty:1"}
    assert render(f"{{{{ table('small/trivial', {rows}, {columns}, mixed=True) }}}}").splitlines()[2:] == [
        "| `below` |  | ▾ 20.0 | 9.0 | 1.0 |",
        "| `mixed` |  | 22.5 | ▾ 9.5 | 1.0 |",
        "| `on_dev` |  | 20.0 | 9.0 | 1.0 |",
        "| `of_fewer` |  | 20.0 | 9.5 | 1.0 |",
        "| `of_others` |  | 20.0 | 9.5 | 1.0 |",
        "| `baselines/copy` |  | 22.0 | 9.2 | 0.0 |",
        "| `baselines/human` |  | 100.0 | 0.0 | 0.0 |",
    ]


@pytest.mark.parametrize("other", ["on_dev", "of_fewer", "of_others"])
def test_a_table_whose_rows_are_scored_on_different_texts_is_refused(other: str) -> None:
    rows = dict.fromkeys(["below", other], "")
    with pytest.raises(ArtifactError, match=f"below and {other} are scored on different texts"):
        render(f"{{{{ table('small/trivial', {rows}, {{'BLEU': 'bleu:1'}}) }}}}")


def test_texts_beside_details_without_a_hash_of_ids_are_equal_if_their_number_is() -> None:
    rows = dict.fromkeys(["below", "older"], "")
    assert render(f"{{{{ table('small/trivial', {rows}, {{'BLEU': 'bleu:1'}}) }}}}").splitlines()[2:] == [
        "| `below` |  | ▾ 20.0 |",
        "| `older` |  | ▾ 20.0 |",
    ]


def test_a_score_below_a_trivial_row_that_the_table_does_not_show_is_marked_too() -> None:
    table = render("{{ table('small/trivial', {'below': ''}, {'BLEU': 'bleu:1'}) }}")
    assert table.splitlines()[2] == "| `below` |  | ▾ 20.0 |"


def test_a_score_is_not_compared_with_a_trivial_row_that_is_given_more_than_the_run() -> None:
    rows = dict.fromkeys(["reads_pos", "reads_nothing"], "")
    assert render(f"{{{{ table('small/trivial', {rows}, {{'BLEU': 'bleu:1'}}) }}}}").splitlines()[2:] == [
        "| `reads_pos` |  | ▾ 25.0 |",
        "| `reads_nothing` |  | 25.0 |",
    ]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ score('small/guig/none', 'bleu') }}", "none: no such file"),
        ("{{ score('small/guig/one', 'meteor') }}", "small/guig/one: has no meteor"),
        ("{{ count('small/guig/one', 'rows.dev') }}", "small/guig/one: has no rows.dev"),
        ("{{ count('small/guig/one', 'rows.train.x') }}", "small/guig/one: has no rows.train.x"),
        ("{{ count('small/guig/one', 'curve.2') }}", "small/guig/one: has no curve.2"),
        ("{{ count('small/guig/one', 'curve.last') }}", "small/guig/one: has no curve.last"),
        ("{{ param('small', 'a.b') }}", "small/params.yaml: has no a.b"),
        ("{{ best('guig', 'table-9', 'bleu') }}", "papers/printed/guig.yaml: no printed bleu in table-9"),
        ("{{ printed('guig', 'guig_tg', 'nothing') }}", "papers/printed/guig.yaml: no printed nothing of guig_tg"),
        ("{{ gpu_hours('small', 'one', 'none') }}", "profile small: no measured training of none"),
        ("{{ undefined }}", "page.md: 'undefined' is undefined"),
        ("{% if %}", "page.md: "),
        ("{{ score('small/guig', 'bleu') }}", "page.md: ValueError: "),
        ("{{ score('small/guig/one') }}", "page.md: TypeError: "),
        ("{{ best('none', 'table-2', 'bleu') }}", "page.md: KeyError: 'none'"),
    ],
)
def test_what_is_not_there_is_one_line(template: str, message: str) -> None:
    with pytest.raises(ArtifactError) as error:
        render(template)
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


def test_claims_have_their_effects_intervals_and_verdicts_in_the_printed_words_or_why_there_are_none() -> None:
    assert render("{{ claims('small', 'guig') }}").splitlines() == [
        "| claim | effect: printed; ours, 95 % interval | p, corrected | seeds | verdict |",
        "| --- | --- | --- | --- | --- |",
        "| Under the same parse GuiG keeps the meaning better than SCPN. "
        "| BLEU: 9.12; 0.263 [-0.1, 0.62], printed effect excluded<br>ROUGE L: —; -1<br>METEOR: —; -1 "
        "| 0.020 | 3 | holds (compared by an earlier report) |",
        "| Under the same parse GuiG follows it better than SCPN. | TED f: 1.5; — | — | 0 "
        "| not computed: not run: guig_scpn |",
    ]


def test_the_verdicts_of_a_paper_s_claims_are_counted() -> None:
    printed = {"guig": load_printed(PRINTED.with_name("guig.yaml"))}
    numbers = PageNumbers(details, dict, printed)
    assert render_page('{{ verdicts("small") }}', "a.md", numbers).splitlines()[-3:] == [
        "| claims of | claims | holds | reversed | undecided | too few seeds | not interpretable | not computed |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| GuiG's paper | 2 | 1 | 0 | 0 | 0 | 0 | 1 |",
    ]


def test_claims_of_ours_are_counted_apart_and_a_margin_stands_beside_the_effect() -> None:
    printed = load_printed(PRINTED.with_name("x2tree.yaml"))
    claims = []
    for ordering in printed.orderings:
        metric = printed.columns[ordering.columns[0]].metric
        unknown = dict.fromkeys(("printed_effect", "interval"))
        measure = {**unknown, "metric": metric, "effect": 1.0, "printed_effect_excluded": False}
        runs = {name: getattr(ordering, name) for name in ("better", "worse", "margin")}
        numbers = {"measures": [measure], "seeds": [3], "p": 0.5, "p_holm": 1.0, "why": ""}
        claims.append({**runs, **numbers, "profile": "small", "verdict": "undecided"})
    table = claims_table(claims, "small", printed)
    assert table.count("| Ours: ") == sum(ordering.ours for ordering in printed.orderings) > 0
    assert table.count("<br>margin 1 |") == 1

    def details_of(profile: str, group: str, key: str) -> dict[str, Any]:
        return {"orderings": claims}

    counted = PageNumbers(details_of, dict, {"x2tree": printed})
    lines = render_page('{{ verdicts("small") }}', "a.md", counted).splitlines()[-2:]
    ours = sum(ordering.ours for ordering in printed.orderings)
    assert lines[0].startswith(f"| X2Tree's paper | {len(claims) - ours} |")
    assert lines[1].startswith(f"| ours on X2Tree | {ours} |")


def test_a_printed_effect_is_not_excluded_by_claims_that_were_tested_by_another_metric() -> None:
    printed = load_printed(PRINTED.with_name("guig.yaml"))
    claim = DETAILS["small", "orderings", "guig"]["orderings"][0]

    def table(**tested: str) -> str:
        measures = [{**measure, "printed_effect_excluded": True, "interval": None} for measure in claim["measures"]]
        measures[1] |= {"printed_effect": 19.4, **tested}
        return claims_table([{**claim, "measures": measures}], "small", printed)

    assert table().count("printed effect excluded") == len(claim["measures"]) - 1
    assert table(printed_as="rouge_l_released").count("printed effect excluded") == len(claim["measures"])


def test_a_claim_that_is_no_longer_printed_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = {**DETAILS["small", "orderings", "guig"]["orderings"][0], "margin": 0.5}
    monkeypatch.setitem(DETAILS, ("small", "orderings", "guig"), {"orderings": [claim]})
    message = (
        r"^papers/printed/guig.yaml: no claim that guig_tg is better than guig_scpn by bleu, rouge_l, meteor; dvc "
    )
    with pytest.raises(ArtifactError, match=message):
        render("{{ claims('small', 'guig') }}")


def test_runs_without_scores_are_named() -> None:
    def unscored(*names: str) -> str:
        runs = {name: {"paper": "guig"} for name in names}
        return render_page("{{ unscored('small') }}", "a.md", PageNumbers(details, lambda profile: {"runs": runs}, {}))

    assert unscored("one", "late", "none") == "`late`, `none`"
    assert unscored("one") == "none"


def test_printed_rows_without_scores_have_the_reason() -> None:
    scored = {"guig_scpn", "guig_transformer", "guig_tg"}

    def details_of(profile: str, group: str, key: str) -> dict[str, Any]:
        if key not in scored:
            raise ArtifactError("no such file", where=key)
        return {}

    printed = {"guig": load_printed(PRINTED.with_name("guig.yaml"))}
    lines = render_page("{{ printed_alone('small') }}", "a.md", PageNumbers(details_of, dict, printed)).splitlines()
    first = [line for line in lines if line.startswith("| GuiG | Table 1 |")]
    assert first[0].startswith("| GuiG | Table 1 | VGVAE | As cited; not rebuilt here.")
    assert "| GuiG | Table 1 | w/o syn | entries without scores: `guig_no_syn` |" in first
    assert not any("| SCPN |" in line or "| Transformer |" in line for line in first)
    assert any(line.endswith("| no ratings |") for line in lines)


def test_runs_on_test_without_a_run_on_dev_are_counted_by_paper() -> None:
    tested = {"guig": (3, 2), "sat": (0, 0)}
    printed = {paper: load_printed(PRINTED.with_name(f"{paper}.yaml")) for paper in tested}

    numbers = PageNumbers(details, dict, printed, on_test=lambda profile: tested if profile == "small" else {})
    text = render_page('{{ without_dev("small") }}', "a.md", numbers)

    assert "| GuiG | 3 | 2 |" in text
    assert "| SAT | 0 | 0 |" in text
