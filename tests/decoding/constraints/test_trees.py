"""Trees under constraint, against every tree there is, one at a time."""

from __future__ import annotations

import random
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from espalier.datasets.pairs.tree_symbols import FIRST, TreeSymbols
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.brackets import Brackets
from espalier.decoding.constraints.trees import KeptTemplate, WellFormed
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import cut, read_tree, write_tree
from espalier.syntax.levels import TreeError, linearize, tree_of
from espalier.syntax.tree import Tree
from tests.datasets.pairs.bracketed_rows import bracketed_row

sys.path.insert(0, str(Path(__file__).parent))
from constrained_trees import NAMES, Chain, batch_of, everything, random_tree, vocabularies

Pairs = tuple[tuple[str, int], ...]


def pairs_of(tree: Tree) -> Pairs:
    return tuple(zip(*linearize(tree), strict=True))


def trees_of(labels: int, depth: int, most: int) -> list[Pairs]:
    """Every tree of at most so many nodes."""
    shapes: list[tuple[int, ...]] = [(1,)]
    found = list[Pairs]()
    while shapes:
        names = [NAMES[:labels]] * len(shapes[0])
        found += [tuple(zip(some, shape, strict=True)) for shape in shapes for some in product(*names)]
        grown = [(*shape, level) for shape in shapes for level in range(2, min(shape[-1] + 1, depth) + 1)]
        shapes = grown if len(shapes[0]) < most else []
    return found


def breaks(tree: Pairs, symbols: TreeSymbols, template: Pairs = (), levels: int = 3) -> str | None:
    """Which rule a tree breaks: written from the rules, a node at a time."""
    kept = tuple(pair for pair in template if pair[1] <= levels)
    deep = max((level for _, level in kept), default=0)
    if tuple(pair for pair in tree if pair[1] <= deep) != kept:
        return "the template"
    followers = [level for _, level in tree[1:]] + [0]
    for (label, level), following in zip(tree, followers, strict=True):
        index = symbols.labels.index(label)
        opens, ends = symbols.opens[index], symbols.ends[index]
        if level < deep or level == symbols.depth:
            continue
        if following > level and not opens:
            return f"{label} has children"
        if following <= level and not ends and (opens or level > deep):
            return f"{label} has none"
    return None


def ids(tree: Pairs, symbols: TreeSymbols) -> tuple[int, ...]:
    return tuple(symbols.symbol(label, level) for label, level in tree)


@settings(deadline=None, max_examples=40)
@given(vocabularies(), st.integers(2, 6))
def test_every_right_tree_that_fits_and_no_other(symbols: TreeSymbols, max_ids: int) -> None:
    every = trees_of(len(symbols.labels), symbols.depth, max_ids - 1)
    right = {ids(tree, symbols) for tree in every if not breaks(tree, symbols)}
    if right:
        assert everything(WellFormed(symbols, max_ids), [], max_ids) == right
    else:
        with pytest.raises(ConfigError, match="the shortest tree has"):
            WellFormed(symbols, max_ids).start(batch_of([[]]))


def test_flags_that_would_forbid_every_tree_allow_every_tree_that_fits() -> None:
    symbols = TreeSymbols(("A", "B"), 3, (False, False), (False, False))
    every = {ids(tree, symbols) for tree in trees_of(2, 3, 4)}
    assert everything(WellFormed(symbols, 5), [], 5) == every


@settings(deadline=None, max_examples=80)
@given(vocabularies(), st.integers(2, 6), st.integers(1, 3), st.data())
def test_with_a_template_every_right_tree_that_keeps_it(
    symbols: TreeSymbols, max_ids: int, levels: int, data: st.DataObject
) -> None:
    template = data.draw(st.sampled_from(trees_of(len(symbols.labels), symbols.depth, 4)))
    every = trees_of(len(symbols.labels), symbols.depth, max_ids - 1)
    right = {ids(tree, symbols) for tree in every if not breaks(tree, symbols, template, levels)}
    constraint, row = KeptTemplate(symbols, max_ids, levels), list(ids(template, symbols))
    if right:
        assert everything(constraint, row, max_ids) == right
    else:
        with pytest.raises(ConfigError, match="the shortest tree has"):
            constraint.start(batch_of([row]))


def keeps(node: Tree, given: Tree | None, symbols: TreeSymbols, level: int = 1) -> bool:
    """Whether a tree has a template's nodes, where nodes without children are open, and follows the rules elsewhere."""
    if given is not None and node.label() != given.label():
        return False
    place = symbols.labels.index(node.label())
    if given is not None and len(given):
        below = len(node) == len(given) and zip(node, given, strict=True)
        return bool(below) and all(keeps(child, own, symbols, level + 1) for child, own in below)
    last = level == symbols.depth
    opens, ends = symbols.opens[place] and not last, symbols.ends[place] or last
    if len(node) and not opens:
        return False
    if not len(node) and not ends and (opens or given is None):
        return False
    return all(keeps(child, None, symbols, level + 1) for child in node)


