"""The files of a result, the datasheet and Potato's project."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import yaml
from toy_judging import BEST_WORST, PAIRS, SCALE

from espalier.io.validation import validated
from espalier.judging.answers import merged
from espalier.judging.potato import potato
from espalier.judging.result import JudgedDetails, details_of, headline, numbers_of
from espalier.judging.sample import Sample
from espalier.judging.score import Judged, judged
from espalier.judging.simulate import simulated

Make = Callable[..., Sample]


def result(sample: Sample) -> Judged:
    files = simulated(sample, {"chain": 1.6, "tree": 2.4, "reference": 2.6}, seed=1, careless=["rater_3"])
    return judged(sample, merged(files, sample))


def test_a_criterion_is_not_named_like_the_share_of_a_level(make_sample: Callable[..., Sample]) -> None:
    levels = {"question": "?", "levels": ["x"] * 3}
    for name in ("style_2", "style_kappa"):
        with pytest.raises(ValueError, match="a criterion's name does not end in _"):
            make_sample(criteria={"style": levels, name: levels}, claims=[])


def test_both_results_are_in_the_details_and_an_option_says_which_is_shown(make_sample: Make) -> None:
    sample = make_sample(checks=6)
    found = result(sample)
    every, rest = (details_of(sample, found, [], leave_out=leave_out) for leave_out in (False, True))
    assert every["panels"] == rest["panels"] and list(every["panels"]) == ["all raters", "those who passed the checks"]  # type: ignore[call-overload]
    for details, raters in ((every, 3), (rest, 2)):
        shown = validated(JudgedDetails, json.loads(json.dumps(details)), "details").systems["tree"]
        assert f"raters:{raters}|n:12" in shown.signatures["judged_fluency"]
        mean = shown.scores["judged_fluency"]
        low, high = shown.intervals["judged_fluency"] or (0, 0)
        assert mean is not None and low < mean < high
        assert shown.scores.keys() == {
            "judged_fluency", "judged_fluency_1", "judged_fluency_2", "judged_fluency_3", "judged_fluency_kappa",
            "judged_style", "judged_style_0", "judged_style_1", "judged_style_kappa",
        }  # fmt: skip
    numbers = numbers_of(headline(found, leave_out=True))
    assert numbers.keys() == {"chain.fluency", "chain.style", "tree.fluency", "tree.style"}
    claim = every["panels"]["all raters"]["claims"][0]  # type: ignore[index,call-overload]
    assert claim["verdict"] in ("holds", "undecided") and claim["gain"]["interval"][0] < claim["gain"]["value"]
    assert [line["failed"] for line in every["raters"]] == [False, False, True]  # type: ignore[union-attr,index,call-overload]


def test_a_pair_has_shares_of_win_tie_and_loss(make_sample: Make) -> None:
    sample = make_sample(PAIRS)
    shares = numbers_of(result(sample).everyone)
    assert sum(shares[f"tree.relevance_{name}"] for name in ("win", "tie", "loss")) == pytest.approx(100, abs=0.01)
    json.dumps(details_of(make_sample(BEST_WORST), result(make_sample(BEST_WORST)), [], leave_out=False))


@pytest.mark.parametrize(
    ("design", "labels"),
    [
        (SCALE, [["1: bad", "2", "3: good"], ["0: no", "1: yes"]]),
        (PAIRS, [["the first", "neither", "the second"]]),
        (BEST_WORST, [["text 1", "text 2", "text 3"]] * 2),
    ],
    ids=["scale", "pairs", "best_worst"],
)
def test_potatos_project_has_every_item_and_tells_no_system(
    make_sample: Make,
    design: dict,  # type: ignore[type-arg]
    labels: list[list[str]],
) -> None:
    rows = {run: [{"id": f"r{n}", "source": "<b>s", "reference": "x", "text": f"a {n}\nb{run[0]}"} for n in range(12)]
            for run in ("chain", "tree")}  # fmt: skip
    sample = make_sample(design, rows=rows, note="<i>", checks=1)
    files = potato(sample)
    config = yaml.safe_load(files["config.yaml"])
    assert [scheme["labels"] for scheme in config["annotation_schemes"]] == labels
    items = [json.loads(line) for line in files["items.jsonl"].splitlines()]
    assert [item["id"] for item in items] == [f"{sample.hash}-{number}" for number in range(1, len(sample.items) + 1)]
    assert not any("<b>" in item["text"] for item in items) and any("<br>b" in item["text"] for item in items)
    assert not any(word in text for text in files.values() for word in ("chain", "tree", "expected"))
