"""Trees with other heads than a parser's, to measure what a model owes to the parser."""

from collections.abc import Sequence

import numpy as np

from espalier.syntax.dependency import breadth_first, children


def right_chain(size: int) -> tuple[int, ...]:
    """The heads of a tree in which every word is the head of the next one."""
    return tuple(range(size))


def with_noise(heads: Sequence[int], share: float, *, seed: int) -> tuple[int, ...]:
    """The tree with some heads drawn at random.

    From the first word on, each word except the root is drawn with probability `share`. Its new head is drawn uniformly
    from the words that are neither the word itself nor below it, the old head included. The result is therefore a tree
    with the same root; it need not be projective.

    Args:
        heads: the heads of one tree, from 1; 0 for the root.
        share: from 0 to 1.
        seed: of the draws; equal heads, shares and seeds give equal trees.
    """
    draw, new = np.random.default_rng(seed), list(heads)
    for word in range(1, len(heads) + 1):
        if new[word - 1] and draw.random() < share:
            new[word - 1] = int(draw.choice(_others(new, word)))
    return tuple(new)


def _others(heads: Sequence[int], word: int) -> list[int]:
    """The words that are neither this word nor below it."""
    below = children(heads)
    own = set(breadth_first(heads, [[word], *below[1:]]))
    return [other for other in range(1, len(heads) + 1) if other not in own]
