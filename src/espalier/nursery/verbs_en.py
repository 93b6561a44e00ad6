"""Verb phrases in the style of the Penn treebank: one VP inside another for each auxiliary, with "not" and "do"."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from espalier.nursery.inflect_en import verb_form
from espalier.syntax.tree import Tree

MODALS: Final = frozenset(["will", "can", "could", "should", "must", "might", "would"])
#: Modals that lose letters before "n't"; "might" is not contracted at all.
_SHORTENED = {"will": "wo", "can": "ca"}


@dataclass(frozen=True, slots=True)
class Mood:
    """Tense, modality and polarity, shared by all forms of a meaning.

    Attributes:
        past: whether the first verb, unless it is a modal, is in the past tense.
        helpers: auxiliaries before the verb: modals, "have", "be" (for the progressive), in that order.
        negative: whether "not" follows the first auxiliary.
        negation: the spelling of "not": "not", "n't", or a spelling for each side, "not|n't".
    """

    past: bool = True
    helpers: tuple[str, ...] = ()
    negative: bool = False
    negation: str = "not"


#: A verb of a chain: its tag and its word.
Link = tuple[str, str]


def chain(verb: str, mood: Mood, *, many: bool, passive: bool = False, inverted: bool = False) -> list[Link]:
    """The verbs of a clause: [("MD", "should"), ("VB", "have"), ("VBN", "been"), ("VBN", "sold")].

    Args:
        verb: the verb in its base form.
        many: whether the subject is plural.
        inverted: whether the first verb will precede the subject, so that it must be an auxiliary.
    """
    verbs = [*mood.helpers, *(["be"] if passive else []), verb]
    if (mood.negative or inverted) and len(verbs) == 1 and verb != "be":
        verbs.insert(0, "do")
    progressive = len(mood.helpers) - 1 if mood.helpers[-1:] == ("be",) else None
    links: list[Link] = []
    tag = "MD" if verbs[0] in MODALS else "VBD" if mood.past else "VBP" if many else "VBZ"
    for index, word in enumerate(verbs):
        links.append((tag, word if tag == "MD" else verb_form(word, tag, many)))
        if word in MODALS or (word == "do" and not index and len(verbs) > 1):
            tag = "VB"
        else:
            tag = "VBG" if index == progressive else "VBN"
    return links


def finite(
    verb: str, mood: Mood, rest: Sequence[Tree], *, many: bool, passive: bool = False, adverb: Tree | None = None
) -> list[Tree]:
    """The verb phrase of a statement.

    Args:
        rest: nodes after the last verb.
        adverb: an adverb after the first auxiliary; it precedes the verb phrase if there is no auxiliary or the phrase
            is negated.
    """
    links = chain(verb, mood, many=many, passive=passive)
    levels = [_negated(links[0], mood), *([_leaf(link)] for link in links[1:])]
    if adverb is None:
        return _nested(levels, rest)
    if len(links) == 1 or mood.negative:
        return [adverb, *_nested(levels, rest)]
    levels[0].append(adverb)
    return _nested(levels, rest)


def before_subject(verb: str, mood: Mood, *, many: bool, passive: bool = False) -> list[Tree]:
    """The part of a question before its subject: the first auxiliary, with "n't" if it is negated."""
    asked = Mood(mood.past, mood.helpers, mood.negative, "n't")
    return _negated(chain(verb, asked, many=many, passive=passive, inverted=True)[0], asked)


def after_subject(verb: str, mood: Mood, rest: Sequence[Tree], *, many: bool, passive: bool = False) -> list[Tree]:
    """The part of a question after its subject: a verb phrase, or only `rest` if "be" was the only verb."""
    links = chain(verb, mood, many=many, passive=passive, inverted=True)[1:]
    return _nested([[_leaf(link)] for link in links], rest)


def _nested(levels: Sequence[list[Tree]], rest: Sequence[Tree]) -> list[Tree]:
    trees = list(rest)
    for level in reversed(levels):
        trees = [Tree("VP", [*level, *trees])]
    return trees


def _leaf(link: Link) -> Tree:
    return Tree(link[0], [link[1]])


def _negated(link: Link, mood: Mood) -> list[Tree]:
    if not mood.negative:
        return [_leaf(link)]
    tag, word = link
    negation = "not" if word == "might" else mood.negation
    hosts = [_SHORTENED.get(word, word) if form == "n't" else word for form in negation.split("|")]
    return [Tree(tag, ["|".join(dict.fromkeys(hosts))]), Tree("RB", [negation])]
