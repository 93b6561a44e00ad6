"""A Chinese text beside a plan: which of its characters stand at which places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from espalier.frames.plan import PAUSES, STOPS, Plan, clauses_of
from espalier.text.language import is_mark

#: The marks of other keyboards, as Chinese writes them.
WIDE: Final = str.maketrans(",.!?;:()", "，。！？；：（）")

#: What it costs to leave out a clause, or to join two; one more or fewer word in a clause costs 2.
_MISSING, _JOINED = 3, 1
#: How many clauses of the plan, and of the text, may stand beside each other. Of equally good ones the first is taken.
_BESIDE: Final = ((1, 1), (2, 1), (3, 1), (1, 2), (1, 0), (0, 1))


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

    Where marks are free, a pause within a clause (读, "、" in the plan) may go without a mark, and so may a word that
    is repeated at once (错错错).
    """

    at: dict[int, Character]
    faults: list[Fault]
    right: int
    clauses: int


def read_clauses(plan: Plan, text: str, *, exact: bool) -> list[Clause]:
    """The clauses of a text. Spaces and line ends are layout. Unless `exact`, so are marks that end no clause.

    In a plan whose lines end without marks, clauses end at line ends, or at /; if it has no marks at all, only there. A
    text without marks has clauses that end at line ends, at / and at spaces.
    """
    text = text.translate(WIDE)
    unmarked = not plan.by_line and not any(character in PAUSES + STOPS for character in text)
    clauses, by_line, ended = [Clause()], plan.by_line or unmarked, False
    for at, character in enumerate(text):
        if character.isspace() or (by_line and character == "/"):
            ended = ended or (by_line and (unmarked or character in "\n/"))
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
    optional = _optional(plan, wanted)
    right_ends = [_Ended(len(words), "".join(plan.marks[place] for place in marks)) for words, marks in wanted]
    ends = [_Ended(len(clause.words), "".join(mark.text for mark in clause.marks)) for clause in clauses]
    ends[-1:] = [end._replace(marks="") for end in ends[-1:]]  # a stop ends a text wherever it breaks off
    steps = _steps(right_ends, ends, optional)
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
        if own and other == 1 and len(places) == len(written) and all(optional[i : i + own - 1]):
            right += own
        else:
            faults.append(_fault(wanted[i : i + own], clauses[j : j + other], clauses[:j], text))
        i, j = i + own, j + other
    return Alignment(at, faults, right, max(len(wanted), len(clauses)))


def _optional(plan: Plan, wanted: Sequence[tuple[list[int], list[int]]]) -> list[bool]:
    """For each clause of a plan whether the mark after it may be left out."""

    def repeated(words: list[int], following: list[int]) -> bool:
        """Whether a clause of one word repeats that of the clause before it."""
        if not len(words) == len(following) == 1:
            return False
        source = plan.places[following[0]].source
        return source >= 0 and source in (words[0], plan.places[words[0]].source)

    after = [words for words, _ in wanted[1:]] + [[]]
    return [
        not plan.exact and ("".join(plan.marks[place] for place in marks) == "、" or repeated(words, following))
        for (words, marks), following in zip(wanted, after, strict=True)
    ]


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


class _Ended(NamedTuple):
    """The number of words of a clause, and the marks after it."""

    words: int
    marks: str

    @property
    def stops(self) -> bool | None:
        """Whether the clause ends a sentence; None without a mark."""
        return self.marks[-1] in STOPS if self.marks else None


def _steps(wanted: Sequence[_Ended], found: Sequence[_Ended], optional: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """How many clauses of the plan, and how many of the text, stand beside each other, from first to last.

    Of those with as few words missing or too many, the one with the most ends of sentences in common is taken, and of
    these the one that differs last.

    Args:
        optional: for each clause of the plan whether the mark after it may be left out.
    """
    if [clause.words for clause in wanted] == [clause.words for clause in found]:
        yield from [(1, 1)] * len(wanted)
        return
    #: For what is left of both, how bad its best alignment is, and the first step of it.
    best: dict[tuple[int, int], tuple[tuple[int, int], tuple[int, int]]] = {(len(wanted), len(found)): ((0, 0), (0, 0))}
    for i in reversed(range(len(wanted) + 1)):
        for j in reversed(range(len(found) + 1)):
            for own, other in _BESIDE:
                if i + own > len(wanted) or j + other > len(found):
                    continue
                cost = _cost(wanted[i : i + own], found[j : j + other], optional[i : i + own - 1])
                if cost is None:
                    continue
                rest = best[i + own, j + other][0]
                total = (rest[0] + cost[0], rest[1] + cost[1])
                if (i, j) not in best or total < best[i, j][0]:
                    best[i, j] = total, (own, other)
    i = j = 0
    while i < len(wanted) or j < len(found):
        own, other = best[i, j][1]
        yield own, other
        i, j = i + own, j + other


def _cost(wanted: Sequence[_Ended], found: Sequence[_Ended], optional: Sequence[bool]) -> tuple[int, int] | None:
    """How bad it is that clauses stand beside each other, by their words and by their marks; None if they cannot."""
    least, most = (sum(clause.words for clause in each) for each in (wanted, found))
    if not wanted or not found:
        return _MISSING + least + most, 0
    marks = int(None not in (stops := {wanted[-1].stops, found[-1].stops}) and len(stops) > 1)
    if len(wanted) == len(found):
        return 2 * abs(least - most), marks
    if least != most or (len(wanted) > 2 and not all(optional)):
        return None
    return (0 if len(wanted) > 1 and all(optional) else _JOINED), marks
