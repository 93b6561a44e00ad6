"""Mean depths of words: the paper's two statements, worked examples, and a slow reference."""

from __future__ import annotations

import itertools
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import EspalierError
from espalier.syntax.dependency import is_projective, mistake
from espalier.syntax.depths import LengthDepths, MeanDepths, depths_by_length, depths_of_heads, depths_of_tree
from espalier.syntax.ternary import EOB, Nodes, heads_of, ternary

SMALL = [
    heads
    for size in range(1, 6)
    for heads in itertools.product(range(size + 1), repeat=size)
    if not mistake(heads) and is_projective(heads)
]


@st.composite
def ternary_trees(draw: st.DrawFn) -> Nodes:
    """Each node becomes a free child of one before it; the root has no right one."""
    size = draw(st.integers(1, 30))
    nodes = np.full((size, 3), EOB, np.int32)
    free = [(0, 0), (0, 1)]
    for node in range(1, size):
        nodes[free.pop(draw(st.integers(0, len(free) - 1)))] = node
        free += [(node, 0), (node, 1), (node, 2)]
    return nodes


def read_in_a_chain(words: int) -> list[int]:
    """How many words have been read when each word, and EOS after them, is predicted."""
    return [len(range(position)) for position in range(words + 1)]


def read_in_a_tree(nodes: Nodes, node: int = 0, above: int = 0) -> list[int]:
    """How many words have been read on the way when each word and each EOB is predicted, the root first."""
    if node == EOB:
        return [above]
    return [above, *itertools.chain(*(read_in_a_tree(nodes, child, above + 1) for child in nodes[node].tolist()))]


def ancestors_and_itself(heads: tuple[int, ...], word: int) -> int:
    return 1 + ancestors_and_itself(heads, heads[word - 1]) if word else 0


@pytest.mark.parametrize("size", [1, 2, 7, 200])
def test_a_chain_and_the_deepest_tree_carry_half_of_one_more_than_the_words(size: int) -> None:
    for heads in (tuple(range(size)), (*range(2, size + 1), 0)):  # each word depends on the one before it, or after it
        assert depths_of_heads(heads) == MeanDepths(size, *[(size + 1) / 2] * 3)


@pytest.mark.parametrize(
    ("heads", "in_ternary", "in_dependency"),
    [
        ((0,), 1.0, 1.0),
        # t(c1(E,E,c2),c3(E,E,c4),E): t 1, c1 2, c2 3, c3 2, c4 3; all c depend on t
        ((3, 3, 0, 3, 3), 11 / 5, 9 / 5),
        # says(he,likes(she,apples(red,E,E),E),E): says 1, he 2, likes 2, she 3, apples 3, red 4; no word has a sibling
        # on its side of the head, so that both trees have the same levels
        ((2, 0, 4, 2, 6, 4), 15 / 6, 15 / 6),
        # the worst ternary tree of the flattest dependency tree: 1 2 3 4 5 beside 1 2 2 2 2
        ((0, 1, 1, 1, 1), 3.0, 9 / 5),
    ],
)
def test_worked_examples(heads: tuple[int, ...], in_ternary: float, in_dependency: float) -> None:
    hand = MeanDepths(len(heads), (len(heads) + 1) / 2, in_ternary, in_dependency)
    assert depths_of_heads(heads) == hand
    assert depths_of_tree(ternary(heads).children) == hand


def test_all_small_trees_against_counting_what_each_prediction_has_read() -> None:
    assert len(SMALL) == 1 + 2 + 7 + 30 + 143
    for heads in SMALL:
        found = depths_of_heads(heads)
        size = len(heads)
        chain, tree = read_in_a_chain(size), read_in_a_tree(ternary(heads).children)
        assert (chain[0], tree[0], len(chain), len(tree)) == (0, 0, size + 1, 3 * size + 1)
        assert found.chain == mean(chain[1:])
        assert found.ternary == pytest.approx(mean(tree[1:]))
        dependency = mean(ancestors_and_itself(heads, word) for word in range(1, size + 1))
        assert found.dependency == pytest.approx(dependency)


@given(ternary_trees())
def test_a_ternary_tree_lies_between_its_dependency_tree_and_the_chain(nodes: Nodes) -> None:
    found = depths_of_tree(nodes)
    assert 1.0 <= found.dependency <= found.ternary <= found.chain
    assert depths_of_heads(heads_of(nodes)) == found


def test_the_table_has_a_row_for_each_length_from_the_shortest() -> None:
    sentences = [depths_of_heads(heads) for heads in ((3, 3, 0, 3, 3), (0,), (0, 1, 1, 1, 1), (0,))]
    assert depths_by_length(sentences) == {
        1: LengthDepths(1.0, 1.0, 1.0, 2),
        5: LengthDepths(3.0, pytest.approx((11 / 5 + 3) / 2), pytest.approx(9 / 5), 2),  # type: ignore[arg-type]
    }
    assert list(depths_by_length(sentences)) == [1, 5]
    assert depths_by_length([]) == {}


def test_what_is_no_sentences_tree_is_refused() -> None:
    with pytest.raises(EspalierError, match="not projective"):
        depths_of_heads((3, 4, 0, 3))
    with pytest.raises(EspalierError, match="2 roots"):
        depths_of_heads((0, 0))
    with pytest.raises(EspalierError, match="second root"):
        depths_of_tree(np.array([[EOB, EOB, 1], [EOB, EOB, EOB]], np.int32))
    with pytest.raises(EspalierError, match="no tree"):
        depths_of_tree(np.zeros((0, 3), np.int32))
