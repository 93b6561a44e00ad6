"""Canonicalized dialogues and their batches: every node is there, by level, under its own parent."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.dialogue.data import DialogueBatch, DialogueData, DialogueView
from espalier.datasets.vocabulary import BOS, EOS, PAD, WordVocabulary
from espalier.io.errors import ConfigError
from espalier.syntax.ternary import EOB, lcrs, ternary

VOC = WordVocabulary(tuple("abcdefghij"), "en")
CHAIN, TREE = DialogueView("chain"), DialogueView("tree")


def data_of(heads: list[tuple[int, ...]]) -> DialogueData:
    """Responses with these trees; word i of response r is 5 + (i + r) % 10, its post is as long as r + 1."""
    trees = [ternary(each) for each in heads]
    columns: dict[str, list[Any]] = {
        "source": [[7] * (row + 1) for row in range(len(heads))],
        "target": [[5 + (i + row) % 10 for i in range(len(each))] for row, each in enumerate(heads)],
        "order": [tree.words for tree in trees],
        "children": [tree.children.ravel() for tree in trees],
    }
    return DialogueData.of([f"r{row}" for row in range(len(heads))], columns, VOC)


@st.composite
def projective(draw: st.DrawFn, most: int = 9) -> tuple[int, ...]:
    """The heads of a projective tree."""
    size = draw(st.integers(1, most))
    heads = [0] * size

    def attach(low: int, high: int, head: int) -> None:
        while low < high:
            root = draw(st.integers(low, high - 1))
            end = draw(st.integers(root + 1, high))
            heads[root] = head
            attach(low, root, root + 1)
            attach(root + 1, end, root + 1)
            low = end

    root = draw(st.integers(0, size - 1))
    attach(0, root, root + 1)
    attach(root + 1, size, root + 1)
    return tuple(heads)


def grown(batch: DialogueBatch, arity: int) -> list[list[Any]]:
    """Each tree as [word, child, ...], read off the batch alone; EOB for none."""
    trees: list[list[Any]] = [[] for _ in range(len(batch))]
    start, above = 0, list[list[Any]]()
    for level, width in enumerate(batch.widths.tolist()):
        row: list[list[Any]] = []
        for node in range(start, start + width):
            tree = [int(batch.tokens[node]), *[EOB] * arity]
            place, owner = int(batch.place[node]), int(batch.owner[node])
            if level == 0:
                assert place == owner
                trees[owner] = tree
            else:
                parent, slot = divmod(place, arity)
                assert above[parent][1 + slot] == EOB
                above[parent][1 + slot] = tree
            row.append(tree)
        above, start = row, start + width
    assert start == len(batch.tokens) == len(batch.below) == len(batch.owner)
    return trees


def expected(data: DialogueData, row: int) -> list[Any]:
    words = data.columns["target"].flat[slice(*data.columns["target"].offsets[row : row + 2])]
    order = data.columns["order"].flat[slice(*data.columns["order"].offsets[row : row + 2])]
    children = data.columns["children"].flat[slice(*data.columns["children"].offsets[row : row + 2])]
    table = children.reshape(-1, data.arity)

    def under(node: int) -> Any:
        return [int(words[order[node]]), *(EOB if c == EOB else under(c) for c in table[node])]

    return list(under(0))


@given(st.lists(projective(), min_size=1, max_size=5), st.randoms())
def test_a_batch_holds_each_tree_as_it_is_whatever_its_neighbours(heads: list[tuple[int, ...]], random: Any) -> None:
    data = data_of(heads)
    chosen = [random.randrange(len(heads)) for _ in range(random.randint(1, 6))]  # rows may come twice
    batch = data.batch(np.array(chosen), TREE)
    assert grown(batch, 3) == [expected(data, row) for row in chosen]


@given(st.lists(projective(), min_size=1, max_size=5))
def test_what_is_below_a_node_are_its_children_s_words_and_ends(heads: list[tuple[int, ...]]) -> None:
    batch = data_of(heads).batch(np.arange(len(heads)), TREE)
    words = sum(map(len, heads))
    assert batch.below.shape == (words, 3)
    assert int((batch.below == EOS).sum()) == 2 * words + len(heads)  # 2 n + 1 a tree
    starts = np.cumsum([0, *batch.widths.tolist()])
    for level, (low, high) in enumerate(pairwise(starts)):
        for node in range(low, high) if level else ():
            before = starts[level - 1]
            assert batch.below[before:].flatten()[batch.place[node]] == batch.tokens[node]


def test_he_says_she_likes_red_apples() -> None:
    data = data_of([(2, 0, 4, 2, 6, 4)])  # says(he, likes(she, apples(red,E,E),E),E)
    batch = data.batch(np.array([0]), TREE)
    he, says, she, likes, red, apples = range(5, 11)
    assert batch.tokens.tolist() == [says, he, likes, she, apples, red]
    assert batch.widths.tolist() == [1, 2, 2, 1]
    assert batch.place.tolist() == [0, 0, 1, 3, 4, 3]
    assert batch.below[:3].tolist() == [[he, likes, EOS], [EOS] * 3, [she, apples, EOS]]


def test_as_a_tree_of_one_child_a_sentence_is_a_chain() -> None:
    data = data_of([(2, 0, 2), (0,)])
    batch = data.batch(np.array([1, 0]), DialogueView("tree", arity=1))
    assert grown(batch, 1) == [[6, EOB], [5, [6, [7, EOB]]]]
    assert batch.widths.tolist() == [2, 1, 1]


def test_trees_of_two_children_are_read_as_trees_of_two() -> None:
    nodes = lcrs([[1, 3], [2], [], []])  # node 0 has children 1 and 3, node 1 has child 2
    columns: dict[str, list[Any]] = {
        "source": [[5]], "target": [[5, 6, 7, 8]], "order": [[0, 1, 2, 3]], "children": [nodes.ravel()],
    }  # fmt: skip
    data = DialogueData.of(["r"], columns, VOC, arity=2)
    assert grown(data.batch(np.array([0]), DialogueView("tree", arity=2)), 2) == [
        [5, [6, [7, EOB, EOB], [8, EOB, EOB]], EOB]
    ]
    with pytest.raises(ConfigError, match="trees of 2 children a node cannot be read with 3"):
        data.batch(np.array([0]), TREE)


def test_a_chain_s_rows_are_shifted_by_one_and_end() -> None:
    batch = data_of([(2, 0, 2), (0,)]).batch(np.array([1, 0]), CHAIN)
    assert batch.source.tolist() == [[7, 7], [7, PAD]]
    assert batch.target.tolist() == [[6, EOS, PAD, PAD], [5, 6, 7, EOS]]
    assert batch.inputs.tolist() == [[BOS, 6, PAD, PAD], [BOS, 5, 6, 7]]
    assert len(batch.tokens) == 0 and len(batch) == 2


@pytest.mark.parametrize("grain", [1, 4, 16])
def test_rows_are_padded_to_the_grain(grain: int) -> None:
    batch = data_of([(2, 0, 2, 3), (0,)]).batch(np.array([0, 1]), CHAIN, grain=grain)
    for rows in (batch.source, batch.inputs, batch.target):
        assert rows.shape[1] % grain == 0
    assert [row[row != PAD].tolist() for row in batch.target] == [[5, 6, 7, 8, EOS], [6, EOS]]
    assert [row[row != PAD].tolist() for row in batch.inputs] == [[BOS, 5, 6, 7, 8], [BOS, 6]]


def test_sizes_count_both_sides_and_an_end_for_every_view() -> None:
    data = data_of([(2, 0, 2), (0,)])
    for view in (CHAIN, TREE):
        assert data.sizes(view).tolist() == [1 + 3 + 1, 2 + 1 + 1]
        assert data.longest(view) == 4


def test_a_saved_split_is_the_same(tmp_path: Path) -> None:
    data = data_of([(2, 0, 2), (0,), (2, 0)])
    data.save(tmp_path / "train.parquet")
    read = DialogueData.load(tmp_path / "train.parquet", VOC)
    assert read.ids == data.ids
    for name, column in data.columns.items():
        assert read.columns[name].flat.tolist() == column.flat.tolist()
        assert read.columns[name].offsets.tolist() == column.offsets.tolist()


@pytest.mark.parametrize("places", [[2, 0], [1, 1, 2], []])
@pytest.mark.parametrize("view", [CHAIN, TREE, DialogueView("tree", arity=1)])
def test_selected_rows_make_the_same_batch(places: list[int], view: DialogueView) -> None:
    data = data_of([(2, 0, 2), (0,), (3, 3, 0)])
    chosen = np.array(places, dtype=np.int64)
    selected = data.select(chosen)
    assert selected.ids == [f"r{place}" for place in places] and selected.arity == data.arity
    one, other = data.batch(chosen, view), selected.batch(np.arange(len(places)), view)
    for field in fields(one):
        assert getattr(one, field.name).tolist() == getattr(other, field.name).tolist()


@given(st.lists(projective(), min_size=1, max_size=6), st.data())
def test_a_part_of_a_batch_has_the_nodes_of_its_rows_alone(heads: list[tuple[int, ...]], drawn: st.DataObject) -> None:
    data, start = data_of(heads), drawn.draw(st.integers(0, len(heads) - 1))
    stop = drawn.draw(st.integers(start + 1, len(heads)))
    for view in (TREE, CHAIN):
        whole = data.batch(np.arange(len(heads)), view, grain=8)
        part, places = whole.part(slice(start, stop))
        alone = data.batch(np.arange(start, stop), view, grain=8)
        for name in ("tokens", "below", "owner", "place", "widths"):
            assert torch.equal(getattr(part, name), getattr(alone, name)), name
        assert torch.equal(part.target, whole.target[start:stop])
        nodes, count = places.places["node"]
        assert torch.equal(whole.tokens[nodes], part.tokens) and count == len(whole.tokens)
