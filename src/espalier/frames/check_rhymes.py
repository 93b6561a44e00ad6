"""How well English words rhyme, by the CMU Pronouncing Dictionary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from espalier.frames.clauses import Character
from espalier.frames.report import Result, Score, Violation
from espalier.verse.rhyme import rhyme_parts


@dataclass(frozen=True)
class Rhymes:
    """What was found of the rhymes of a text.

    Attributes:
        results: the rules `rhyme` and `rhyme words`, each with its violations.
        unknown: the words whose rhyme was not judged, since the dictionary lacks them.
    """

    results: list[Result]
    unknown: list[str]


def check_rhymes(words: Mapping[str, Sequence[Character]], places: Mapping[str, int]) -> Rhymes:
    """Judge the words of each rhyme letter: they share a rhyme part, and differ.

    Args:
        words: the words of the text at the places of each letter.
        places: the number of places of each letter. One that is alone rhymes with itself.
    """
    rhyme, differing, unknown = _Count(), _Count(), list[str]()
    for letter, size in places.items():
        if size < 2:
            continue
        own = words.get(letter, ())
        known = [word for word in own if rhyme_parts(word.text)]
        unknown += [word.text for word in own if not rhyme_parts(word.text)]
        judged = size - (len(own) - len(known))
        if judged > 1:
            rhyme.add(judged, len(known), _wrong(known))
        repeated = [word for at, word in enumerate(own) if _plain(word) in {*map(_plain, own[:at])}]
        differing.add(size, len(own), [(word, "another word") for word in repeated])
    return Rhymes([rhyme.of_rule("rhyme"), differing.of_rule("rhyme words")], unknown)


class _Count:
    """The places of a rule, those that keep it, and the words that do not."""

    def __init__(self) -> None:
        self.places, self.kept = 0, 0
        self.wrong = list[tuple[Character, str]]()

    def add(self, places: int, found: int, wrong: Collection[tuple[Character, str]]) -> None:
        self.places, self.kept = self.places + places, self.kept + found - len(wrong)
        self.wrong += wrong

    def of_rule(self, rule: str) -> Result:
        violations = [Violation(rule, word.at, word.end, word.text, wanted) for word, wanted in self.wrong]
        return Score(rule, self.kept, self.places), violations


def _wrong(words: Sequence[Character]) -> list[tuple[Character, str]]:
    """The words without the rhyme part that most words share, and what would be right."""
    counts = Counter(part for word in words for part in rhyme_parts(word.text))
    best = max(sorted(counts), key=lambda part: counts[part], default=())
    model = next((word.text for word in words if best in rhyme_parts(word.text)), "")
    return [(word, f"a word that rhymes with {model}") for word in words if best not in rhyme_parts(word.text)]


def _plain(word: Character) -> str:
    return word.text.lower()
