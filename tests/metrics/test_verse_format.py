"""Format accuracy."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from espalier.metrics.metric import scores
from espalier.metrics.verse_format import FormatAccuracy, Rules, format_statistics
from espalier.text.language import Language


def values(
    references: list[str], hypotheses: list[str], language: Language = "zh", rules: Rules = "songci"
) -> dict[str, float]:
    statistics = format_statistics(references, hypotheses, language=language, rules=rules)
    found = scores(FormatAccuracy(rules).metrics, statistics, seed=0, resamples=0)
    return {key.removeprefix("format_"): score.value for key, score in found.items() if score.value is not None}


TUNE = "山高水远，月明。\n风来云去。\n一夜无人。"  # three units of 8, 5 and 5 tokens

# hypothesis: macro p, macro r, macro F1 by the paper; macro F1 by the released code
ONE_TEXT = [
    ("identical", TUNE, 100, 100, 100, 100),
    ("other words in the same places", "青灯古寺，钟沉。\n白鸟飞来。\n小舟横渡。", 100, 100, 100, 100),
    # 2 of 2 units are right, of 3 wanted: F = 2*2/(2+3). The released code wants only the two that there are.
    ("last unit missing", "青灯古寺，钟沉。\n白鸟飞来。", 100, 200 / 3, 80, 100),
    # 3 of 4 generated, 3 of 3 wanted: F = 6/7, in both.
    ("a unit too many", TUNE + "\n又是。", 75, 100, 600 / 7, 600 / 7),
    # The first unit is gone, and the others slide: lengths 5, 5 against 8, 5: one right of 2 generated, 3 (2) wanted.
    ("first unit missing", "白鸟飞来。\n小舟横渡。", 50, 100 / 3, 40, 50),
    ("one character short", "青灯古寺，钟。\n白鸟飞来。\n小舟横渡。", 200 / 3, 200 / 3, 200 / 3, 200 / 3),
    # Same length and marks, the comma a place too soon: wrong in the paper's protocol, right in the released one.
    ("a mark out of place", "青灯古，寺钟沉。\n白鸟飞来。\n小舟横渡。", 200 / 3, 200 / 3, 200 / 3, 100),
    ("another mark", "青灯古寺，钟沉。\n白鸟飞来！\n小舟横渡。", 200 / 3, 200 / 3, 200 / 3, 200 / 3),
    # The released code does not know "；": to it, neither has a mark there. Reference has "，": one mark against none.
    ("a mark unknown as released", "青灯古寺；钟沉。\n白鸟飞来。\n小舟横渡。", 200 / 3, 200 / 3, 200 / 3, 200 / 3),
    ("empty", "", 0, 0, 0, 0),
    # Four units generated, the second empty: 2 right (first; third is 5 against 5), 3 wanted, 4 generated: F = 4/7.
    # The released code drops the empty unit: 3 of 3.
    ("an empty unit", "青灯古寺，钟沉。\n\n白鸟飞来。\n小舟横渡。", 50, 200 / 3, 400 / 7, 100),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "p", "r", "f1", "released"), ONE_TEXT, ids=[case[0] for case in ONE_TEXT])
def test_one_text_by_songci_rules(name: str, text: str, p: float, r: float, f1: float, released: float) -> None:
    found = values([TUNE], [text])
    assert (found["macro_p"], found["macro_r"], found["macro_f1"]) == pytest.approx((p, r, f1)), name
    assert (found["micro_p"], found["micro_r"], found["micro_f1"]) == pytest.approx((p, r, f1)), name
    assert (found["released_macro_f1"], found["released_micro_f1"]) == pytest.approx((released, released)), name


def test_marks_that_only_the_released_code_overlooks() -> None:
    # "；" against "、" at the same place: different marks by the paper; the released code sees neither.
    found = values(["山高；水远。"], ["山高、水远。"])
    assert (found["macro_f1"], found["released_macro_f1"]) == (0.0, 100.0)


def test_macro_is_a_mean_over_texts_micro_pools_units_and_the_released_macro_is_f_of_means() -> None:
    # First text: 1 unit of 1, right: p = r = F = 1. Second: 1 of 3 generated, 1 of 2 wanted: p 1/3, r 1/2, F 2/5.
    references = ["山高。", "山高。\n水远。"]
    hypotheses = ["云去。", "云去。\n风。\n月明。"]
    found = values(references, hypotheses)
    assert found["macro_p"] == pytest.approx(200 / 3)  # (1 + 1/3) / 2
    assert found["macro_r"] == pytest.approx(75)  # (1 + 1/2) / 2
    assert found["macro_f1"] == pytest.approx(70)  # (1 + 2/5) / 2
    assert found["micro_p"] == pytest.approx(50)  # 2 of 4
    assert found["micro_r"] == pytest.approx(200 / 3)  # 2 of 3
    assert found["micro_f1"] == pytest.approx(400 / 7)
    # The references are no longer than the hypotheses, so p and r are the same: F of 2/3 and 3/4 is 1/(17/12) = 12/17.
    assert found["released_macro_f1"] == pytest.approx(1200 / 17)
    assert found["released_micro_f1"] == pytest.approx(400 / 7)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("the moon goes over the hill ,", True),
        ("the moon goes over the low hill ,", True),  # one token more
        ("the moon goes over the hill", True),  # a mark less is one token less, and marks are ignored
        ("the moon goes over the hill !", True),
        ("the moon goes over the", False),  # two tokens less
        ("the moon goes slowly over the low hill ,", False),  # two more
    ],
)
def test_sonnet_rules_allow_one_token_and_any_mark(line: str, right: bool) -> None:
    found = values(["a star goes over the sea ,"], [line], "en", "sonnet")
    assert found["macro_f1"] == found["released_macro_f1"] == (100.0 if right else 0.0)


def test_all_empty_hypotheses_score_zero_not_nothing() -> None:
    assert set(values([TUNE, TUNE], ["", ""]).values()) == {0.0}
    assert len(values([TUNE], [""])) == 8


def test_each_text_has_its_own_score() -> None:
    statistics = format_statistics([TUNE, TUNE], [TUNE, "青灯古寺，钟沉。\n白鸟飞来。"], language="zh", rules="songci")
    metric = {metric.name: metric for metric in FormatAccuracy("songci").metrics}["format_macro_f1"]
    assert metric.aggregate(statistics).tolist() == pytest.approx([100.0, 80.0])


UNITS = st.lists(st.text("山水月，。", min_size=1, max_size=5), min_size=1, max_size=5).map("\n".join)
PAIRS = st.lists(st.tuples(UNITS, UNITS), min_size=1, max_size=5)


@given(PAIRS, st.sampled_from(["songci", "sonnet"]))
def test_values_are_percentages_and_ignore_the_order_of_texts(pairs: list[tuple[str, str]], rules: Rules) -> None:
    references, hypotheses = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = values(references, hypotheses, rules=rules)
    reverse = values(references[::-1], hypotheses[::-1], rules=rules)
    assert len(found) == 8
    for key, value in found.items():
        assert 0 <= value <= 100 + 1e-9
        assert reverse[key] == pytest.approx(value)


@given(st.lists(UNITS, min_size=1, max_size=5), st.sampled_from(["songci", "sonnet"]))
def test_a_text_has_its_own_format(texts: list[str], rules: Rules) -> None:
    assert list(values(texts, texts, rules=rules).values()) == pytest.approx([100.0] * 8)


@given(UNITS)
def test_cutting_the_last_unit_lowers_the_papers_recall_and_not_the_released_score(text: str) -> None:
    shorter, cut, _ = text.rpartition("\n")
    assume(cut)
    found = values([text], [shorter])
    assert found["macro_r"] < 100 and found["micro_r"] < 100
    assert found["released_macro_f1"] == found["released_micro_f1"] == pytest.approx(100.0)
