"""The words of the pastiche sonnets: their forms, kinds and stress."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from espalier.nursery.data import load
from espalier.verse.rhyme import pronunciations

THEMES = ("sea", "garden", "night", "winter", "court")
KINDS = ("sky", "water", "plant", "bird", "body", "form", "mind", "place", "human", "thing")
_NATURE = ("sky", "water", "plant", "bird", "place")
_PEOPLE = ("human", "body", "form", "mind", "bird")
Number = Literal["one", "many", "mass"]
NUMBERS: tuple[Number, ...] = ("one", "many", "mass")


@dataclass(frozen=True, slots=True)
class Frame:
    """Transitive verbs (base forms) with the kinds of their subjects and objects."""

    verbs: tuple[str, ...]
    subjects: tuple[str, ...]
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one theme. Every tuple is in the order of the file.

    Attributes:
        nouns: (kind, number) -> nouns in that number; "mass" nouns are singular and have no "a" or "an".
        adjectives: kind of noun -> adjectives before it.
        states: adjectives after a verb of being.
        frames: transitive verbs. `intransitive`: kind of subject -> verbs, in the base form.
        prepositions: kind of object -> prepositions.
        determiners: (kind, number) -> determiners, repeated according to their frequency.
    """

    nouns: dict[tuple[str, Number], tuple[str, ...]]
    adjectives: dict[str, tuple[str, ...]]
    states: dict[str, tuple[str, ...]]
    frames: tuple[Frame, ...]
    intransitive: dict[str, tuple[str, ...]]
    prepositions: dict[str, tuple[str, ...]]
    adverbs: tuple[str, ...]
    determiners: dict[tuple[str, Number], tuple[str, ...]]


@cache
def lexicon(theme: str) -> Lexicon:
    """The lexicon of a theme."""
    raw = _raw()
    mass = raw["mass"].split()
    nouns: dict[tuple[str, Number], tuple[str, ...]] = {}
    for kind in KINDS:
        words = _tagged(raw["nouns"][kind], theme)
        counted = tuple(word for word in words if word not in mass)
        nouns[kind, "one"] = counted
        nouns[kind, "many"] = tuple(plural(word) for word in counted if pattern(plural(word)))
        nouns[kind, "mass"] = tuple(word for word in words if word in mass)
    return Lexicon(
        nouns=nouns,
        adjectives={kind: _of_kind("adjectives", kind, theme) for kind in KINDS},
        states={kind: _of_kind("states", kind, theme) for kind in KINDS},
        frames=tuple(_frame(head, verbs) for head, verbs in raw["transitive"].items()),
        intransitive={kind: tuple(raw["intransitive"][kind].split()) for kind in KINDS},
        prepositions={kind: tuple(words.split()) for kind, words in raw["prepositions"].items()},
        adverbs=tuple(raw["adverbs"].split()),
        determiners={(kind, number): _determiners(kind, number) for kind in KINDS for number in NUMBERS},
    )


def plural(noun: str) -> str:
    """A noun in the plural."""
    irregular: dict[str, str] = _raw()["plurals"]
    return irregular.get(noun) or _with_s(noun)


def third_person(verb: str) -> str:
    """A verb's base form in the third person singular."""
    return "goes" if verb == "go" else _with_s(verb)


@cache
def pattern(word: str) -> str:
    """The stress pattern of a word, one sign per syllable: "1" stressed, "0" unstressed, "x" either: "river" is 10.

    It comes from the first pronunciation in the CMU dictionary, with secondary stress as "x". Articles are "0", and
    monosyllabic function words are "x". Empty for a word not in the dictionary.
    """
    if word in _raw()["light"].split():
        return "0"
    if word in _raw()["either"].split():
        return "x"
    sounds = pronunciations(word)
    return "".join(sound[-1].replace("2", "x") for sound in sounds[0] if sound[-1].isdigit()) if sounds else ""


@cache
def begins_with_vowel(word: str) -> bool:
    """Whether a word takes "an", by its sound, not its spelling (an hour, a useful)."""
    sounds = pronunciations(word)
    return bool(sounds) and sounds[0][0][-1].isdigit()


def _with_s(word: str) -> str:
    if word.endswith(("s", "sh", "ch", "x", "z")):
        return f"{word}es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def _of_kind(field: str, kind: str, theme: str) -> tuple[str, ...]:
    groups = ("all", *(("nature",) if kind in _NATURE else ()), *(("people",) if kind in _PEOPLE else ()))
    return tuple(dict.fromkeys(word for group in groups for word in _tagged(_raw()[field][group], theme)))


def _determiners(kind: str, number: Number) -> tuple[str, ...]:
    raw = _raw()
    own = raw["determiners"]["own"] if kind in raw["personal"].split() else ""
    return tuple(f"{raw['determiners'][number]} {own}".split())


def _tagged(field: dict[str, str] | str, theme: str) -> tuple[str, ...]:
    field = {"any": field} if isinstance(field, str) else field
    return tuple(dict.fromkeys(word for tag in ("any", theme) for word in field.get(tag, "").split()))


def _frame(head: str, verbs: str) -> Frame:
    subjects, objects = (tuple(KINDS) if "*" in side else tuple(side.split()) for side in head.split(">"))
    return Frame(tuple(verbs.split()), subjects, objects)


@cache
def _raw() -> dict[str, Any]:
    return load("lexicon_en.yaml")
