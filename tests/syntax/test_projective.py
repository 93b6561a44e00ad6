"""Projectivization: always a projective tree of the same words, by the smallest lifts, and undone by its labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.syntax.dependency import Dependencies, is_projective, mistake
from espalier.syntax.projective import deprojectivize, projectivize


@st.composite
def trees(draw: st.DrawFn, labels: int | None = None) -> Dependencies:
    """Any tree, with labels that are all different, or drawn from so many."""
    size = draw(st.integers(1, 12))
    order = draw(st.permutations(range(1, size + 1)))
    heads = [0] * size
    for place, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, place - 1))]
    names = range(size) if labels is None else [draw(st.integers(0, labels - 1)) for _ in range(size)]
    return Dependencies(
        tuple(f"w{i}" for i in range(size)), ("X",) * size, tuple(heads), tuple(f"l{name}" for name in names)
    )


def slow(heads: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """The paper's definition word by word: look at all arcs, lift the smallest bad one, begin again."""
    now, lifts = [0, *heads], 0

    def depends(word: int, on: int) -> bool:
        while word and word != on:
            word = now[word]
        return word == on

    while True:
        bad = [
            (abs(now[word] - word), min(now[word], word), word)
            for word in range(1, len(now))
            if now[word]
            and not all(depends(k, now[word]) for k in range(min(word, now[word]) + 1, max(word, now[word])))
        ]
        if not bad:
            return tuple(now[1:]), lifts
        word = min(bad)[2]
        now[word] = now[now[word]]
        lifts += 1


def test_a_moved_word_is_marked_with_the_label_of_the_head_it_left() -> None:
    # "about" depends on "letter", across "was sent"
    words = ("a", "letter", "was", "sent", "about", "the", "rent", "yesterday")
    labels = ("det", "nsubj", "aux", "root", "nmod", "det", "pobj", "tmod")
    tree = Dependencies(words, ("X",) * 8, (2, 4, 4, 0, 2, 7, 5, 4), labels)
    flat, lifts = projectivize(tree)
    assert (flat.heads, lifts) == ((2, 4, 4, 0, 4, 7, 5, 4), 1)
    assert flat.labels == ("det", "nsubj", "aux", "root", "nmod↑nsubj", "det", "pobj", "tmod")
    assert deprojectivize(flat) == (tree, 0)


def test_the_smaller_of_two_arcs_is_lifted_and_the_other_may_stay() -> None:
    tree = Dependencies(tuple("abcd"), ("X",) * 4, (3, 4, 0, 3), ("p", "q", "root", "r"))
    flat, lifts = projectivize(tree)
    assert (flat.heads, flat.labels, lifts) == ((3, 3, 0, 3), ("p", "q↑r", "root", "r"), 1)


def test_a_word_may_be_lifted_more_than_once_and_is_marked_once() -> None:
    # the root stands under every arc from the last words to the first
    tree = Dependencies(tuple("abcd"), ("X",) * 4, (4, 0, 2, 3), ("p", "root", "q", "r"))
    flat, lifts = projectivize(tree)
    assert (flat.heads, flat.labels, lifts) == ((2, 0, 2, 3), ("p↑r", "root", "q", "r"), 2)
    assert deprojectivize(flat) == (tree, 0)


def test_equal_labels_can_lead_back_to_the_wrong_word() -> None:
    tree = Dependencies(tuple("abcde"), ("X",) * 5, (2, 3, 0, 2, 3), ("x", "obj", "root", "dep", "obj"))
    again, stay = deprojectivize(projectivize(tree)[0])
    assert (again, stay) == (tree, 0)  # the first of two objects is the right one
    mirror = Dependencies(tuple("abcde"), ("X",) * 5, (3, 4, 0, 3, 3), ("obj", "dep", "root", "obj", "x"))
    again, stay = deprojectivize(projectivize(mirror)[0])
    assert (again.heads, stay) == ((3, 1, 0, 3, 3), 0)  # here it is the second


def test_who_finds_nobody_stays_and_is_counted() -> None:
    tree = Dependencies(("a", "b"), ("X", "X"), (0, 1), ("root", "dep↑ccomp"))
    again, stay = deprojectivize(tree)
    assert (again.heads, again.labels, stay) == ((0, 1), ("root", "dep"), 1)


def test_labels_with_the_mark_are_refused() -> None:
    with pytest.raises(EspalierError, match=r"the label 'dep↑obj' contains '↑'.*; deprojectivize the tree first"):
        projectivize(Dependencies(("a", "b"), ("X", "X"), (0, 1), ("root", "dep↑obj")))


@given(trees())
def test_the_lifts_are_the_papers(tree: Dependencies) -> None:
    flat, lifts = projectivize(tree)
    assert (flat.heads, lifts) == slow(tree.heads)


@given(trees())
def test_distinct_labels_lead_every_word_back(tree: Dependencies) -> None:
    assert deprojectivize(projectivize(tree)[0]) == (tree, 0)


@given(trees(labels=3))
def test_whatever_the_labels_the_trees_are_trees_and_the_words_stay(tree: Dependencies) -> None:
    flat, lifts = projectivize(tree)
    assert is_projective(flat.heads) and mistake(flat.heads) is None
    assert (flat.words, flat.tags) == (tree.words, tree.tags)
    assert (lifts == 0) == (flat == tree) == is_projective(tree.heads)
    again, _ = deprojectivize(flat)
    assert mistake(again.heads) is None
    assert again.labels == tree.labels


def test_a_long_tree_full_of_crossings_comes_to_an_end() -> None:
    size = 400  # every word hangs from the one half a sentence away, these from a chain
    half = size // 2
    heads = tuple(range(half)) + tuple(range(1, half + 1))
    tree = Dependencies(("w",) * size, ("X",) * size, heads, tuple(f"l{i}" for i in range(size)))
    flat, lifts = projectivize(tree)
    assert is_projective(flat.heads)
    assert lifts > half
    assert deprojectivize(flat)[0] == tree
