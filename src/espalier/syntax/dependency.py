"""Dependency trees: words with the numbers of their heads, and functions of such trees.

Heads count from 1, and 0 is the head of the root. All functions take linear time and do not recurse, so chains of
thousands of words are allowed. Functions of plain heads require that they form one tree (`mistake` returns None).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from espalier.io.errors import DataError
from espalier.syntax.parse import Parse


@dataclass(frozen=True, slots=True)
class Dependencies:
    """One sentence as a dependency tree; four tuples of one length.

    Attributes:
        words: the tokens; not empty and without white space.
        tags: one part of speech per word.
        heads: for each word, the number of its head, from 1; 0 for the root.
        labels: for each word, the relation to its head.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)


# --- Well-formed or not ----------------------------------------------------------------------------------------------


def fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """The first fault, as (number of the word, reason), or None if `heads` form one tree.

    Checks are, in order: heads out of range, missing or second roots, cycles. The reason for a cycle lists the first
    cycle.
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
    """Check that the four parts have the same length and that the heads form one tree.

    Raises:
        DataError: a check fails. The message names `file` and `row`.
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
    """The words of the first cycle found from the first word on; empty without a cycle."""
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
    """At most `max_words` numbers as text, so that messages fit on one line."""
    return ", ".join(map(str, words[:max_words])) + (", ..." if len(words) > max_words else "")


# --- Questions -------------------------------------------------------------------------------------------------------


def children(heads: Sequence[int]) -> list[list[int]]:
    """The dependents of each word as numbers from 1, in the order of the sentence; entry 0 holds only the root."""
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, start=1):
        dependents[head].append(word)
    return dependents


def left_counts(heads: Sequence[int]) -> tuple[int, ...]:
    """I(t): the number of dependents to the left of each word (X2Tree, definition 1)."""
    counts = [0] * (len(heads) + 1)
    for word, head in enumerate(heads, start=1):
        counts[head] += word < head
    return tuple(counts[1:])


def breadth_first(heads: Sequence[int], below: Sequence[Sequence[int]] | None = None) -> list[int]:
    """All words in breadth-first order from the root; siblings are in the order of the sentence.

    Args:
        below: `children(heads)`, if already known.
    """
    below = children(heads) if below is None else below
    order = list(below[0])
    for word in order:  # the list grows as it is read
        order += below[word]
    return order


def is_projective(heads: Sequence[int]) -> bool:
    """Whether every word and all its descendants are a contiguous span of the sentence.

    This holds if and only if an in-order traversal of the tree gives the sentence, or, for a tree with one root, if no
    two arcs cross and no arc spans the root.
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
    """Make one tree of a sentence with several roots: the first stays the root, and the others become its dependents.

    Universal Dependencies treat juxtaposed sentences in the same way, hence the default label.

    Returns:
        The tree, and the number of moved roots.
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
    """The dependency tree of a parse that has one. Missing tags or labels become "_", as in CoNLL-U."""
    unknown = ("_",) * len(parse.words)
    return Dependencies(parse.words, parse.tags or unknown, parse.heads, parse.labels or unknown)


def parse_with(dependencies: Dependencies, tree: str = "") -> Parse:
    """A parse with this dependency tree and, if given, a constituency tree."""
    return Parse(dependencies.words, dependencies.tags, tree, dependencies.heads, dependencies.labels)
