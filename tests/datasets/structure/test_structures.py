"""Structures of tokens, against the paper's figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.structure.structures import STRUCTURES
from espalier.io.errors import ConfigError

#: Figure 2: the words of the template, and jieba's tags.
WORDS = [list(word) for word in ("蓦然回首", "情", "已远", "，", "身不由己", "在", "天边")]
TAGS = ["ns", "n", "d", "x", "i", "p", "s"]


def test_figure_1_has_its_boundaries_and_its_parts_of_speech() -> None:
    words, tags = [list(word) for word in ("我", "喜欢", "炸薯条")], ["r", "v", "n"]
    assert STRUCTURES["pc"].symbols(words, tags) == list("SBEBME")
    assert STRUCTURES["pos"].symbols(words, tags) == ["r", "v", "v", "n", "n", "n"]


def test_figure_2_has_its_boundaries_and_its_parts_of_speech() -> None:
    assert "".join(STRUCTURES["pc"].symbols(WORDS, TAGS)) == "BMMESBESBMMESBE"
    assert STRUCTURES["pos"].symbols(WORDS, TAGS) == [*["ns"] * 4, "n", "d", "d", "x", *["i"] * 4, "p", "s", "s"]


def test_tones_are_those_of_mandarin_and_a_mark_has_none() -> None:
    # 天 tian1 and 来 lai2 are level, 雨 yu3 and 夜 ye4 oblique; 长 is chang2 or zhang3.
    assert STRUCTURES["tone"].symbols([["天", "来"], ["，"], ["雨", "夜", "长"]], ["n", "x", "n"]) == list(
        "平平無仄仄中"
    )


def test_an_unknown_structure_is_told_with_those_that_are_known() -> None:
    with pytest.raises(ConfigError, match="rhythm"):
        STRUCTURES.find("rhythm")


@given(st.lists(st.tuples(st.text("天来雨夜，", min_size=1, max_size=5), st.sampled_from("nvx")), max_size=6))
def test_every_structure_is_as_long_as_the_tokens(pairs: list[tuple[str, str]]) -> None:
    words, tags = [list(word) for word, _ in pairs], [tag for _, tag in pairs]
    for each in STRUCTURES.values():
        assert len(each.symbols(words, tags)) == sum(map(len, words))
    # A word ends at each S and E, so that boundaries give back the lengths.
    ends = [place for place, symbol in enumerate(STRUCTURES["pc"].symbols(words, tags), 1) if symbol in "SE"]
    assert [end - start for start, end in zip([0, *ends], ends, strict=False)] == [len(word) for word in words]
