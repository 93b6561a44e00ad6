import random
from collections import Counter
from itertools import combinations

import pytest

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

#: What each form says, and for those whose grammar is most its own also the tree.
EXPECTED: dict[str, tuple[Meaning, dict[str, str]]] = {
    "event": (
        {"e": BOUGHT},
        {
            "active": "(S (NP (NNP Tom)) (VP (VBD bought) (NP (DT the) (NN car)) (PP (IN in) (NP (DT the) (NN park)))"
            " (PP (IN on) (NP (NNP Monday)))) (. .))",
            "passive": "(S (NP (DT The) (NN car)) (VP (VBD was) (VP (VBN bought) (PP (IN by) (NP (NNP Tom)))"
            " (PP (IN in) (NP (DT the) (NN park))) (PP (IN on) (NP (NNP Monday))))) (. .))",
            "when": "(S (PP (IN On) (NP (NNP Monday))) (, ,) (NP (NNP Tom)) (VP (VBD bought) (NP (DT the) (NN car))"
            " (PP (IN in) (NP (DT the) (NN park)))) (. .))",
            "when-passive": "On Monday, the car was bought by Tom in the park.",
            "where": "In the park, Tom bought the car on Monday.",
            "where-passive": "In the park, the car was bought by Tom on Monday.",
            "who": "(S (NP (PRP It)) (VP (VBD was) (NP (NNP Tom)) (SBAR (WHNP (WP who)) (S (VP (VBD bought)"
            " (NP (DT the) (NN car)) (PP (IN in) (NP (DT the) (NN park))) (PP (IN on) (NP (NNP Monday)))))))"
            " (. .))",
            "topic": "(S (NP (DT The) (NN car)) (, ,) (NP (NNP Tom)) (VP (VBD bought) (PP (IN in) (NP (DT the)"
            " (NN park))) (PP (IN on) (NP (NNP Monday)))) (. .))",
            "pseudo": "(S (SBAR (WHNP (WP What)) (S (NP (NNP Tom)) (VP (VBD bought) (PP (IN in) (NP (DT the)"
            " (NN park))) (PP (IN on) (NP (NNP Monday)))))) (VP (VBD was) (NP (DT the) (NN car))) (. .))",
            "one": "(S (NP (NP (DT The) (NN one)) (SBAR (WHNP (WP who)) (S (VP (VBD bought) (NP (DT the) (NN car))"
            " (PP (IN in) (NP (DT the) (NN park))) (PP (IN on) (NP (NNP Monday))))))) (VP (VBD was)"
            " (NP (NNP Tom))) (. .))",
            "at": "(S (NP (PRP It)) (VP (VBD was) (PP (IN in) (NP (DT the) (NN park))) (SBAR (IN that) (S (NP"
            " (NNP Tom)) (VP (VBD bought) (NP (DT the) (NN car)) (PP (IN on) (NP (NNP Monday))))))) (. .))",
        },
    ),
    "transfer": (
        {"e": Event("give", WILL, TOM, LETTER, ANNA)},
        {
            "double": "(S (NP (NNP Tom)) (VP (MD will) (VP (VB give) (NP (NNP Anna)) (NP (DT an) (JJ old)"
            " (NN letter)))) (. .))",
            "to": "(S (NP (NNP Tom)) (VP (MD will) (VP (VB give) (NP (DT an) (JJ old) (NN letter)) (PP (TO to)"
            " (NP (NNP Anna))))) (. .))",
            "passive": "An old letter will be given to Anna by Tom.",
            "receiver": "(S (NP (NNP Anna)) (VP (MD will) (VP (VB be) (VP (VBN given) (NP (DT an) (JJ old)"
            " (NN letter)) (PP (IN by) (NP (NNP Tom)))))) (. .))",
            "whom": "(S (NP (PRP It)) (VP (VBZ is) (NP (NNP Anna)) (SBAR (WHPP (TO to) (WHNP (WP whom))) (S (NP"
            " (NNP Tom)) (VP (MD will) (VP (VB give) (NP (DT an) (JJ old) (NN letter))))))) (. .))",
            "pseudo": "What Tom will give Anna is an old letter.",
            "to-whom": "To Anna, Tom will give an old letter.",
        },
    ),
    "particle": (
        {"e": Event("pick", PAST, TOM, LETTER, particle=leaf("RP up"), place=YARD, time=MONDAY)},
        {
            "before": "(S (NP (NNP Tom)) (VP (VBD picked) (PRT (RP up)) (NP (DT an) (JJ old) (NN letter)) (PP (IN in)"
            " (NP (DT the) (NN park))) (PP (IN on) (NP (NNP Monday)))) (. .))",
            "behind": "(S (NP (NNP Tom)) (VP (VBD picked) (NP (DT an) (JJ old) (NN letter)) (PRT (RP up)) (PP (IN in)"
            " (NP (DT the) (NN park))) (PP (IN on) (NP (NNP Monday)))) (. .))",
            "passive": "An old letter was picked up by Tom in the park on Monday.",
            "when": "On Monday, Tom picked an old letter up in the park.",
            "where": "In the park, Tom picked up an old letter on Monday.",
            "what": "It was an old letter that Tom picked up in the park on Monday.",
        },
    ),
    "manner": (
        {"e": Event("repair", WILL, TOM, CAR), "how": ["slowly"]},
        {
            "end": "Tom will repair the car slowly.",
            "middle": "(S (NP (NNP Tom)) (VP (MD will) (ADVP (RB slowly)) (VP (VB repair) (NP (DT the) (NN car))))"
            " (. .))",
            "front": "Slowly, Tom will repair the car.",
            "passive": "The car will be repaired slowly by Tom.",
            "with": "The car, Tom will repair slowly.",
        },
    ),
    "stance": (
        {"e": WAITED_FOR, "surely": ["probably"], "sure": ["likely"]},
        {
            "front": "Probably, Anna waited for an old letter.",
            "middle": "Anna probably waited for an old letter.",
            "end": "Anna waited for an old letter, probably.",
            "that": "(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ likely)) (SBAR (IN that) (S (NP (NNP Anna)) (VP (VBD"
            " waited) (PP (IN for) (NP (DT an) (JJ old) (NN letter))))))) (. .))",
            "passive": "(S (ADVP (RB Probably)) (, ,) (NP (DT an) (JJ old) (NN letter)) (VP (VBD was) (VP (VBN waited)"
            " (PP (IN for)) (PP (IN by) (NP (NNP Anna))))) (. .))",
        },
    ),
    "cause": (
        {"e": BOUGHT, "s": BUSY},
        {
            "because": "(S (NP (NNP Tom)) (VP (VBD bought) (NP (DT the) (NN car)) (SBAR (IN because) (S (NP (DT the)"
            " (NN city)) (VP (VBD was) (ADJP (JJ busy)))))) (. .))",
            "front": "Because the city was busy, Tom bought the car.",
            "so": "The city was busy, so Tom bought the car.",
            "therefore": "(S (S (NP (DT The) (NN city)) (VP (VBD was) (ADJP (JJ busy)))) (: ;) (S (ADVP (RB therefore))"
            " (, ,) (NP (NNP Tom)) (VP (VBD bought) (NP (DT the) (NN car)))) (. .))",
            "passive": "Because the city was busy, the car was bought by Tom.",
            "reason": "The reason why Tom bought the car was that the city was busy.",
        },
    ),
    "contrast": (
        {"e": BOUGHT, "s": BUSY},
        {
            "but": "The city was busy, but Tom bought the car.",
            "although": "Although the city was busy, Tom bought the car.",
            "behind": "Tom bought the car although the city was busy.",
            "nevertheless": "The city was busy; nevertheless, Tom bought the car.",
            "passive": "Although the city was busy, the car was bought by Tom.",
        },
    ),
    "order": (
        {"e": BOUGHT, "later": Event("clean", PAST, TOM, LETTER)},
        {
            "after": "Tom cleaned an old letter after buying the car.",
            "front": "(S (PP (IN After) (S (VP (VBG buying) (NP (DT the) (NN car))))) (, ,) (NP (NNP Tom)) (VP (VBD"
            " cleaned) (NP (DT an) (JJ old) (NN letter))) (. .))",
            "before": "Tom bought the car before he cleaned an old letter.",
            "front-before": "Before he cleaned an old letter, Tom bought the car.",
            "then": "Tom bought the car and then cleaned an old letter.",
            "having": "(S (S (VP (VBG Having) (VP (VBN bought) (NP (DT the) (NN car))))) (, ,) (NP (NNP Tom)) (VP (VBD"
            " cleaned) (NP (DT an) (JJ old) (NN letter))) (. .))",
            "first": "First Tom bought the car; then he cleaned an old letter.",
        },
    ),
    "condition": (
        {
            "e": Event("buy", PRESENT, TOM, CAR),
            "x": ANNA,
            "f": Event("be", WILL, ANNA, Referent(read_tree("(ADJP (JJ sad))"))),
        },
        {
            "if": "If Tom buys the car, Anna will be sad.",
            "behind": "Anna will be sad if Tom buys the car.",
            "case": "In case Tom buys the car, Anna will be sad.",
            "make": "It will make Anna sad if Tom buys the car.",
        },
    ),
    "report": (
        {"x": ANNA, "e": BOUGHT},
        {
            "that": "Anna said that Tom bought the car on Monday.",
            "said": "Tom bought the car on Monday, Anna said.",
            "according": "According to Anna, Tom bought the car on Monday.",
            "as": "As Anna said, Tom bought the car on Monday.",
            "words": "(SINV (`` ``) (S (NP (NNP Tom)) (VP (VBD bought) (NP (DT the) (NN car)) (PP (IN on) (NP (NNP"
            " Monday))))) (, ,) ('' '') (VP (VBD said)) (NP (NNP Anna)) (. .))",
            "passive-as": "As Anna said, the car was bought by Tom on Monday.",
        },
    ),
    "testimony": (
        {"x": ANNA, "e": BOUGHT, "s": BUSY},
        {
            "that": "Anna said that Tom bought the car because the city was busy.",
            "according": "According to Anna, Tom bought the car because the city was busy.",
            "words": '"Tom bought the car because the city was busy," said Anna.',
            "aside": "(S (SBAR (IN Because) (S (NP (DT the) (NN city)) (VP (VBD was) (ADJP (JJ busy))))) (PRN (, ,) (S"
            " (NP (NNP Anna)) (VP (VBD said))) (, ,)) (NP (NNP Tom)) (VP (VBD bought) (NP (DT the) (NN car))) (. .))",
            "passive": "As Anna said, the car was bought by Tom because the city was busy.",
        },
    ),
    "meanwhile": (
        {"e": BOUGHT, "d": WAITED_FOR},
        {
            "while": "While Tom bought the car, Anna waited for an old letter.",
            "and": "Tom bought the car, and Anna waited for an old letter.",
            "behind": "Tom bought the car, while Anna waited for an old letter.",
            "meanwhile": "Tom bought the car; meanwhile, Anna waited for an old letter.",
            "passive": "While Tom bought the car, an old letter was waited for by Anna.",
        },
    ),
    "scene": (
        {"e": FED},
        {
            "active": "Two men are feeding an old letter in the park.",
            "there": "(S (NP (EX There)) (VP (VBP are) (NP (NP (CD two) (NNS men)) (VP (VBG feeding) (NP (DT an)"
            " (JJ old) (NN letter)) (PP (IN in) (NP (DT the) (NN park)))))) (. .))",
            "caption": "(NP (NP (CD Two) (NNS men)) (VP (VBG feeding) (NP (DT an) (JJ old) (NN letter)) (PP (IN in) (NP"
            " (DT the) (NN park)))) (. .))",
            "caption-passive": "An old letter being fed by two men in the park.",
            "where": "In the park, two men are feeding an old letter.",
            "where-there": "In the park, there are two men feeding an old letter.",
        },
    ),
    "act": (
        {"e": Event("sleep", NOW, Referent(np("DT a", "NN dog"), pronoun="it")), "where": YARD},
        {
            "active": "A dog is sleeping in the park.",
            "front": "In the park, a dog is sleeping.",
            "there": "There is a dog sleeping in the park.",
            "caption": "A dog sleeping in the park.",
            "who": "A dog which is sleeping in the park.",
            "see": "You can see a dog sleeping in the park.",
        },
    ),
    "compare": (
        COMPARED,
        {
            "more": "(S (NP (NNP Tom)) (VP (VBZ is) (ADJP (ADJP (JJR older)) (PP (IN than) (NP (NNP Anna))))) (. .))",
            "not-as": "Anna is not as old as Tom.",
            "cleft": "It is Anna who is younger than Tom.",
            "compared": "Compared with Anna, Tom is old.",
            "think": "You will find that Tom is older than Anna.",
        },
    ),
    "difficulty": (
        {"e": REPAIR, "how": ["hard"]},
        {
            "it": "It is hard to repair the car.",
            "ing": "(S (S (VP (VBG Repairing) (NP (DT the) (NN car)))) (VP (VBZ is) (ADJP (JJ hard))) (. .))",
            "think": "Many people find it hard to repair the car.",
            "can": "Repairing the car can be hard.",
            "for": "For many people to repair the car is hard.",
        },
    ),
    "location": (
        {"x": Referent(np("DT a", "NN tower"), pronoun="it"), "where": YARD},
        {
            "stand": "A tower stands in the park.",
            "inverted": "(SINV (PP (IN In) (NP (DT the) (NN park))) (VP (VBZ stands)) (NP (DT a) (NN tower)) (. .))",
            "there": "There is a tower in the park.",
            "front": "In the park, there is a tower.",
            "find": "You can find a tower in the park.",
            "passive": "A tower can be found in the park.",
        },
    ),
    "described": (
        {"e": BOUGHT, "how": [read_tree("(ADJP (RB very) (JJ popular))")]},
        {
            "that": "(S (NP (NP (DT The) (NN car)) (SBAR (WHNP (WDT that)) (S (NP (NNP Tom)) (VP (VBD bought)))))"
            " (VP (VBZ is) (ADJP (RB very) (JJ popular))) (. .))",
            "by": "(S (NP (NP (DT The) (NN car)) (VP (VBN bought) (PP (IN by) (NP (NNP Tom))))) (VP (VBZ is) (ADJP (RB"
            " very) (JJ popular))) (. .))",
            "aside": "The car, which was bought by Tom, is very popular.",
            "and": "Tom bought the car, and it is very popular.",
        },
    ),
    "subject": (
        {"e": FED, "how": [read_tree("(ADJP (JJ popular))")]},
        {
            "who": "Two men who are feeding an old letter are popular.",
            "ing": "Two men feeding an old letter are popular.",
            "front": "Feeding an old letter, two men are popular.",
            "and": "Two men are feeding an old letter and are popular.",
            "while": "Two men are popular while feeding an old letter.",
        },
    ),
    "plan": (
        {"x": ANNA, "e": REPAIR, "when": MONDAY},
        {
            "plan": "Anna plans to repair the car on Monday.",
            "front": "On Monday, Anna plans to repair the car.",
            "had": "Anna has a plan to repair the car on Monday.",
            "was": "Repairing the car on Monday is Anna's plan.",
            "it": "(S (NP (PRP It)) (VP (VBZ is) (NP (NP (NNP Anna) (POS 's)) (NN plan)) (S (VP (TO to) (VP (VB repair)"
            " (NP (DT the) (NN car)) (PP (IN on) (NP (NNP Monday))))))) (. .))",
            "what": "What Anna plans is to repair the car on Monday.",
        },
    ),
    "duration": (
        {"x": ANNA, "e": REPAIR, "long": [np("CD two", "NNS weeks")]},
        {
            "took": "It took Anna two weeks to repair the car.",
            "need": "Anna needed two weeks to repair the car.",
            "in": "Anna repaired the car in two weeks.",
            "ing": "Repairing the car took Anna two weeks.",
            "after": "After two weeks, Anna had repaired the car.",
        },
    ),
    "price": (
        {"x": ANNA, "y": CAR, "sum": [np("$ $", "CD 500")]},
        {
            "paid": "Anna paid $500 for the car.",
            "cost": "The car cost Anna $500.",
            "was": "The price that Anna paid for the car was $500.",
            "sold": "The car was sold to Anna for $500.",
            "front": "For $500, Anna bought the car.",
        },
    ),
    "how": (
        {"e": REPAIR},
        {
            "do": "(SBARQ (WHADVP (WRB How)) (SQ (VBP do) (NP (PRP I)) (VP (VB repair) (NP (DT the) (NN car)))) (. ?))",
            "can": "How can I repair the car?",
            "best": "(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (DT the) (JJS best) (NN way) (S (VP (TO to) (VP (VB"
            " repair) (NP (DT the) (NN car))))))) (. ?))",
            "should": "What should I do to repair the car?",
            "passive": "How is the car repaired?",
            "is-there": "Is there a good way to repair the car?",
            "who": "Who knows how to repair the car?",
            "know": "Do you know how I can repair the car?",
            "are": "What are some good ways of repairing the car?",
        },
    ),
    "should": (
        {"e": REPAIR, "when": MONDAY},
        {
            "should": "Should I repair the car on Monday?",
            "idea": "Is it a good idea to repair the car on Monday?",
            "would": "Would it be wise to repair the car on Monday?",
            "ing": "Is repairing the car on Monday a good idea?",
            "worth": "Is it worth repairing the car on Monday?",
            "think": "Do you think that I should repair the car on Monday?",
        },
    ),
    "long": (
        {"e": REPAIR},
        {
            "take": "How long does it take to repair the car?",
            "time": "How much time does it take to repair the car?",
            "need": "How much time is needed to repair the car?",
            "ing": "How long does repairing the car take?",
            "will": "How long will I need to repair the car?",
            "many": "How many hours are needed for repairing the car?",
        },
    ),
    "whether": (
        {"e": BOUGHT},
        {
            "active": "(SQ (VBD Did) (NP (NNP Tom)) (VP (VB buy) (NP (DT the) (NN car)) (PP (IN in) (NP (DT the) (NN"
            " park))) (PP (IN on) (NP (NNP Monday)))) (. ?))",
            "passive": "(SQ (VBD Was) (NP (DT the) (NN car)) (VP (VBN bought) (PP (IN by) (NP (NNP Tom))) (PP (IN in)"
            " (NP (DT the) (NN park))) (PP (IN on) (NP (NNP Monday)))) (. ?))",
            "is-true": "Is it true that Tom bought the car in the park on Monday?",
            "cleft": "Was it Tom who bought the car in the park on Monday?",
            "right": "Tom bought the car in the park on Monday, right?",
            "know": "Do you know whether Tom bought the car in the park on Monday?",
        },
    ),
    "whom": (
        {"e": WAITED_FOR},
        {
            "what": "(SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (NNP Anna)) (VP (VB wait) (PP (IN for)))) (. ?))",
            "passive": "What was waited for by Anna?",
            "cleft": "What was it that Anna waited for?",
            "thing": "What was the thing that Anna waited for?",
            "know": "Do you know what Anna waited for?",
            "tell": "Can you tell me what Anna waited for?",
        },
    ),
    "who": (
        {"e": BOUGHT},
        {
            "who": "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD bought) (NP (DT the) (NN car)) (PP (IN in) (NP (DT the) (NN"
            " park))) (PP (IN on) (NP (NNP Monday))))) (. ?))",
            "by": "By whom was the car bought in the park on Monday?",
            "cleft": "Who was it that bought the car in the park on Monday?",
            "end": "Who was the car bought by in the park on Monday?",
            "know": "Do you know who bought the car in the park on Monday?",
            "tell": "Can you tell me who bought the car in the park on Monday?",
        },
    ),
    "when": (
        {"e": BOUGHT},
        {
            "when": "When did Tom buy the car?",
            "day": "On which day did Tom buy the car?",
            "cleft": "When was it that Tom bought the car?",
            "know": "Do you know when Tom bought the car?",
            "tell": "Can you tell me when Tom bought the car?",
        },
    ),
    "why": (
        {"e": Event("sell", Mood(past=False, negative=True, negation="not|n't"), ANNA, CAR)},
        {
            "why": "(SBARQ (WHADVP (WRB Why)) (SQ (VBZ does) (RB n't) (NP (NNP Anna)) (VP (VB sell) (NP (DT the) (NN"
            " car)))) (. ?))",
            "reason": "What is the reason why Anna does not sell the car?",
            "cleft": "Why is it that Anna does not sell the car?",
            "know": "Do you know why Anna does not sell the car?",
            "anyone": "Does anyone understand why Anna does not sell the car?",
        },
    ),
    "difference": (
        COMPARED,
        {
            "what": "What is the difference between Tom and Anna?",
            "differ": "How do Tom and Anna differ?",
            "from": "How does Tom differ from Anna?",
            "adjective": "How is Tom different from Anna?",
            "make": "What makes Tom different from Anna?",
            "tell": "How can I tell Tom from Anna?",
        },
    ),
    "than": (
        COMPARED,
        {
            "is": "Is Tom older than Anna?",
            "is-true": "Is it true that Anna is younger than Tom?",
            "think": "Do you think that Tom is older than Anna?",
            "anyone": "Does anyone know whether Tom is older than Anna?",
        },
    ),
}

