"""Rhyme accuracy. Groups of the ends used here: 流楼秋 ou, 春云尘 en, 山边 an, 风红 eng, 歌 o; 主妒故 u and 雨 ü."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.metrics.metric import scores
from espalier.metrics.rhyme import (
    count_full,
    count_pairs,
    count_places,
    count_released,
    rhyme_metrics,
    rhyme_statistics,
)
from espalier.text.language import Language


def poem(ends: str) -> str:
    """A unit for each end."""
    return "\n".join(f"一夜，又{end}。" for end in ends)


def lines(ends: str) -> str:
    return "\n".join(f"one more {end} ," for end in ends.split())


def values(
    references: list[str],
    hypotheses: list[str],
    rhymes: list[str],
    language: Language = "zh",
) -> dict[str, float | None]:
    statistics = rhyme_statistics(references, hypotheses, rhymes, language=language)
    found = scores(rhyme_metrics(language), statistics, seed=0, resamples=0)
    return {key.removeprefix("rhyme_"): score.value for key, score in found.items()}


# reference, scheme, hypothesis, (correct, produced, gold)
PLACES = [
    # The reference rhymes at places 0, 1, 2.
    ("流楼秋风", "AAAA", "流楼秋风", (3, 3, 3)),
    ("流楼秋风", "AAAA", "春云尘风", (3, 3, 3)),  # another group serves as well
    ("流楼秋风", "AAAA", "春云风红", (2, 2, 3)),  # two against two: the first seen
    ("流楼秋风", "AAAA", "春山云尘", (2, 3, 3)),  # 0, 2, 3 rhyme; 3 should not
    ("流楼秋风", "AAAA", "春山风流", (0, 0, 3)),  # all differ: one place alone is no rhyme
    ("流楼秋风", "AAAA", "春云", (2, 2, 3)),
    ("流楼秋风", "AAAA", "春云尘风春", (3, 4, 3)),  # a fifth unit that rhymes too
    ("流楼秋风", "AAAA", "春云尘风山", (3, 3, 3)),  # or does not
    ("流楼秋风", "AAAA", "春□尘风", (2, 2, 3)),
    ("流楼秋风", "AAAA", "", (0, 0, 3)),
    ("山流楼春", "AAAA", "春春云尘", (2, 4, 2)),  # the reference rhymes at 1, 2; the hypothesis throughout
    # The second and the fourth rhyme; the first and the third should not.
    ("山流风秋", ".A.A", "风春山云", (2, 2, 2)),
    ("山流风秋", ".A.A", "春云春尘", (2, 4, 2)),
    ("楼流风秋", ".A.A", "楼流风秋", (2, 2, 2)),  # the first of the reference rhymes by accident: no matter
    ("楼流风秋", ".A.A", "春云山尘", (2, 2, 2)),
    # Two letters.
    ("流秋风红", "AABB", "春云山边", (4, 4, 4)),
    ("流秋风红", "AABB", "春山云边", (0, 0, 4)),
    ("流秋风红", "AABB", "春云流山", (2, 2, 4)),
    ("流秋风红", "AABB", "春云尘云", (4, 4, 4)),  # both letters in one group
    # Nothing to rhyme with.
    ("山流风春", "AAAA", "流楼秋流", (0, 4, 0)),
    ("流楼秋", "...", "流楼秋", (0, 0, 0)),
]


@pytest.mark.parametrize(("reference", "scheme", "hypothesis", "counts"), PLACES)
def test_chinese_counts_places(reference: str, scheme: str, hypothesis: str, counts: tuple[int, int, int]) -> None:
    assert count_places(poem(reference), poem(hypothesis), scheme) == counts


def test_the_umlaut_rhymes_with_u() -> None:
    text = poem("主雨妒故")  # zhu yü du gu
    assert count_places(text, text, "AAAA") == (4, 4, 4)


RELEASED = [
    ("流楼秋风", "流楼秋风", (3, 3, 3)),
    ("流楼秋风", "春云尘风", (2, 2, 3)),  # 春 is in no released group
    ("流楼秋风", "山歌风云", (1, 1, 3)),  # all differ: the first seen is the majority, and happens to count
    ("流楼秋风", "云尘", (2, 2, 2)),  # the reference is cut: units never generated cost nothing
    ("流楼秋风", "云尘云风尘", (3, 4, 3)),
    ("流楼秋风", "", (0, 0, 0)),
    ("主雨妒故", "主雨妒故", (3, 3, 3)),  # 1, -1, 1, 1
    ("春春春", "春春春", (0, 0, 0)),
]


@pytest.mark.parametrize(("reference", "hypothesis", "counts"), RELEASED)
def test_the_released_code_counts_units(reference: str, hypothesis: str, counts: tuple[int, int, int]) -> None:
    assert count_released(poem(reference), poem(hypothesis)) == counts


def test_the_released_code_looks_past_one_mark_of_those_it_knows() -> None:
    assert count_released("流。\n楼。", "流；\n楼。") == (1, 1, 2)  # "；" is no mark to it, and no syllable
    assert count_released("流。\n楼。", "！\n楼。") == (1, 1, 2)  # where the code itself would fail
    assert count_released("流。\n楼。", "\n流。\n\n楼。") == (2, 2, 2)  # empty units are dropped


# reference, scheme, hypothesis, (correct, produced, gold)
PAIRS = [
    ("day sea way me", "ABAB", "day sea way me", (2, 2, 2)),
    ("day sea way me", "ABAB", "light moon night soon", (2, 2, 2)),
    ("day sea way me", "ABAB", "light moon sea soon", (1, 1, 2)),
    ("day sea way me", "ABAB", "day way say may", (2, 6, 2)),  # of six pairs four should not rhyme
    ("day sea way me", "ABAB", "light moon", (0, 0, 2)),
    ("day sea way me", "ABAB", "light moon night soon bright", (2, 4, 2)),  # the fifth line rhymes with two
    ("day sea way me", "ABAB", "qzxv moon qzxv soon", (1, 1, 2)),  # a word of unknown sound
    ("day sea way me", "ABAB", "", (0, 0, 2)),
    ("day sea home me", "AB.B", "light moon night soon", (1, 2, 1)),  # the first and third are asked for nothing
    ("love sea remove me", "ABAB", "light moon night soon", (1, 1, 1)),  # the pair that the reference misses is free
    ("day way say may", "ABAB", "day way say may", (2, 2, 2)),  # so are those that it has too many
    ("day day day", "AAA", "light night sight", (3, 3, 3)),
    ("day sea", "AB", "light moon", (0, 0, 0)),
]


@pytest.mark.parametrize(("reference", "scheme", "hypothesis", "counts"), PAIRS)
def test_english_counts_pairs(reference: str, scheme: str, hypothesis: str, counts: tuple[int, int, int]) -> None:
    assert count_pairs(lines(reference), lines(hypothesis), scheme) == counts


def test_the_papers_pair_rhymes_under_the_looser_rules() -> None:
    text = lines("minds love finds remove")
    assert count_pairs(text, text, "ABAB") == (1, 1, 1)
    assert count_pairs(text, text, "ABAB", rule="consonance") == (2, 2, 2)
    assert count_pairs(text, text, "ABAB", rule="eye") == (2, 2, 2)


@pytest.mark.parametrize(
    ("ends", "scheme", "counts"),
    [
        ("流楼秋风", "AAAA", (0, 1)),
        ("山流风秋", ".A.A", (1, 1)),
        ("流秋风春", "AABB", (1, 2)),
        ("流秋风", "AABB", (1, 2)),  # a place is missing
        ("流□", "AA", (0, 1)),
        ("□□", "AA", (0, 1)),
        ("流", "A", (0, 0)),  # no letter has two places
        ("", "AA", (0, 1)),
        ("", "", (0, 0)),
    ],
)
def test_full_rhyme_asks_every_place_of_a_letter(ends: str, scheme: str, counts: tuple[int, int]) -> None:
    assert count_full(poem(ends), scheme, "zh") == counts


def test_full_rhyme_in_english() -> None:
    assert count_full(lines("day sea way moon"), "ABAB", "en") == (1, 2)


def test_scores_of_two_poems_worked_out_by_hand() -> None:
    # First: correct 2 of 3 produced and of 3 gold: p = r = F = 2/3. Second: 2, 4, 2: p 1/2, r 1, F 2/3.
    references, hypotheses = [poem("流楼秋风"), poem("山流风秋")], [poem("春山云尘"), poem("春云春尘")]
    found = values(references, hypotheses, ["AAAA", ".A.A"])
    assert found["macro_p"] == pytest.approx(350 / 6)  # (2/3 + 1/2) / 2
    assert found["macro_r"] == pytest.approx(500 / 6)  # (2/3 + 1) / 2
    assert found["macro_f1"] == pytest.approx(200 / 3)
    assert found["micro_p"] == pytest.approx(400 / 7)  # 4 of 7
    assert found["micro_r"] == pytest.approx(80)  # 4 of 5
    assert found["micro_f1"] == pytest.approx(200 / 3)  # 8 of 12
    assert found["accuracy"] == pytest.approx(50)  # 春云春尘 rhymes at both its letters' places
    # Released: 春 has no group. First: an en en, 2 (云尘) of 3 gold (0, 1, 2): correct 1 (place 2): p 1/2, r 1/3.
    # Second: gold is ou at 1, 3; en at 1, 3 (云尘): p = r = 1. Means 3/4, 2/3: F = 2 * 1/2 / (17/12) = 12/17.
    assert found["released_macro_f1"] == pytest.approx(1200 / 17)
    assert found["released_micro_f1"] == pytest.approx(600 / 9)  # 2 * 3 / (4 + 5)


def test_a_poem_without_rhyme_is_not_scored_and_a_corpus_of_them_has_no_score() -> None:
    silent, sound = poem("山流风春"), poem("流楼秋风")
    assert values([sound, silent], [sound, silent], ["AAAA", "AAAA"])["macro_f1"] == 100
    found = values([silent], [sound], ["AAAA"])
    assert found["macro_f1"] is found["micro_p"] is None
    assert found["accuracy"] == 0  # it asks the hypothesis alone


def test_an_unknown_scheme_asks_for_the_references_majority() -> None:
    # ".AAA": the ends 1, 2, 3 of the hypothesis rhyme, and so does 0, which should not.
    found = values([poem("山流楼秋")], [poem("春云尘春")], [""])
    assert (found["micro_p"], found["micro_r"]) == (75, 100)


def test_english_has_the_same_keys_and_no_released_values() -> None:
    text = lines("day sea way me")
    chinese, english = values([poem("流楼")], [poem("流楼")], ["AA"]), values([text], [text], ["ABAB"], "en")
    assert list(chinese) == list(english)
    assert english.pop("released_macro_f1") is english.pop("released_micro_f1") is None
    assert set(english.values()) == {100.0}


def test_a_wholly_empty_output_scores_zero() -> None:
    found = values([poem("流楼")], [""], ["AA"])
    assert set(found.values()) == {0.0}


def test_signatures_name_lexicon_version_and_choices() -> None:
    for metric in rhyme_metrics("zh"):
        assert "|pypinyin:" in metric.signature
        assert ("u_umlaut:u" in metric.signature) == ("protocol:released" not in metric.signature)
    paper = [metric for metric in rhyme_metrics("en", rule="eye") if "protocol:released" not in metric.signature]
    assert all("|rule:eye|cmudict:" in metric.signature for metric in paper)
    baseline = rhyme_metrics("zh", shuffle_seed=4)
    assert [metric.name for metric in baseline] == [
        "rhyme_shuffled_macro_f1",
        "rhyme_shuffled_micro_f1",
        "rhyme_released_shuffled_macro_f1",
        "rhyme_released_shuffled_micro_f1",
    ]
    assert all("|ends:shuffled|shuffle_seed:4" in metric.signature for metric in baseline)


ENDS = st.text("流楼秋春云山风□", min_size=1, max_size=6)
SCHEME = st.text("AB.", min_size=1, max_size=6)


@given(st.lists(st.tuples(ENDS, ENDS, SCHEME), min_size=1, max_size=4))
def test_values_are_percentages_and_ignore_the_order_of_poems(poems: list[tuple[str, str, str]]) -> None:
    references, hypotheses, rhymes = (list(column) for column in zip(*poems, strict=True))
    references, hypotheses = [poem(ends) for ends in references], [poem(ends) for ends in hypotheses]
    found = values(references, hypotheses, rhymes)
    reverse = values(references[::-1], hypotheses[::-1], rhymes[::-1])
    for key, value in found.items():
        assert value is None or 0 <= value <= 100 + 1e-9
        assert reverse[key] == (None if value is None else pytest.approx(value))


@given(ENDS, SCHEME)
def test_a_poem_scores_everything_against_itself(ends: str, scheme: str) -> None:
    correct, produced, gold = count_places(poem(ends), poem(ends), scheme)
    assert correct == produced == gold
    assert len(set(count_released(poem(ends), poem(ends)))) == 1


@given(st.lists(st.sampled_from(["day", "way", "sea", "me", "moon", "qzxv"]), min_size=1, max_size=6), SCHEME)
def test_a_sonnet_scores_everything_against_itself(ends: list[str], scheme: str) -> None:
    text = lines(" ".join(ends))
    correct, produced, gold = count_pairs(text, text, scheme)
    assert correct == produced == gold


@given(st.integers(2, 6))
def test_cutting_the_last_unit_lowers_the_papers_recall_and_not_the_released_one(length: int) -> None:
    whole, cut = poem(("流楼秋" * 2)[:length]), poem(("流楼秋" * 2)[: length - 1])
    correct, _, gold = count_places(whole, cut, "A" * length)
    assert correct < gold == length
    correct, _, gold = count_released(whole, cut)
    assert correct == gold == length - 1


def test_each_poem_has_its_own_score() -> None:
    statistics = rhyme_statistics(
        [poem("流楼秋风"), poem("流楼")], [poem("春云"), poem("山风")], ["AAAA", "AA"], language="zh"
    )
    metric = {metric.name: metric for metric in rhyme_metrics("zh")}["rhyme_macro_f1"]
    assert metric.aggregate(statistics).tolist() == [80.0, 0.0]  # 2 of 2 and of 3; none
