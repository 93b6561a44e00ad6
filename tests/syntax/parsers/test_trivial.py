"""The trivial baseline of parsers, on a treebank that is counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.io.errors import DataError
from espalier.syntax.constituency import read_tree, tags, words, write_tree
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import EMPTY, NO_ROUND_TRIP
from espalier.syntax.parsers.trivial_backend import TrivialModel, TrivialTraining, counted, load, train_trivial


def parse_of(text: str, heads: tuple[int, ...] = (), labels: tuple[str, ...] = ()) -> Parse:
    tree = read_tree(text)
    return Parse(words(tree), tags(tree), write_tree(tree), heads, labels)


#: "pear" is twice a noun and once a verb. Of the constituents of two words below a root three are NP and two VP.
BANK = [
    parse_of("(S (NP (DT the) (NN pear)) (VP (VBZ is) (NP (DT a) (NN fruit))) (. .))", (2, 3, 0, 5, 3, 3),
             ("det", "nsubj", "root", "det", "obj", "punct")),
    parse_of("(S (VP (VB pear) (NP (DT the) (NN pear))) (. .))", (0, 3, 1, 1), ("root", "det", "obj", "punct")),
    parse_of("(NP (NN fruit))", (0,), ("root",)),
]  # fmt: skip


def test_the_counts_are_those_by_hand() -> None:
    model = counted(BANK)
    assert model.tags == {"the": "DT", "pear": "NN", "is": "VBZ", "a": "DT", "fruit": "NN", ".": "."}
    assert (model.tag, model.root, model.label) == ("NN", "S", "NP")
    assert model.heads == "next"  # the, pear and a; the: none depends on the word before it
    assert counted([Parse(("a", "b"), ("X", "Y"), heads=(0, 1), labels=("root", "dep"))]).heads == "previous"
    assert model.relations == {"DT": "det", "NN": "obj", "VBZ": "root", ".": "punct", "VB": "root"}


def test_a_tree_branches_to_the_right_and_each_word_depends_on_the_same_neighbour(tmp_path: Path) -> None:
    train_trivial(
        BANK, [], TrivialTraining(), tmp_path / "model", tmp_path, seed=1, watch=lambda done, total, note: None
    )
    parser = load(tmp_path / "model")
    assert parser.signature.startswith("trivial ")
    long, one, none, spaced = parser.parse([("a", "blue", "pear", "."), "pear", "", ("a pear", ".")])
    assert isinstance(long, Parse) and isinstance(one, Parse) and (none, spaced) == (EMPTY, NO_ROUND_TRIP)
    assert long.tree == "(S (NP (DT a) (NP (NN blue) (NN pear))) (. .))"
    assert long.tags == ("DT", "NN", "NN", ".") and long.heads == (2, 3, 4, 0)
    assert long.labels == ("det", "obj", "obj", "root")
    assert (one.tree, one.heads, one.labels) == ("(S (NN pear))", (0,), ("root",))


def test_what_a_treebank_lacks_is_not_predicted() -> None:
    model = counted([Parse(("a", "pear"), ("DT", "NN"))])
    assert (model.root, model.heads) == ("", None)
    assert TrivialModel(tags={}, tag="X", heads="previous").heads == "previous"
    with pytest.raises(DataError, match="no sentence with tags"):
        counted([Parse(("a",))])
