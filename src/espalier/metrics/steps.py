"""How many words a decoder's hidden state has to carry, in a chain and in trees (X2Tree, "Easiness to Learning").

A decoder reads a word, and its hidden state then stands for what it has read so far. This module counts, for each word,
how many words that state stands for, the word itself among them, and takes the mean over the words of a sentence:

- in a chain, the word and all words before it: t for the t-th word. Over T words that is (T + 1) / 2. The state of the
  last word is there as well, since EOS is predicted from it: the paper's "with an extra EOS token".
- in a tree, the word and its ancestors: the level of its node, the root's being 1. Over a tree that is a path, of depth
  T, that is (T + 1) / 2 too: the paper's worst case.

Words before a word alone, or ancestors alone, would give (T - 1) / 2 for both. It is also the mean over all predictions
but a sentence's first, which is made from the source alone: T of them in a chain, EOS being one, and 3T in a ternary
tree, EOBs among them; each node's three are made from the same words.

No sentence's ternary tree asks for less than its dependency tree, whose ancestors are all on the way, nor for more than
the chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from espalier.syntax.dependency import breadth_first
from espalier.syntax.ternary import Nodes, heads_of, levels, ternary


class Steps(NamedTuple):
    """One sentence's length in words, and how many words its states stand for, on average."""

    words: int
    chain: float
    ternary: float
    dependency: float


class LengthSteps(NamedTuple):
    """The means over all sentences of one length, and how many there are."""

    chain: float
    ternary: float
    dependency: float
    sentences: int


def steps_of_heads(heads: Sequence[int]) -> Steps:
    """Of a sentence's dependency tree, given by heads from 1 and 0 for the root.

    Raises:
        EspalierError: the heads are not one tree's, or it is not projective and has no ternary form.
    """
    return _steps(ternary(heads).children, heads)


def steps_of_tree(nodes: Nodes) -> Steps:
    """Of a ternary tree, such as a decoder writes, (n, 3).

    Raises:
        EspalierError: the array is no tree, or its root has a right child, so that it is no sentence's.
    """
    return _steps(nodes, heads_of(nodes))


def steps_by_length(sentences: Iterable[Steps]) -> dict[int, LengthSteps]:
    """The points of the paper's Figure 6: for each length, from the shortest, the means over its sentences."""
    sums: dict[int, list[float]] = {}
    for words, chain, ternary_, dependency in sentences:
        row = sums.setdefault(words, [0.0] * 4)
        row[:] = row[0] + chain, row[1] + ternary_, row[2] + dependency, row[3] + 1.0
    return {
        words: LengthSteps(chain / count, ternary_ / count, dependency / count, int(count))
        for words, (chain, ternary_, dependency, count) in sorted(sums.items())
    }


def _steps(nodes: Nodes, heads: Sequence[int]) -> Steps:
    count = len(heads)
    in_ternary = sum(number * len(level) for number, level in enumerate(levels(nodes), start=1))
    in_dependency = [0] * (count + 1)  # the levels of words from 1; 0 is above the root
    for word in breadth_first(heads):
        in_dependency[word] = in_dependency[heads[word - 1]] + 1
    return Steps(count, (count + 1) / 2, in_ternary / count, sum(in_dependency) / count)
