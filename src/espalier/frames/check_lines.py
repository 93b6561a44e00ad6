"""How well an English text keeps the syllables, the meter and the rhymes of its lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from espalier.frames.lexicon import guessed_shapes, shapes_of
from espalier.frames.lines import Lines, lines_of
from espalier.frames.meters import after
from espalier.frames.report import Report, Score, Violation
from espalier.verse.rhyme import rhyme_parts

_LINE = re.compile(r"[^\n/]*[^\s/][^\n/]*")
_WORDS = re.compile(r"['’]?[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line, where it begins, and its shapes (`shapes_of`)."""

    text: str
    at: int
    shapes: frozenset[str]

    @property
    def end(self) -> int:
        """The end of the word in the text."""
        return self.at + len(self.text)


def check_lines(said: Mapping[str, Any], text: str) -> Report:
    """Judge a text: lines, syllables or meter, acrostic, rhyme, rhyme words, words. Lines end at line ends, or at /."""
    found, unknown = list[list[Word]](), list[str]()
    for line in _LINE.finditer(text):
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
    results = [
        _count(lines, found, text),
        _measures(lines, found),
        _initials(lines, found),
        *_rhymes(lines, found),
        _words(lines, found, text),
    ]
    violations = sorted((each for _, own in results for each in own), key=lambda each: (each.start, each.end))
    report = Report(text, tuple(score for score, _ in results if score.of), tuple(violations))
    if not unknown:
        return report
    note = f"not in the CMU dictionary, syllables by groups of vowels: {' '.join(dict.fromkeys(unknown))}"
    return replace(report, notes=(note,))


_Result = tuple[Score, list[Violation]]


def _count(lines: Lines, found: list[list[Word]], text: str) -> _Result:
    """There are as many lines as the frame has."""
    wanted = len(lines.patterns)
    extra = [
        Violation("lines", words[0].at, words[-1].end, text[words[0].at : words[-1].end], "nothing")
        for words in found[wanted:]
    ]
    end = len(text.rstrip())
    missing = [Violation("lines", end, end, "", f"a line of {name}") for name in lines.names[len(found) :]]
    return Score("lines", min(wanted, len(found)), max(wanted, len(found))), extra + missing


def _measures(lines: Lines, found: list[list[Word]]) -> _Result:
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


def _initials(lines: Lines, found: list[list[Word]]) -> _Result:
    """Each line of the acrostic begins with its letter."""
    violations, of = list[Violation](), sum(map(bool, lines.initials))
    firsts = [(letter, own[0]) for letter, own in zip(lines.initials, found, strict=False) if letter]
    for letter, first in firsts:
        if first.text.lstrip("'’")[:1].lower() != letter:
            wanted = f"a word that begins with {letter.upper()}"
            violations.append(Violation("acrostic", first.at, first.end, first.text, wanted))
    return Score("acrostic", len(firsts) - len(violations), of), violations


def _rhymes(lines: Lines, found: list[list[Word]]) -> list[_Result]:
    """The last words of the lines of a letter share a rhyme part, and differ."""
    violations, repeated, kept, differing, of = list[Violation](), list[Violation](), 0, 0, 0
    for letter in sorted(set(lines.rhyme) - {"."}):
        if lines.rhyme.count(letter) < 2:
            continue
        words = [own[-1] for each, own in zip(lines.rhyme, found, strict=False) if each == letter]
        of += lines.rhyme.count(letter)
        counts = Counter(part for word in words for part in rhyme_parts(word.text))
        best = max(sorted(counts), key=lambda part: counts[part], default=())
        model = next((word.text for word in words if best in rhyme_parts(word.text)), letter)
        wrong = [word for word in words if best not in rhyme_parts(word.text)]
        kept += len(words) - len(wrong)
        violations += [Violation("rhyme", w.at, w.end, w.text, f"a word that rhymes with {model}") for w in wrong]
        seen = set[str]()
        for word in words:
            plain = word.text.lower()
            differing += plain not in seen
            if plain in seen:
                repeated.append(Violation("rhyme words", word.at, word.end, word.text, "another word"))
            seen.add(plain)
    return [(Score("rhyme", kept, of), violations), (Score("rhyme words", differing, of), repeated)]


def _words(lines: Lines, found: list[list[Word]], text: str) -> tuple[Score, list[Violation]]:
    """The words that must occur do."""
    there = {word.text.lower().replace("’", "'") for line in found for word in line}
    missing = [word for word in lines.words if word not in there]
    violations = [Violation("words", len(text), len(text), "", word) for word in missing]
    return Score("words", len(lines.words) - len(missing), len(lines.words)), violations
