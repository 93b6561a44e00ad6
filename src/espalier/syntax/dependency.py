"""Dependency trees: words, each with the number of its head, and what can be asked of them.

Heads count from 1, and 0 is the head of the root. Everything here takes time in proportion to the words, and no
recursion, so that a chain of thousands of words is as good as any tree. What works on bare heads asks for those of one
tree (`mistake` says None).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from espalier.io.errors import DataError
from espalier.syntax.parse import Parse


@dataclass(frozen=True, slots=True)
class Dependencies:
    """One sentence as a dependency tree; four tuples of one length.

    Attributes:
        words: the tokens; none is empty or holds white space.
        tags: one part of speech for each word.
        heads: for each word the number of its head, from 1; 0 for the root.
        labels: for each word the relation to its head.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)


# --- Well-formed or not ----------------------------------------------------------------------------------------------


def fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """The number of the first word at fault and what is wrong with it, or None: `heads` are one tree's.

    Heads out of range come before missing and second roots, and those before cycles, of which the first is spelled out.
    """
    size = len(heads)
    if not size:
        return 0, "no words"
    for word, head in enumerate(heads, start=1):
        if not 0 <= head <= size:
            return word, f"head {head} of word {word} is not within 0 to {size}"
    roots = [word for word, head in enumerate(heads, start=1) if head == 0]
    if len(roots) > 1:
        return roots[1], f"{len(roots)} roots (words {_listed(roots)})"
    cycle = _cycle(heads)
    if not roots:
        return min(cycle), f"no root; words {_listed(cycle)} are a cycle"
    return (min(cycle), f"words {_listed(cycle)} are a cycle") if cycle else None


def mistake(heads: Sequence[int]) -> str | None:
    """The reason why `heads` are not a tree (a head out of range, no root, several roots, a cycle), or None."""
    error = fault(heads)
    return error[1] if error else None


def check(dependencies: Dependencies, *, file: str | Path, row: int | str | None = None) -> None:
    """Check that the four parts have one length and that the heads are those of one tree.

    Raises:
        DataError: otherwise; names `file` and `row`.
    """
    sizes = {len(part) for part in _parts(dependencies)}
    if len(sizes) > 1:
        counts = ", ".join(f"{len(part)} {name}" for name, part in zip(_NAMES, _parts(dependencies), strict=True))
        raise DataError(f"not one of each for every word: {counts}", file=file, row=row)
    if error := mistake(dependencies.heads):
        raise DataError(error, file=file, row=row, remedy="a sentence is one tree with one head of 0")


_NAMES = ("words", "tags", "heads", "labels")


def _parts(dependencies: Dependencies) -> tuple[Sequence[object], ...]:
    return dependencies.words, dependencies.tags, dependencies.heads, dependencies.labels


def _cycle(heads: Sequence[int]) -> list[int]:
    """The words of the first cycle that is met, from the first word on; none if there is no cycle."""
    visited = [0] * (len(heads) + 1)  # the walk that came by, 0 for none
    for start in range(1, len(heads) + 1):
        word = start
        while word and not visited[word]:
            visited[word] = start
            word = heads[word - 1]
        if word and visited[word] == start:
            cycle = [word]
            while (next_ := heads[cycle[-1] - 1]) != word:
                cycle.append(next_)
            return cycle
    return []


def _listed(words: Sequence[int], max_words: int = 5) -> str:
    """At most `max_words` numbers, so that a message is one line."""
    return ", ".join(map(str, words[:max_words])) + (", ..." if len(words) > max_words else "")


# --- Questions -------------------------------------------------------------------------------------------------------


def children(heads: Sequence[int]) -> list[list[int]]:
    """The dependents of each word in the order of the sentence, as numbers from 1; entry 0 holds the root alone."""
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, start=1):
        dependents[head].append(word)
    return dependents


def left_counts(heads: Sequence[int]) -> tuple[int, ...]:
    """I(t): for each word how many of its dependents stand to its left (X2Tree, definition 1)."""
    counts = [0] * (len(heads) + 1)
    for word, head in enumerate(heads, start=1):
        counts[head] += word < head
    return tuple(counts[1:])


def breadth_first(heads: Sequence[int], below: Sequence[Sequence[int]] | None = None) -> list[int]:
    """The numbers of all words in breadth-first order from the root, siblings in the order of the sentence.

    Args:
        heads: of one tree.
        below: `children(heads)`, if the caller has it.
    """
    below = children(heads) if below is None else below
    order = list(below[0])
    for word in order:  # the list grows as it is read
        order += below[word]
    return order


def is_projective(heads: Sequence[int]) -> bool:
    """Whether every word and all its descendants are a contiguous span of the sentence.

    Exactly then an in-order traversal of the tree gives the sentence. For a tree with one root this is equivalent to:
    no two arcs cross, and no arc spans the root.
    """
    size, first, last = ([*values] for values in ([1] * (len(heads) + 1), range(len(heads) + 1), range(len(heads) + 1)))
    for word in reversed(breadth_first(heads)):
        if last[word] - first[word] + 1 != size[word]:
            return False
        head = heads[word - 1]
        size[head] += size[word]
        first[head] = min(first[head], first[word])
        last[head] = max(last[head], last[word])
    return True


# --- Making one tree of several --------------------------------------------------------------------------------------


def attach_roots(dependencies: Dependencies, label: str = "parataxis") -> tuple[Dependencies, int]:
    """One tree of a sentence with several roots: the first stays, the others become its dependents.

    Universal Dependencies do the same with sentences side by side, hence the default label.

    Returns:
        the tree, and how many roots were moved.
    """
    roots = [index for index, head in enumerate(dependencies.heads) if head == 0]
    if len(roots) < 2:
        return dependencies, 0
    heads, labels = list(dependencies.heads), list(dependencies.labels)
    for index in roots[1:]:
        heads[index], labels[index] = roots[0] + 1, label
    return replace(dependencies, heads=tuple(heads), labels=tuple(labels)), len(roots) - 1


# --- Parses ----------------------------------------------------------------------------------------------------------


def dependencies_of(parse: Parse) -> Dependencies:
    """The dependency tree of a parse that has one; tags or labels that a parser did not give are "_", as in CoNLL-U."""
    unknown = ("_",) * len(parse.words)
    return Dependencies(parse.words, parse.tags or unknown, parse.heads, parse.labels or unknown)


def parse_with(dependencies: Dependencies, tree: str = "") -> Parse:
    """A parse with this dependency tree, and with a constituency tree where there is one."""
    return Parse(dependencies.words, dependencies.tags, tree, dependencies.heads, dependencies.labels)
