"""Path lengths of words in a chain and in trees (X2Tree, "Easiness to Learning", Figure 6).

The path length of a word is the number of words that a decoder's hidden state has read once it has read that word, the
word itself included. A sentence's value is the mean over its T words:

- in a chain, the t-th word has path length t, and the mean is (T + 1) / 2. The last word counts, because EOS is
  predicted from its state: the paper's "with an extra EOS token".
- in a tree, the path length of a word is the level of its node; the root's is 1. The mean of a tree that is one path of
  depth T is (T + 1) / 2 too: the paper's worst case.

Without the word itself both would be (T - 1) / 2. The value is also the mean over all predictions but the first, which
is made from the source alone: T predictions in a chain, with EOS; 3T in a ternary tree, with EOBs.

The ternary tree of a sentence has a mean path length of at least that of its dependency tree, whose ancestors are all
on the path, and at most that of the chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from espalier.syntax.dependency import from_the_root
from espalier.syntax.ternary import Nodes, heads_of, levels, ternary


class PathLengths(NamedTuple):
    """The words of one sentence, and their mean path lengths."""

    words: int
    chain: float
    ternary: float
    dependency: float


class MeanPathLengths(NamedTuple):
    """The means over all sentences of one length, and the number of these sentences."""

    chain: float
    ternary: float
    dependency: float
    sentences: int


def path_lengths_of_heads(heads: Sequence[int]) -> PathLengths:
    """Of a sentence's dependency tree, given by heads from 1 and 0 for the root.

    Raises:
        EspalierError: the heads are not one tree's, or it is not projective and has no ternary form.
    """
    return _path_lengths(ternary(heads).children, heads)


def path_lengths_of_tree(nodes: Nodes) -> PathLengths:
    """Of a ternary tree, such as a decoder writes, (n, 3).

    Raises:
        EspalierError: the array is no tree, or its root has a right child, so that it is no sentence's.
    """
    return _path_lengths(nodes, heads_of(nodes))


def mean_path_lengths(sentences: Iterable[PathLengths]) -> dict[int, MeanPathLengths]:
    """The points of the paper's Figure 6: for each length, from the shortest, the means over its sentences."""
    sums: dict[int, list[float]] = {}
    for words, chain, ternary_, dependency in sentences:
        row = sums.setdefault(words, [0.0] * 4)
        row[:] = row[0] + chain, row[1] + ternary_, row[2] + dependency, row[3] + 1.0
    return {
        words: MeanPathLengths(chain / count, ternary_ / count, dependency / count, int(count))
        for words, (chain, ternary_, dependency, count) in sorted(sums.items())
    }


def _path_lengths(nodes: Nodes, heads: Sequence[int]) -> PathLengths:
    count = len(heads)
    in_ternary = sum(number * len(level) for number, level in enumerate(levels(nodes), start=1))
    in_dependency = [0] * (count + 1)  # the levels of words from 1; 0 is above the root
    for word in from_the_root(heads):
        in_dependency[word] = in_dependency[heads[word - 1]] + 1
    return PathLengths(count, (count + 1) / 2, in_ternary / count, sum(in_dependency) / count)
