"""Small automata, made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from hypothesis import strategies as st

from espalier.frames.automaton import Characters

#: The characters of the automata that are drawn.
POOL = "春江花月夜明天东风。，ab é\n𠮷"


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

    def common(self, state: int) -> int | None:
        return self.arcs[state][0][1] if len(self.arcs[state]) == 1 else None

    def ahead(self, state: int) -> Characters:
        found = [self.allowed(after) for _, after in self.arcs[state]]
        return (
            HAN if any(each.open for each in found) else Characters(frozenset().union(*(each.some for each in found)))
        )

    def alike(self, state: int, characters: Iterable[str]) -> Iterator[set[str]]:
        found: dict[int | None, set[str]] = {}
        for character in characters:
            found.setdefault(self.step(state, character), set()).add(character)
        yield from found.values()

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


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Automata without cycles, of a few states."""
    size = draw(st.integers(2, 7))
    arcs = []
    for state in range(size - 1):
        sets = draw(st.lists(st.text(POOL, min_size=1, max_size=5), min_size=1, max_size=3))
        after = [draw(st.integers(state + 1, size - 1)) for _ in sets]
        if len(sets) == 1 and draw(st.booleans()):
            arcs.append(((HAN, after[0]),))
            continue
        taken: set[str] = set()
        row = []
        for each, to in zip(sets, after, strict=True):
            if rest := set(each) - taken:
                row.append((some("".join(rest)), to))
                taken |= rest
        arcs.append(tuple(row))
    final = frozenset([size - 1, *draw(st.lists(st.integers(1, size - 1), max_size=1))])
    return Table((*arcs, ()), final)
