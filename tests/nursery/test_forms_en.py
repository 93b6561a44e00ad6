"""Forms of English paraphrases: forms_en.yaml beside this file has the sentence that each form says of one meaning.

MEANINGS gives each family its meaning, forms_en_trees.yaml the trees of the forms whose grammar is their own.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from espalier.nursery.brackets_en import Unfit, text_of
from espalier.nursery.forms_en import families, say
from espalier.nursery.meanings_en import Event, Meaning, draw_meaning
from espalier.nursery.referents_en import Referent, leaf, np
from espalier.nursery.verbs_en import Mood
from espalier.syntax.constituency import read_tree, template
from espalier.syntax.tree import Tree

PAST, PRESENT, WILL = Mood(), Mood(past=False), Mood(helpers=("will",))
NOW = Mood(past=False, helpers=("be",))

TOM = Referent(np("NNP Tom"), person=True, pronoun="he")
ANNA = Referent(np("NNP Anna"), person=True, pronoun="she")
CAR = Referent(np("DT the", "NN car|automobile"), pronoun="it")
LETTER = Referent(np("DT a", "JJ old", "NN letter"), pronoun="it")
CITY = Referent(np("DT the", "NN city"), pronoun="it")
YOU = Referent(np("PRP you"), many=True, person=True)

YARD = [read_tree("(PP (IN in) (NP (DT the) (NN park)))")]
MONDAY = [read_tree("(PP (IN on) (NP (NNP Monday)))")]
BOUGHT = Event("buy|purchase", PAST, TOM, CAR, place=YARD, time=MONDAY)
BUSY = Event("be", PAST, CITY, Referent(read_tree("(ADJP (JJ busy))")))
WAITED_FOR = Event("wait", PAST, ANNA, LETTER, particle=leaf("IN for"))
FED = Event("feed", NOW, Referent(np("CD two", "NNS men"), many=True, person=True), LETTER, place=YARD)
REPAIR = Event("repair|fix", PRESENT, YOU, CAR)
COMPARED: Meaning = {
    "x": TOM,
    "y": ANNA,
    "adjective": ["old"],
    "more": [leaf("JJR older")],
    "less": [leaf("JJR younger")],
    "not": [leaf("RB not|n't")],
}

#: By family.
MEANINGS: dict[str, Meaning] = {
    "event": {"e": BOUGHT},
    "transfer": {"e": Event("give", WILL, TOM, LETTER, ANNA)},
    "particle": {"e": Event("pick", PAST, TOM, LETTER, particle=leaf("RP up"), place=YARD, time=MONDAY)},
    "manner": {"e": Event("repair", WILL, TOM, CAR), "how": ["slowly"]},
    "stance": {"e": WAITED_FOR, "surely": ["probably"], "sure": ["likely"]},
    "cause": {"e": BOUGHT, "s": BUSY},
    "contrast": {"e": BOUGHT, "s": BUSY},
    "order": {"e": BOUGHT, "later": Event("clean", PAST, TOM, LETTER)},
    "condition": {
        "e": Event("buy", PRESENT, TOM, CAR),
        "x": ANNA,
        "f": Event("be", WILL, ANNA, Referent(read_tree("(ADJP (JJ sad))"))),
    },
    "report": {"x": ANNA, "e": BOUGHT},
    "testimony": {"x": ANNA, "e": BOUGHT, "s": BUSY},
    "meanwhile": {"e": BOUGHT, "d": WAITED_FOR},
    "scene": {"e": FED},
    "act": {"e": Event("sleep", NOW, Referent(np("DT a", "NN dog"), pronoun="it")), "where": YARD},
    "compare": COMPARED,
    "difficulty": {"e": REPAIR, "how": ["hard"]},
    "location": {"x": Referent(np("DT a", "NN tower"), pronoun="it"), "where": YARD},
    "described": {"e": BOUGHT, "how": [read_tree("(ADJP (RB very) (JJ popular))")]},
    "subject": {"e": FED, "how": [read_tree("(ADJP (JJ popular))")]},
    "plan": {"x": ANNA, "e": REPAIR, "when": MONDAY},
    "duration": {"x": ANNA, "e": REPAIR, "long": [np("CD two", "NNS weeks")]},
    "price": {"x": ANNA, "y": CAR, "sum": [np("$ $", "CD 500")]},
    "how": {"e": REPAIR},
    "should": {"e": REPAIR, "when": MONDAY},
    "long": {"e": REPAIR},
    "whether": {"e": BOUGHT},
    "whom": {"e": WAITED_FOR},
    "who": {"e": BOUGHT},
    "when": {"e": BOUGHT},
    "why": {"e": Event("sell", Mood(past=False, negative=True, negation="not|n't"), ANNA, CAR)},
    "difference": COMPARED,
    "than": COMPARED,
}

HERE = Path(__file__).parent
SENTENCES: dict[str, dict[str, str]] = yaml.safe_load((HERE / "forms_en.yaml").read_text())
TREES: dict[str, dict[str, str]] = yaml.safe_load((HERE / "forms_en_trees.yaml").read_text())
#: Their forms begin with the time, and the meaning of transfers has none.
WITHOUT_SENTENCE = {("transfer", "when"), ("transfer", "when-passive")}


def cases(table: dict[str, dict[str, str]]) -> list[tuple[str, str, str]]:
    return [(family, form, expected) for family, forms in table.items() for form, expected in forms.items()]


def said(family: str, form: str, meaning: Meaning, side: int = 0) -> str:
    return text_of(say(families()[family].forms[form], meaning, side).words)


@pytest.mark.parametrize(("family", "form", "sentence"), cases(SENTENCES))
def test_a_form_says_its_sentence(family: str, form: str, sentence: str) -> None:
    assert said(family, form, MEANINGS[family]) == sentence


@pytest.mark.parametrize(("family", "form", "tree"), cases(TREES))
def test_a_form_has_its_tree(family: str, form: str, tree: str) -> None:
    assert say(families()[family].forms[form], MEANINGS[family], 0).tree == tree


def test_every_form_has_a_sentence() -> None:
    forms = {(name, form) for name, family in families().items() for form in family.forms}
    assert forms - WITHOUT_SENTENCE == {(family, form) for family, form, _ in cases(SENTENCES)}


# --- Sides, and what cannot be said ----------------------------------------------------------------------------------


def test_the_two_sides_differ_in_every_word_that_has_another() -> None:
    negative = Event("buy|purchase", Mood(helpers=("will",), negative=True, negation="n't|not"), TOM, CAR)
    assert said("event", "active", {"e": negative}) == "Tom won't buy the car."
    assert said("event", "active", {"e": negative}, side=1) == "Tom will not purchase the automobile."


@pytest.mark.parametrize(
    ("family", "form", "meaning"),
    [
        ("event", "where", {"e": WAITED_FOR}),  # no place
        ("event", "pseudo", {"e": Event("see", PAST, TOM, ANNA)}),  # "What Tom saw was Anna"
        ("event", "one", {"e": Event("see", PAST, CITY, ANNA)}),  # "The one who saw Anna was the city"
        ("order", "first", {"e": Event("see", PAST, Referent(np("DT the", "NN cook"), person=True), CAR)}),  # he or she
    ],
)
def test_what_a_form_cannot_say_is_unfit(family: str, form: str, meaning: Meaning) -> None:
    with pytest.raises(Unfit):
        said(family, form, {**meaning, "later": BOUGHT})


def test_verbs_agree_with_the_subject_of_the_form() -> None:
    two: Meaning = {"e": Event("see", PRESENT, Referent(np("CD two", "NNS men"), many=True, person=True), CAR)}
    assert said("event", "active", two) == "Two men see the car."
    assert said("event", "passive", two) == "The car is seen by two men."
    assert said("who", "who", two) == "Who sees the car?"


def test_persons_are_who_and_things_are_which() -> None:
    city: Meaning = {"e": Event("see", PRESENT, CITY, ANNA)}
    assert said("event", "who", city) == "It is the city which sees Anna."
    assert said("whom", "what", city) == "Who does the city see?"


def test_a_template_nearly_always_says_which_form_of_a_family_is_meant() -> None:
    rng = random.Random(1)
    alike, pairs = Counter[str](), Counter[str]()
    for name, family in families().items():
        for _ in range(20):
            meaning = draw_meaning(rng, family.things)
            trees: list[Tree] = []
            for form in family.forms.values():
                try:
                    trees.append(read_tree(say(form, meaning, 0).tree))
                except Unfit:
                    continue
            templates = [template(tree) for tree in trees]
            pairs[name] += len(templates) * (len(templates) - 1) // 2
            alike[name] += sum(one == other for one, other in combinations(templates, 2))
    assert alike.total() < 0.01 * pairs.total()
    assert all(alike[name] < 0.1 * pairs[name] for name in families())
