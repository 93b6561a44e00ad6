"""Where texts rhyme, and chance."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.metrics.rhyme_places import (
    end_groups,
    end_words,
    majority,
    rhyming_places,
    scheme_of,
    shuffle_ends,
)
from espalier.text.language import is_mark
from espalier.verse.text import units_of


def test_the_end_of_a_unit_is_its_last_word_not_its_last_mark() -> None:
    assert end_words("夜深，\n月明……。\n！\n", "zh") == ["深", "明", None, None]
    assert end_words("the low sea ,\nthe sky\n, .", "en") == ["sea", "sky", None]
    assert end_words("", "zh") == []


@pytest.mark.parametrize(
    ("groups", "min_places", "leader"),
    [
        (["an", "ou", "ou"], 2, "ou"),
        (["an", "ou", "ou", "an"], 2, "an"),  # a tie: the first seen
        (["an", "ou"], 2, None),  # one place alone rhymes with nothing
        (["an", "ou"], 1, "an"),
        ([None, None, "ou", "ou"], 2, "ou"),  # what has no sound has no vote
        ([None, None], 2, None),
        ([], 1, None),
    ],
)
def test_the_majority_group(groups: list[str | None], min_places: int, leader: str | None) -> None:
    assert majority(groups, min_places=min_places) == leader


@pytest.mark.parametrize(
    ("groups", "scheme", "places"),
    [
        ("ou ou ou eng", "AAAA", "1110"),
        ("an ou eng ou", ".A.A", "0101"),
        ("ou ou eng ou", ".A.A", "1101"),  # an end of no letter that rhymes all the same
        ("ou an eng an", "AABB", "0000"),  # no letter has two alike
        ("ou ou an an", "AABB", "1111"),
        ("an ou an ou", "ABAB", "1111"),
        ("ou ou", "AAAA", "11"),  # shorter than its scheme
        ("ou ou ou", "AA", "111"),  # and longer: past it there are no letters
        ("ou ou", "..", "00"),
        ("ou - ou", "AAA", "101"),
    ],
)
def test_places_rhyme_with_the_majority_of_their_letter(groups: str, scheme: str, places: str) -> None:
    found = rhyming_places([None if group == "-" else group for group in groups.split()], scheme)
    assert "".join("01"[rhymes] for rhymes in found) == places


def test_an_unknown_scheme_is_read_off_a_chinese_reference() -> None:
    text = "夜半风。\n江水流。\n故人楼。"  # eng, ou, ou
    assert scheme_of("", text, "zh") == ".AA"
    assert scheme_of("AAA", text, "zh") == "AAA"
    assert scheme_of("", "夜半风。\n江水流。", "zh") == ".."  # nothing rhymes
    assert scheme_of("", "a day\na way", "en") == ""


def test_shuffling_moves_the_ends_and_nothing_else() -> None:
    texts = ["夜半风，江水流。\n故人楼！", "", "！\n又逢春。\n小山"]
    shuffled = shuffle_ends(texts, "zh", seed=3)
    assert [len(text) for text in shuffled] == [len(text) for text in texts]

    def ends(poems: list[str]) -> list[str]:
        return [word for text in poems for word in end_words(text, "zh") if word is not None]

    assert Counter(ends(shuffled)) == Counter("流楼春山")
    # With the ends blotted out nothing has changed.
    for before, after in zip(texts, shuffled, strict=True):
        for old, new in zip(units_of(before), units_of(after), strict=True):
            place = next((i for i in range(len(old) - 1, -1, -1) if not is_mark(old[i])), None)
            assert place is None or old[:place] + old[place + 1 :] == new[:place] + new[place + 1 :]
    assert shuffle_ends(texts, "zh", seed=3) == shuffled
    assert len({tuple(shuffle_ends(texts, "zh", seed=seed)) for seed in range(8)}) > 1


def test_shuffling_english_keeps_tokens_and_spaces() -> None:
    assert sorted(shuffle_ends(["a low sea ,", "my day ."], "en", seed=1)) in (
        ["a low day ,", "my sea ."],
        ["a low sea ,", "my day ."],
    )
    assert shuffle_ends([], "en", seed=1) == []


@given(st.lists(st.text("流楼秋风春，。\n", max_size=9), max_size=5), st.integers(0, 99))
def test_shuffling_keeps_all_words_of_all_ends(texts: list[str], seed: int) -> None:
    shuffled = shuffle_ends(texts, "zh", seed)
    assert Counter("".join(shuffled)) == Counter("".join(texts))
    assert [len(end_groups(text)) for text in shuffled] == [len(end_groups(text)) for text in texts]
