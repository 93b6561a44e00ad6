"""A Chinese text beside a plan: which of its characters stand at which places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from espalier.frames.plan import PAUSES, STOPS, Plan, clauses_of
from espalier.text.language import is_mark
from espalier.verse.grammar import WIDE

#: What it costs that a clause has a word more or fewer, that two stand for one, and that one is missing or too many,
#: besides 1 for each of its words.
_WORD, _JOINED, _MISSING = 2, 1, 3
#: How many clauses of the plan, and of the text, may stand beside each other. Of equally good ones the first is taken.
_BESIDE: Final = ((1, 1), (2, 1), (3, 1), (1, 2), (1, 0), (0, 1))
#: A text is compared up to so many times the clauses of the plan; what follows is too much.
_LONGEST: Final = 3


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

    In a plan whose lines end without marks, clauses end at line ends, or at /; if it has no marks at all, only there.
    So do those of a text without marks, but for one at its end; if it is one line, they end at spaces.
    """
    text = text.translate(WIDE)
    by_line, by_space, ended = plan.by_line, False, False
    if plan.marks and not by_line:
        by_line = not any(character in PAUSES + STOPS for character in text.rstrip()[:-1])
        by_space = by_line and not any(character in "\n/" for character in text.strip())
    clauses = [Clause()]
    for at, character in enumerate(text):
        if character.isspace() or (by_line and character == "/"):
            ended = ended or by_space or (by_line and character in "\n/")
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


def align(plan: Plan, clauses: Sequence[Clause]) -> Alignment:
    """The clauses of a text at those of a plan, so that as few words as possible are missing or too many."""
    wanted = list(clauses_of(plan))
    optional = _optional(plan, wanted)
    steps = _steps(
        [(len(words), _end("".join(plan.marks[place] for place in marks), plan)) for words, marks in wanted],
        [(len(clause.words), _end("".join(mark.text for mark in clause.marks), plan)) for clause in clauses],
        optional,
    )
    at: dict[int, Character] = {}
    faults, right, i, j, end = list[Fault](), 0, 0, 0, 0
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
            faults.append(_fault(wanted[i : i + own], clauses[j : j + other], end))
        end = max([end, *(each.end for clause in clauses[j : j + other] for each in (*clause.words, *clause.marks))])
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


def _fault(wanted: Sequence[tuple[list[int], list[int]]], found: Sequence[Clause], before: int) -> Fault:
    """The fault of clauses that stand beside each other; `before` is the end of the text before them."""
    lengths = [len(words) for words, _ in wanted]
    said = " and ".join(f"{length} word{'s' * (length != 1)}" for length in lengths)
    characters = [character for clause in found for character in (clause.words or clause.marks)]
    if not characters:
        return Fault(before, before, said)
    return Fault(characters[0].at, characters[-1].end, said or "nothing")


def _end(marks: str, plan: Plan) -> str:
    """What the marks after a clause say: themselves where they are fixed, else whether a sentence ends."""
    return marks if plan.exact or not marks else STOPS[0] if marks[-1] in STOPS else PAUSES[0]


def _steps(
    wanted: Sequence[tuple[int, str]], found: Sequence[tuple[int, str]], optional: Sequence[bool]
) -> Iterator[tuple[int, int]]:
    """How many clauses of the plan, and how many of the text, stand beside each other, from first to last.

    As few words as possible are missing or too many. Of those ways, as few clauses as possible end with other marks, of
    those that end with one, but for the last of the text: a stop ends a text wherever it breaks off. Of these, the one
    that differs last is taken.

    Args:
        wanted, found: the number of words and the end of each clause of the plan, and of the text.
        optional: for each clause of the plan whether the mark after it may be left out.
    """
    compared = list(found[: _LONGEST * len(wanted)])
    if [size for size, _ in wanted] == [size for size, _ in compared]:
        yield from [(1, 1)] * len(wanted)
    else:
        compared[-1:] = [(size, "") for size, _ in compared[-1:]]
        best = _best(wanted, compared, optional)
        i = j = 0
        while i < len(wanted) or j < len(compared):
            own, other = best[i][j][1]
            yield own, other
            i, j = i + own, j + other
    yield from [(0, 1)] * (len(found) - len(compared))


def _best(
    wanted: Sequence[tuple[int, str]], found: Sequence[tuple[int, str]], optional: Sequence[bool]
) -> list[list[tuple[tuple[int, int], tuple[int, int]]]]:
    """For each rest of the plan and of the text how bad its best way is, by words and by marks, and the first step."""
    sizes, others = [size for size, _ in wanted], [size for size, _ in found]
    best = [[((0, 0), (0, 0))] * (len(others) + 1) for _ in range(len(sizes) + 1)]
    for i in reversed(range(len(sizes) + 1)):
        for j in reversed(range(len(others) + 1)):
            ways = []
            for own, other in _BESIDE:
                if i + own > len(sizes) or j + other > len(others):
                    continue
                words, mark = sum(sizes[i : i + own]) - sum(others[j : j + other]), 0
                if own and other:
                    joined = own > 1 and all(optional[i : i + own - 1])
                    if own != other and (words or (own > 2 and not joined)):
                        continue
                    words = _WORD * abs(words) if own == other else 0 if joined else _JOINED
                    end, other_end = wanted[i + own - 1][1], found[j + other - 1][1]
                    mark = int(bool(end and other_end) and end != other_end)
                else:
                    words = _MISSING + abs(words)
                rest = best[i + own][j + other][0]
                ways.append(((rest[0] + words, rest[1] + mark), (own, other)))
            if ways:
                best[i][j] = min(ways, key=lambda way: way[0])
    return best
