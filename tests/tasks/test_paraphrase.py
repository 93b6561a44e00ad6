"""Writing texts and trees of pairs: what is asked for, what is never written, and what is a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from espalier.decoding.paraphrase import PairDecoder, pair_constraint, tree_text, write_pairs
from pydantic import ValidationError
from torch import Tensor

from espalier.datasets.pairs.data import PairBatch, PairData, PairView
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.levels import cut

TREES = ["(S (NP (DT) (NN)) (VP (VB) (NP (NN))))", "(S (NP (NN)) (VP (VB)))", "(SINV (VP (VB)) (NP (DT) (NN)))"]
SYMBOLS = TreeSymbols.build([read_tree(tree, words=False) for tree in TREES], 4)
VOC = PairVocabulary.build(["a lamp glows low"], SYMBOLS, "en", pieces=30, lower=True)
PARSES = [SYMBOLS.encode(read_tree(tree, words=False)) for tree in TREES]
TEXTS = VOC.encode_texts(["a lamp", "low lamp glows", "glows"])
DATA = PairData.of(
    list("abc"), {"source": TEXTS, "target": TEXTS, "source_tree": PARSES[::-1], "target_tree": PARSES}, VOC
)


def view(writes: Any = "tree", form: Any = "levels", template: int = 2) -> PairView:
    return PairView(("source_tree", "template"), writes, form, template)


@dataclass
class State:
    rows: Tensor
    time: int

    def select(self, index: Tensor) -> State:
        return State(self.rows[index], self.time)


@dataclass
class Waves:
    """Scores of ids that depend on the row, the last id and the time; ends and specials are what it likes best."""

    size: int

    def start(self, batch: PairBatch) -> State:
        return State(torch.arange(len(batch)), 0)

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        place = torch.arange(self.size)[None] * 2.3 + (tokens * 1.9 + state.rows * 0.7 + state.time * 1.1)[:, None]
        scores = torch.sin(place)
        scores[:, : EOS + 1] += 2
        return scores.log_softmax(1), State(state.rows, state.time + 1)


def size_of(seen: PairView) -> int:
    if seen.writes == "text":
        return VOC.text_size
    return SYMBOLS.size if seen.form == "levels" else SYMBOLS.bracketed_size


def written(decoder: PairDecoder, seen: PairView) -> list[list[list[int]]]:
    model: Any = Waves(size_of(seen))
    batch = DATA.batch(np.arange(3), seen)
    return [
        [each.tokens for each in found]
        for found in write_pairs(model, batch, decoder, pair_constraint(decoder, seen, VOC))
    ]


# --- what is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seen", [view("text"), view(), view(form="brackets")], ids=["text", "levels", "brackets"])
def test_specials_are_never_written(seen: PairView) -> None:
    decoder = PairDecoder(beam=3, steps=6)
    constraint = pair_constraint(decoder, seen, VOC)
    mask = constraint.mask(constraint.start(DATA.batch(np.arange(3), seen)))
    assert mask.shape == (3, size_of(seen))
    assert [place for place, allowed in enumerate(mask[1].tolist()) if not allowed] == [PAD, UNK, BOS]
    for found in written(decoder, seen):
        assert len(found) == 3 and all(not {PAD, UNK, BOS, EOS} & {*ids} and len(ids) <= 6 for ids in found)


@pytest.mark.parametrize("form", ["levels", "brackets"])
def test_under_a_constraint_every_hypothesis_is_a_tree_in_time(form: Any) -> None:
    seen = view(form=form)
    for steps in (14, 32):
        for found in written(PairDecoder(beam=4, steps=steps, constraint="tree"), seen):
            assert len(found) == 4 and all(len(ids) < steps for ids in found)
            assert all(tree_text(ids, seen, VOC) for ids in found)


@pytest.mark.parametrize("form", ["levels", "brackets"])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_template_is_kept_down_to_the_view_s_level(form: Any, levels: int) -> None:
    seen = view(form=form, template=levels)
    found = written(PairDecoder(beam=2, steps=40, constraint="template"), seen)
    for tree, hypotheses in zip(TREES, found, strict=True):
        for ids in hypotheses:
            text = tree_text(ids, seen, VOC)
            assert write_tree(cut(read_tree(text, words=False), levels)) == write_tree(
                cut(read_tree(tree, words=False), levels)
            )


def test_a_constraint_of_trees_is_not_for_texts() -> None:
    for constraint in ("tree", "template"):
        decoder = PairDecoder(constraint=constraint)
        with pytest.raises(ConfigError, match=f"constraint {constraint} is for trees; none, for texts"):
            pair_constraint(decoder, view("text"), VOC)


def test_a_beam_is_as_wide_as_asked_for_and_the_longer_may_win() -> None:
    seen = view("text")
    assert [len(found) for found in written(PairDecoder(beam=5, steps=4), seen)] == [5, 5, 5]
    short, long = (
        sum(len(found[0]) for found in written(PairDecoder(beam=4, steps=9, length_power=power), seen))
        for power in (0.0, 3.0)
    )
    assert short < long


# --- trees as text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", TREES)
def test_ids_are_written_as_their_tree(tree: str) -> None:
    ids = SYMBOLS.encode(read_tree(tree, words=False))
    assert tree_text(ids, view(), VOC) == tree
    assert tree_text(SYMBOLS.encode_bracketed(ids), view(form="brackets"), VOC) == tree


@pytest.mark.parametrize("form", ["levels", "brackets"])
def test_ids_that_are_no_tree_are_written_as_nothing(form: Any) -> None:
    rows = {
        "levels": [[], PARSES[0][1:], PARSES[0] + PARSES[1], [SYMBOLS.size]],
        "brackets": [[], [4], [4, 6], [4, 6, 5, 5], [6, 7], [4, 6, 5, 4, 6, 5], [4, SYMBOLS.bracketed_size, 5]],
    }
    assert [tree_text(ids, view(form=form), VOC) for ids in rows[form]] == [""] * len(rows[form])


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam": 0}, "beam"),
        ({"steps": 1}, "steps"),
        ({"length_power": -1}, "length_power"),
        ({"min_ids": -1}, "min_ids"),
        ({"min_ids": 6, "steps": 6}, "min_ids: 6 and an end do not fit into 6 steps"),
        ({"min_ids": 2, "constraint": "tree"}, "min_ids: 2 is for texts"),
        ({"rows": -1}, "rows"),
        ({"guide": "source"}, "guide"),
        ({"template": "mine"}, "template"),
        ({"constraint": "text"}, "constraint"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PairDecoder(**changes)


def test_the_defaults_are_the_paper_s() -> None:
    decoder = PairDecoder()
    assert (decoder.beam, decoder.length_power, decoder.guide, decoder.constraint) == (8, 0.0, "target", "none")
    assert decoder.steps == 52  # 50 and both ends
