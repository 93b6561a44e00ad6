"""How well a Chinese text keeps a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Final

from espalier.frames.automaton import OPEN
from espalier.frames.clauses import Alignment, Character, align, read_clauses
from espalier.frames.plan import STOPS, Letter, Plan, clauses_of
from espalier.frames.report import Report, Result, Score, Violation, report_of
from espalier.frames.script import read_as

#: How many words a violation offers instead of a word that does not rhyme.
OFFERED: Final = 3


def check_places(plan: Plan, text: str, informing: Collection[str] = ()) -> Report:
    """Judge a text. Rules: format, marks, given words, tone, rhyme, rhyme words, repetition, words.

    Args:
        informing: the rules that inform and do not count.
    """
    found = align(plan, read_clauses(plan, text, exact=plan.exact))
    rules = (_format, _marks, _given, _tones, _rhymes, _differing, _repetitions, _words)
    results = list[Result]()
    for rule in rules:
        if (result := rule(plan, found, text)) is not None:
            score, violations = result
            as_typed = [replace(each, found=text[each.start : each.end]) for each in violations]
            results.append((replace(score, binding=score.binding and score.rule not in informing), as_typed))
    return report_of(text, results)


def second_stanza(plan: Plan, text: str, words: int) -> int:
    """The character of a text at which a stanza begins, before which the plan has so many words; 0 if not known."""
    place = [place for place, each in enumerate(plan.places) if each.word][words]
    there = align(plan, read_clauses(plan, text, exact=plan.exact)).at.get(place)
    return there.at if there else 0


def _at(rule: str, character: Character, wanted: str) -> Violation:
    return Violation(rule, character.at, character.at + 1, character.text, wanted)


def _format(plan: Plan, found: Alignment, text: str) -> Result:
    """Each clause has its number of words, all Chinese characters, and the last one a mark if another has one."""
    violations = [Violation("format", f.start, f.end, text[f.start : f.end], f.wanted) for f in found.faults]
    wrong = set[int]()
    for number, (places, _) in enumerate(clauses_of(plan)):
        words = [found.at[place] for place in places if place in found.at]
        foreign = [word for word in words if not OPEN["han"].fullmatch(word.text)]
        violations += map(_foreign, _runs_of(foreign))
        if foreign and not any(fault.start <= foreign[0].at < fault.end for fault in found.faults):
            wrong.add(number)
    last = max(plan.marks, default=-1)
    if _is_marked(plan, found) and last not in found.at and not found.faults:
        end = len(text.rstrip())
        violations.append(Violation("format", end, end, "", plan.marks[last]))
        wrong.add(found.clauses - 1)
    right = found.right - len(wrong)
    return Score("format", right, found.clauses), violations


def _runs_of(characters: list[Character]) -> Iterator[list[Character]]:
    """Characters in runs of those that stand side by side."""
    for _, run in groupby(enumerate(characters), key=lambda pair: pair[1].at - pair[0]):
        yield [character for _, character in run]


def _foreign(run: list[Character]) -> Violation:
    wanted = "a Chinese character" if len(run) == 1 else f"{len(run)} Chinese characters"
    return Violation("format", run[0].at, run[-1].at + 1, "", wanted)


def _marks(plan: Plan, found: Alignment, text: str) -> Result | None:
    """The marks are those of the frame; where these are free, a pause is a pause, and a stop a stop."""
    violations, kept, marked = list[Violation](), 0, _is_marked(plan, found)
    for place, mark in plan.marks.items():
        there = found.at.get(place)
        right = there is not None and (there.text == mark or (not plan.exact and _stops(there.text) == _stops(mark)))
        kept += right
        if there is not None and not right:
            violations.append(_at("marks", there, mark))
        elif there is None and plan.exact and not marked and (word := found.at.get(place - 1)):
            violations.append(Violation("marks", word.end, word.end, "", mark))
    if plan.exact and (extra := _extra(plan, found, text)):
        violations += [_at("marks", mark, "nothing") for mark in extra]
        kept = max(kept - len(extra), 0)
        return Score("marks", min(kept, len(plan.marks) - 1) if plan.marks else 0, max(len(plan.marks), 1)), violations
    return (Score("marks", kept, len(plan.marks), binding=plan.exact), violations) if plan.marks else None


def _is_marked(plan: Plan, found: Alignment) -> bool:
    """Whether a text has a mark where its plan has one."""
    return any(place in found.at for place in plan.marks)


def _stops(mark: str) -> bool:
    return mark in STOPS


def _extra(plan: Plan, found: Alignment, text: str) -> list[Character]:
    """Marks of a text that stand at no place of the plan. Those of clauses with other lengths are not looked at."""
    if found.faults:
        return []
    own = {character.at for character in found.at.values()}
    return [mark for clause in read_clauses(plan, text, exact=True) for mark in clause.marks if mark.at not in own]


def _given(plan: Plan, found: Alignment, text: str) -> Result | None:
    """The given words stand at their places."""
    given = {place: each.given for place, each in enumerate(plan.places) if each.word and each.given}
    return _each("given words", _simple(found, given), given)


def _simple(found: Alignment, places: Iterable[int]) -> dict[int, Character]:
    """The words of a text at some places, in Simplified characters."""
    there = {place: found.at[place] for place in places if place in found.at}
    return {place: replace(word, text=read_as(word.text)) for place, word in there.items()}


def _each(rule: str, at: Mapping[int, Character], wanted: Mapping[int, str]) -> Result | None:
    """Each of some places has the word that it wants."""
    wrong = [
        _at(rule, there, word) for place, word in wanted.items() if (there := at.get(place)) and there.text != word
    ]
    kept = sum(place in at for place in wanted) - len(wrong)
    return (Score(rule, kept, len(wanted)), wrong) if wanted else None


def _tones(plan: Plan, found: Alignment, text: str) -> Result | None:
    """Each word has a reading with the tone of its place."""
    wanted = {place: each.tone for place, each in enumerate(plan.places) if each.tone}
    violations, kept = list[Violation](), 0
    for place, tone in wanted.items():
        there = found.at.get(place)
        tones = plan.sounds.tones(there.text) if there else frozenset()
        kept += tone in tones
        if there and tone not in tones:
            violations.append(_at("tone", there, tone))
    return (Score("tone", kept, len(wanted)), violations) if wanted else None


def _rhymes(plan: Plan, found: Alignment, text: str) -> Result | None:
    """The words of each letter share a sound."""
    kept = of = 0
    violations = list[Violation]()
    for name, letter in plan.letters.items():
        words = [(place, found.at[place]) for place in letter.places if place in found.at]
        keys = {place: plan.readings.keys(word.text, letter.mixed, plan.sign(place)) for place, word in words}
        possible = {place: own if letter.keys is None else own & letter.keys for place, own in keys.items()}
        counts = Counter(key for own in possible.values() for key in own)
        best = max(sorted(counts), key=lambda key: counts[key], default="")
        wrong = [(place, word) for place, word in words if best not in keys[place]]
        of, kept = of + len(letter.places), kept + len(words) - len(wrong)
        violations += [_at("rhyme", word, _offer(plan, name, letter, place, best, found)) for place, word in wrong]
    return (Score("rhyme", kept, of), violations) if of else None


def _offer(plan: Plan, name: str, letter: Letter, place: int, key: str, found: Alignment) -> str:
    """The sound that a word should have, and words that have it there: those of the text first."""
    if not key:
        return f"a word that rhymes on {name}"
    words = plan.readings.words(letter.mixed, plan.sign(place)).get(key, frozenset())
    in_text = [found.at[each].text for each in letter.places if each in found.at]
    model = next((word for word in in_text if key in plan.readings.keys(word, letter.mixed, "")), "")
    known = [word for word in plan.readings.common if word in words and word not in in_text][:OFFERED]
    as_ = f", as {' '.join(known)}" if known else ""
    return f"a word of {key}{f' like {model}' if model else ''}{as_}"


def _differing(plan: Plan, found: Alignment, text: str) -> Result | None:
    """The rhyme words of a letter differ from each other, and from those that are given."""
    violations, kept, of = list[Violation](), 0, 0
    for letter in plan.letters.values() if plan.distinct else ():
        seen = dict.fromkeys(letter.given, "another word; it is given elsewhere")
        for place in letter.places:
            of += 1
            there = found.at.get(place)
            word = read_as(there.text) if there else ""
            if there and word in seen:
                violations.append(_at("rhyme words", there, seen[word]))
            elif there:
                kept += 1
                seen[word] = f"another word; it rhymes at {there.at} already"
    return (Score("rhyme words", kept, of), violations) if of else None


def _repetitions(plan: Plan, found: Alignment, text: str) -> Result | None:
    """Repeated places have the words that they repeat."""
    copies = {place: each.source for place, each in enumerate(plan.places) if each.source >= 0}
    sources = _simple(found, copies.values())
    known = {place: sources[source].text for place, source in copies.items() if source in sources}
    result = _each("repetition", _simple(found, known), known)
    if result is None:
        return (Score("repetition", 0, len(copies)), []) if copies else None
    score, violations = result
    return Score("repetition", score.kept, len(copies)), violations


def _words(plan: Plan, found: Alignment, text: str) -> Result | None:
    """The words that must occur do, each within a clause."""
    missing = [word for word in plan.words if word not in set(_runs(plan, found, len(word)))]
    violations = [Violation("words", len(text), len(text), "", word) for word in missing]
    return (Score("words", len(plan.words) - len(missing), len(plan.words)), violations) if plan.words else None


def _runs(plan: Plan, found: Alignment, length: int) -> Iterator[str]:
    """All runs of so many words of the text at places side by side."""
    for start in range(len(plan.places) - length + 1):
        places = range(start, start + length)
        if all(plan.places[place].word and place in found.at for place in places):
            yield read_as("".join(found.at[place].text for place in places))
