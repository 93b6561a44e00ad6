"""Grammars of frames, for servers that constrain what a model writes: Lark, GBNF and regular expressions.

The automaton is explored, and its states become rules. What it must remember without bound, such as a word that is
written again later, has no small grammar.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, Final, Literal, get_args

import numpy as np

from espalier.frames.automaton import OPEN, Automaton, Characters, PlacedAutomaton, State
from espalier.frames.points import points_of
from espalier.io.errors import ConfigError

Notation = Literal["lark", "gbnf", "regex"]
NOTATIONS: Final[tuple[Notation, ...]] = get_args(Notation)
#: The most states of an automaton that has a grammar, and the most characters of a grammar.
STATES, LENGTH = 20_000, 1_000_000
#: The most characters with which the states of an automaton go on.
FOLLOWED: Final = 3_000_000

#: The state behind the end of each text.
END: Final = object()


@dataclass(frozen=True)
class Graph:
    """The states of an automaton, and from each the sets of characters by the state after them."""

    start: State
    arcs: Mapping[State, Mapping[State, Characters]]
    final: frozenset[State]

    @cached_property
    def before(self) -> Mapping[State, int]:
        """How many arcs lead to each state."""
        counts = defaultdict[State, int](int)
        for arcs in self.arcs.values():
            for after in arcs:
                counts[after] += 1
        return counts

    def after(self, state: State) -> list[State]:
        """The states after a state; `END` if a text may end there."""
        return [*self.arcs[state], *([END] if state in self.final else [])]

    @cached_property
    def order(self) -> list[State]:
        """The states, each before those after it.

        Raises:
            ConfigError: a text of the frame can be of any length.
        """
        counts, order = dict(self.before), [self.start]
        for state in order:
            for after in self.arcs[state]:
                counts[after] -= 1
                if not counts[after]:
                    order.append(after)
        if len(order) < len(self.arcs):
            raise ConfigError("its texts can be of any length", where="grammar", remedy="use a frame with an end")
        return order

    @cached_property
    def meets(self) -> Mapping[State, State]:
        """The state in which all ways from each state meet again (its immediate postdominator)."""
        meets, depth = dict[State, State](), {END: 0}
        for state in reversed(self.order):
            at, *others = self.after(state)
            for other in others:
                while at != other:
                    if depth[at] < depth[other]:
                        at, other = other, at
                    at = meets[at]
            meets[state], depth[state] = at, depth[at] + 1
        return meets


def explored(automaton: Automaton[Any]) -> Graph:
    """The graph of an automaton. Characters of an open class that no rule names lead to one state.

    Raises:
        ConfigError: there are too many states, or a character must be remembered.
    """
    named = frozenset[str]()
    while True:
        graph, found = _explored(automaton, named)
        if found <= named:
            return graph
        named |= found


def _explored(automaton: Automaton[Any], named: frozenset[str]) -> tuple[Graph, frozenset[str]]:
    """The graph, if the rules name no other characters than these, and those that they name."""
    arcs, found, left = dict[State, Mapping[State, Characters]](), set[str](), [automaton.start]
    final, followed = set[State](), 0
    of_class = {name: {each for each in named if kind.fullmatch(each)} for name, kind in OPEN.items()}
    while left:
        if (state := left.pop()) in arcs:
            continue
        if len(arcs) >= STATES or followed > FOLLOWED:
            what = f"it has more than {STATES:,} states" if len(arcs) >= STATES else "it has too many choices"
            remedy = "leave out words that must occur, or another rule that must remember what was written"
            raise ConfigError(what, where="grammar", remedy=remedy)
        if automaton.accepts(state):
            final.add(state)
        allowed = automaton.allowed(state)
        found |= allowed.some | allowed.without
        if isinstance(automaton, PlacedAutomaton) and (after := automaton.common(state)) is not None:
            arcs[state] = {after: allowed}
            left.append(after)
            continue
        by_after = defaultdict[State, set[str]](set)
        of_named = of_class[allowed.open] - allowed.without if allowed.open else set[str]()
        some = allowed.some | of_named
        followed += len(some)
        for alike in automaton.alike(state, some) if isinstance(automaton, PlacedAutomaton) else map(set, some):
            by_after[automaton.step(state, next(iter(alike)))] |= alike
        rest = Characters(open=allowed.open, without=named | allowed.without)
        others = {automaton.step(state, chr(each)) for each in points_of(rest)[:2]}  # two, to notice one that is kept
        if len(others) > 1:
            raise ConfigError("a word is written again later", where="grammar", remedy="no grammar can say which")
        sets = {after: Characters(frozenset(some)) for after, some in by_after.items()}
        for after in others:
            own = by_after.get(after, set())
            without = allowed.without | (of_named | (named & allowed.some)) - own
            sets[after] = Characters(frozenset(own), allowed.open, frozenset(without))
        arcs[state] = sets
        left += sets
    return Graph(automaton.start, arcs, frozenset(final)), frozenset(found)


def grammar_of(automaton: Automaton[Any], notation: Notation) -> str:
    """A grammar of exactly the texts of an automaton.

    Raises:
        ConfigError: the automaton has no grammar of a reasonable size.
    """
    writer = Writer(explored(automaton), notation)
    text = writer.between(writer.graph.start, END)
    if notation == "regex":
        return text
    return with_rules(*(({}, text) if notation == "gbnf" else ({"TEXT": text}, "TEXT")), writer.rules, notation)


def with_rules(texts: Mapping[str, str], start: str, rules: Mapping[str, str], notation: Notation) -> str:
    """A grammar of named texts and rules.

    Args:
        start: what a whole text is made of, by the names of the texts.
        rules: the names of expressions.
    """
    named = {**texts, **{name: rule for rule, name in rules.items()}}
    if notation == "gbnf":
        return f"root ::= {start}\n" + "".join(f"{name} ::= {rule}\n" for name, rule in named.items())
    lines = (f"{name}: /{rule}/\n" if rule[0] == "[" else f"{name}: {rule}\n" for name, rule in named.items())
    return f"start: {start}\n{''.join(lines)}"


class Writer:
    """Writes the expressions of a graph. Where a notation has names, classes of characters and what is shared have.

    Args:
        rules: the names of expressions, to which those of the graph are added.
    """

    def __init__(self, graph: Graph, notation: Notation, rules: dict[str, str] | None = None) -> None:
        self.graph, self.notation = graph, notation
        self.rules: dict[str, str] = {} if rules is None else rules
        self._known: dict[tuple[State, State], str] = {}

    def between(self, state: State, end: State) -> str:
        """The expression of all that leads from a state to one in which all ways meet."""
        pieces: list[str] = []
        while state != end:
            meet = self.graph.meets[state]
            arcs = self.graph.arcs[state]
            ways = [self._joined([self._of(some), self._part(after, meet)]) for after, some in arcs.items()]
            optional = state in self.graph.final and bool(ways)
            pieces.append(ways[0] if len(ways) == 1 and not optional else self._either(ways, optional))
            state = meet
            if sum(map(len, pieces)) > LENGTH:
                what, remedy = (
                    f"it has more than {LENGTH:,} characters",
                    "write it as lark or gbnf, or leave out a rule",
                )
                raise ConfigError(what, where="grammar", remedy=remedy)
        return self._joined(pieces)

    def _part(self, state: State, end: State) -> str:
        """`between`, written once; what several ways share has a name."""
        if (state, end) not in self._known:
            text = self.between(state, end)
            named = self.notation != "regex" and self.graph.before[state] > 1 and len(text) > 20
            self._known[state, end] = self._named(text) if named else text
        return self._known[state, end]

    def _named(self, text: str) -> str:
        number = len(self.rules) + 1
        return self.rules.setdefault(text, f"PART{number}" if self.notation == "lark" else f"part{number}")

    def _either(self, ways: Sequence[str], optional: bool) -> str:
        opening = "(?:" if self.notation == "regex" else "("
        return f"{opening}{'|'.join(ways)}){'?' * optional}" if ways else ""

    def _joined(self, pieces: Sequence[str]) -> str:
        """Pieces one after another; equal ones are counted."""
        runs = [(piece, len([*run])) for piece, run in groupby(filter(None, pieces))]
        single = "" if self.notation == "regex" else " "
        counted = (
            f"{piece}{{{count}}}" if count > 1 and self._is_class(piece) else single.join([piece] * count)
            for piece, count in runs
        )
        return single.join(counted)

    def _is_class(self, piece: str) -> bool:
        if self.notation == "regex":
            return piece[0] == "[" and piece.index("]") == len(piece) - 1
        return piece.isalnum()

    def _of(self, characters: Characters) -> str:
        """A character, or a class of characters."""
        text = _class(characters)
        if self.notation == "regex":
            return text
        return self._named(text) if text[0] == "[" else json.dumps(chr(points_of(characters)[0]), ensure_ascii=False)


@lru_cache(maxsize=1024)
def _class(characters: Characters) -> str:
    """A character, or a class of characters as ranges, as regular expressions have it."""
    points = points_of(characters)
    if len(points) == 1:
        return _quoted(int(points[0]))
    cuts = np.flatnonzero(np.diff(points) > 1)
    firsts, lasts = points[[0, *(cuts + 1)]].tolist(), points[[*cuts, -1]].tolist()
    ranges = (_quoted(first) + f"-{_quoted(last)}" * (last > first) for first, last in zip(firsts, lasts, strict=True))
    return f"[{''.join(ranges)}]"


def _quoted(point: int) -> str:
    """A character; one of ASCII that is neither letter nor digit by its number, which all notations read."""
    character = chr(point)
    return character if point > 127 or character.isalnum() else f"\\x{point:02X}"
