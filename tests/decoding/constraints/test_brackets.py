"""Bracketed trees under constraint, against every tree there is: three tokens a node, and one for the end."""

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

from espalier.datasets.pairs.tree_symbols import CLOSE, FIRST_BRACKETED, OPEN, TreeSymbols
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.brackets import Brackets, nodes_of
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import cut
from espalier.syntax.levels import linearize
from espalier.syntax.tree import Tree
from tests.datasets.pairs.bracketed_rows import bracketed_row

sys.path.insert(0, str(Path(__file__).parent))
from constrained_trees import NAMES, Chain, batch_of, everything, random_tree, vocabularies


def trees_of(labels: int, depth: int, most: int) -> list[Tree]:
    """Every tree of at most so many nodes."""

    def forests(nodes: int, level: int) -> list[list[Tree]]:
        if not nodes:
            return [[]]
        if level > depth:
            return []
        splits = range(1, nodes + 1)
        return [[first, *rest] for n in splits for first, rest in product(trees(n, level), forests(nodes - n, level))]

    def trees(nodes: int, level: int) -> list[Tree]:
        return [Tree(label, some) for label in NAMES[:labels] for some in forests(nodes - 1, level + 1)]

    return [tree for nodes in range(1, most + 1) for tree in trees(nodes, 1)]


def right(tree: Tree, symbols: TreeSymbols, template: Tree | None = None, levels: int = 3) -> bool:
    """Whether a tree obeys every rule: written from the rules, a node at a time."""
    deep = 0 if template is None else min(levels, max(linearize(template)[1]))
    if template is not None and linearize(cut(tree, deep)) != linearize(cut(template, deep)):
        return False
    stack = [(tree, 1)]
    while stack:
        node, level = stack.pop()
        stack += [(child, level + 1) for child in node]
        index = symbols.labels.index(node.label())
        opens, ends = symbols.opens[index], symbols.ends[index]
        if deep <= level < symbols.depth:
            fine = opens if len(node) else ends or (level == deep and not opens)
            if not fine:
                return False
    return True


def ids(tree: Tree, symbols: TreeSymbols) -> tuple[int, ...]:
    return tuple(bracketed_row(symbols.encode(tree), symbols))


