"""Writing replies: what is never written, where they are cut, and in which order a tree's words are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from espalier.decoding.dialogue import DialogueDecoder, Reply, replies
from pydantic import ValidationError
from torch import Tensor

from espalier.datasets.dialogue.data import DialogueBatch, DialogueData, DialogueView
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, SPECIALS, UNK, WordVocabulary
from espalier.io.errors import ConfigError
from espalier.syntax.ternary import EOB, heads_of

VOC = WordVocabulary(("山", "桥", "灯", "雨", "石"), "zh")
DATA = DialogueData.of(
    list("abc"),
    {"source": [[5, 6], [7], [8, 9, 5]], "target": [[5]] * 3, "order": [[0]] * 3, "children": [[EOB] * 3] * 3},
    VOC,
)


@dataclass
class Rows:
    """Prefixes, or nodes: which post each answers, and what came before it as a number."""

    rows: Tensor
    handed: Tensor

    def select(self, index: Tensor) -> Rows:
        return Rows(self.rows[index], self.handed[index])


def waves(rows: Tensor, past: Tensor, ends: float) -> Tensor:
    """(n, vocabulary) log-probabilities; specials are what these like best, and ends as much as `ends` says."""
    scores = torch.sin(torch.arange(VOC.text_size)[None] * 2.3 + (past + rows * 0.7)[:, None])
    scores[:, [PAD, UNK, BOS, SEP]] += 3
    scores[:, EOS] = ends
    return scores.log_softmax(1)


@dataclass
class Chain:
    ends: float

    def start(self, batch: DialogueBatch) -> Rows:
        return Rows(torch.arange(len(batch)), torch.zeros(len(batch)))

    def step(self, tokens: Tensor, state: Rows) -> tuple[Tensor, Rows]:
        past = state.handed * 0.6 + tokens * 1.9
        return waves(state.rows, past, self.ends), Rows(state.rows, past)


@dataclass
class Trees:
    arity: int
    ends: float

    def start(self, batch: DialogueBatch) -> Rows:
        return Rows(torch.arange(len(batch)), torch.zeros(len(batch)))

    def roots(self, state: Rows) -> Tensor:
        return waves(state.rows, state.handed, self.ends)

    def nodes(self, tokens: Tensor, handed: Tensor | None, state: Rows) -> Rows:
        above = torch.zeros(len(tokens)) if handed is None else handed[:, 0]
        below = (above * 0.6 + tokens * 1.9)[:, None] + torch.arange(self.arity)
        return Rows(state.rows, below[..., None])

    def child(self, k: int, nodes: Rows, earlier: Tensor) -> Tensor:
        return waves(nodes.rows, nodes.handed[:, k, 0] + 1.3 * earlier.sum(1), self.ends)


CHAIN, TREE, LINE = Chain(1.0), Trees(3, 2.0), Trees(1, 1.0)
MODELS = {"chain": CHAIN, "tree": TREE, "line": LINE}


def batch(model: Any) -> DialogueBatch:
    view = DialogueView("tree", model.arity) if hasattr(model, "arity") else DialogueView("chain")
    return DATA.batch(np.arange(3), view)


def written(model: Any, **settings: Any) -> list[list[Reply]]:
    return replies(model, batch(model), DialogueDecoder(**settings), VOC)


# --- what is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_a_reply_has_words_and_no_special_one(name: str) -> None:
    for found in written(MODELS[name], beam=4, words=8):
        assert len(found) == 4
        for each in found:
            assert each.words and not {*each.words} & {*SPECIALS}
            assert (each.nodes is None) == (name != "tree")


@pytest.mark.parametrize("name", MODELS)
def test_the_best_come_first_and_none_twice(name: str) -> None:
    for found in written(MODELS[name], beam=5, words=8):
        scores = [each.log_probability for each in found]
        assert scores == sorted(scores, reverse=True) and max(scores) < 0
        keys = {(*each.words, each.nodes.tobytes() if each.nodes is not None else b"") for each in found}
        assert len(keys) == 5 or any(each.cut for each in found)


@pytest.mark.parametrize(
    ("model", "more"), [(Chain(-30.0), 0), (Trees(1, -30.0), 0), (Trees(3, -30.0), 2)], ids=["chain", "line", "tree"]
)
def test_a_reply_that_does_not_end_is_cut_at_the_cap_of_words(model: Any, more: int) -> None:
    for words in (1, 4):
        for found in written(model, beam=2, words=words):
            # The last group of a tree's children may be of three.
            assert all(each.cut and words <= len(each.words) <= words + more for each in found)


@pytest.mark.parametrize("name", MODELS)
def test_a_reply_that_ends_before_the_cap_is_not_cut(name: str) -> None:
    found = [each for row in written(MODELS[name], beam=6, words=40) for each in row]
    assert any(not each.cut for each in found)
    assert all(bool(each.cut) == (len(each.words) >= 40) for each in found)


@pytest.mark.parametrize("name", MODELS)
def test_no_reply_is_shorter_than_the_least(name: str) -> None:
    assert any(len(each.words) < 5 for row in written(MODELS[name], beam=4, words=9) for each in row)
    for found in written(MODELS[name], beam=4, least=5, words=9):
        assert found and all(len(each.words) >= 5 for each in found)
    with pytest.raises(ConfigError, match=r"decoder\.least: at least 5 words, where 4 are the most; at most 4"):
        written(MODELS[name], beam=4, least=5, words=4)


def test_a_reply_of_as_many_words_as_the_cap_is_taken_as_it_stands() -> None:
    (found, *_) = written(Chain(30.0), beam=2, words=1)
    assert [each.cut for each in found] == ["words"] * 2 and all(len(each.words) == 1 for each in found)
    (found, *_) = written(Chain(30.0), beam=2, words=2)
    assert [each.cut for each in found] == [""] * 2 and all(len(each.words) == 1 for each in found)


def test_of_replies_with_the_same_words_the_best_is_kept() -> None:
    for found in written(Trees(3, 1.2), beam=12, words=3):
        assert len({tuple(each.words) for each in found}) == len(found) > 1
        scores = [each.log_probability for each in found]
        assert scores == sorted(scores, reverse=True)


def test_a_tree_is_cut_at_its_levels() -> None:
    for found in written(Trees(3, 1.2), beam=4, words=50, depth=2):
        deep = [each for each in found if each.cut == "depth"]
        assert deep and all(2 <= len(each.words) <= 4 for each in deep)
        assert all(each.nodes is not None and (each.nodes[1:] == EOB).all() for each in deep)


def test_a_line_is_no_deeper_than_its_words() -> None:
    for found in written(Trees(1, -30.0), beam=2, words=6, depth=2):
        assert all(each.cut and len(each.words) == 6 for each in found)


@pytest.mark.parametrize("settings", [{"beam": 1}, {"beam": 3}, {"beam": 6}])
def test_a_tree_of_one_child_is_a_chain(settings: dict[str, Any]) -> None:
    """The chain model reads the begin mark where the tree's root reads nothing: begin there is made to count 0."""

    class Begun(Chain):
        def step(self, tokens: Tensor, state: Rows) -> tuple[Tensor, Rows]:
            return super().step(torch.where(tokens == BOS, 0, tokens), state)

    chains = written(Begun(2.0), **settings)
    lines = written(Trees(1, 2.0), **settings, local=6)
    for chain, line in zip(chains, lines, strict=True):
        assert [each.words for each in chain] == [each.words for each in line]
        assert [each.cut for each in chain] == [each.cut for each in line]
        scores = [[each.log_probability for each in found] for found in (chain, line)]
        assert scores[0] == pytest.approx(scores[1], abs=1e-5)


