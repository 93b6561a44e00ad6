"""The words of the English paraphrases, from lexicon_en_paraphrase.yaml."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from espalier.nursery.brackets_en import Rules, read_rules
from espalier.nursery.data import load

#: The groups of frames, by their names in forms_en.yaml.
_FRAMES = ("frames", "transfers", "particles", "mannered", "scenes", "acts")


@dataclass(frozen=True, slots=True)
class Frame:
    """Verbs that take the same kinds of participants.

    Attributes:
        kinds: kinds of nouns for the subject, and for the object and the receiver if the verbs have them.
        verbs: base forms; "pay+for" has a preposition or a particle.
    """

    kinds: tuple[tuple[str, ...], ...]
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParaphraseLexicon:
    """The lexicon. Every tuple is in the order of the file.

    Attributes:
        nouns, adjectives: words by kind. `mass`: the kinds without article and plural.
        frames: frames by name. "goals" have only an object; their subject is "I" or "you".
        states: nouns with their adjectives. `opposites`: kinds of nouns with pairs of adjectives, "tall:short".
        lists: words by name. `phrases`: trees by name.
    """

    nouns: dict[str, tuple[str, ...]]
    adjectives: dict[str, tuple[str, ...]]
    mass: frozenset[str]
    frames: dict[str, tuple[Frame, ...]]
    states: tuple[tuple[str, tuple[str, ...]], ...]
    opposites: tuple[tuple[str, tuple[str, ...]], ...]
    lists: dict[str, tuple[str, ...]]
    phrases: Rules


@cache
def lexicon() -> ParaphraseLexicon:
    """The lexicon of the paraphrases."""
    raw = load("lexicon_en_paraphrase.yaml")
    lists = {name: tuple(value.split()) for name, value in raw.items() if isinstance(value, str)}
    phrases = {name: value for name, value in raw.items() if isinstance(value, str | list) and name != "goals"}
    return ParaphraseLexicon(
        nouns=_words(raw["nouns"]),
        adjectives=_words(raw["adjectives"]),
        mass=frozenset(lists["mass"]),
        frames={
            **{name: _frames(raw[name]) for name in _FRAMES},
            "goals": tuple(frame for goal in raw["goals"] for frame in _frames(goal)),
        },
        states=tuple(_words(raw["states"]).items()),
        opposites=tuple(_words(raw["opposites"]).items()),
        lists=lists,
        phrases=read_rules(phrases),
    )


def _words(raw: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(value.split()) for name, value in raw.items()}


def _frames(raw: dict[str, Any]) -> tuple[Frame, ...]:
    return tuple(
        Frame(tuple(tuple(kinds.split()) for kinds in head.split(">")), tuple(verbs.split()))
        for head, verbs in raw.items()
    )
