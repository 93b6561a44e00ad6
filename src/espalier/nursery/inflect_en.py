"""English inflection for the nursery's words: verbs, plurals, comparatives.

Synonyms are joined by "|" and inflected together: the past tense of "buy|purchase" is "bought|purchased".
"""

from functools import cache
from typing import Any

from espalier.nursery import lexicon_en
from espalier.nursery.data import load

#: Separator of synonyms. A sentence contains one of them.
OR = "|"
_BE = {"VB": "be", "VBZ": "is", "VBP": "are", "VBD": "was", "VBN": "been", "VBG": "being"}


@cache
def verb_form(verb: str, tag: str, many: bool = False) -> str:
    """A Penn-tagged form (VB, VBZ, VBP, VBD, VBN or VBG) of a verb given in its base form.

    Args:
        many: whether the subject is plural; this only matters for "were".
    """
    if OR in verb:
        return OR.join(verb_form(variant, tag, many) for variant in verb.split(OR))
    if verb == "be":
        return "were" if many and tag == "VBD" else _BE[tag]
    if tag in ("VB", "VBP"):
        return verb
    if tag == "VBZ":
        return "has" if verb == "have" else lexicon_en.third_person(verb) if verb != "do" else "does"
    past, participle = _table()["verbs"].get(verb) or (_past(verb),) * 2
    return past if tag == "VBD" else participle if tag == "VBN" else _present_participle(verb)


@cache
def plural(noun: str) -> str:
    """A noun in the plural."""
    irregular: str | None = _table()["plurals"].get(noun)
    return irregular or OR.join(lexicon_en.plural(variant) for variant in noun.split(OR))


@cache
def comparative(adjective: str) -> tuple[str, ...]:
    """An adjective of higher degree: ("older",), ("more", "expensive")."""
    irregular: str | None = _table()["comparatives"].get(adjective)
    return (irregular,) if irregular else ("more", adjective)


def _present_participle(verb: str) -> str:
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return f"{verb[:-1]}ing"
    return f"{_doubled(verb)}ing"


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{_doubled(verb)}ed"


def _doubled(verb: str) -> str:
    return verb + verb[-1] if verb in _table()["doubled"] else verb


@cache
def _table() -> dict[str, Any]:
    raw = load("inflections_en.yaml")
    verbs = {verb: tuple(forms.split()) for verb, forms in raw["verbs"].items()}
    return {**raw, "verbs": verbs, "doubled": frozenset(raw["doubled"].split())}