class Told:
    """A tree model that writes one tree: the word of each place, the root's "" and its children's "0", "1", "2", ..."""

    arity = 3

    def __init__(self, words: dict[str, str]) -> None:
        self.places = sorted(words, key=lambda place: (len(place), place))
        self.words = words

    def start(self, batch: DialogueBatch) -> Rows:
        return Rows(torch.arange(len(batch)), torch.zeros(len(batch), dtype=torch.long))

    def roots(self, state: Rows) -> Tensor:
        return torch.stack([self._logs("") for _ in state.rows])

    def nodes(self, tokens: Tensor, handed: Tensor | None, state: Rows) -> Rows:
        """Each child is handed its place's number, or -1 where nothing is to be written."""
        above = [""] * len(tokens) if handed is None else [self._name(int(each)) for each in handed[:, 0]]
        below = [[[self._number(f"{place}{k}")] for k in range(3)] for place in above]
        return Rows(state.rows, torch.tensor(below))

    def child(self, k: int, nodes: Rows, earlier: Tensor) -> Tensor:
        return torch.stack([self._logs(self._name(int(number))) for number in nodes.handed[:, k, 0]])

    def _number(self, place: str) -> int:
        return self.places.index(place) if place in self.words else -1

    def _name(self, number: int) -> str:
        return self.places[number] if number >= 0 else "none"

    def _logs(self, place: str) -> Tensor:
        scores = torch.zeros(VOC.text_size)
        scores[VOC.id_of(self.words[place]) if place in self.words else EOS] = 9.0
        return scores.log_softmax(0)


def test_words_stand_in_the_order_of_the_sentence() -> None:
    # Left part, word, middle part, right part: a right child follows on all that is below its elder sibling.
    told: Any = Told({"": "灯", "0": "山", "02": "桥", "1": "雨", "12": "石", "10": "桥"})
    for found in written(told, beam=2, local=4, words=20):
        assert found[0].words == ["山", "桥", "灯", "桥", "雨", "石"] and found[0].cut == ""
        assert found[0].nodes is not None and heads_of(found[0].nodes) == (3, 3, 0, 5, 3, 3)


@pytest.mark.parametrize("order", ["any", "first"])
@pytest.mark.parametrize("stop", ["sure", "paper"])
def test_orders_and_stops_are_those_of_the_search(order: Any, stop: Any) -> None:
    for found in written(TREE, beam=3, words=6, order=order, stop=stop):
        assert 1 <= len(found) <= 3 and found[0].words


# --- what cannot be ---------------------------------------------------------------------------------------------------


def test_trees_without_an_order_of_words_are_refused() -> None:
    model: Any = Trees(2, 1.0)
    with pytest.raises(ConfigError, match="decoder: trees of 2 children a node have no order of words; arity 3, or 1"):
        replies(model, batch(CHAIN), DialogueDecoder(), VOC)


def test_more_groups_than_there_are_are_refused() -> None:
    written(TREE, local=216, words=3)  # five words and none: 6^3 groups
    with pytest.raises(ConfigError, match="a local beam of 217, where 6 tokens make 216 groups of 3; at most 216"):
        written(TREE, local=217)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam": 0}, "beam"),
        ({"local": 0}, "local"),
        ({"least": 0}, "least"),
        ({"words": 0}, "words"),
        ({"depth": 0}, "depth"),
        ({"posts": -1}, "posts"),
        ({"skip": -1}, "skip"),
        ({"order": "last"}, "order"),
        ({"stop": "never"}, "stop"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DialogueDecoder(**changes)


def test_the_defaults_are_the_paper_s() -> None:
    decoder = DialogueDecoder()
    assert (decoder.beam, decoder.local, decoder.order) == (6, 6, "any")
