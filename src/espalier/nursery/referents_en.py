"""Referents of the English paraphrases: noun phrases for persons and things."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from espalier.nursery.inflect_en import plural
from espalier.nursery.lexicon_en_paraphrase import lexicon
from espalier.nursery.sampling import chance, pick, weighted
from espalier.syntax.tree import Tree

#: Shapes of noun phrases with their weights: of subjects, of objects, and of referents that are new to the reader.
_SUBJECT = (("bare", 6), ("such", 5), ("several", 1), ("several-such", 1), ("owned", 1), ("from", 1), ("who", 1))
_FINAL = (*_SUBJECT, ("very", 1))
_NEW = (("bare", 5), ("such", 5), ("several", 1), ("several-such", 1), ("very", 1))


@dataclass(frozen=True, slots=True)
class Referent:
    """A person or thing, as a noun phrase.

    Attributes:
        many: whether it is plural.
        person: whether its relative pronoun is "who", not "which".
        pronoun: its personal pronoun; empty if English has none for it ("he" or "she" for a teacher).
    """

    tree: Tree
    many: bool = False
    person: bool = False
    pronoun: str = ""


def referent(rng: random.Random, kinds: Sequence[str], *, new: bool = False, final: bool = False) -> Referent:
    """A random referent of one of the kinds.

    Args:
        kinds: kinds of nouns; "named" is a person with a name.
        new: whether it is new to the reader: its article is "a", and it has no name.
        final: whether it is not the subject: its article is "a" or "the".
    """
    kind = pick(rng, kinds)
    if kind == "named" or (kind == "person" and not new and chance(rng, 0.4)):
        return named(rng)
    words = lexicon()
    noun = pick(rng, words.nouns[kind])
    if kind in words.mass:
        return Referent(np(f"{'NNP' if noun[0].isupper() else 'NN'} {noun}"), pronoun="it")
    person = kind == "person"
    shape = weighted(rng, _NEW if new else _FINAL if final else _SUBJECT)
    adjective = f"JJ {pick(rng, words.adjectives[kind])}"
    if shape.startswith("several"):
        such = [adjective] if shape == "several-such" else []
        return Referent(np(f"CD {pick(rng, words.lists['few'])}", *such, f"NNS {plural(noun)}"), True, person, "they")
    article = "DT a" if new or (final and chance(rng, 0.5)) else "DT the"
    return Referent(_shaped(rng, shape, article, adjective, noun, person), False, person, "" if person else "it")


def named(rng: random.Random) -> Referent:
    """A person with a name, or two such persons."""
    words = lexicon()
    names = words.lists["he"] + words.lists["she"]
    name = pick(rng, names)
    if chance(rng, 0.15):
        return Referent(np(f"NNP {name}", "CC and", f"NNP {pick(rng, names)}"), True, True, "they")
    return Referent(np(f"NNP {name}"), False, True, "he" if name in words.lists["he"] else "she")


def np(*leaves: str) -> Tree:
    """A noun phrase from tagged words: np("DT the", "NN car")."""
    return Tree("NP", [leaf(text) for text in leaves])


def leaf(text: str) -> Tree:
    """A node from a tagged word: leaf("NN car")."""
    tag, word = text.split()
    return Tree(tag, [word])


def _shaped(rng: random.Random, shape: str, article: str, adjective: str, noun: str, person: bool) -> Tree:
    words = lexicon()
    plain = np(article, f"NN {noun}")
    match shape:
        case "such":
            return np(article, adjective, f"NN {noun}")
        case "very":
            such = Tree("ADJP", [leaf("RB very"), leaf(adjective)])
            return Tree("NP", [leaf(article), such, leaf(f"NN {noun}")])
        case "owned":
            owned = pick(rng, words.lists["relatives"]) if person else noun
            return Tree("NP", [Tree("NP", [*named(rng).tree, leaf("POS 's")]), leaf(f"NN {owned}")])
        case "from" | "who":
            city = np(f"NNP {pick(rng, words.nouns['city'])}")
            if shape == "from":
                return Tree("NP", [plain, Tree("PP", [leaf("IN from"), city])])
            who, is_ = ("WP who", "VBZ lives") if person else ("WDT that", "VBZ is")
            lives = Tree("S", [Tree("VP", [leaf(is_), Tree("PP", [leaf("IN in"), city])])])
            return Tree("NP", [plain, Tree("SBAR", [Tree("WHNP", [leaf(who)]), lives])])
    return plain
