"""Forms of English paraphrases, and the sentence of a form for a meaning.

forms_en.yaml explains the slots. The side of a sentence in its pair, 0 or 1, selects between synonyms:
"car|automobile".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from espalier.nursery.brackets_en import Unfit, fill, finished, read_form
from espalier.nursery.data import load
from espalier.nursery.inflect_en import OR, verb_form
from espalier.nursery.meanings_en import Event, Meaning, Trees
from espalier.nursery.referents_en import Referent
from espalier.nursery.verbs_en import after_subject, before_subject, finite
from espalier.syntax.parse import Parse
from espalier.syntax.tree import Tree

#: The label of a node that stands for a verb with its auxiliaries.
_VERB = re.compile(
    r"VP=(?:(?P<event>\w+)/)?(?P<rest>rest:)?(?P<voice>active|passive)(?::(?P<subject>\w+))?(?:@(?P<adverb>\w+))?"
)

#: Verbs that a form, not the meaning, contains; they are in the present tense.
_PRESENT = ("be", "do", "have", "plan")


@dataclass(frozen=True, slots=True)
class Family:
    """Meanings of one kind, and the forms that express them.

    Attributes:
        things: descriptions of the parts of a meaning; see `meanings_en.draw_meaning`.
        weight: relative frequency of the family.
        forms: forms by name.
    """

    things: dict[str, str]
    weight: int
    forms: dict[str, Tree]


@cache
def families() -> dict[str, Family]:
    """All families, in the order of the file."""
    return {
        name: Family(
            things=raw["things"],
            weight=raw.get("weight", 1),
            forms={form: read_form(text) for form, text in raw["forms"].items()},
        )
        for name, raw in load("forms_en.yaml").items()
    }


def say(form: Tree, meaning: Meaning, side: int) -> Parse:
    """The sentence of a form for a meaning.

    Args:
        side: 0 or 1, selects one of two synonyms.

    Raises:
        Unfit: the form cannot express the meaning.
    """
    parts = fill(form, lambda slot: _slot(meaning, slot), lambda label, rest: _node(meaning, label, rest))
    return finished(_chosen(parts[0], side))


def _chosen(node: Tree | str, side: int) -> Tree:
    if isinstance(node, str):
        raise TypeError(f"the form is only the word '{node}'")
    return Tree(
        node.label(), [_word(child, side) if isinstance(child, str) else _chosen(child, side) for child in node]
    )


def _word(word: str, side: int) -> str:
    words = word.split(OR)
    return words[side % len(words)]


# --- Verb phrases ----------------------------------------------------------------------------------------------------


def _node(meaning: Meaning, label: str, rest: Sequence[Tree]) -> list[Tree]:
    match = _VERB.fullmatch(label)
    if not match:
        return [Tree(label, rest)]
    event = _event(meaning, match["event"])
    passive = match["voice"] == "passive"
    many = _many(event, match["subject"] or ("theme" if passive else "agent"))
    if match["rest"]:
        return after_subject(event.verb, event.mood, rest, many=many, passive=passive)
    adverb = Tree("ADVP", [Tree("RB", _slot(meaning, match["adverb"]))]) if match["adverb"] else None
    return finite(event.verb, event.mood, rest, many=many, passive=passive, adverb=adverb)


def _many(event: Event, subject: str) -> bool:
    if subject == "one":
        return False
    return _referent(event, subject).many


# --- Slots -----------------------------------------------------------------------------------------------------------


def _slot(meaning: Meaning, slot: str) -> Trees:
    trees = _trees(meaning, slot.rstrip("!"))
    if slot.endswith("!") and not trees:
        raise Unfit(slot)
    return trees


def _trees(meaning: Meaning, slot: str) -> Trees:
    path, _, argument = slot.partition(":")
    name, *variants = path.split(".")
    owner, _, field = name.rpartition("/")
    thing = None if owner else meaning.get(name)
    if isinstance(thing, Referent):
        return _spoken_of(thing, variants)
    if thing is not None and not isinstance(thing, Event):
        return thing
    if field in _PRESENT:
        return [_present(field, meaning, argument)]
    event = _event(meaning, owner)
    match field:
        case "agent" | "theme" | "receiver":
            return _spoken_of(_referent(event, field), variants)
        case "object":
            theme = _referent(event, "theme").tree
            return [theme] if event.particle is None else [Tree("PP", [event.particle, theme])]
        case "gap":
            return [] if event.particle is None else [Tree("PP", [event.particle])]
        case "particle":
            return [] if event.particle is None else [Tree("PRT", [event.particle])]
        case "place":
            return event.place
        case "time":
            return event.time
        case "verb":
            return [Tree(argument, [verb_form(event.verb, argument)])]
        case "was":
            past = event.mood.past and not event.mood.helpers
            return [Tree("VBD", ["was"]) if past else Tree("VBZ", ["is"])]
        case "aux":
            subject = "theme" if argument == "passive" else "agent"
            many = _many(event, subject)
            return before_subject(event.verb, event.mood, many=many, passive=argument == "passive")
    raise KeyError(f"no slot is called '{slot}'")


def _present(verb: str, meaning: Meaning, subject: str) -> Tree:
    thing = meaning.get(subject)
    one = thing if isinstance(thing, Referent) else _referent(_event(meaning, None), subject)
    tag = "VBP" if one.many else "VBZ"
    return Tree(tag, [verb_form(verb, tag)])


def _event(meaning: Meaning, name: str | None) -> Event:
    event = meaning[name or "e"]
    if not isinstance(event, Event):
        raise TypeError(f"'{name}' is no event")
    return event


def _referent(event: Event, role: str) -> Referent:
    referent: Referent | None = getattr(event, role)
    if referent is None:
        raise Unfit(role)
    return referent


def _spoken_of(one: Referent, variants: Sequence[str]) -> Trees:
    """The noun phrase or pronoun of a referent; empty if a variant requires another kind of referent."""
    trees: Trees = [one.tree]
    for variant in variants:
        match variant:
            case "person" | "thing":
                trees = trees if one.person == (variant == "person") else []
            case "one":
                trees = [] if one.many else trees
            case "who":
                trees = [_wh("WP who") if one.person else _wh("WDT which")]
            case "whom":
                trees = [_wh("WP whom") if one.person else _wh("WDT which")]
            case "what":
                trees = [_wh("WP who") if one.person else _wh("WP what")]
            case "name":
                trees = ["person" if one.person else "thing"]
            case "bare":
                trees = list(one.tree)
            case "they":
                trees = [Tree("NP", [Tree("PRP", [one.pronoun])])] if one.pronoun else []
            case _:
                raise KeyError(f"no variant is called '{variant}'")
    return trees


def _wh(leaf: str) -> Tree:
    tag, word = leaf.split()
    return Tree("WHNP", [Tree(tag, [word])])