def tree_from(pairs: Pairs) -> Tree:
    return tree_of(*zip(*pairs, strict=True))


@settings(deadline=None, max_examples=80)
@given(vocabularies(), st.integers(2, 6), st.data())
def test_with_open_leaves_every_right_tree_that_has_the_template_s_nodes(
    symbols: TreeSymbols, max_ids: int, data: st.DataObject
) -> None:
    template = data.draw(st.sampled_from(trees_of(len(symbols.labels), symbols.depth, 4)))
    every = trees_of(len(symbols.labels), symbols.depth, max_ids - 1)
    right = {ids(tree, symbols) for tree in every if keeps(tree_from(tree), tree_from(template), symbols)}
    constraint = KeptTemplate(symbols, max_ids, symbols.depth, open_leaves=True)
    bracketed = Brackets(symbols, 3 * (max_ids - 1) + 1, True, symbols.depth, open_leaves=True)
    row = list(ids(template, symbols))
    if right:
        assert everything(constraint, row, max_ids) == right
        found = everything(bracketed, bracketed_row(row, symbols), bracketed.max_ids)
        assert {tuple(symbols.encode(symbols.decode_bracketed(each))) for each in found} == right
    else:
        with pytest.raises(ConfigError, match="the shortest tree has"):
            constraint.start(batch_of([row]))


def corpus(seed: int, count: int = 12) -> tuple[TreeSymbols, list[list[int]], list[list[int]]]:
    """Symbols with the rows of trees and of their templates of 3 levels."""
    rng = random.Random(seed)
    trees = [random_tree(rng, rng.randint(2, 7)) for _ in range(count)]
    symbols = TreeSymbols.build(trees, 5)
    return symbols, [symbols.encode(each) for each in trees], [symbols.encode(cut(each, 3)) for each in trees]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kept", [False, True])
def test_nothing_right_is_forbidden(seed: int, kept: bool) -> None:
    symbols, trees, templates = corpus(seed)
    for row, template in zip(trees, templates, strict=True):
        max_ids = len(row) + 1  # with no room to spare
        constraint = KeptTemplate(symbols, max_ids) if kept else WellFormed(symbols, max_ids)
        state = constraint.start(batch_of([template]))
        for token in [*row, EOS]:
            assert constraint.mask(state)[0, token]
            state = constraint.advance(torch.tensor([token]), state)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kept", [False, True])
def test_whatever_is_chosen_is_a_right_tree_in_time(seed: int, kept: bool) -> None:
    symbols, _, templates = corpus(seed)
    generator = torch.Generator().manual_seed(seed)
    max_ids = max(len(row) for row in templates) * 2 + 2
    constraint = KeptTemplate(symbols, max_ids) if kept else WellFormed(symbols, max_ids)
    state, written = constraint.start(batch_of(templates)), list[Tensor]()
    for _ in range(max_ids):
        tokens = torch.multinomial(constraint.mask(state).float(), 1, generator=generator)[:, 0]
        written.append(tokens)
        state = constraint.advance(tokens, state)
    for row, template in zip(torch.stack(written, 1).tolist(), templates, strict=True):
        tree = symbols.decode(row[: row.index(EOS)])
        assert breaks(pairs_of(tree), symbols, pairs_of(symbols.decode(template)) if kept else ()) is None


def test_select_reorders_repeats_and_drops_rows() -> None:
    symbols, _, templates = corpus(3)
    constraint = KeptTemplate(symbols, 80)
    state = constraint.start(batch_of(templates))
    for _ in range(4):
        state = constraint.advance(constraint.mask(state).long().argmax(1), state)
    index = torch.tensor([5, 0, 5, 2])
    wanted = constraint.mask(state)[index]
    tokens = wanted.long().argmax(1)
    assert constraint.mask(state.select(index)).equal(wanted)
    after = constraint.advance(tokens, state.select(index))
    assert constraint.mask(after)[0].equal(constraint.mask(after)[2])


def test_the_worked_example_grows_below_its_template_alone() -> None:
    whole = read_tree("(S (NP (PRP)) (VP (VBD) (NP (DT) (NN))))", words=False)
    symbols = TreeSymbols.build([whole], 8)
    constraint = KeptTemplate(symbols, 20)
    state = constraint.start(batch_of([symbols.encode(cut(whole, 3))]))
    allowed = []
    for label, level in pairs_of(whole):
        tokens = constraint.mask(state)[0].nonzero()[:, 0].tolist()
        allowed.append([write_node(symbols, each) for each in tokens])
        state = constraint.advance(torch.tensor([symbols.symbol(label, level)]), state)
    assert allowed[:6] == [["S1"], ["NP2"], ["PRP3"], ["VP2"], ["VBD3"], ["NP3"]]
    assert sorted(allowed[6]) == sorted(f"{label}4" for label in symbols.labels)  # VP and NP as well, with children
    assert "<eos>" not in allowed[6]
    assert "<eos>" in allowed[7]


