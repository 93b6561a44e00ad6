"""Dependency trees: what makes a tree, what is refused, and what can be asked of one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import DataError
from espalier.syntax.dependency import (
    Dependencies,
    attach_roots,
    breadth_first,
    check,
    children,
    dependencies_of,
    is_projective,
    left_counts,
    mistake,
    parse_with,
)
from espalier.syntax.parse import Parse


@st.composite
def trees(draw: st.DrawFn, max_words: int = 12) -> tuple[int, ...]:
    """The heads of any tree, projective or not: every word hangs from one that came before it in some order."""
    size = draw(st.integers(1, max_words))
    order = draw(st.permutations(range(1, size + 1)))
    heads = [0] * size
    for place, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, place - 1))]
    return tuple(heads)


def chain_of_heads(heads: tuple[int, ...], word: int) -> list[int]:
    chain = [word]
    while chain[-1] and len(chain) <= len(heads) + 1:
        chain.append(heads[chain[-1] - 1])
    return chain


def crossing(heads: tuple[int, ...]) -> bool:
    """By the other definition: two arcs cross, the root's own from place 0 among them."""
    arcs = [(min(word, head), max(word, head)) for word, head in enumerate(heads, start=1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        ((), "no words"),
        ((0, 3), "head 3 of word 2 is not within 0 to 2"),
        ((0, -1), "head -1 of word 2 is not within 0 to 2"),
        ((0, 1, 0, 0), "3 roots (words 1, 3, 4)"),
        ((2, 1), "no root; words 1, 2 are a cycle"),
        ((1,), "no root; words 1 are a cycle"),
        ((0, 3, 4, 2, 4), "words 2, 3, 4 are a cycle"),
        ((0, 2), "words 2 are a cycle"),
    ],
)
def test_heads_that_are_no_tree_are_told_apart(heads: tuple[int, ...], said: str) -> None:
    assert mistake(heads) == said


def test_a_cycle_of_hundreds_of_words_makes_a_short_message() -> None:
    assert mistake((*range(2, 501), 1)) == "no root; words 1, 2, 3, 4, 5, ... are a cycle"


@given(st.lists(st.integers(-1, 7), max_size=7).map(tuple))
def test_a_mistake_is_whatever_keeps_some_word_from_the_one_root(heads: tuple[int, ...]) -> None:
    good = (
        heads.count(0) == 1
        and all(0 <= head <= len(heads) for head in heads)
        and all(chain_of_heads(heads, word)[-1] == 0 for word in range(1, len(heads) + 1))
    )
    assert (mistake(heads) is None) == good


def test_check_names_file_and_row() -> None:
    with pytest.raises(DataError, match=r"^a\.conllu, row 7: 2 roots \(words 1, 2\); a sentence is one tree"):
        check(Dependencies(("a", "b"), ("X", "X"), (0, 0), ("root", "root")), file="a.conllu", row=7)
    with pytest.raises(DataError, match=r"^x: not one of each for every word: 2 words, 2 tags, 2 heads, 1 labels$"):
        check(Dependencies(("a", "b"), ("X", "X"), (0, 1), ("root",)), file="x")
    check(Dependencies(("a", "b"), ("X", "X"), (0, 1), ("root", "dep")), file="x")


def test_children_stand_in_the_order_of_the_sentence_and_left_ones_are_counted() -> None:
    # he says she likes red apples
    heads = (2, 0, 4, 2, 6, 4)
    assert children(heads) == [[2], [], [1, 4], [], [3, 6], [], [5]]
    assert left_counts(heads) == (0, 1, 0, 1, 0, 1)
    assert breadth_first(heads) == [2, 1, 4, 3, 6, 5]


@pytest.mark.parametrize(
    ("heads", "projective"),
    [
        ((0,), True),
        ((2, 0, 4, 2, 6, 4), True),
        ((3, 4, 0, 3), False),  # the arcs 3-1 and 4-2 cross
        ((3, 0, 2), False),  # the arc 3-1 spans the root
    ],
)
def test_projectivity(heads: tuple[int, ...], projective: bool) -> None:
    assert is_projective(heads) == projective


@given(trees())
def test_projective_is_without_crossing_arcs(heads: tuple[int, ...]) -> None:
    assert is_projective(heads) == (not crossing(heads))


@given(trees())
def test_all_words_come_after_their_heads_breadth_first(heads: tuple[int, ...]) -> None:
    order = breadth_first(heads)
    assert sorted(order) == list(range(1, len(heads) + 1))
    assert all(order.index(heads[word - 1]) < order.index(word) for word in order[1:])


def test_a_chain_of_many_words_is_no_trouble() -> None:
    heads = tuple(range(20_000))
    assert mistake(heads) is None
    assert is_projective(heads)


def test_further_roots_depend_on_the_first_and_are_counted() -> None:
    several = Dependencies(("go", "now", "wait"), ("V", "R", "V"), (0, 1, 0), ("root", "advmod", "root"))
    one, moved = attach_roots(several)
    assert (one.heads, one.labels, moved) == ((0, 1, 1), ("root", "advmod", "parataxis"), 1)
    assert attach_roots(one) == (one, 0)


def test_dependencies_travel_in_a_parse() -> None:
    tree = Dependencies(("a", "b"), ("X", "Y"), (2, 0), ("det", "root"))
    parse = parse_with(tree, "(X (D a) (Y b))")
    assert parse == Parse(("a", "b"), ("X", "Y"), "(X (D a) (Y b))", (2, 0), ("det", "root"))
    assert dependencies_of(parse) == tree


def test_tags_and_labels_that_a_parser_did_not_give_are_unspecified() -> None:
    dependencies = dependencies_of(Parse(("a", "b"), heads=(0, 0)))
    assert dependencies.tags == dependencies.labels == ("_", "_")
    assert attach_roots(dependencies)[0].heads == (0, 1)