CASES = [(family, form) for family, (_, forms) in EXPECTED.items() for form in forms]


@pytest.mark.parametrize(("family", "form"), CASES)
def test_one_meaning_is_said_in_every_form(family: str, form: str) -> None:
    meaning, forms = EXPECTED[family]
    found = say(families()[family].forms[form], meaning, 0)
    assert (found.tree if forms[form].startswith("(") else text_of(found.words)) == forms[form]


def test_no_form_is_left_out_but_those_that_need_a_time() -> None:
    assert set(families()) == set(EXPECTED)
    untold = {(name, form) for name, family in families().items() for form in family.forms} - set(CASES)
    assert untold == {("transfer", "when"), ("transfer", "when-passive")}


# --- Sides, and what cannot be said ----------------------------------------------------------------------------------


def test_the_two_sides_differ_in_every_word_that_has_another() -> None:
    form = families()["event"].forms["active"]
    negative = Event("buy|purchase", Mood(helpers=("will",), negative=True, negation="n't|not"), TOM, CAR)
    assert text_of(say(form, {"e": negative}, 0).words) == "Tom won't buy the car."
    assert text_of(say(form, {"e": negative}, 1).words) == "Tom will not purchase the automobile."


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
        say(families()[family].forms[form], {**meaning, "later": BOUGHT}, 0)