def write_node(symbols: TreeSymbols, symbol: int) -> str:
    if symbol < FIRST:
        return ["<pad>", "<unk>", "<bos>", "<eos>"][symbol]
    return f"{symbols.labels[(symbol - FIRST) // symbols.depth]}{(symbol - FIRST) % symbols.depth + 1}"


def test_a_template_that_breaks_the_rules_of_labels_is_kept() -> None:
    symbols = TreeSymbols.build([read_tree("(S (NP (PRP)) (VP (VBD)))", words=False)], 8)
    text = "(PRP (S) (VBD (NP) (PRP)))"
    found = everything(KeptTemplate(symbols, 8, 3), symbols.encode(read_tree(text, words=False)), 8)
    assert {write_tree(cut(symbols.decode(each), 3)) for each in found} == {text}
    assert min(len(each) for each in found) == 6  # the phrase at level 3 is expanded, the one at level 2 is not


def test_specials_around_a_template_are_no_nodes() -> None:
    symbols, _, templates = corpus(1)
    bare, framed = batch_of(templates), batch_of([[BOS, *row, EOS] for row in templates])
    constraint = KeptTemplate(symbols, 80)
    one, other = constraint.start(bare).template, constraint.start(framed).template
    assert one.nodes.equal(other.nodes)
    assert one.remaining.equal(other.remaining)


@pytest.mark.parametrize("kept", [False, True])
def test_specials_but_the_end_are_never_written(kept: bool) -> None:
    symbols, _, templates = corpus(2)
    constraint = KeptTemplate(symbols, 60) if kept else WellFormed(symbols, 60)
    state = constraint.start(batch_of(templates))
    for _ in range(20):
        mask = constraint.mask(state)
        assert not mask[:, [PAD, UNK, BOS]].any()
        state = constraint.advance(mask.long().argmax(1), state)


def test_rows_that_a_search_has_given_up_break_nothing() -> None:
    symbols, _, templates = corpus(4)
    generator = torch.Generator().manual_seed(0)
    constraint = KeptTemplate(symbols, 40)
    state = constraint.start(batch_of(templates))
    for _ in range(60):
        tokens = torch.randint(symbols.size, (len(templates),), generator=generator)
        state = constraint.advance(tokens, state)
        assert constraint.mask(state).any(1).all()


def test_a_template_without_room_names_its_row_and_the_ids_it_needs() -> None:
    symbols, _, templates = corpus(0)
    state = KeptTemplate(symbols, 200).start(batch_of(templates))
    needed = [int(each) + 1 for each in state.template.remaining[:, 0]]
    KeptTemplate(symbols, max(needed)).start(batch_of(templates))
    with pytest.raises(ConfigError, match=rf"^row {needed.index(max(needed)) + 1}: .* {max(needed)} ids"):
        KeptTemplate(symbols, max(needed) - 1).start(batch_of(templates))


@pytest.mark.parametrize("levels", [(2,), (1, 3), (1, 2, 1), (1, 2, 4)])
def test_a_template_that_is_no_tree_names_its_row(levels: tuple[int, ...]) -> None:
    symbols = TreeSymbols(("A",), 5, (True,), (True,))
    row = [symbols.symbol("A", level) for level in levels]
    with pytest.raises(TreeError, match=r"^template, row 2: its levels are no tree's"):
        KeptTemplate(symbols, 20, 5).start(batch_of([[symbols.symbol("A", 1)], row]))


def test_no_labels_are_refused() -> None:
    with pytest.raises(ConfigError, match="no labels"):
        WellFormed(TreeSymbols((), 8, (), ()), 50)


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_every_hypothesis_of_a_beam_is_a_right_tree(kept: bool, seed: int) -> None:
    symbols, _, templates = corpus(seed, 6)
    constraint = KeptTemplate(symbols, 40) if kept else WellFormed(symbols, 40)
    model: Any = Chain(symbols.size, seed, sharpness=3)
    found = beam_search(
        model, batch_of(templates), beam=4, max_ids=40, begin=BOS, end=EOS, length_power=1.0, constraint=constraint
    )
    for row, template in zip(found, templates, strict=True):
        assert 1 <= len({tuple(each.tokens) for each in row}) == len(row) <= 4
        for each in row:
            assert len(each.tokens) < 40
            tree = pairs_of(symbols.decode(each.tokens))
            assert breaks(tree, symbols, pairs_of(symbols.decode(template)) if kept else ()) is None
