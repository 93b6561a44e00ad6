"""Linearized pairs and their batches: every row is there, and nothing else is."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.pairs.data import ROWS, PairBatch, PairData, PairView, bracketed, cut_at_random, top_levels
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.ragged import Ragged
from espalier.datasets.vocabulary import BOS, EOS, PAD
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import read_tree
from espalier.syntax.levels import cut
from tests.datasets.pairs.bracketed_rows import bracketed_row

TREES = [
    "(S (NP (DT) (NN)) (VP (VBZ) (NP (DT) (JJ) (NN))))",
    "(NP (NN))",
    "(S (VP (VB) (PP (IN) (NP (NN)))))",
    "(FRAG)",
]
SYMBOLS = TreeSymbols.build([read_tree(each, words=False) for each in TREES], 8)
VOC = PairVocabulary.build(["a heron waits", "the lamp"], SYMBOLS, "en", pieces=40, lower=True)
TEXTS = [[5, 6, 7], [8], [9, 10, 11, 12, 13], [14, 15]]
PARSES = [SYMBOLS.encode(read_tree(each, words=False)) for each in TREES]
COLUMN_ROWS = {
    "source": TEXTS,
    "target": TEXTS[::-1],
    "source_tree": [PARSES[1], PARSES[2], PARSES[3], PARSES[0]],
    "target_tree": PARSES,
}
DATA = PairData.of(list("abcd"), COLUMN_ROWS, VOC)
ALL = np.arange(4)
VIEW = PairView(ROWS)


def stripped(rows: torch.Tensor) -> list[list[int]]:
    """Rows without their padding, which must stand at their ends."""
    found = []
    for row in rows.tolist():
        length = sum(each != PAD for each in row)
        assert PAD not in row[:length]
        found.append(row[:length])
    return found


# --- What a batch holds -----------------------------------------------------------------------------------------------


def test_every_row_is_the_pair_s_own() -> None:
    batch = DATA.batch(np.array([2, 0]), VIEW)
    assert stripped(batch.source) == [TEXTS[2], TEXTS[0]]
    assert stripped(batch.source_tree) == [PARSES[3], PARSES[1]]
    assert stripped(batch.target_tree) == [PARSES[2], PARSES[0]]
    assert stripped(batch.inputs) == [[BOS, *TEXTS[1]], [BOS, *TEXTS[3]]]
    assert stripped(batch.target) == [[*TEXTS[1], EOS], [*TEXTS[3], EOS]]
    assert all(getattr(batch, field.name).dtype == torch.int64 for field in fields(batch))
    assert len(batch) == 2 and batch.device == torch.device("cpu")


def test_the_words_of_both_sides_are_in_lower_case() -> None:
    vocabulary = PairVocabulary.build(["A Heron waits ?", "the lamp"], SYMBOLS, "en", pieces=40, lower=False)
    columns = {
        "source": vocabulary.encode_texts(["A Heron", "the lamp"]),
        "target": vocabulary.encode_texts(["Heron waits", "lamp the"]),
        "source_tree": PARSES[:2],
        "target_tree": PARSES[2:],
    }
    data = PairData.of(["a", "b"], columns, vocabulary)
    assert data.words() == {"a", "heron", "waits", "the", "lamp"}
    every = {"aheron", "heronwaits", "thelamp", "lampthe"}
    assert data.letters(every | {"", "heron"}) == every and data.letters({"thelamp", "waits"}) == {"thelamp"}
    marks = {name: vocabulary.encode_texts(["?", "the lamp"]) for name in ("source", "target")}
    assert PairData.of(["a", "b"], {**columns, **marks}, vocabulary).letters(every | {""}) == {"thelamp"}


@pytest.mark.parametrize("levels", [1, 2, 3, 8])
def test_a_template_is_the_target_s_tree_cut(levels: int) -> None:
    wanted = [SYMBOLS.encode(cut(read_tree(tree, words=False), levels)) for tree in TREES]
    assert stripped(DATA.batch(ALL, replace(VIEW, template=levels)).template) == wanted
    found = top_levels(DATA.columns["target_tree"], levels, VOC)
    assert [found.flat[i:j].tolist() for i, j in pairwise(found.offsets)] == wanted


def test_a_template_that_is_given_is_taken_as_it_is() -> None:
    given_ = [PARSES[0], [], PARSES[3], PARSES[1]]
    data = PairData.of(list("abcd"), COLUMN_ROWS, VOC, given_)
    assert stripped(data.batch(ALL, VIEW).template) == given_
    brackets = stripped(data.batch(ALL, replace(VIEW, form="brackets")).template)
    assert brackets == [bracketed_row(row, SYMBOLS) for row in given_]


def test_a_model_of_trees_writes_the_target_s_tree() -> None:
    batch = DATA.batch(ALL, PairView(("source_tree",), "tree"))
    assert stripped(batch.inputs) == [[BOS, *row] for row in PARSES]
    assert stripped(batch.target) == [[*row, EOS] for row in PARSES]
    assert batch.real.sum() == sum(len(row) + 1 for row in PARSES)


def test_brackets_take_three_ids_a_node_wherever_a_tree_stands() -> None:
    batch = DATA.batch(ALL, PairView(ROWS, "tree", "brackets"))
    for name in ("source_tree", "target_tree"):
        assert stripped(getattr(batch, name)) == [bracketed_row(row, SYMBOLS) for row in COLUMN_ROWS[name]]
    tops = [SYMBOLS.encode(cut(read_tree(tree, words=False), 3)) for tree in TREES]
    assert stripped(batch.template) == [bracketed_row(row, SYMBOLS) for row in tops]
    assert stripped(batch.target) == [[*bracketed_row(row, SYMBOLS), EOS] for row in PARSES]
    assert stripped(batch.source) == TEXTS


@given(st.lists(st.sampled_from([[], *PARSES]), max_size=6))
def test_all_rows_at_once_are_bracketed_as_one_by_one(rows: list[list[int]]) -> None:
    found = bracketed(Ragged.of(rows), VOC)
    assert [found.flat[i:j].tolist() for i, j in pairwise(found.offsets)] == [
        bracketed_row(row, SYMBOLS) for row in rows
    ]


def test_ends_stand_round_encoders_rows_and_only_those() -> None:
    plain, ended = DATA.batch(ALL, VIEW), DATA.batch(ALL, replace(VIEW, boundary_ids=True))
    for name in ROWS:
        wanted = [[BOS, *row, EOS] for row in stripped(getattr(plain, name))]
        assert stripped(getattr(ended, name)) == wanted
    assert torch.equal(ended.inputs, plain.inputs) and torch.equal(ended.target, plain.target)


def test_rows_that_are_not_read_are_not_there() -> None:
    batch = DATA.batch(ALL, PairView(("template",)))
    assert [getattr(batch, name).shape for name in ROWS] == [(4, 0), (4, 0), (4, 0), (4, batch.template.shape[1])]


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=5), st.sampled_from(["levels", "brackets"]),
    st.sampled_from(["text", "tree"]), st.booleans(), st.integers(1, 5),
)  # fmt: skip
def test_a_grain_adds_padding_alone_and_widths_are_its_multiples(
    chosen: list[int], form: Any, writes: Any, boundary_ids: bool, grain: int
) -> None:
    view = PairView(ROWS, writes, form, boundary_ids=boundary_ids)
    exact, padded = (DATA.batch(np.array(chosen), view, grain=each) for each in (1, grain))
    for field in fields(PairBatch):
        one, other = getattr(exact, field.name), getattr(padded, field.name)
        assert stripped(one) == stripped(other)
        assert other.shape[1] % grain == 0 and 0 <= other.shape[1] - one.shape[1] < grain
        assert one.shape[1] == max(map(len, stripped(one)))


def test_neighbours_and_order_change_no_row() -> None:
    whole = DATA.batch(ALL, VIEW)
    for place in ALL:
        alone = DATA.batch(np.array([place]), VIEW)
        for field in fields(PairBatch):
            assert stripped(getattr(alone, field.name))[0] == stripped(getattr(whole, field.name))[place]


def test_a_batch_moves_as_a_whole() -> None:
    moved = DATA.batch(ALL, VIEW).to("meta")
    assert {getattr(moved, field.name).device.type for field in fields(moved)} == {"meta"}


# --- How long rows are ------------------------------------------------------------------------------------------------


def test_an_example_s_size_is_the_same_for_every_model() -> None:
    wanted = [1 + sum(len(COLUMN_ROWS[name][place]) for name in PairData.COLUMNS) for place in range(4)]
    for view in (VIEW, PairView(("source",)), PairView(("template",), "tree", "brackets", boundary_ids=True)):
        assert DATA.sizes(view).tolist() == wanted


@pytest.mark.parametrize(
    ("view", "longest"),
    [
        (PairView(("source",)), 5),
        (PairView(("source",), "tree"), 10),
        (PairView(("source", "target_tree")), 10),
        (PairView(("template",), template=2), 5),
        (PairView(("source_tree",), form="brackets"), 30),
        (PairView(("template",), "tree", "brackets"), 30),
    ],
)  # fmt: skip
def test_the_longest_row_is_counted_with_both_its_ends(view: PairView, longest: int) -> None:
    assert DATA.longest(view) == longest + 2
    batch = DATA.batch(ALL, replace(view, boundary_ids=True))
    assert max(getattr(batch, field.name).shape[1] for field in fields(batch)) <= longest + 2


# --- Other rows, other trees ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("places", [[2, 0], [1, 1, 3], []])
@pytest.mark.parametrize("template", [None, [PARSES[0], [], PARSES[3], PARSES[1]]])
def test_selected_rows_make_the_same_batch(places: list[int], template: list[list[int]] | None) -> None:
    data, chosen = PairData.of(list("abcd"), COLUMN_ROWS, VOC, template), np.array(places, dtype=np.int64)
    selected = data.select(chosen)
    assert selected.ids == ["abcd"[place] for place in places] and (selected.template is None) == (template is None)
    for view in (VIEW, PairView(ROWS, "tree", "brackets", 2)):
        one, other = data.batch(chosen, view), selected.batch(np.arange(len(places)), view)
        assert all(torch.equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))


def test_guides_replace_the_trees_of_targets_and_their_templates() -> None:
    guides = [TREES[2], TREES[0], TREES[2], TREES[1]]
    guided = DATA.with_trees(guides, None)
    batch = guided.batch(ALL, VIEW)
    assert stripped(batch.target_tree) == [PARSES[place] for place in (2, 0, 2, 1)]
    assert stripped(batch.template) == [SYMBOLS.encode(cut(read_tree(tree, words=False), 3)) for tree in guides]
    assert torch.equal(batch.source_tree, DATA.batch(ALL, VIEW).source_tree) and guided.ids == DATA.ids
    assert stripped(DATA.batch(ALL, VIEW).target_tree) == PARSES  # the data themselves stay


def test_templates_that_are_given_leave_the_trees_of_targets() -> None:
    batch = DATA.with_trees(None, [TREES[1], TREES[3], TREES[1], TREES[0]]).batch(ALL, VIEW)
    assert stripped(batch.template) == [PARSES[place] for place in (1, 3, 1, 0)]  # whole, not cut
    assert stripped(batch.target_tree) == PARSES


def test_neither_guides_nor_templates_change_nothing() -> None:
    plain = DATA.with_trees(None, None).batch(ALL, VIEW)
    assert all(torch.equal(getattr(plain, f.name), getattr(DATA.batch(ALL, VIEW), f.name)) for f in fields(plain))


def test_a_tree_with_a_label_that_no_training_tree_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="QP") as caught:
        DATA.with_trees([*TREES[:3], "(S (QP))"], None)
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="QP"):
        DATA.with_trees(None, ["(QP)", *TREES[1:]])


# --- Trees cut in training --------------------------------------------------------------------------------------------


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 0, 3])


def kept_levels(row: list[int], whole: list[int]) -> int:
    """The levels that are left of a tree; the rest must be all of its nodes down to there."""
    levels = SYMBOLS.levels_of(np.array(row)).max()
    assert row == [node for node in whole if SYMBOLS.levels_of(np.array(node)) <= levels]
    return int(levels)


@pytest.mark.parametrize("form", ["levels", "brackets"])
def test_trees_are_cut_in_training_alone_and_by_the_seed(form: Any) -> None:
    view = replace(VIEW, form=form, template=2, cut=1.0)
    plain = DATA.batch(ALL, replace(view, cut=0.0))
    assert torch.equal(DATA.batch(ALL, view).target_tree, plain.target_tree)  # without rng: evaluation and decoding
    one, same, other = (DATA.batch(ALL, view, rng(seed)) for seed in (1, 1, 5))
    assert torch.equal(one.target_tree, same.target_tree)
    assert one.target_tree.shape != other.target_tree.shape or not torch.equal(one.target_tree, other.target_tree)
    for field in fields(plain):
        if field.name != "target_tree":
            assert torch.equal(getattr(one, field.name), getattr(plain, field.name)), field.name
    if form == "brackets":
        alone = DATA.batch(ALL, replace(view, form="levels"), rng(1))
        rows = [bracketed_row(row, SYMBOLS) for row in stripped(alone.target_tree)]
        assert stripped(one.target_tree) == rows


@given(st.floats(0, 1), st.integers(1, 4), st.integers(0, 10_000), st.integers(1, 40))
def test_the_share_is_exact_and_a_cut_tree_is_the_top_of_its_own(
    share: float, least: int, seed: int, copies: int
) -> None:
    deep = [PARSES[0]] * copies  # of 4 levels
    found = cut_at_random(Ragged.of(deep), share, least, rng(seed), VOC)
    rows = [found.flat[i:j].tolist() for i, j in pairwise(found.offsets)]
    levels = [kept_levels(row, whole) for row, whole in zip(rows, deep, strict=True)]
    changed = sum(each < 4 for each in levels)
    if least == 4:
        assert changed == 0  # not deeper than the template
    else:
        assert int(share * len(deep)) <= changed <= int(share * len(deep)) + 1
        assert all(least <= each <= 4 for each in levels)


def test_every_level_and_the_share_come_as_often_as_they_should() -> None:
    trees = Ragged.of([PARSES[0]] * 5)
    kept = [
        kept_levels(found.flat[i:j].tolist(), PARSES[0])
        for seed in range(800)
        for found in [cut_at_random(trees, 0.5, 2, rng(seed), VOC)]
        for i, j in pairwise(found.offsets)
    ]
    shares = [kept.count(levels) / len(kept) for levels in (1, 2, 3, 4)]
    assert shares == pytest.approx([0, 0.25, 0.25, 0.5], abs=0.03)


# --- Files ------------------------------------------------------------------------------------------------------------


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    DATA.save(tmp_path / "train.parquet")
    again = PairData.load(tmp_path / "train.parquet", VOC)
    assert again.ids == DATA.ids and len(again) == 4
    one, other = DATA.batch(ALL, VIEW), again.batch(ALL, VIEW)
    assert all(torch.equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))


def test_no_rows_are_data_as_well(tmp_path: Path) -> None:
    empty = PairData.of([], {name: [] for name in PairData.COLUMNS}, VOC)
    empty.save(tmp_path / "none.parquet")
    for data in (empty, PairData.load(tmp_path / "none.parquet", VOC)):
        assert len(data) == 0 and data.sizes(VIEW).tolist() == [] and data.longest(VIEW) == 2
        for form in ("levels", "brackets"):
            assert len(data.batch(np.arange(0), PairView(ROWS, form=form))) == 0
