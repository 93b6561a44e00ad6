"""Lines of the pastiche sonnets: templates filled with words that scan and agree, with a given last word."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from espalier.nursery.lexicon_en import KINDS, Lexicon, Number, begins_with_vowel, pattern, third_person
from espalier.nursery.sampling import chance, pick, weighted
from espalier.nursery.templates_en import ending

#: The iambic pentameter, and the same with its first foot inverted.
IAMBIC, INVERTED = "0101010101", "1001010101"
#: The probability of a line with its first foot inverted.
_INVERSIONS = 0.15

#: The candidates for one slot, grouped by stress pattern; "" leaves the slot empty.
Forms = tuple[tuple[str, tuple[str, ...]], ...]


@cache
def forms(words: tuple[str, ...]) -> Forms:
    """Words grouped by stress pattern, in order of first appearance; "" stands for an empty slot."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(pattern(word) if word else "", []).append(word)
    return tuple((form, tuple(group)) for form, group in groups.items())


def scan(rng: random.Random, slots: Sequence[Forms]) -> list[str] | None:
    """One word for each slot, such that the line scans; None if impossible.

    All possible choices are equally likely.
    """
    target = INVERTED if chance(rng, _INVERSIONS) else IAMBIC
    # ways[k][n]: the number of ways to fill slots k, k + 1, ... after n syllables.
    ways = [[0] * (len(target) + 1) for _ in slots] + [[0] * len(target) + [1]]
    for index in range(len(slots) - 1, -1, -1):
        for form, words in slots[index]:
            for start in range(len(target) + 1 - len(form)):
                if ways[index + 1][start + len(form)] and _fits(form, target, start):
                    ways[index][start] += len(words) * ways[index + 1][start + len(form)]
    if not ways[0][0]:
        return None
    filling, at = [], 0
    for index, slot in enumerate(slots):
        open_forms = [
            (words, len(words) * ways[index + 1][at + len(form)])
            for form, words in slot
            if at + len(form) <= len(target) and _fits(form, target, at)
        ]
        words = weighted(rng, [(words, weight) for words, weight in open_forms if weight])
        filling.append(pick(rng, words))
        at += len(pattern(filling[-1])) if filling[-1] else 0
    return filling


@cache
def _fits(form: str, target: str, start: int) -> bool:
    beats = target[start : start + len(form)]
    return len(beats) == len(form) and all(sign in ("x", beat) for sign, beat in zip(form, beats, strict=True))


#: Weights of the kinds of nouns that follow a preposition ("p") and "of" ("q").
_LIKED = {
    "p": (
        ("place", 40),
        ("water", 25),
        ("sky", 20),
        ("plant", 20),
        ("body", 10),
        ("mind", 8),
        ("thing", 10),
        ("human", 4),
    ),
    "q": (("mind", 30), ("sky", 20), ("place", 15), ("human", 10), ("water", 10), ("thing", 5), ("bird", 5)),
}
_EVENLY = tuple((kind, 1) for kind in KINDS)
_THIRD = ("is", "seems", "grows")
_COPULAS = {"one": _THIRD, "mass": _THIRD, "many": ("are", "seem", "grow"), "self": ("seem", "grow")}

#: Kind and number of a subject; "self", for "i" and for subjects of "can", takes base forms.
Subject = tuple[str, Number | Literal["self"]]


@dataclass(frozen=True, slots=True)
class LineEnd:
    """A word that can end a line, and its function there.

    Attributes:
        word: the inflected word.
        slot: "N" noun, "I" intransitive verb, "Z" state.
        kind: kind of the noun, or of the subject of the verb or state.
        number: number of the noun; for a verb, "one" for the third person singular, "many" for the base form.
    """

    word: str
    slot: str
    kind: str
    number: Number


@dataclass(frozen=True, slots=True)
class Line:
    """A filled line.

    Attributes:
        words: all words, in order.
        content: words that may occur only once in a poem.
        subject: subject of a following "verb" line.
    """

    words: tuple[str, ...]
    content: tuple[str, ...]
    subject: Subject


def line(
    rng: random.Random, lexicon: Lexicon, role: str, end: LineEnd, subject: Subject | None, said: Collection[str]
) -> Line | None:
    """A random line of ten syllables, or None if this attempt fails.

    Args:
        role: a key of `TEMPLATES`.
        end: last word of the line; it must suit the role.
        subject: subject of the line before, used only by a "verb" line.
        said: words that must not occur again in the poem.
    """
    slots = pick(rng, ending(role, end.slot))
    if role != "verb":
        subject = ("human", "self") if any(word in slots for word in ("i", "you", "who", "none")) else None
    drawn = _draw(rng, lexicon, slots, end, subject)
    if drawn is None:
        return None
    choices = [_choices(lexicon, slot, drawn) for slot in slots[:-1]]
    words = scan(rng, [*(forms(words) for words in choices), forms((end.word,))])
    if words is None:
        return None
    content = tuple(word for word, slot in zip(words, slots, strict=True) if word and slot[0] in "ANTIZ")
    places = [word for word, slot in zip(words, slots, strict=True) if slot[0] == "P"]
    if len({*content, *places}) < len(content) + len(places) or any(word in said for word in content):
        return None
    # A verb in the next line that depends on "can" has the base form, as after "i".
    number = "self" if "can" in slots or "will" in slots else drawn.numbers["s"]
    return Line(_articles([word for word in words if word]), content, (drawn.kinds["s"], number))


