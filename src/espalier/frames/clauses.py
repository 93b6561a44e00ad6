"""A Chinese text beside a plan: which of its characters stand at which places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from espalier.frames.plan import PAUSES, STOPS, Plan, clauses_of
from espalier.text.language import is_mark

#: The marks of other keyboards, as Chinese writes them.
WIDE: Final = str.maketrans(",.!?;:()", "，。！？；：（）")

#: What it costs to leave out a clause, or to join two; one more or fewer word in a clause costs 1.
_MISSING, _JOINED = 3, 1


@dataclass(frozen=True, slots=True)
class Character:
    """A word or a mark of a text, and where it stands."""

    text: str
    at: int

    @property
    def end(self) -> int:
        """The end of the word or mark in the text."""
        return self.at + len(self.text)


@dataclass(frozen=True)
class Clause:
    """A clause of a text: its words, and the marks after them."""

    words: list[Character] = field(default_factory=list)
    marks: list[Character] = field(default_factory=list)


@dataclass(frozen=True)
class Fault:
    """A clause that is not as the plan has it: the places where the text should have been, and what would be right."""

    start: int
    end: int
    wanted: str


@dataclass(frozen=True)
class Alignment:
    """The characters at the places of a plan, the clauses with other lengths, and the number of clauses compared.

    A pause within a clause (读, "、" in the plan) may go without a mark where marks are free.
    """

    at: dict[int, Character]
    faults: list[Fault]
    right: int
    clauses: int


def read_clauses(plan: Plan, text: str, *, exact: bool) -> list[Clause]:
    """The clauses of a text. Spaces and line ends are layout. Unless `exact`, so are marks that end no clause.

    In a plan whose lines end without marks, clauses end at line ends, or at /; if it has no marks at all, only there.
    """
    clauses, by_line, ended = [Clause()], plan.by_line, False
    for at, character in enumerate(text.translate(WIDE)):
        if character.isspace() or (by_line and character == "/"):
            ended = ended or (by_line and character in "\n/")
            continue
        if not is_mark(character):
            if (ended and clauses[-1].words) or (clauses[-1].marks and (plan.marks or not by_line)):
                clauses.append(Clause())
            ended = False
            clauses[-1].words.append(Character(character, at))
        elif by_line and not plan.marks:
            if exact:
                clauses[-1].marks.append(Character(character, at))
        elif exact or character in PAUSES + STOPS:
            if clauses[-1].marks and not exact:  # two marks in a row have a clause without words between them
                clauses.append(Clause())
            clauses[-1].marks.append(Character(character, at))
    return clauses


def align(plan: Plan, text: str, clauses: Sequence[Clause]) -> Alignment:
    """The clauses of a text at those of a plan, so that as few words as possible are missing or too many."""
    wanted = list(clauses_of(plan))
    found = [len(clause.words) for clause in clauses]
    pauses = [not plan.exact and "".join(plan.marks[place] for place in marks) == "、" for _, marks in wanted]
    steps = _steps([len(words) for words, _ in wanted], found, pauses)
    at: dict[int, Character] = {}
    faults, right, i, j = list[Fault](), 0, 0, 0
    for own, other in steps:
        places = [place for words, _ in wanted[i : i + own] for place in words]
        written = [character for clause in clauses[j : j + other] for character in clause.words]
        if len(places) == len(written):
            at.update(zip(places, written, strict=True))
        elif places and written:  # the last word is the one that rhymes
            at[places[-1]] = written[-1]
        if own == other == 1:
            at.update(zip(wanted[i][1], clauses[j].marks, strict=False))
        elif own and other:
            at.update(zip(wanted[i + own - 1][1], clauses[j + other - 1].marks, strict=False))
        if len(places) == len(written) and (own == other == 1 or (own == 2 and pauses[i])):
            right += own
        else:
            faults.append(_fault(wanted[i : i + own], clauses[j : j + other], clauses[:j], text))
        i, j = i + own, j + other
    return Alignment(at, faults, right, max(len(wanted), len(found)))


def _fault(
    wanted: Sequence[tuple[list[int], list[int]]], found: Sequence[Clause], before: Sequence[Clause], text: str
) -> Fault:
    lengths = [len(words) for words, _ in wanted]
    said = " and ".join(f"{length} word{'s' * (length != 1)}" for length in lengths)
    characters = [character for clause in found for character in (clause.words or clause.marks)]
    if not characters:
        last = [character.end for clause in before for character in (*clause.words, *clause.marks)]
        start = max(last, default=0)
        return Fault(start, start, said)
    start, end = characters[0].at, characters[-1].end
    return Fault(start, end, said or "nothing")


def _steps(wanted: Sequence[int], found: Sequence[int], pauses: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """How many clauses of the plan, and how many of the text, stand beside each other, from first to last.

    Args:
        pauses: for each clause of the plan whether the mark after it may be left out.
    """
    if list(wanted) == list(found):
        return iter([(1, 1)] * len(wanted))
    best: dict[tuple[int, int], tuple[int, tuple[int, int]]] = {(0, 0): (0, (0, 0))}
    for i in range(len(wanted) + 1):
        for j in range(len(found) + 1):
            for own, other in ((1, 1), (1, 0), (0, 1), (1, 2), (2, 1)):
                if (i - own, j - other) not in best or i < own or j < other:
                    continue
                least, most = sum(wanted[i - own : i]), sum(found[j - other : j])
                if own + other == 1:
                    cost = _MISSING + least + most
                elif own + other == 2:
                    cost = abs(least - most) * 2
                elif least == most:
                    cost = 0 if own == 2 and pauses[i - 2] else _JOINED
                else:
                    continue
                total = best[i - own, j - other][0] + cost
                if (i, j) not in best or total < best[i, j][0]:
                    best[i, j] = (total, (own, other))
    steps, i, j = [], len(wanted), len(found)
    while i or j:
        own, other = best[i, j][1]
        steps.append((own, other))
        i, j = i - own, j - other
    return reversed(steps)
