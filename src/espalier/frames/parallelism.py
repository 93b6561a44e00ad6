"""Parallelism (对仗): whether the words of two lines agree place by place in their class (`word_classes`).

jieba segments and tags by present-day Chinese, while most words of verse have one character. A place agrees if

- both lines have a word over the same places there, and these words are of one class, or
- its two characters can be words of one class, as jieba's model knows them alone.

So a word of several characters needs a word of as many at its places, or it is read character by character.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from espalier.frames.clauses import Character, align, read_clauses
from espalier.frames.plan import Plan, clauses_of
from espalier.frames.report import Report, Score, Violation
from espalier.frames.script import read_as
from espalier.frames.word_classes import class_of
from espalier.io.errors import ConfigError
from espalier.io.imports import of_extra
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.jieba_backend import JiebaParser, load, tags_alone

RULE = "parallelism"


@dataclass(frozen=True)
class Line:
    """A line.

    Attributes:
        words: the class of each word that has one, by the places from its first to after its last.
        alone: for each character, the classes that it can have as a word.
    """

    words: dict[tuple[int, int], str]
    alone: tuple[frozenset[str], ...]


def agreeing(one: Line, other: Line) -> list[bool | None]:
    """Whether each place of two lines of one length agrees; None where nothing is known of a character."""
    shared = [span for span, kind in one.words.items() if other.words.get(span) == kind]
    same = {place for span in shared for place in range(*span)}
    pairs = zip(one.alone, other.alone, strict=True)
    return [True if place in same else _meet(*pair) for place, pair in enumerate(pairs)]


def _meet(one: frozenset[str], other: frozenset[str]) -> bool | None:
    return bool(one & other) if one and other else None


def with_parallelism(report: Report, plan: Plan, couplets: Sequence[tuple[int, int]]) -> Report:
    """A report with the rule `parallelism`, which informs and does not count; a note without jieba.

    Args:
        couplets: the clauses of the plan that should be parallel, from 0.
    """
    at = align(plan, read_clauses(plan, report.text, exact=plan.exact)).at
    clauses = [places for places, _ in clauses_of(plan)]
    kept = of = 0
    violations = list[Violation]()
    for first, second in couplets:
        of += len(clauses[first])
        pairs = [(at[one], at[other]) for one, other in zip(clauses[first], clauses[second], strict=True)
                 if one in at and other in at]  # fmt: skip
        if len(pairs) < len(clauses[first]):
            continue  # a line has another length, which the rule `format` says
        try:
            lines = [read_line(read_as("".join(word.text for word in line))) for line in zip(*pairs, strict=True)]
        except ConfigError as error:
            return report.with_notes(f"{RULE} was not checked: {error}")
        found = agreeing(*lines)
        kept, of = kept + found.count(True), of - found.count(None)
        violations += _violations(found, pairs, *lines)
    return report.with_rule(Score(RULE, kept, of, binding=False), violations)


def _violations(
    found: Sequence[bool | None], pairs: Sequence[tuple[Character, Character]], one: Line, other: Line
) -> Iterator[Violation]:
    """The words of the second line that do not answer those of the first."""
    for place, (agrees, (before, word)) in enumerate(zip(found, pairs, strict=True)):
        if agrees is False:
            wanted = f"{_names(one.alone[place])} like {before.text} at {before.at}, not {_names(other.alone[place])}"
            yield Violation(RULE, word.at, word.at + 1, word.text, wanted)


def _names(classes: frozenset[str]) -> str:
    return " or ".join(sorted(classes))


@lru_cache(maxsize=1024)
def read_line(text: str) -> Line:
    """A line as jieba segments and tags it.

    Raises:
        ConfigError: jieba is not installed.
    """
    with of_extra("parse"):
        (parse,) = _parser().parse([text])
    words = dict[tuple[int, int], str]()
    if isinstance(parse, Parse):
        spans = pairwise(accumulate(map(len, parse.words), initial=0))
        words = {span: kind for span, tag in zip(spans, parse.tags, strict=True) if (kind := class_of(tag))}
    alone = (frozenset(filter(None, map(class_of, tags_alone(character)))) for character in text)
    return Line(words, tuple(alone))


@lru_cache(maxsize=1)
def _parser() -> JiebaParser:
    return load()
