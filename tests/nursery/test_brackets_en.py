import random

import pytest

from espalier.nursery.brackets_en import Unfit, expand, fill, finished, read_form, read_rules, text_of
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.tree import Tree


def test_a_slot_stands_for_nodes_or_for_a_word() -> None:
    slots = {"who": [read_tree("(NP (NNP Tom))")], "what": ["slept"], "when": []}
    (tree,) = fill(read_form("(S <who> (VP (VBD <what>)) <when> (. .))"), slots.__getitem__)
    assert not isinstance(tree, str)
    assert write_tree(tree) == "(S (NP (NNP Tom)) (VP (VBD slept)) (. .))"


def test_nodes_that_stand_for_several_are_made_by_the_caller() -> None:
    form = read_form("(S (VP=x (RB so) (RB well)) (. .))")
    (tree,) = fill(form, lambda slot: [], lambda label, rest: rest if "=" in label else [Tree(label, rest)])
    assert not isinstance(tree, str)
    assert write_tree(tree) == "(S (RB so) (RB well) (. .))"


def test_what_fills_no_slot_is_unfit() -> None:
    def nothing(slot: str) -> list[str]:
        raise Unfit(slot)

    with pytest.raises(Unfit):
        fill(read_form("(S <who>)"), nothing)


def test_a_rule_may_be_several_nodes_and_rules_stand_in_rules() -> None:
    rules = read_rules({"Both": ["(NP (NN <dog>)) (VP (VBZ barks))"], "dog": "fox fox"})
    nodes = expand(random.Random(0), rules, "Both")
    assert [write_tree(tree) for tree in nodes if not isinstance(tree, str)] == ["(NP (NN fox))", "(VP (VBZ barks))"]


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ("(S (NP (DT a) (NN apple)) (VP (VBD fell)) (. .))", "An apple fell ."),
        ("(S (NP (DT a) (NN university)) (VP (VBD fell)) (. .))", "A university fell ."),
        ("(S (NP (DT a) (JJ honest) (NN man)) (VP (VBD fell)) (. .))", "An honest man fell ."),
        ("(S (`` ``) (S (NP (PRP we)) (VP (VBP go))) ('' '') (. .))", "`` We go '' ."),
        ("(S (NP (PRP I)) (VP (VBP have) (NP (DT a) (ADJP (RB very) (JJ old)) (NN dog))))", "I have a very old dog"),
    ],
)
def test_a_finished_sentence_has_its_capital_and_its_an(tree: str, words: str) -> None:
    sentence = finished(read_tree(tree))
    assert sentence.words == tuple(words.split())
    assert sentence.tree == write_tree(read_tree(sentence.tree))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Tom 's dog did n't bark , she said .", "Tom's dog didn't bark, she said."),
        ("`` We wo n't go , '' said Tom .", '"We won\'t go," said Tom.'),
        ("It cost $ 5.5 million , up 12 % .", "It cost $5.5 million, up 12%."),
        ("Can not he sing ? He can not .", "Cannot he sing? He cannot."),
        ("It rained ; he slept .", "It rained; he slept."),
    ],
)
def test_a_text_is_written_as_one_writes_it(words: str, text: str) -> None:
    assert text_of(words.split()) == text
