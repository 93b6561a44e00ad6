"""How well an English text keeps a format: the words of each clause, its marks and its rhymes.

A line of the text stands beside a unit of the format, from first to last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final

from espalier.frames.check_lines import LINE, check_count, check_initials, check_words_in, note_of_rhymes
from espalier.frames.check_rhymes import Rhymes, check_rhymes
from espalier.frames.clauses import Alignment, Character, Clause, align
from espalier.frames.compiled import book_of, without_rhyme
from espalier.frames.lines import Lines, initials_of, words_of
from espalier.frames.plan import Plan, plan_of
from espalier.frames.report import Report, Result, Score, Violation, report_of
from espalier.io.errors import ConfigError
from espalier.text.language import is_mark
from espalier.verse.format import Format
from espalier.verse.grammar import parse_format
from espalier.verse.slots import RHYME
from espalier.verse.sounds import Sounds

#: A word, a number, or a mark; an apostrophe within a word belongs to it.
_TOKEN: Final = re.compile(r"['’]?[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?|\d+(?:[.,:]\d+)*|\.{3}|-+|[^\w\s]")
#: Marks as formats have them.
_PLAIN: Final = {"...": "…", "“": '"', "”": '"', "‘": "'", "’": "'"}


def check_words(said: Mapping[str, Any], text: str) -> Report:
    """Judge a text: lines, format, marks, given words, acrostic, rhyme, rhyme words, words.

    Raises:
        ConfigError: the format cannot be read, or rules are given that English formats have not.
    """
    if other := next((name for name in ("tones", "tune") if name in said), None):
        raise ConfigError(f"{other} beside a format of English words", where=other, remedy="leave out one of them")
    sounds, exact = Sounds("en", book_of(said)), bool(said.get("marks", True))
    format_ = parse_format(said["format"], "en", said.get("rhyme"), sounds=sounds)
    if not said.get("rhymes") and RHYME not in said["format"]:
        format_ = without_rhyme(format_)
    units = [replace(format_, units=(unit,), rhyme=".") for unit in format_.units]
    plans = [plan_of(unit, sounds, exact=exact) for unit in units]
    found = [_clauses(line, exact=exact) for line in LINE.finditer(text)]
    found = [clauses for clauses in found if any(clause.words for clause in clauses)]
    aligned = [align(plan, clauses) for plan, clauses in zip(plans, found, strict=False)]
    lines = _lines(said, format_)
    words = [[word for clause in clauses for word in clause.words] for clauses in found]
    rhymes = _rhymes(format_, plans, aligned)
    results = [
        check_count(lines, words, text),
        _format(plans, aligned, text),
        *([_marks(plans, aligned, found)] if exact else []),
        _given(plans, aligned),
        check_initials(lines, words),
        *rhymes.results,
        check_words_in(lines, words, text),
    ]
    return report_of(text, results, note_of_rhymes(rhymes.unknown))


def _clauses(line: re.Match[str], *, exact: bool) -> list[Clause]:
    """The clauses of a line: words, and the marks after them. Unless `exact`, marks are layout."""
    clauses = [Clause()]
    for match in _TOKEN.finditer(line.group()):
        token = Character(_PLAIN.get(match.group(), match.group()), line.start() + match.start())
        if is_mark(token.text):
            clauses[-1].marks.extend([token] * exact)
            continue
        if clauses[-1].marks:
            clauses.append(Clause())
        clauses[-1].words.append(token)
    return clauses


def _lines(said: Mapping[str, Any], format_: Format) -> Lines:
    """What the lines of the text have beside the format."""
    size = len(format_.units)
    names = tuple(f"{sum(not is_mark(slot) for slot in unit)} words" for unit in format_.units)
    return Lines(((),) * size, names, format_.rhyme, False, initials_of(said, size), words_of(said))


def _format(plans: Sequence[Plan], aligned: Sequence[Alignment], text: str) -> Result:
    """Each clause has its number of words. All clauses of a line that is missing are wrong."""
    faults = [fault for each in aligned for fault in each.faults]
    violations = [Violation("format", f.start, f.end, text[f.start : f.end], f.wanted) for f in faults]
    missing = [align(plan, []).clauses for plan in plans[len(aligned) :]]
    of = sum(each.clauses for each in aligned) + sum(missing)
    return Score("format", sum(each.right for each in aligned), of), violations


def _marks(plans: Sequence[Plan], aligned: Sequence[Alignment], found: Sequence[Sequence[Clause]]) -> Result:
    """The marks are those of the format. Further ones are wrong, but not beside clauses of other lengths."""
    violations, kept, extra = list[Violation](), 0, 0
    for plan, each, clauses in zip(plans, aligned, found, strict=False):
        for place, mark in plan.marks.items():
            there = each.at.get(place)
            kept += there is not None and there.text == mark
            if there is not None and there.text != mark:
                violations.append(Violation("marks", there.at, there.end, there.text, mark))
            elif there is None and not each.faults:
                end = max(word.end for clause in clauses for word in (*clause.words, *clause.marks))
                violations.append(Violation("marks", end, end, "", mark))
        own = {character.at for character in each.at.values()}
        if not each.faults:
            further = [mark for clause in clauses for mark in clause.marks if mark.at not in own]
            violations += [Violation("marks", mark.at, mark.end, mark.text, "nothing") for mark in further]
            extra += len(further)
    return Score("marks", kept, sum(len(plan.marks) for plan in plans) + extra), violations


def _given(plans: Sequence[Plan], aligned: Sequence[Alignment]) -> Result:
    """The given words stand at their places, in capitals or not."""
    violations, kept, of = list[Violation](), 0, 0
    for plan, each in zip_longest(plans, aligned):
        for place, wanted in enumerate(plan.places):
            if not wanted.word or not wanted.given:
                continue
            of += 1
            there = each.at.get(place) if each is not None else None
            kept += there is not None and _plain(there) == wanted.given
            if there is not None and _plain(there) != wanted.given:
                violations.append(Violation("given words", there.at, there.end, there.text, wanted.given))
    return Score("given words", kept, of), violations


def _plain(word: Character) -> str:
    return word.text.lower().replace("’", "'")


def _rhymes(format_: Format, plans: Sequence[Plan], aligned: Sequence[Alignment]) -> Rhymes:
    """The words at the rhyme places of a letter rhyme, and differ."""
    words, places = dict[str, list[Character]](), dict[str, int]()
    for number, (letter, slots) in enumerate(zip(format_.rhyme, format_.rhyme_places, strict=True)):
        if letter == ".":
            continue
        places[letter] = places.get(letter, 0) + len(slots)
        if number < len(aligned):
            of_word = [place for place, each in enumerate(plans[number].places) if each.word]
            ranks = [sum(not is_mark(token) for token in format_.units[number][:slot]) for slot in slots]
            at = aligned[number].at
            words.setdefault(letter, []).extend(at[of_word[rank]] for rank in ranks if of_word[rank] in at)
    return check_rhymes(words, places)