def suits(end: LineEnd, role: str, subject: Subject | None) -> bool:
    """Whether a line of this role can end with this word. Only a "verb" line depends on the preceding subject."""
    if not ending(role, end.slot):
        return False
    if role != "verb" or end.slot == "N":
        return True
    if subject is None or end.kind != subject[0]:
        return False
    return end.slot == "Z" or (end.number == "one") == (subject[1] in ("one", "mass"))


@dataclass(frozen=True, slots=True)
class _Draw:
    """Kind and number of each group of a line, and transitive verbs that suit them."""

    kinds: dict[str, str]
    numbers: dict[str, Number | Literal["self"]]
    verbs: tuple[str, ...]


def _draw(
    rng: random.Random, lexicon: Lexicon, slots: Sequence[str], end: LineEnd, subject: Subject | None
) -> _Draw | None:
    kinds: dict[str, str] = {}
    numbers: dict[str, Number | Literal["self"]] = {}
    if end.slot == "N":
        kinds[slots[-1][1]], numbers[slots[-1][1]] = end.kind, end.number
    if subject is not None:
        kinds["s"], numbers["s"] = subject
    elif end.slot in "IZ":
        kinds["s"] = end.kind
    if "all" in slots:
        numbers["s"] = "many"
    verbs: tuple[str, ...] = ()
    if "T" in slots or "Tb" in slots:
        suited = [
            (frame, len(frame.verbs))
            for frame in lexicon.frames
            if kinds.get("s", frame.subjects[0]) in frame.subjects and kinds.get("o", frame.objects[0]) in frame.objects
        ]
        if not suited:
            return None
        frame = weighted(rng, suited)
        kinds.setdefault("s", pick(rng, frame.subjects))
        kinds.setdefault("o", pick(rng, frame.objects))
        verbs = frame.verbs
    for group in dict.fromkeys(("s", *(slot[1] for slot in slots if slot[0] == "N"))):
        kind = kinds.setdefault(group, weighted(rng, _LIKED.get(group, _EVENLY)))
        numbers.setdefault(group, _number(rng, lexicon, kind))
    if end.slot == "Z" and end.kind != kinds["s"]:
        return None
    if end.slot == "I":
        base = slots[-1] == "Ib" or numbers["s"] in ("many", "self")
        if end.kind != kinds["s"] or (end.number == "many") != base:
            return None
    return _Draw(kinds, numbers, verbs)


def _number(rng: random.Random, lexicon: Lexicon, kind: str) -> Number:
    wishes: tuple[tuple[Number, int], ...] = (("one", 10), ("many", 6), ("mass", 5))
    return weighted(rng, [(number, wish) for number, wish in wishes if lexicon.nouns[kind, number]])


def _choices(lexicon: Lexicon, slot: str, drawn: _Draw) -> tuple[str, ...]:
    """The possible words of a slot, including "" if the slot may stay empty."""
    letter, group = slot[0], slot[1:2]
    if letter.islower():
        return (slot,)
    if letter == "C":
        return _COPULAS[drawn.numbers["s"]]
    if letter == "M":
        return lexicon.adverbs
    if letter in "TI":
        verbs = drawn.verbs if letter == "T" else lexicon.intransitive[drawn.kinds["s"]]
        third = group != "b" and drawn.numbers["s"] in ("one", "mass")
        return tuple(third_person(verb) for verb in verbs) if third else verbs
    kind, number = drawn.kinds[group], drawn.numbers[group]
    if letter == "P":
        return lexicon.prepositions[kind]
    if letter == "A":
        # An adjective has the probability 1/2.
        return (*lexicon.adjectives[kind], *("",) * (len(lexicon.adjectives[kind]) if slot.endswith("?") else 0))
    if number == "self":
        return ()
    return lexicon.determiners[kind, number] if letter == "D" else lexicon.nouns[kind, number]


def _articles(words: Sequence[str]) -> tuple[str, ...]:
    """Replace "a" by "an" before a vowel sound."""
    following = [*words[1:], ""]
    return tuple(
        "an" if word == "a" and begins_with_vowel(after) else word for word, after in zip(words, following, strict=True)
    )
