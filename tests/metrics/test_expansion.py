"""Whether a tree keeps the nodes of a template."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.metrics.expansion import TEMPLATE_LEVELS, keeps, template_statistics
from espalier.syntax.constituency import cut, read_tree, write_tree

TREE = "(S (NP (DT the) (NN cook)) (VP (VBZ peels) (NP (DT an) (NN onion))) (. .))"


@pytest.mark.parametrize(
    ("template", "kept"),
    [
        ("(S (NP) (VP) (.))", True),
        ("(S (NP (DT) (NN)) (VP) (.))", True),
        ("(S (NP (DT) (NN)) (VP (VBZ) (NP (DT) (NN))) (.))", True),
        ("(S (NP (DT the) (NN dog)) (VP) (. !))", True),  # words play no part
        ("(S (NP) (VP))", False),  # a child too few
        ("(S (NP) (VP) (.) (.))", False),
        ("(S (VP) (NP) (.))", False),
        ("(S (NP (NN)) (VP) (.))", False),
        ("(S (NP (DT) (NN (NN))) (VP) (.))", False),  # a part of speech with children
        ("(SINV (NP) (VP) (.))", False),
    ],
)
def test_each_node_stands_at_its_place_and_one_without_children_has_any(template: str, kept: bool) -> None:
    assert keeps(template, TREE) is kept


def test_an_unparsed_tree_keeps_nothing() -> None:
    assert not keeps("(S (NP) (VP))", "")


def grown(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    below = st.lists(children, min_size=1, max_size=3).map(" ".join)
    return st.builds("({} {})".format, st.sampled_from(["S", "NP"]), below)


TREES = grown(st.recursive(st.sampled_from(["(NN pear)", "(VB fall)"]), grown, max_leaves=8))


@given(TREES, TREES)
def test_for_the_top_of_a_parse_it_is_the_metric(one: str, other: str) -> None:
    top = write_tree(cut(read_tree(one), TEMPLATE_LEVELS))
    for tree in (one, other):
        assert keeps(top, tree) == bool(template_statistics([one], [tree])[0, 0])
