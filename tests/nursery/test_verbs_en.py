import pytest

from espalier.nursery.verbs_en import Mood, after_subject, before_subject, chain, finite
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.tree import Tree

CAR = read_tree("(NP (DT the) (NN car))")
PAST, PRESENT = Mood(), Mood(past=False)


def written(trees: list[Tree]) -> str:
    return " ".join(map(write_tree, trees))


@pytest.mark.parametrize(
    ("mood", "many", "passive", "expected"),
    [
        (PAST, False, False, "bought"),
        (PAST, True, True, "were bought"),
        (PRESENT, False, False, "buys"),
        (PRESENT, True, False, "buy"),
        (Mood(helpers=("will",)), True, True, "will be bought"),
        (Mood(past=False, helpers=("have",)), False, True, "has been bought"),
        (Mood(past=False, helpers=("be",)), False, True, "is being bought"),
        (Mood(past=False, helpers=("have", "be")), True, False, "have been buying"),
        (Mood(helpers=("should", "have")), False, True, "should have been bought"),
        (Mood(negative=True), False, False, "did buy"),
        (Mood(past=False, negative=True), False, False, "does buy"),
        (Mood(negative=True), False, True, "was bought"),
    ],
)
def test_each_auxiliary_decides_the_form_of_the_next_verb(mood: Mood, many: bool, passive: bool, expected: str) -> None:
    assert " ".join(word for _, word in chain("buy", mood, many=many, passive=passive)) == expected


def test_a_verb_phrase_stands_in_that_of_its_auxiliary() -> None:
    assert written(finite("sell", Mood(helpers=("should", "have")), [CAR], many=False)) == (
        "(VP (MD should) (VP (VB have) (VP (VBN sold) (NP (DT the) (NN car)))))"
    )


def test_not_follows_the_first_auxiliary() -> None:
    assert written(finite("sell", Mood(past=False, negative=True), [], many=False)) == (
        "(VP (VBZ does) (RB not) (VP (VB sell)))"
    )
    assert written(finite("be", Mood(negative=True), [], many=True)) == "(VP (VBD were) (RB not))"


@pytest.mark.parametrize(
    ("helper", "negation", "expected"),
    [
        ("will", "not|n't", "(VP (MD will|wo) (RB not|n't) (VP (VB sell)))"),
        ("will", "n't|not", "(VP (MD wo|will) (RB n't|not) (VP (VB sell)))"),
        ("can", "not|n't", "(VP (MD can|ca) (RB not|n't) (VP (VB sell)))"),
        ("must", "not|n't", "(VP (MD must) (RB not|n't) (VP (VB sell)))"),
        ("might", "not|n't", "(VP (MD might) (RB not) (VP (VB sell)))"),
    ],
)
def test_what_is_contracted_loses_its_letters(helper: str, negation: str, expected: str) -> None:
    mood = Mood(helpers=(helper,), negative=True, negation=negation)
    assert written(finite("sell", mood, [], many=False)) == expected


def test_an_adverb_follows_the_first_auxiliary_or_stands_before_the_verb() -> None:
    adverb = read_tree("(ADVP (RB probably))")
    assert written(finite("sell", Mood(helpers=("will",)), [], many=False, adverb=adverb)) == (
        "(VP (MD will) (ADVP (RB probably)) (VP (VB sell)))"
    )
    assert written(finite("sell", PAST, [], many=False, adverb=adverb)) == "(ADVP (RB probably)) (VP (VBD sold))"
    assert written(finite("sell", Mood(negative=True), [], many=False, adverb=adverb)) == (
        "(ADVP (RB probably)) (VP (VBD did) (RB not) (VP (VB sell)))"
    )


@pytest.mark.parametrize(
    ("verb", "mood", "passive", "before", "after"),
    [
        ("sell", PAST, False, "(VBD did)", "(VP (VB sell) (NP (DT the) (NN car)))"),
        ("sell", PAST, True, "(VBD was)", "(VP (VBN sold) (NP (DT the) (NN car)))"),
        ("be", PAST, False, "(VBD was)", "(NP (DT the) (NN car))"),
        ("sell", Mood(helpers=("will",)), False, "(MD will)", "(VP (VB sell) (NP (DT the) (NN car)))"),
        (
            "sell",
            Mood(helpers=("can",), negative=True),
            False,
            "(MD ca) (RB n't)",
            "(VP (VB sell) (NP (DT the) (NN car)))",
        ),
    ],
)
def test_a_question_parts_the_first_auxiliary_from_the_rest(
    verb: str, mood: Mood, passive: bool, before: str, after: str
) -> None:
    assert written(before_subject(verb, mood, many=False, passive=passive)) == before
    assert written(after_subject(verb, mood, [CAR], many=False, passive=passive)) == after
