"""Mean depths of words in a chain, in a ternary tree and in a dependency tree (X2Tree, "Easiness to Learning").

The depth of a word is the number of words that the decoder's hidden state has read, including the word itself:

- in a chain, the word and all words before it: t for the t-th of T words, on average (T + 1) / 2. The last word counts,
  because EOS is predicted from its state (the paper's "with an extra EOS token").
- in a tree, the word and its ancestors: the level of its node, from 1 for the root. The worst case, a tree with a
  single path, also has the mean (T + 1) / 2.

If the word itself were not counted, both means would be (T - 1) / 2. The mean over words equals the mean over all
predictions but the first, which depends only on the source: T predictions in a chain with EOS, and 3T in a ternary tree
with EOB.

For every sentence, the mean of the ternary tree lies between those of the dependency tree and of the chain.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from espalier.syntax.dependency import breadth_first
from espalier.syntax.ternary import Nodes, heads_of, levels, ternary


class MeanDepths(NamedTuple):
    """The length of a sentence in words, and the mean depths of its words."""

    words: int
    chain: float
    ternary: float
    dependency: float


class LengthDepths(NamedTuple):
    """Means over all sentences of one length, and their number."""

    chain: float
    ternary: float
    dependency: float
    sentences: int


def depths_of_heads(heads: Sequence[int]) -> MeanDepths:
    """Mean depths of a sentence, given the heads of its words: from 1, and 0 for the root.

    Raises:
        EspalierError: the heads do not form one tree, or the tree is not projective and so has no ternary form.
    """
    return _depths(ternary(heads).children, heads)


def depths_of_tree(nodes: Nodes) -> MeanDepths:
    """Mean depths of the sentence of a ternary tree, (n, 3).

    Raises:
        EspalierError: the array is not a tree, or its root has a right child, which would be a second root.
    """
    return _depths(nodes, heads_of(nodes))


def depths_by_length(sentences: Iterable[MeanDepths]) -> dict[int, LengthDepths]:
    """The points of the paper's figure 6: for each length in ascending order, means over its sentences."""
    sums: dict[int, list[float]] = {}
    for words, chain, ternary_, dependency in sentences:
        row = sums.setdefault(words, [0.0] * 4)
        row[:] = row[0] + chain, row[1] + ternary_, row[2] + dependency, row[3] + 1.0
    return {
        words: LengthDepths(chain / count, ternary_ / count, dependency / count, int(count))
        for words, (chain, ternary_, dependency, count) in sorted(sums.items())
    }


def _depths(nodes: Nodes, heads: Sequence[int]) -> MeanDepths:
    count = len(heads)
    in_ternary = sum(number * len(level) for number, level in enumerate(levels(nodes), start=1))
    in_dependency = [0] * (count + 1)  # the levels of words from 1; 0 is above the root
    for word in breadth_first(heads):
        in_dependency[word] = in_dependency[heads[word - 1]] + 1
    return MeanDepths(count, (count + 1) / 2, in_ternary / count, sum(in_dependency) / count)
