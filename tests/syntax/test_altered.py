"""Other heads: what a chain is, and that noise draws the named share of heads and leaves a tree."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.syntax.altered import right_chain, with_noise
from espalier.syntax.dependency import mistake


def test_every_word_of_a_right_chain_is_the_head_of_the_next() -> None:
    assert right_chain(4) == (0, 1, 2, 3)
    assert right_chain(1) == (0,)


def test_new_heads_are_drawn_from_the_words_that_leave_a_tree() -> None:
    # Word 2 is drawn from 1 and 3. Below 1, word 3 is then drawn from 1 and 2; above 2, it has 1 alone.
    drawn = Counter(with_noise((0, 1, 1), 1.0, seed=seed) for seed in range(2000))
    assert set(drawn) == {(0, 1, 1), (0, 1, 2), (0, 3, 1)}
    assert drawn[0, 3, 1] == pytest.approx(1000, abs=90)  # four standard deviations
    assert drawn[0, 1, 1] == pytest.approx(500, abs=80)


def test_a_tree_of_two_words_has_no_other_heads() -> None:
    assert {with_noise((2, 0), 1.0, seed=seed) for seed in range(20)} == {(2, 0)}


def test_the_share_of_words_that_are_drawn_is_the_named_one() -> None:
    # In a star of 101 words below the first, a drawn word keeps its head once in some hundred draws.
    star = (0, *[1] * 100)
    moved = [sum(a != b for a, b in zip(star, with_noise(star, 0.15, seed=seed), strict=True)) for seed in range(200)]
    assert np.mean(moved) == pytest.approx(15, abs=1.1)


@st.composite
def trees(draw: st.DrawFn) -> tuple[int, ...]:
    """Any tree of up to ten words: word k of a random order depends on one before it."""
    order = draw(st.permutations(range(1, draw(st.integers(1, 10)) + 1)))
    heads = [0] * len(order)
    for place, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, place - 1))]
    return tuple(heads)


@given(trees(), st.floats(0, 1), st.integers(0, 2**32))
def test_noise_leaves_a_tree_with_its_root(heads: tuple[int, ...], share: float, seed: int) -> None:
    new = with_noise(heads, share, seed=seed)
    assert mistake(new) is None
    assert new.index(0) == heads.index(0)
    assert new == with_noise(heads, share, seed=seed)


@given(trees())
def test_without_noise_nothing_changes(heads: tuple[int, ...]) -> None:
    assert with_noise(heads, 0.0, seed=1) == heads
