"""A grammar of dependency trees, which generates and recognises sentences.

No phrase contains itself, so sentences are finite, and recursion is bounded by the depth of the grammar.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from espalier.io.errors import EspalierError
from espalier.nursery.sampling import chance, weighted
from espalier.syntax.parse import Parse

#: The probability of an optional part.
_SAID = 0.5
#: Attempts to draw a phrase that differs from the bound ones of its name.
_DRAWS = 8


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a pattern: a word with its tag, or a phrase.

    Attributes:
        name: name of a phrase, or the word itself.
        tag: tag of the word; empty for a phrase.
        label: relation to the head; empty for the head.
        optional: whether it may be missing.
        bound: identifier of a phrase with equal occurrences; "" if each occurrence is drawn anew.
    """

    name: str
    tag: str = ""
    label: str = ""
    optional: bool = False
    bound: str = ""


#: The parts of a phrase in order, and the weight of the pattern among those of its name.
Pattern = tuple[tuple[Part, ...], int]
#: The bound phrases of a text, by name and number.
Bound = dict[tuple[str, str], Parse]


@dataclass(frozen=True)
class Grammar:
    """Phrases by name. Each has at least one pattern.

    Raises:
        EspalierError: a phrase has no pattern with positive weight, refers to an unknown phrase, or contains itself.
    """

    phrases: Mapping[str, tuple[Pattern, ...]]

    def __post_init__(self) -> None:
        within = {
            name: {part.name for parts, _ in patterns for part in parts if not part.tag}
            for name, patterns in self.phrases.items()
        }
        for name, patterns in self.phrases.items():
            if not sum(weight for _, weight in patterns):
                raise EspalierError("no pattern is ever drawn", where=f"phrase {name}", remedy="give one a weight")
            if missing := sorted(within[name] - self.phrases.keys()):
                raise EspalierError(f"there is no phrase {missing[0]}", where=f"phrase {name}")
        try:
            TopologicalSorter(within).prepare()
        except CycleError as error:
            circle = error.args[1]
            raise EspalierError(f"it contains itself ({' in '.join(circle)})", where=f"phrase {circle[0]}") from None

    @cached_property
    def beginning(self) -> dict[str, dict[str, list[tuple[Part, ...]]]]:
        """For each phrase and each possible first word, the patterns that begin with this word."""
        tables: dict[str, dict[str, list[tuple[Part, ...]]]] = {}

        def of(name: str) -> dict[str, list[tuple[Part, ...]]]:
            if name not in tables:
                table: dict[str, list[tuple[Part, ...]]] = {}
                for parts, _ in self.phrases[name]:
                    for word in begin(parts):
                        table.setdefault(word, []).append(parts)
                tables[name] = table
            return tables[name]

        def begin(parts: Sequence[Part]) -> set[str]:
            words: set[str] = set()
            for part in parts:
                words.update((part.name,) if part.tag else of(part.name))
                if not part.optional:
                    break
            return words

        for name in self.phrases:
            of(name)
        return tables


# --- Growing ---------------------------------------------------------------------------------------------------------


def grow_phrase(rng: random.Random, grammar: Grammar, name: str, bound: Bound) -> Parse:
    """Generate a random phrase of the given name. Its head has the head 0 and the label "root".

    Args:
        bound: bound phrases of the text so far; new ones are added.
    """
    parts = weighted(rng, grammar.phrases[name])
    words: list[str] = []
    tags: list[str] = []
    heads: list[int] = []
    labels: list[str] = []
    tops: list[tuple[int, str]] = []
    for part in parts:
        if part.optional and not chance(rng, _SAID):
            continue
        phrase = Parse((part.name,), (part.tag,), "", (0,), ("root",)) if part.tag else _part(rng, grammar, part, bound)
        offset = len(words)
        words += phrase.words
        tags += phrase.tags
        heads += [head + offset if head else 0 for head in phrase.heads]
        labels += phrase.labels
        tops.append((offset + phrase.heads.index(0), part.label))
    head = next(index for index, label in tops if not label)
    for index, label in tops:
        if label:
            heads[index], labels[index] = head + 1, label
    return Parse(tuple(words), tuple(tags), "", tuple(heads), tuple(labels))


def _part(rng: random.Random, grammar: Grammar, part: Part, bound: Bound) -> Parse:
    key = part.name, part.bound
    if key in bound:
        return bound[key]
    said = [phrase for (name, _), phrase in bound.items() if name == part.name]
    for _ in range(_DRAWS):
        phrase = grow_phrase(rng, grammar, part.name, bound)
        if phrase not in said:
            break
    if part.bound:
        bound[key] = phrase
    return phrase


# --- Recognising -----------------------------------------------------------------------------------------------------


def recognises(grammar: Grammar, name: str, words: Sequence[str]) -> bool:
    """Whether the words form a phrase of the given name. Occurrences of a bound phrase need not be equal here."""
    beginning = grammar.beginning
    known: dict[tuple[str, int], set[int]] = {}

    def ends(name: str, start: int) -> set[int]:
        """The ends of all phrases of that name that begin at `start`."""
        if (name, start) not in known:
            patterns = beginning[name].get(words[start], ()) if start < len(words) else ()
            known[name, start] = set().union(*(after(parts, start) for parts in patterns))
        return known[name, start]

    def after(parts: tuple[Part, ...], start: int) -> set[int]:
        at = {start}
        for part in parts:
            if part.tag:
                reached = {place + 1 for place in at if place < len(words) and words[place] == part.name}
            else:
                reached = set().union(*(ends(part.name, place) for place in at))
            at = at | reached if part.optional else reached
            if not at:
                break
        return at

    return len(words) in ends(name, 0)
