"""Small automata, made by hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from espalier.frames.automaton import Characters


@dataclass(frozen=True)
class Table:
    """A deterministic automaton: from each state, sets of characters and the states after them. It begins at 0."""

    arcs: tuple[tuple[tuple[Characters, int], ...], ...]
    final: frozenset[int]
    start: int = 0

    @cached_property
    def needs(self) -> dict[int, int]:
        needs = dict.fromkeys(self.final, 0)
        for _ in self.arcs:
            for state, arcs in enumerate(self.arcs):
                counts = [1 + needs[after] for _, after in arcs if after in needs]
                if state not in self.final and counts:
                    needs[state] = min(counts)
        return needs

    def step(self, state: int, character: str) -> int | None:
        return next((after for some, after in self.arcs[state] if after in self.needs and character in some), None)

    def allowed(self, state: int) -> Characters:
        sets = [some for some, after in self.arcs[state] if after in self.needs]
        opened = [some for some in sets if some.open]
        assert len(opened) < 2
        some = frozenset().union(*(each.some for each in sets))
        return Characters(some, opened[0].open, opened[0].without - some) if opened else Characters(some)

    def accepts(self, state: int) -> bool:
        return state in self.final

    def remaining(self, state: int) -> int:
        return self.needs[state]

    def keeps(self, text: str) -> bool:
        state: int | None = self.start
        for character in text:
            state = None if state is None else self.step(state, character)
        return state is not None and self.accepts(state)


HAN = Characters(open="han")


def some(text: str) -> Characters:
    return Characters(frozenset(text))


def chain(*sets: Characters) -> Table:
    """The texts with one character of each set."""
    return Table((*(((each, at),) for at, each in enumerate(sets, start=1)), ()), frozenset([len(sets)]))
