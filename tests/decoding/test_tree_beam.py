"""Generalized tree beam search against enumeration of all trees, a plain Algorithm 2, and the chain beam."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from espalier.decoding import memory, tree_leaves
from espalier.decoding.beam import beam_search
from espalier.decoding.tree_beam import tree_beam
from espalier.decoding.tree_hypotheses import TreeHypothesis
from espalier.io.errors import ConfigError
from espalier.syntax.ternary import EOB, flatten, levels

sys.path.insert(0, str(Path(__file__).parent))
from plain_tree_beam import PlainTree, plain_tree_beam

END = 0
LOOSE = {"end": END, "depth": 50, "max_words": 50, "max_rounds": 50}


@dataclass
class Rows:
    """Sources as the toy knows them, or nodes: a number each, from which all that follows is drawn."""

    seeds: list[int]
    child_hidden: Tensor

    def select(self, index: Tensor) -> Rows:
        return Rows([self.seeds[i] for i in index.tolist()], self.child_hidden[index])


class ToyTrees:
    """log P(child k | source, ancestors and their places, earlier siblings), drawn anew for each from a seed.

    Tokens from `live` on are impossible; the end mark is as probable as `ends` makes it.
    """

    def __init__(self, arity: int, size: int, live: int | None = None, ends: float = 1.0) -> None:
        self.arity, self.size, self.live, self.ends = arity, size, live or size, ends
        self.opened: list[tuple[int, int]] = []  # each node that was ever asked for: its seed and token
        self.widest = 0

    def logs(self, *seeds: int) -> Tensor:
        return _logs(self.size, self.live, self.ends, _mixed(*seeds))

    def start(self, batch: Any) -> Rows:
        return Rows([_mixed(row) for row in batch.rows], torch.zeros(len(batch), 1))

    def roots(self, state: Rows) -> Tensor:
        return torch.stack([self.logs(seed, -1) for seed in state.seeds])

    def nodes(self, tokens: Tensor, hidden: Tensor | None, state: Rows) -> Rows:
        above = state.seeds if hidden is None else hidden[:, 0].tolist()
        self.opened += zip(above, tokens.tolist(), strict=True)
        seeds = [_mixed(seed, token) for seed, token in zip(above, tokens.tolist(), strict=True)]
        below = [[[_mixed(seed, k)] for k in range(self.arity)] for seed in seeds]
        return Rows(seeds, torch.tensor(below).view(len(seeds), self.arity, 1))

    def child(self, k: int, nodes: Rows, earlier: Tensor) -> Tensor:
        assert earlier.shape == (len(nodes.seeds), k)
        self.widest = max(self.widest, len(nodes.seeds))
        return torch.stack([self.logs(s, k, *row) for s, row in zip(nodes.seeds, earlier.tolist(), strict=True)])

    def subtrees(self, token: int, above: int, most: int) -> Iterator[tuple[Any, float]]:
        """Every tree below and with a node, as (token, subtrees), of `most` words at most, and its log-probability."""
        seed = _mixed(above, token)
        for group in product(range(self.live), repeat=self.arity):
            words = [(k, word) for k, word in enumerate(group) if word != END]
            if len(words) >= most:
                continue
            own = sum(float(self.logs(seed, k, *group[:k])[word]) for k, word in enumerate(group))
            below = [list(self.subtrees(word, _mixed(seed, k), most - len(words))) for k, word in words]
            for parts in product(*below):
                trees: list[Any] = [None] * self.arity
                for (k, _), (tree, _) in zip(words, parts, strict=True):
                    trees[k] = tree
                if 1 + sum(_size(tree) for tree in trees) <= most:
                    yield (token, tuple(trees)), own + sum(score for _, score in parts)

    def everything(self, source: int, most: int) -> dict[Any, float]:
        """Every tree of `most` words at most, with its log-probability."""
        seed = _mixed(source)
        roots = self.logs(seed, -1).tolist()
        return {
            tree: roots[token] + score
            for token in range(1, self.live)
            for tree, score in self.subtrees(token, seed, most)
        }


class ChainAsTree:
    """A chain model whose next token is the only child of the one before."""

    arity = 1

    def __init__(self, chain: Any, begin: int) -> None:
        self.chain, self.begin = chain, begin
        self.prefixes: list[tuple[int, ...]] = []

    def start(self, batch: Any) -> Any:
        return self.chain.start(batch)

    def roots(self, state: Any) -> Tensor:
        return torch.stack([self.chain.logs((*row, self.begin)) for row in state.rows])

    def nodes(self, tokens: Tensor, hidden: Tensor | None, state: Any) -> Rows:
        above = [(*row, self.begin) for row in state.rows]
        if hidden is not None:
            above = [self.prefixes[place] for place in hidden[:, 0].tolist()]
        first = len(self.prefixes)
        self.prefixes += [(*prefix, token) for prefix, token in zip(above, tokens.tolist(), strict=True)]
        places = range(first, len(self.prefixes))
        return Rows(list(places), torch.tensor(places).view(-1, 1, 1))

    def child(self, k: int, nodes: Rows, earlier: Tensor) -> Tensor:
        return torch.stack([self.chain.logs(self.prefixes[place]) for place in nodes.seeds])


def _mixed(*numbers: int) -> int:
    seed = 7
    for number in numbers:
        seed = (seed * 1_000_003 + number + 11) % (2**61 - 1)
    return seed


@cache
def _logs(size: int, live: int, ends: float, seed: int) -> Tensor:
    scores = 1.5 * torch.randn(size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    scores[END] += ends
    scores[live:] = -torch.inf
    return scores.log_softmax(0).float()


def _size(tree: Any) -> int:
    return 0 if tree is None else 1 + sum(map(_size, tree[1]))


def nested(tree: TreeHypothesis, node: int = 0) -> Any:
    """As (token, subtrees), None for an end mark."""
    below = (None if child == EOB else nested(tree, child) for child in tree.children[node].tolist())
    return tree.tokens[node], tuple(below)


def flat(trees: list[TreeHypothesis]) -> list[tuple[list[int], list[list[int]]]]:
    return [(tree.tokens, tree.children.tolist()) for tree in trees]


def scores(trees: list[TreeHypothesis] | list[PlainTree]) -> list[float]:
    return [tree.log_probability if isinstance(tree, TreeHypothesis) else tree.score for tree in trees]


@pytest.mark.parametrize("order", ["any", "first"])
@pytest.mark.parametrize(("arity", "live", "most"), [(1, 4, 5), (2, 3, 4), (3, 3, 3)])
@pytest.mark.parametrize("min_words", [1, 3])
def test_a_wide_beam_finds_all_trees_in_the_order_of_their_probability(
    sources: Any, arity: int, live: int, most: int, min_words: int, order: Any
) -> None:
    model = ToyTrees(arity, 27, live)
    caps = {"depth": 50, "max_words": most + 1, "max_rounds": 50, "min_words": min_words}
    found = tree_beam(model, sources([1, 2]), beam=2500, local=27, end=END, order=order, **caps)
    for source, row in zip([1, 2], found, strict=True):
        whole = [tree for tree in row if not tree.cut]  # larger ones, which are cut, rank among these
        every = sorted(model.everything(source, most).items(), key=lambda pair: -pair[1])
        every = [pair for pair in every if _size(pair[0]) >= min_words]
        assert len(whole) > 0.5 * len(every) > 40
        every = every[: len(whole)]
        assert [nested(tree) for tree in whole] == [tree for tree, _ in every]
        assert scores(whole) == pytest.approx([score for _, score in every], rel=1e-5)


@pytest.mark.parametrize(("arity", "size", "never"), [(1, 4, ()), (2, 3, ()), (3, 3, ()), (3, 4, (2,)), (2, 9, ())])
def test_a_local_beam_of_all_groups_ranks_every_group_of_children(
    sources: Any, arity: int, size: int, never: tuple[int, ...]
) -> None:
    """Against enumeration: V tokens make V^K groups, more than there are tokens."""
    model, tokens = ToyTrees(arity, size), [token for token in range(size) if token not in never]
    local = len(tokens) ** arity
    caps = {"depth": 2, "max_words": 50, "max_rounds": 50}
    found = tree_beam(model, sources([1]), beam=local * size, local=local, end=END, never=never, **caps)[0]
    best = model.logs(_mixed(1), -1).tolist()
    root = max((token for token in tokens if token != END), key=lambda token: best[token])
    node = _mixed(_mixed(1), root)
    every = {
        group: best[root] + sum(float(model.logs(node, k, *group[:k])[token]) for k, token in enumerate(group))
        for group in product(tokens, repeat=arity)
    }
    groups = {
        tuple(END if child == EOB else tree.tokens[child] for child in tree.children[0].tolist()): tree.log_probability
        for tree in found
        if tree.tokens[0] == root
    }
    ranked = sorted(every, key=lambda group: -every[group])
    assert len(ranked) == local and list(groups) == ranked
    assert list(groups.values()) == pytest.approx([every[group] for group in ranked], rel=1e-5)


@pytest.mark.parametrize("local", [1, 2, 3, 5, 9, 10, 26, 27])
def test_a_local_beam_wider_than_the_vocabulary_is_that_of_plain_algorithm_2(sources: Any, local: int) -> None:
    model, caps = ToyTrees(3, 3, ends=0.0), {"depth": 3, "max_words": 6, "max_rounds": 4}
    row = tree_beam(model, sources([3]), beam=6, local=local, end=END, **caps)[0]
    plain = plain_tree_beam(model, sources([3]), beam=6, local=local, end=END, **caps)
    assert flat(row) == [tree.flat(3) for tree in plain]
    assert scores(row) == pytest.approx(scores(plain), rel=1e-5)


@pytest.mark.parametrize("stop", ["sure", "paper"])
@pytest.mark.parametrize("order", ["any", "first"])
@pytest.mark.parametrize(
    ("ends", "min_words", "power"), [(1.5, 1, 0.0), (0.0, 1, 0.0), (1.5, 4, 0.0), (1.0, 1, 1.0), (0.0, 2, 0.6)]
)
def test_it_finds_what_plain_algorithm_2_finds(
    sources: Any, order: Any, stop: Any, ends: float, min_words: int, power: float
) -> None:
    for arity, beam, local in product([1, 2, 3], [1, 2, 4], [1, 3, 6]):
        model = ToyTrees(arity, 6, ends=ends)
        caps = {"depth": 5, "max_words": 12, "max_rounds": 9, "min_words": min_words}
        chosen = {"beam": beam, "local": local, "end": END, "order": order, "stop": stop, "length_power": power, **caps}
        found = tree_beam(model, sources([3, 4]), **chosen)
        for source, row in zip([3, 4], found, strict=True):
            wanted = plain_tree_beam(model, sources([source]), **chosen)
            assert flat(row) == [tree.flat(arity) for tree in wanted]
            assert scores(row) == pytest.approx(scores(wanted), rel=1e-5)


def test_rows_that_do_not_fit_into_memory_together_are_searched_one_after_the_other(
    sources: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> list[list[TreeHypothesis]]:
        return tree_beam(ToyTrees(2, 6), sources([3, 4, 5]), beam=4, local=3, **LOOSE | {"max_words": 8})

    def limit(trees: int) -> None:
        monkeypatch.setattr(memory, "free_bytes", lambda _: trees * memory.tree_bytes(2, 3, 8))

    whole = found()
    limit(9)
    parted = found()
    assert [flat(row) for row in parted] == [flat(row) for row in whole]
    assert [scores(row) for row in parted] == [scores(row) for row in whole]
    limit(3)
    with pytest.raises(ConfigError, match=r"beam: 4 beams take about .* at most 3"):
        found()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.integers(0, 10_000), min_size=1, max_size=3),
    size=st.integers(3, 9),
    beam=st.integers(1, 6),
    max_ids=st.integers(1, 7),
    min_words=st.integers(1, 3),
    cap=st.sampled_from(["max_words", "depth", "max_rounds"]),
    order=st.sampled_from(["any", "first"]),
    sharpness=st.floats(0.2, 3.0),
    power=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_with_one_child_it_is_the_chain_beam(
    toy: Any, sources: Any, rows: list[int], size: int, beam: int, max_ids: int, min_words: int, cap: str, order: Any,
    sharpness: float, power: float,
) -> None:  # fmt: skip
    # Only the cap of words is a length that the two count alike.
    chain, power = toy(size, sharpness), power if cap == "max_words" else 0.0
    caps = LOOSE | {cap: max_ids - 1 if cap == "max_rounds" else max_ids}
    if caps["max_rounds"] == 0:
        return
    min_ids = min(min_words, max_ids)
    wanted = beam_search(chain, sources(rows), beam=beam, max_ids=max_ids, begin=1, end=END, min_ids=min_ids,
                         length_power=power)  # fmt: skip
    found = tree_beam(
        ChainAsTree(chain, 1),
        sources(rows),
        beam=beam,
        local=size,
        min_words=min_ids,
        order=order,
        length_power=power,
        **caps,
    )
    assert [[tree.tokens for tree in row] for row in found] == [[each.tokens for each in row] for row in wanted]
    assert [scores(row) for row in found] == [[each.log_probability for each in row] for row in wanted]
    assert [[tree.score for tree in row] for row in found] == [[each.score for each in row] for row in wanted]
    for tree in (tree for row in found for tree in row):
        n = len(tree.tokens)
        assert tree.children.tolist() == [[node] for node in [*range(1, n), EOB]]
        assert tree.cut == (cap.removeprefix("max_") if n == max_ids else "")


def test_a_local_beam_of_twice_the_beam_is_enough_for_the_chain_beam(toy: Any, sources: Any) -> None:
    chain, rows = toy(40), sources(list(range(20)))
    wanted = beam_search(chain, rows, beam=4, max_ids=9, begin=1, end=END, min_ids=1)
    found = tree_beam(ChainAsTree(chain, 1), rows, beam=4, local=8, end=END, depth=50, max_words=9, max_rounds=50)
    assert [[tree.tokens for tree in row] for row in found] == [[each.tokens for each in row] for row in wanted]


@pytest.mark.parametrize("stop", ["sure", "paper"])
@pytest.mark.parametrize("order", ["any", "first"])
def test_a_batch_gives_what_its_rows_give_alone(sources: Any, order: Any, stop: Any) -> None:
    model, rows = ToyTrees(3, 8), list(range(12))
    chosen = {"beam": 4, "local": 4, "order": order, "stop": stop, **LOOSE}
    together = tree_beam(model, sources(rows), **chosen)
    for row, trees in zip(rows, together, strict=True):
        alone = tree_beam(model, sources([row]), **chosen)[0]
        assert flat(trees) == flat(alone)
        assert scores(trees) == scores(alone)
        assert scores(trees) == sorted(scores(trees), reverse=True)


def test_no_leaf_is_searched_twice_and_none_of_a_row_that_is_done(sources: Any) -> None:
    class Short(ToyTrees):
        """All below source 0 ends at once."""

        def nodes(self, tokens: Tensor, hidden: Tensor | None, state: Rows) -> Rows:
            self.batches = [*getattr(self, "batches", []), state.seeds]
            return super().nodes(tokens, hidden, state)

        def child(self, k: int, nodes: Rows, earlier: Tensor) -> Tensor:
            made = super().child(k, nodes, earlier)
            if len(self.batches) == 1:  # roots
                made[: len(made) // 2, END] += 40
            return made.log_softmax(1)

    model = Short(2, 8, ends=-1.0)
    found = tree_beam(model, sources([0, 1]), beam=3, local=3, end=END, depth=9, max_words=9, max_rounds=9)
    assert [len(tree.tokens) for tree in found[0]] == [1, 1, 1]
    assert max(len(tree.tokens) for tree in found[1]) >= 9
    assert len(model.opened) == len(set(model.opened))
    assert {len(set(batch)) for batch in model.batches[:1]} == {2}
    assert all(set(batch) == {_mixed(1)} for batch in model.batches[1:])
    assert len(model.batches) > 3


def test_different_ways_to_one_tree_are_taken_once(sources: Any) -> None:
    model, repeated = ToyTrees(3, 6, ends=0.0), 0
    chosen = {"beam": 6, "local": 6, "order": "any", **LOOSE, "max_words": 15}
    for source, row in zip(range(4), tree_beam(model, sources([0, 1, 2, 3]), **chosen), strict=True):
        known = {str(each) for each in zip(flat(row), scores(row), strict=True)}
        assert len(known) == len(row) == 6
        naive = plain_tree_beam(model, sources([source]), distinct=False, **chosen)
        repeated += len(naive) - len({tree.same() for tree in naive})
    assert repeated > 4


def test_slices_change_nothing_but_how_much_is_held_at_once(sources: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"beam": 4, "local": 4, **LOOSE}
    whole, sliced = ToyTrees(3, 8), ToyTrees(3, 8)
    wanted = tree_beam(whole, sources([1, 2, 3]), **chosen)
    monkeypatch.setitem(tree_leaves.CELLS, "cpu", 2 * 4 * 8)
    found = tree_beam(sliced, sources([1, 2, 3]), **chosen)
    assert [flat(row) for row in found] == [flat(row) for row in wanted]
    assert sliced.widest == 2 * 4 < whole.widest
    assert sorted(whole.opened) == sorted(sliced.opened)


@pytest.mark.parametrize("order", ["any", "first"])
def test_a_model_that_never_ends_is_stopped_by_each_cap(sources: Any, order: Any) -> None:
    model = ToyTrees(2, 5, ends=-torch.inf)

    def cut(**caps: int) -> list[TreeHypothesis]:
        row = tree_beam(model, sources([1]), beam=3, local=2, order=order, **{**LOOSE, **caps})[0]
        assert len(row) == 3
        return row

    for tree in cut(depth=3):
        assert tree.cut == "depth" and [len(level) for level in levels(tree.children)] == [1, 2, 4]
    for tree in cut(max_words=6):  # two words a round: 1, 3, 5, 7
        assert tree.cut == "words" and len(tree.tokens) == 7
    for tree in cut(max_rounds=2):
        assert tree.cut == "rounds" and len(tree.tokens) == 5
    for caps in ({"depth": 1}, {"max_words": 1}):
        for tree in cut(**caps):
            assert tree.cut == next(iter(caps)).removeprefix("max_") and tree.children.tolist() == [[EOB, EOB]]
    assert {tree.cut for tree in cut()} == {"words"}


def test_the_score_of_a_cut_tree_is_that_of_what_was_chosen(sources: Any) -> None:
    model = ToyTrees(2, 5, ends=-torch.inf)
    seed = _mixed(1)
    for tree in tree_beam(model, sources([1]), beam=3, local=2, **{**LOOSE, "depth": 2})[0]:
        root, first, second = tree.tokens
        node = _mixed(seed, root)
        chosen = (model.logs(seed, -1)[root], model.logs(node, 0)[first], model.logs(node, 1, first)[second])
        assert tree.log_probability == pytest.approx(float(sum(chosen)), rel=1e-6)


def test_a_leaf_that_can_have_no_children_kills_its_trees_alone(sources: Any) -> None:
    class Dead(ToyTrees):
        """Below token 2 nothing is possible, not even the end."""

        def nodes(self, tokens: Tensor, hidden: Tensor | None, state: Rows) -> Rows:
            made = super().nodes(tokens, hidden, state)
            return Rows(
                [-1 if t == 2 else s for s, t in zip(made.seeds, tokens.tolist(), strict=True)], made.child_hidden
            )

        def logs(self, *seeds: int) -> Tensor:
            return super().logs(*seeds) - (torch.inf if seeds[0] == -1 else 0)

    model = Dead(2, 4)
    for order in ("any", "first"):
        row = tree_beam(
            model, sources([1]), beam=200, local=4, end=END, depth=50, max_words=4, max_rounds=50, order=order
        )[0]
        assert row and all(2 not in tree.tokens for tree in row if not tree.cut)
        assert all(tree.log_probability > -float("inf") for tree in row)
        for stop in ("sure", "paper"):
            only = tree_beam(Dead(2, 3), sources([1]), beam=3, local=2, never=[1], order=order, stop=stop, **LOOSE)
            assert only == [[]]
    assert tree_beam(model, sources([1, 2]), beam=3, local=1, never=[1, 2, 3], **LOOSE) == [[], []]


def test_what_is_never_written_is_not_written_and_the_rest_keeps_its_score(sources: Any) -> None:
    model = ToyTrees(2, 27, live=4)
    found = tree_beam(
        model, sources([5]), beam=900, local=16, end=END, never=[3], depth=50, max_words=4, max_rounds=50
    )[0]
    whole = {nested(tree): tree.log_probability for tree in found if not tree.cut}
    wanted = {tree: score for tree, score in model.everything(5, 3).items() if "3" not in str(tree)}
    assert whole == pytest.approx(wanted, rel=1e-5) and len(whole) > 20


def test_ternary_trees_flatten_and_have_their_nodes_by_level(sources: Any) -> None:
    for row in tree_beam(ToyTrees(3, 8), sources(list(range(6))), beam=5, local=5, **LOOSE):
        for tree in row:
            assert tree.children.dtype == np.int32
            assert sorted(flatten(tree.children).tolist()) == list(range(len(tree.tokens)))
            assert np.concatenate(levels(tree.children)).tolist() == list(range(len(tree.tokens)))
            assert END not in tree.tokens


def test_no_sources_give_no_trees(sources: Any) -> None:
    class Empty(ToyTrees):
        def roots(self, state: Rows) -> Tensor:
            return torch.zeros(0, self.size)

    assert tree_beam(Empty(3, 8), sources([]), beam=5, local=5, **LOOSE) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"beam": 0}, "beam: is 0; give at least 1"),
        ({"local": 0}, "local: is 0; give at least 1"),
        ({"depth": 0}, "depth: is 0; give at least 1"),
        ({"max_words": -3}, "max_words: is -3; give at least 1"),
        ({"max_rounds": 0}, "max_rounds: is 0; give at least 1"),
        ({"min_words": 9, "max_words": 8}, "min_words: is 9, above max_words; give at most 8"),
        ({"local": 65}, "local: is 65, but 8 tokens make 64 groups of 2; give at most 64"),
        ({"local": 37, "never": [2, 4, 4]}, "local: is 37, but 6 tokens make 36 groups of 2; give at most 36"),
    ],
)
def test_bad_sizes_are_named(sources: Any, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        tree_beam(ToyTrees(2, 8), sources([1]), **{"beam": 2, "local": 2, **LOOSE, **changed})
    assert str(raised.value) == message
