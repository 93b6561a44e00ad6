"""A sample is the seed's, blind, and complete; what cannot be drawn is one line."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from toy_judging import BEST_WORST, PAIRS, SCALE, rows_of

from espalier.io.errors import ConfigError
from espalier.judging.draw import draw
from espalier.judging.protocol import Protocol
from espalier.judging.sample import Sample
from espalier.judging.sheets import COLUMNS, page, sheet

Make = Callable[..., Sample]


def test_each_input_has_one_text_of_each_system_and_each_rater_sees_all(make_sample: Make) -> None:
    sample = make_sample()
    systems = Counter(item.sources[0][0].system for item in sample.items)
    assert systems == {"chain": 12, "tree": 12} and len({item.input for item in sample.items}) == 12
    for item in sample.items:
        assert item.texts == (f"{item.sources[0][0].system} says {item.input[1:]}",)
        assert item.given == (("post", f"post {item.input[1:]}"),)
    for order in sample.orders.values():
        assert sorted(order) == list(range(1, 25))
    assert len(set(sample.orders.values())) == 3


def test_the_seed_decides_the_sample_and_the_order_of_rows_and_runs_does_not(make_sample: Make) -> None:
    sample = make_sample()
    backwards = {run: rows_of(run)[::-1] for run in ("tree", "chain")}
    assert make_sample(rows=backwards).items == sample.items
    assert make_sample(seed=2).hash != sample.hash == make_sample().hash


def test_what_a_rater_gets_tells_no_system_no_copy_and_no_record(make_sample: Make) -> None:
    sample = make_sample(repeated=3, checks=2, rows={run: [row | {"text": f"a {n}{run[0]}"} for n, row in
        enumerate(rows_of(run))] for run in ("chain", "tree")})  # fmt: skip
    for text in (page(sample, "rater_1"), sheet(sample, "rater_1")):
        assert not any(word in text for word in ("chain", "tree", "sources", "repeats", "expected", '"r1', "sha of"))
    numbers = [item.number for item in sample.items if item.repeats or item.expected]
    assert numbers != list(range(25, 30))  # as they would be if they stood at the end


def test_copies_come_after_their_originals_and_checks_say_their_answers(make_sample: Make) -> None:
    sample = make_sample(repeated=4, checks=3)
    copies = [item for item in sample.items if item.repeats is not None]
    checks = [item for item in sample.items if item.expected]
    assert (len(copies), len(checks)) == (4, 3)
    for order in sample.orders.values():
        for copy in copies:
            assert copy.repeats is not None
            assert order.index(copy.number) > order.index(copy.repeats)
            original = sample.item(copy.repeats)
            assert (copy.texts, copy.given, copy.sources) == (original.texts, original.given, original.sources)
    for check in checks:
        says = f"Please answer fluency: {check.expected['fluency']}; style: {check.expected['style']}."
        assert says in check.texts[0] and check.sources == ()
        assert check.expected["fluency"] in "123" and check.expected["style"] in "01"


def test_texts_that_several_runs_share_are_judged_once_and_empty_ones_not(make_sample: Make) -> None:
    rows = {"chain": rows_of("chain"), "tree": rows_of("tree")}
    for n in range(20):
        rows["tree"][n]["text"] = rows["chain"][n]["text"] if n % 2 else " \n "
    sample = make_sample(rows=rows, inputs=20)
    assert len(sample.items) == 20 and sample.empty == {"chain": 0, "tree": 10}
    shared = [item for item in sample.items if len(item.sources[0]) == 2]
    assert {item.input for item in shared} == {f"r{n}" for n in range(1, 20, 2)}


def test_together_the_lists_of_an_input_stand_on_one_screen(make_sample: Make) -> None:
    rows = {
        run: [row | {"text": f"{row['text']} {rank}"} for row in rows_of(run) for rank in range(3)]
        for run in ("chain", "tree")
    }
    sample = make_sample(rows=rows, together=True, best=2)
    screens: dict[int, list[str]] = {}
    for item in sample.items:
        screens.setdefault(item.screen, []).append(item.input)
        assert item.sources[0][0].rank == int(item.texts[0][-1]) + 1
    assert len(screens) == 12 and all(len(inputs) == 4 and len(set(inputs)) == 1 for inputs in screens.values())
    for order in sample.orders.values():  # a screen is not interrupted
        numbers = [sample.item(number).screen for number in order]
        assert len(numbers) == 48 and sum(one != other for one, other in pairwise(numbers)) == 11


def test_a_pair_has_the_first_system_on_each_side_equally_often(make_sample: Make) -> None:
    sample = make_sample(PAIRS)
    sides = Counter((item.sources[0][0].system, item.sources[1][0].system) for item in sample.items)
    assert sides == {
        ("chain", "tree"): 6, ("tree", "chain"): 6, ("chain", "reference"): 6, ("reference", "chain"): 6
    }  # fmt: skip
    assert all("human" in "".join(item.texts) for item in sample.items if "reference" in str(item.sources))


def test_a_set_has_texts_of_different_systems(make_sample: Make) -> None:
    sample = make_sample(BEST_WORST)
    assert all({each[0].system for each in item.sources} == {"chain", "tree", "reference"} for item in sample.items)
    places = Counter(item.sources[0][0].system for item in sample.items)
    assert len(places) == 3 and sample.protocol.questions == {
        "fluency_best": ("fluency", "best"), "fluency_worst": ("fluency", "worst")
    }  # fmt: skip


def test_inputs_are_spread_over_the_values_of_a_column(make_sample: Make) -> None:
    sample = make_sample(spread="tune", inputs=8)
    assert Counter(int(one[1:]) % 4 for one in {item.input for item in sample.items}) == {0: 2, 1: 2, 2: 2, 3: 2}


def test_each_input_goes_to_as_many_raters_as_asked(make_sample: Make) -> None:
    sample = make_sample(raters=6, per_input=3, repeated=2)
    owners = Counter(number for order in sample.orders.values() for number in order)
    assert all(owners[item.number] == 3 for item in sample.items if item.repeats is None)
    for order in sample.orders.values():
        copies = [sample.item(number).repeats for number in order if sample.item(number).repeats]
        assert len(copies) == 2 and set(copies) < set(order)


def test_lines_of_a_verse_stay_lines_and_words_of_chinese_are_joined() -> None:
    rows = {"one": [{"id": f"p{n}", "text": f"山 有 云\n水 有 {n} 烟 。"} for n in range(3)]}
    protocol = Protocol.model_validate(SCALE | {"runs": ["one"], "given": {}, "claims": [], "inputs": 3})
    assert draw("toy", protocol, rows, "zh").items[0].texts[0].startswith("山有云\n水有")


@pytest.mark.parametrize(
    ("changes", "rows", "message"),
    [
        ({"inputs": 21}, {}, "protocols.toy: 20 inputs that all runs have, and 21 asked for (chain 20, tree 20); ask "
                             "for 20 at most"),
        ({}, {"tree": [row | {"id": f"other {row['id']}"} for row in rows_of("tree")]},
         "protocols.toy: 0 inputs that all runs have, and 12 asked for (chain 20, tree 20); name runs of one dataset"),
        ({}, {"tree": []}, "protocols.toy: run tree has no outputs; dvc repro score@tree"),
        ({"given": {"post": "prompt"}}, {}, "protocols.toy: unknown column of the outputs 'prompt'; allowed: id, "
                                            "reference, seed, source, text, tune"),
        ({}, {run: [row | {"text": ""} for row in rows_of(run)] for run in ("chain", "tree")},
         "protocols.toy: no text has words; look at the outputs of its runs"),
        ({"raters": 12, "per_input": 1, "repeated": 3}, {}, "protocols.toy: 2 items for rater_1, and 3 to be repeated; "
                                                            "ask for more inputs, fewer raters or fewer copies"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_one_line(make_sample: Make, changes: dict, rows: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(ConfigError) as caught:
        make_sample(rows={run: rows_of(run) for run in ("chain", "tree")} | rows, **changes)
    assert str(caught.value) == message


def test_runs_that_wrote_for_other_conditions_than_those_shown_are_refused(make_sample: Make) -> None:
    rows = {run: [row | {"source": f"post of {run}"} for row in rows_of(run, 12)] for run in ("chain", "tree")}
    with pytest.raises(ConfigError, match=r"runs chain and tree have another source for input r\d+; name runs of one"):
        make_sample(rows=rows)
    make_sample(rows=rows, given={"human": "reference"})


def test_the_sheet_can_be_read_and_no_cell_is_a_formula(make_sample: Make) -> None:
    rows = {
        run: [row | {"text": f'=1+"{run}"', "source": "@a, b\nc"} for row in rows_of(run)] for run in ("chain", "tree")
    }
    sample = make_sample(rows=rows, given={"": "source"})
    read = list(csv.DictReader(io.StringIO(sheet(sample, "rater_2"))))
    assert tuple(read[0]) == COLUMNS and len(read) == 2 * len(sample.items)
    assert {row["texts"] for row in read} == {' =1+"chain"', ' =1+"tree"'} and read[0]["given"] == ": @a, b\nc"
    assert [int(row["item"]) for row in read[::2]] == list(sample.orders["rater_2"])


def test_the_sheet_alone_says_what_is_asked_and_what_each_answer_means(make_sample: Make) -> None:
    def says(**changes: Any) -> tuple[str, str, str]:
        row = next(csv.DictReader(io.StringIO(sheet(make_sample(**changes), "rater_1"))))
        return row["question"], row["asks"], row["answers"]

    assert says() == ("fluency", "How fluent is it?", "1 = bad; 2; 3 = good")
    assert says(design=PAIRS) == (
        "relevance", "Which means the same?", "1 = the first; 0 = neither; 2 = the second"
    )  # fmt: skip
    assert says(design=BEST_WORST) == ("fluency_best", "Which is the most fluent? The best.", "1; 2; 3")


def test_markup_in_a_text_stays_text_on_the_page(make_sample: Make) -> None:
    evil = "</script><script>alert(1)</script> & <b>שלום</b>"
    rows = {run: [row | {"text": f"{evil} {run}"} for row in rows_of(run)] for run in ("chain", "tree")}
    html = page(make_sample(rows=rows, note="<i>a & b</i>", title="<u>"), "rater_1")
    assert html.count("<script") == 2 and "<b>" not in html.partition('id="data">')[2].partition("</script>")[0]
    assert "&lt;i&gt;a &amp; b&lt;/i&gt;" in html and "<title>&lt;u&gt;</title>" in html
    data = json.loads(html.partition('id="data">')[2].partition("</script>")[0])
    assert data["screens"][0][0]["texts"][0].startswith(evil)
    assert "http" not in html.replace("http-equiv", "")  # nothing comes from a network


def test_the_page_shows_what_is_chosen_in_browsers_without_light_dark(make_sample: Make) -> None:
    # Raters' phones may be older than that function (2024): the colour of the chosen answer would be none there.
    assert "light-dark(" not in page(make_sample(), "rater_1")
