"""Sampled trees against their probabilities by enumeration, in a batch and alone, and at their limits."""

from __future__ import annotations

import sys
from collections import Counter
from math import exp
from pathlib import Path
from typing import Any

import pytest

from espalier.decoding.tree_hypotheses import TreeHypothesis
from espalier.decoding.tree_sampling import sample_trees

sys.path.insert(0, str(Path(__file__).parent))
from test_tree_beam import END, ToyTrees, flat, nested


def sampled(model: ToyTrees, batch: Any, seeds: range | list[int], **changes: Any) -> list[TreeHypothesis]:
    options: dict[str, Any] = {"depth": 50, "max_words": 50, "top_k": 100, **changes}
    return sample_trees(model, batch, seeds=list(seeds), end=END, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("arity", "live", "most"), [(1, 4, 5), (2, 3, 4), (3, 3, 3)])
def test_trees_are_drawn_as_often_as_they_are_probable_and_have_their_log_probability(
    sources: Any, arity: int, live: int, most: int
) -> None:
    model, count = ToyTrees(arity, 27, live), 3000
    found = sampled(model, sources([5]), range(count))
    every = model.everything(5, most)
    for tree in found[:200]:
        if not tree.cut and len(tree.tokens) <= most:
            assert tree.log_probability == pytest.approx(every[nested(tree)], rel=1e-5)
    drawn, roots = (
        Counter(nested(tree) for tree in found if not tree.cut),
        1 - exp(float(model.logs(_seed(5), -1)[END])),
    )
    likely = sorted(every, key=every.__getitem__)[-5:]
    assert len(likely) == 5
    for tree in likely:
        p = exp(every[tree]) / roots  # no root is an end mark
        assert abs(drawn[tree] / count - p) < 4.5 * (p * (1 - p) / count) ** 0.5


def test_a_tree_depends_on_its_source_and_seed_alone(sources: Any) -> None:
    model = ToyTrees(3, 9, ends=1.5)
    together = sampled(model, sources([1, 2, 3]), range(12), max_words=12, top_k=4)
    for row, source in enumerate([1, 2, 3]):
        own = together[4 * row : 4 * row + 4]
        assert flat(own) == flat(sampled(model, sources([source]), range(4 * row, 4 * row + 4), max_words=12, top_k=4))
    assert len({str(tree) for tree in flat(together)}) > 6
    cold = sampled(model, sources([1]), range(4), max_words=12, temperature=1e-6)
    assert flat(cold) == flat(sampled(model, sources([1]), range(4), max_words=12, top_k=1))


def test_the_most_probable_choice_is_taken_without_a_choice_of_others(sources: Any) -> None:
    model = ToyTrees(2, 6, ends=2.0)
    (found,) = sampled(model, sources([4]), [0], top_k=1, max_words=30)
    assert not found.cut

    def greedy(token: int, above: int) -> Any:
        seed, group = _seed(above, token), list[int]()
        for k in range(2):
            group.append(int(model.logs(seed, k, *group).argmax()))
        return token, tuple(None if word == END else greedy(word, _seed(seed, k)) for k, word in enumerate(group))

    roots = model.logs(_seed(4), -1).clone()
    roots[END] = -float("inf")
    assert nested(found) == greedy(int(roots.argmax()), _seed(4))


def test_limits_cut_a_tree_and_leave_out_words_that_are_never_drawn(sources: Any) -> None:
    model = ToyTrees(3, 9, ends=-2.0)  # trees that hardly end
    for tree in sampled(model, sources([1, 2]), range(40), max_words=7, never=(3, 5)):
        assert (len(tree.tokens), tree.cut) == (7, "words")
        assert not {3, 5} & {*tree.tokens}
        assert sorted(int(child) for child in tree.children.flatten() if child >= 0) == list(range(1, 7))
    for tree in sampled(model, sources([1]), range(10), depth=2):
        assert (tree.cut, len(tree.tokens) <= 4) == ("depth", True)
    (root,) = sampled(model, sources([1]), [0], depth=1)
    assert (len(root.tokens), root.cut, root.children.tolist()) == (1, "depth", [[-1, -1, -1]])
    (root,) = sampled(model, sources([1]), [0], max_words=1)
    assert (len(root.tokens), root.cut) == (1, "words")


def _seed(*numbers: int) -> int:
    from test_tree_beam import _mixed

    return _mixed(*numbers)
