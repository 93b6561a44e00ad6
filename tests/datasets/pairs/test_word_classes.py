"""Words by the labels of their leaves, from pairs and from parses worked out by hand."""

from __future__ import annotations

from espalier.datasets.pairs.data import PairData
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.pairs.word_classes import Lexicon, Pieces
from espalier.datasets.vocabulary import UNK
from espalier.syntax.constituency import read_tree

TREE = "(S (NP (DT a) (NN heron)) (VP (VB waits)))"
DEEP = "(S (NP (NN heron)) (VP (VB waits) (PP (IN by) (NP (DT a) (NN lamp)))))"
SYMBOLS = TreeSymbols.build([read_tree(tree) for tree in (TREE, DEEP)], 3)
VOC = PairVocabulary.build(["a heron waits by the lamp"], SYMBOLS, "en", pieces=24, lower=True)


def ids(word: str) -> tuple[int, ...]:
    return tuple(VOC.encode_texts([word])[0])


def spelt(lexicon: Lexicon) -> dict[str, set[str]]:
    """The words of each class, by walking through their places."""

    def words(place: Pieces, before: tuple[int, ...]) -> set[str]:
        own = {VOC.decode_text(before)} if place.ends else set()
        return own.union(*(words(after, (*before, id_)) for id_, after in place.after.items()))

    return {name: words(first, ()) for name, first in lexicon.classes.items()}


def test_words_of_both_sides_have_the_labels_of_their_leaves_unless_the_tree_was_cut_above_them() -> None:
    texts = [
        list(VOC.encode_texts([text])[0])
        for text in ("a heron waits", "lamp waits", "heron waits by a lamp", "a z waits")
    ]
    trees = [SYMBOLS.encode(read_tree(tree)) for tree in (TREE, "(S (NN lamp) (VB waits))", DEEP, TREE)]
    assert UNK in texts[3]
    data = PairData.of(
        ["p", "q"],
        {"source": [texts[0], texts[2]], "target": [texts[1], texts[3]], "source_tree": [trees[0], trees[2]],
         "target_tree": [trees[1], trees[3]]}, VOC,
    )  # fmt: skip
    # The tree of the third is cut to S NP NN VP VB PP: three leaves for five words. The z is unknown.
    found = Lexicon.of_pairs(data)
    assert spelt(found) == {"DT": {"a"}, "NN": {"heron", "lamp"}, "VB": {"waits"}}
    assert found.known == {ids("a"), ids("heron"), ids("lamp"), ids("waits")}
    assert len(ids("heron")) > 1  # words of several pieces


def test_words_of_parses_have_their_parts_of_speech_and_unknown_ones_are_left_out() -> None:
    found = Lexicon.of_trees([DEEP, "(S (NN lamp) (VB lamp) (NN zoo))"], VOC)
    assert spelt(found) == {"NN": {"heron", "lamp"}, "VB": {"waits", "lamp"}, "IN": {"by"}, "DT": {"a"}}
    assert not Lexicon.of_trees([], VOC).known


def test_every_word_is_spelt_by_a_piece_that_begins_one_and_any_that_go_on() -> None:
    pieces, every = VOC.pieces_of(range(VOC.text_size)), Pieces.every(VOC)
    mark = pieces.index("▁")
    assert {pieces[id_] for id_ in every.after} == {piece for piece in pieces[4:] if piece.startswith("▁")}
    assert {pieces[id_] for id_ in every.after[mark].after} == {piece for piece in pieces[4:] if piece[0] != "▁"}
    assert not every.ends and not every.after[mark].ends
    for word in ("a", "heron", "ttt"):
        place = every
        for id_ in ids(word):
            place = place.after[id_]
        assert place.ends and place.ids.tolist() == [*every.after[mark].after]
