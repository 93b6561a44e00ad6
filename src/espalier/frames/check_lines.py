"""How well an English text keeps the syllables, the meter and the rhymes of its lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from espalier.frames.check_rhymes import Rhymes, check_rhymes
from espalier.frames.clauses import Character
from espalier.frames.lexicon import guessed_shapes, shapes_of
from espalier.frames.lines import Lines, lines_of
from espalier.frames.meters import after
from espalier.frames.report import Report, Result, Score, Violation, report_of

#: A line that is not blank. It is tried only where a line begins, and blanks once: the time stays linear.
LINE: Final = re.compile(r"(?<![^\n/])[^\S\n]*+[^\s/][^\n/]*+")
_WORDS = re.compile(r"['’]?[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Word(Character):
    """A word of a line, where it begins, and its shapes (`shapes_of`)."""

    shapes: frozenset[str]


def check_lines(said: Mapping[str, Any], text: str) -> Report:
    """Judge a text: lines, syllables or meter, acrostic, rhyme, rhyme words, words. Lines end at line ends, or at /."""
    found, unknown = list[list[Word]](), list[str]()
    for line in LINE.finditer(text):
        words = []
        for match in _WORDS.finditer(line.group()):
            word = match.group()
            shapes = shapes_of(word)
            if not shapes:
                unknown.append(word)
            words.append(Word(word, line.start() + match.start(), shapes or guessed_shapes(word)))
        if words:
            found.append(words)
    lines = lines_of(said, len(found))
    rhymes = _rhymes(lines, found)
    results = [
        check_count(lines, found, text),
        _measures(lines, found),
        check_initials(lines, found),
        *rhymes.results,
        check_words_in(lines, found, text),
    ]
    notes = {
        "not in the CMU dictionary, syllables by groups of vowels": unknown,
        "numbers are not counted, write them in words": _NUMBERS.findall(text),
    }
    told = [f"{what}: {' '.join(dict.fromkeys(words))}" for what, words in notes.items() if words]
    return report_of(text, results, (*told, *note_of_rhymes(rhymes.unknown)))


def note_of_rhymes(unknown: Sequence[str]) -> tuple[str, ...]:
    """A note on words at rhyme places whose sound the dictionary does not have."""
    what = "not in the CMU dictionary, rhyme not judged"
    return (f"{what}: {' '.join(dict.fromkeys(unknown))}",) if unknown else ()


def check_count(lines: Lines, found: Sequence[Sequence[Character]], text: str) -> Result:
    """There are as many lines as the frame has."""
    wanted = len(lines.patterns)
    extra = [
        Violation("lines", words[0].at, words[-1].end, text[words[0].at : words[-1].end], "nothing")
        for words in found[wanted:]
    ]
    end = len(text.rstrip())
    missing = [Violation("lines", end, end, "", f"a line of {name}") for name in lines.names[len(found) :]]
    return Score("lines", min(wanted, len(found)), max(wanted, len(found))), extra + missing


def _measures(lines: Lines, found: list[list[Word]]) -> Result:
    """Each line has the syllables or the meter that it wants."""
    rule, violations, kept = ("meter" if lines.metrical else "syllables"), list[Violation](), 0
    for patterns, name, words in zip(lines.patterns, lines.names, found, strict=False):
        places = frozenset((index, 0) for index in range(len(patterns)))
        for word in words:
            reached = after(places, word.shapes, patterns)
            if not reached:
                break
            places = reached
        else:
            if any(place == len(patterns[index]) for index, place in places):
                kept += 1
                continue
        count = sum(len(min(word.shapes, key=len)) for word in words)
        violations.append(Violation(rule, words[0].at, words[-1].end, f"{count} syllables", f"{name}, {patterns[0]}"))
        if not lines.metrical:
            violations[-1] = replace(violations[-1], wanted=name)
    return Score(rule, kept, len(lines.patterns)), violations


def check_initials(lines: Lines, found: Sequence[Sequence[Character]]) -> Result:
    """Each line of the acrostic begins with its letter."""
    violations, of = list[Violation](), sum(map(bool, lines.initials))
    firsts = [(letter, own[0]) for letter, own in zip(lines.initials, found, strict=False) if letter]
    for letter, first in firsts:
        if first.text.lstrip("'’")[:1].lower() != letter:
            wanted = f"a word that begins with {letter.upper()}"
            violations.append(Violation("acrostic", first.at, first.end, first.text, wanted))
    return Score("acrostic", len(firsts) - len(violations), of), violations


def _rhymes(lines: Lines, found: list[list[Word]]) -> Rhymes:
    """The last words of the lines of a letter rhyme, and differ."""
    words: dict[str, list[Character]] = {}
    for letter, own in zip(lines.rhyme, found, strict=False):
        words.setdefault(letter, []).append(own[-1])
    return check_rhymes(words, {letter: lines.rhyme.count(letter) for letter in sorted({*lines.rhyme} - {"."})})


def check_words_in(lines: Lines, found: Sequence[Sequence[Character]], text: str) -> Result:
    """The words that must occur do."""
    there = {word.text.lower().replace("’", "'") for line in found for word in line}
    missing = [word for word in lines.words if word not in there]
    violations = [Violation("words", len(text), len(text), "", word) for word in missing]
    return Score("words", len(lines.words) - len(missing), len(lines.words)), violations
