"""The kinds of a form, and those of them that go with the other rules of a frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from espalier.frames.compiled import Said, agree
from espalier.frames.forms import form_of, in_each_way
from espalier.io.errors import ConfigError
from espalier.verse.ci_books import CiBooks
from espalier.verse.regulated import faults

_Made = TypeVar("_Made")


def kinds_of(said: Said) -> list[Said]:
    """What the rules say, in each kind of their form.

    Raises:
        ConfigError: the form is unknown, has no such kind, or another rule says something else.
    """
    if "form" not in said:
        return [said]
    kinds = form_of(said["form"])
    number, others = said.get("opening"), {name: said[name] for name in said.keys() - {"form", "opening"}}
    if number is not None and not 1 <= number <= len(kinds):
        remedy = f"there are {len(kinds)}, from 1" if len(kinds) > 1 else "it has one alone"
        raise ConfigError(f"no opening {number} of {said['form']}", where="opening", remedy=remedy)
    if twice := next((name for name in ("format", "tones", "tune", "syllables", "meter") if name in others), None):
        what = f"rules contradict each other: {twice} beside the form {said['form']}"
        raise ConfigError(what, where=twice, remedy="leave out one of them")
    if others.get("marks") and "ways" not in kinds[0]:
        raise ConfigError(f"{said['form']} has no marks of its own", where="marks", remedy="leave it out")
    if others.get("book") and "ways" not in kinds[0]:
        raise ConfigError(f"{said['form']} rhymes by no book", where="book", remedy="leave it out")
    for name in ("rhyme", "book"):  # which all kinds of a form have alike
        agree(name, others.get(name), kinds[0].get(name), f"the form {said['form']}")
    chosen = kinds if number is None else [kinds[number - 1]]
    return [{**others, **kind, **({"rhymes": True} if "rhyme" in kind else {})} for kind in chosen]


def written_kinds(said: Said) -> list[list[Said]]:
    """The kinds in which a form is written, each in its ways: all in their most usual one first."""
    kinds = [in_each_way(kind) for kind in kinds_of(said)]
    return [[kind] for kind, *_ in kinds] + [ways for _, *ways in kinds if ways]


def by_faults(kind: Said, text: str, books: CiBooks | None) -> list[Said]:
    """A kind of a form with its lines in each of their ways: those of which a text has the fewest faults first."""
    return sorted(in_each_way(kind), key=lambda way: tone_faults(way, text, books))


def tone_faults(kind: Said, text: str, books: CiBooks | None, *, fixed: bool = False) -> int:
    """How many words of a text have wrong tones in its lines; with `fixed`, of the second, fourth and sixth words."""
    if "ways" not in kind or books is None:
        return 0
    size, lines = len(kind["ways"][0][0]), [line for line in re.split(r"\W+", text) if line]
    rows = [kind["tones"][start : start + size] for start in range(0, len(kind["tones"]), size)]
    step = slice(1, size - 1, 2) if fixed else slice(size)
    pairs = [pair for row, line in zip(rows, lines, strict=False) for pair in [*zip(row, line, strict=False)][step]]
    return faults("".join(sign for sign, _ in pairs), [books.rhyme_books.tones(word) for _, word in pairs])


def of_kinds(
    said: Said, kinds: Iterable[Sequence[Said]], make: Callable[[Said], _Made]
) -> Iterator[tuple[Said, _Made]]:
    """What is made of the kinds of a form, each in the first of its ways that goes with the other rules.

    Raises:
        ConfigError: none does.
    """
    errors, found = list[ConfigError](), False
    for ways in kinds:
        for kind in ways:
            try:
                made = make(kind)
            except ConfigError as error:
                errors.append(error)
                continue
            found = True
            yield kind, made
            break
    if found:
        return
    if len({*map(str, errors)}) == 1 or said.get("opening") is not None:
        raise errors[0]
    what = f"rules contradict each other: no opening of {said['form']} goes with the others"
    raise ConfigError(what, where="form", remedy=f"by the first, {errors[0]}")