def test_verbs_agree_with_the_subject_of_the_form() -> None:
    two: Meaning = {"e": Event("see", PRESENT, Referent(np("CD two", "NNS men"), many=True, person=True), CAR)}
    forms = families()["event"].forms
    assert text_of(say(forms["active"], two, 0).words) == "Two men see the car."
    assert text_of(say(forms["passive"], two, 0).words) == "The car is seen by two men."
    assert text_of(say(families()["who"].forms["who"], two, 0).words) == "Who sees the car?"


def test_persons_are_who_and_things_are_which() -> None:
    city: Meaning = {"e": Event("see", PRESENT, CITY, ANNA)}
    assert text_of(say(families()["event"].forms["who"], city, 0).words) == "It is the city which sees Anna."
    assert text_of(say(families()["whom"].forms["what"], city, 0).words) == "Who does the city see?"


def test_a_template_nearly_always_says_which_form_of_a_family_is_meant() -> None:
    rng = random.Random(1)
    alike, pairs = Counter[str](), Counter[str]()
    for name, family in families().items():
        for _ in range(20):
            meaning = draw_meaning(rng, family.things)
            said: list[Tree] = []
            for form in family.forms.values():
                try:
                    said.append(read_tree(say(form, meaning, 0).tree))
                except Unfit:
                    continue
            templates = [template(tree) for tree in said]
            pairs[name] += len(templates) * (len(templates) - 1) // 2
            alike[name] += sum(one == other for one, other in combinations(templates, 2))
    assert alike.total() < 0.01 * pairs.total()
    assert all(alike[name] < 0.1 * pairs[name] for name in families())
