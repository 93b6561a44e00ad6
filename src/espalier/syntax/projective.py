"""Projective trees from others, and back: pseudo-projective transformation (Nivre and Nilsson, ACL 2005).

An arc from a head to a dependent is projective if every word between the two depends on the head, at any depth. While
some arc is not, the shortest such arc (of equals the leftmost) is lifted: its dependent goes to its head's head. The
words stay where they are. The label of a word that was moved tells whom it left, by the paper's scheme "Head": `obj`
becomes `obj↑ccomp`, where `ccomp` is the label of the head that it had at first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from espalier.io.errors import EspalierError
from espalier.syntax.dependency import Dependencies, breadth_first, children

#: Separates a lifted word's own label from that of its original head.
LIFTED: Final = "↑"


def projectivize(dependencies: Dependencies) -> tuple[Dependencies, int]:
    """The projective tree of the same words, labels marked where a word was moved, and how many lifts that took.

    A projective tree comes back as it is, with 0 lifts. There is an end to it, because each lift brings a word, and
    all that depends on it, nearer to the root, and no arc from the root itself is ever lifted.

    Raises:
        EspalierError: a label contains the mark already.
    """
    if marked := next((label for label in dependencies.labels if LIFTED in label), None):
        raise EspalierError(
            f"the label '{marked}' contains '{LIFTED}', which marks moved words", remedy="deprojectivize the tree first"
        )
    heads, below = [0, *dependencies.heads], [set(dependents) for dependents in children(dependencies.heads)]
    waiting = [_arc(heads, word) for word in range(1, len(heads)) if heads[word]]
    heapq.heapify(waiting)
    lifts = 0
    while waiting:
        length, _, word = heapq.heappop(waiting)
        head = heads[word]
        if length != abs(head - word) or _holds(heads, head, word):
            continue
        heads[word] = heads[head]
        lifts += 1
        below[head].discard(word)
        below[heads[word]].add(word)
        # Only the arcs to the original head's remaining dependents can have become non-projective.
        for child in (word, *below[head]):
            heapq.heappush(waiting, _arc(heads, child))
    old = dependencies.heads
    labels = (
        label if heads[word] == old[word - 1] else f"{label}{LIFTED}{dependencies.labels[old[word - 1] - 1]}"
        for word, label in enumerate(dependencies.labels, start=1)
    )
    return replace(dependencies, heads=tuple(heads[1:]), labels=tuple(labels)), lifts


def _arc(heads: Sequence[int], word: int) -> tuple[int, int, int]:
    """What the heap sorts by: the shortest arc first, of equals the leftmost."""
    return abs(heads[word] - word), min(heads[word], word), word


def _holds(heads: Sequence[int], head: int, word: int) -> bool:
    """Whether all words between head and word depend on the head. `heads` has a 0 before the first word's."""
    low, high = min(head, word), max(head, word)
    for between in range(low + 1, high):
        above = heads[between]
        if low <= above <= high:
            continue  # its chain of heads leaves the stretch at either end, or at another word of it, seen in its turn
        while above and above != head:
            above = heads[above]
        if not above:
            return False
    return True


def deprojectivize(dependencies: Dependencies) -> tuple[Dependencies, int]:
    """Undo `projectivize` as far as the labels allow.

    Each moved word looks, breadth first and left to right, among what depends on its head for the first word with the
    label of the head that it left, and goes there. Where several have that label it may be the wrong one: the scheme
    says no more. The moved words nearest to the root go first; who finds nobody tries again when others have gone.

    Returns:
        the tree with plain labels, and how many moved words found nobody and stay.
    """
    heads = [0, *dependencies.heads]
    parts = [label.partition(LIFTED) for label in dependencies.labels]
    labels = ["", *(relations for relations, _, _ in parts)]
    left = ["", *(of for _, _, of in parts)]
    moved = [word for word in breadth_first(dependencies.heads) if left[word]]
    below = children(dependencies.heads)
    while moved:
        pending = []
        for word in moved:
            target = _below_with(left[word], heads[word], word, below, labels)
            if target is None:
                pending.append(word)
                continue
            below[heads[word]].remove(word)
            below[target] = sorted((*below[target], word))
            heads[word] = target
        if len(pending) == len(moved):
            break
        moved = pending
    return replace(dependencies, heads=tuple(heads[1:]), labels=tuple(labels[1:])), len(moved)


def _below_with(
    label: str, top: int, without: int, below: Sequence[Sequence[int]], labels: Sequence[str]
) -> int | None:
    """The first word below `top` that has the label, breadth first; neither `without` nor anything below it."""
    level: Iterable[int] = below[top]
    while level := [word for word in level if word != without]:
        for word in level:
            if labels[word] == label:
                return word
        level = [word for above in level for word in below[above]]
    return None
