"""Projective trees from non-projective ones, and back: pseudo-projective transformation (Nivre and Nilsson, ACL 2005).

An arc from a head to a dependent is projective if every word between the two depends on the head, at any depth. While
there is a non-projective arc, the shortest one (the leftmost in a tie) is lifted: its dependent is attached to the head
of its head. The order of words does not change. The label of a moved word records its original head, by the paper's
scheme "Head": `obj` becomes `obj↑ccomp`, where `ccomp` is the label of the original head.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from espalier.io.errors import EspalierError
from espalier.syntax.dependency import Dependencies, breadth_first, children

#: Separates a lifted word's own label from that of its original head.
LIFTED: Final = "↑"


def projectivize(dependencies: Dependencies) -> tuple[Dependencies, int]:
    """The projective tree of the same words, with marked labels of moved words, and the number of lifts.

    A projective tree is returned unchanged, with 0 lifts. The procedure terminates, because each lift moves a word and
    its descendants closer to the root, and no arc from the root itself is lifted.

    Raises:
        EspalierError: a label already contains the mark.
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
    """The key of the heap: shorter arcs first, the leftmost in a tie."""
    return abs(heads[word] - word), min(heads[word], word), word


def _holds(heads: Sequence[int], head: int, word: int) -> bool:
    """Whether all words between head and word depend on the head. `heads` has an extra 0 in front."""
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

    Each moved word is attached to the first descendant of its head, breadth first and left to right, with the label of
    its original head. If several have that label, the choice may be wrong: the scheme gives no more information. Moved
    words closest to the root go first; a word that finds no head tries again after others have moved.

    Returns:
        The tree with plain labels, and the number of moved words that found no head and stay.
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
    """The first word below `top` with the label, breadth first, excluding `without` and its descendants."""
    level: Iterable[int] = below[top]
    while level := [word for word in level if word != without]:
        for word in level:
            if labels[word] == label:
                return word
        level = [word for above in level for word in below[above]]
    return None