@settings(deadline=None, max_examples=80)
@given(vocabularies(), st.integers(4, 16), st.integers(1, 3), st.booleans(), st.data())
def test_every_right_tree_that_fits_and_no_other(
    symbols: TreeSymbols, max_ids: int, levels: int, kept: bool, data: st.DataObject
) -> None:
    every = trees_of(len(symbols.labels), symbols.depth, (max_ids - 1) // 3)
    pool = trees_of(len(symbols.labels), symbols.depth, 4)
    template = data.draw(st.sampled_from(pool)) if kept else None
    wanted = {ids(tree, symbols) for tree in every if right(tree, symbols, template, levels)}
    constraint = Brackets(symbols, max_ids, kept, levels)
    row = list(ids(template, symbols)) if template is not None else [OPEN, FIRST_BRACKETED, CLOSE]
    if wanted:
        assert everything(constraint, row, max_ids) == wanted
    else:
        with pytest.raises(ConfigError, match="the shortest tree has"):
            constraint.start(batch_of([row]))


def corpus(seed: int, count: int = 10) -> tuple[TreeSymbols, list[list[int]], list[list[int]]]:
    """Symbols with the bracketed rows of trees and of their templates of 3 levels."""
    rng = random.Random(seed)
    trees = [random_tree(rng, rng.randint(2, 7)) for _ in range(count)]
    symbols = TreeSymbols.build(trees, 5)
    rows = [list(ids(cut(each, 5), symbols)) for each in trees]
    return symbols, rows, [list(ids(cut(each, 3), symbols)) for each in trees]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kept", [False, True])
def test_nothing_right_is_forbidden(seed: int, kept: bool) -> None:
    symbols, trees, templates = corpus(seed)
    for row, template in zip(trees, templates, strict=True):
        constraint = Brackets(symbols, len(row) + 1, kept)  # with no room to spare
        state = constraint.start(batch_of([template]))
        for token in [*row, EOS]:
            mask = constraint.mask(state)
            assert mask[0, token]
            assert not mask[:, [PAD, UNK, BOS]].any()
            state = constraint.advance(torch.tensor([token]), state)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kept", [False, True])
def test_whatever_is_chosen_is_a_right_tree_in_time(seed: int, kept: bool) -> None:
    symbols, _, templates = corpus(seed)
    generator = torch.Generator().manual_seed(seed)
    max_ids = max(len(row) for row in templates) * 2 + 2
    constraint = Brackets(symbols, max_ids, kept)
    state, written = constraint.start(batch_of(templates)), list[Tensor]()
    for _ in range(max_ids):
        tokens = torch.multinomial(constraint.mask(state).float(), 1, generator=generator)[:, 0]
        written.append(tokens)
        state = constraint.advance(tokens, state)
    for row, template in zip(torch.stack(written, 1).tolist(), templates, strict=True):
        tree = symbols.decode_bracketed(row[: row.index(EOS)])
        assert right(tree, symbols, symbols.decode_bracketed(template) if kept else None)


def test_select_reorders_repeats_and_drops_rows() -> None:
    symbols, _, templates = corpus(3)
    constraint = Brackets(symbols, 300, template=True)
    state = constraint.start(batch_of(templates))
    for _ in range(9):
        state = constraint.advance(constraint.mask(state).long().argmax(1), state)
    index = torch.tensor([5, 0, 5, 2])
    wanted = constraint.mask(state)[index]
    assert constraint.mask(state.select(index)).equal(wanted)
    after = constraint.mask(constraint.advance(wanted.long().argmax(1), state.select(index)))
    assert after[0].equal(after[2])


def test_brackets_name_the_symbols_of_their_labels() -> None:
    symbols, trees, _ = corpus(1)
    found = nodes_of(batch_of(trees).template, symbols.depth)
    for row, tree in zip(found.tolist(), trees, strict=True):
        assert [each for each in row if each != PAD] == symbols.encode(symbols.decode_bracketed(tree))


def test_rows_that_a_search_has_given_up_break_nothing() -> None:
    symbols, _, templates = corpus(4)
    generator = torch.Generator().manual_seed(0)
    constraint = Brackets(symbols, 150, template=True)
    state = constraint.start(batch_of(templates))
    for _ in range(200):
        tokens = torch.randint(symbols.bracketed_size, (len(templates),), generator=generator)
        state = constraint.advance(tokens, state)
        assert constraint.mask(state).any(1).all()


def test_a_template_without_room_names_its_row_and_the_ids_it_needs() -> None:
    symbols = TreeSymbols(("S", "x"), 8, (True, False), (False, True))
    small, large = (list(ids(Tree("S", [Tree("x", [])] * many), symbols)) for many in (1, 4))
    with pytest.raises(ConfigError, match=r"^row 2: .* 16 ids, .* 15 are allowed"):
        Brackets(symbols, 15, template=True).start(batch_of([small, large]))
    assert everything(Brackets(symbols, 16, template=True), large, 16) == {tuple(large)}


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_every_hypothesis_of_a_beam_is_a_right_tree(kept: bool, seed: int) -> None:
    symbols, _, templates = corpus(seed, 5)
    constraint, model = Brackets(symbols, 90, kept), Chain(symbols.bracketed_size, seed, sharpness=2)
    searched: Any = model
    found = beam_search(
        searched, batch_of(templates), beam=4, max_ids=90, begin=BOS, end=EOS, length_power=1.0, constraint=constraint
    )
    for row, template in zip(found, templates, strict=True):
        assert 1 <= len({tuple(each.tokens) for each in row}) == len(row) <= 4
        for each in row:
            assert len(each.tokens) < 90
            tree = symbols.decode_bracketed(each.tokens)
            assert right(tree, symbols, symbols.decode_bracketed(template) if kept else None)
