"""Tree edit distances a second, against `apted`, and against `edist` and `x-ted` where they are installed.

    python benchmarks/ted.py [rounds] [pairs] [--record]

The trees are random, seeded, and have 29 or 118 nodes on average, parts of speech included. All distances must agree.
Then the family as a whole: from Penn strings to the statistics of every level, on so many pairs (20,000).

`edist` (Cython) is under the GPL, version 3, and `x-ted` (C++) under the MIT licence, for Python up to 3.12: install
them for this comparison alone. `x-ted` runs in one thread, and has its trees prepared before.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import numpy as np
from measuring import Record, arguments, rate_table, rounds, timed

from espalier.metrics.ted import Nodes, distance, nodes_of, ted_statistics
from espalier.metrics.ted_audit import apted_distance
from espalier.report.benchmarks import BenchmarkTable
from espalier.syntax.constituency import write_tree
from espalier.syntax.tree import Tree

LABELS = ("S", "NP", "VP", "PP", "SBAR", "ADJP", "ADVP", "QP")
TAGS = ("DT", "NN", "NNS", "NNP", "IN", "VBD", "VBZ", "VB", "JJ", "RB", "PRP", "CC", "TO", "CD")
DEFAULTS = (5, 20_000)
OURS = "Espalier"
SIZES = ((15, 2000), (60, 200))  # words of a sentence, and pairs of a round
SLOW = 20  # apted takes every 20th of them

Distance = Callable[[Nodes, Nodes], int]


def made_up(words: int, draw: np.random.Generator) -> Tree:
    """A tree over so many words; a node has two or three parts, or one now and then."""
    if words == 1:
        tag = Tree(str(draw.choice(TAGS)), ["word"])
        return Tree(str(draw.choice(LABELS)), [tag]) if draw.random() < 0.25 else tag
    parts = min(words, int(draw.integers(2, 4)))
    ends = sorted(draw.choice(np.arange(1, words), parts - 1, replace=False).tolist())
    sizes = np.diff([0, *ends, words])
    return Tree(str(draw.choice(LABELS)), [made_up(int(size), draw) for size in sizes])


def forest(count: int, words: int, draw: np.random.Generator) -> list[Tree]:
    """Trees over so many words, a quarter more or less."""
    return [made_up(max(2, round(size)), draw) for size in draw.normal(words, words / 4, count)]


def pairs_of(count: int, words: int) -> tuple[list[Tree], list[Tree]]:
    draw = np.random.default_rng(1)
    return forest(count, words, draw), forest(count, words, draw)


def parents(nodes: Nodes) -> list[int]:
    """The index of each node's parent, -1 for the root."""
    found, line = list[int](), list[int]()
    for index, level in enumerate(nodes.levels):
        del line[level - 1 :]
        found.append(line[-1] if line else -1)
        line.append(index)
    return found


def edist_distance() -> Distance:
    from edist.ted import standard_ted

    def prepared(nodes: Nodes) -> tuple[list[str], list[list[int]]]:
        below: list[list[int]] = [[] for _ in nodes.levels]
        for index, parent in enumerate(parents(nodes)[1:], start=1):
            below[parent].append(index)
        return list(nodes.labels), below

    return lambda one, other: int(standard_ted(*prepared(one), *prepared(other)))


def xted_distance() -> Distance:
    from xted import x_ted_compute

    @cache
    def prepared(nodes: Nodes) -> tuple[list[int], list[str]]:
        return parents(nodes), list(nodes.labels)

    return lambda one, other: x_ted_compute(*prepared(one), *prepared(other))


def table(words: int, count: int, repeats: int) -> BenchmarkTable:
    """Rates of all contestants on pairs of one size."""
    sample = [(nodes_of(one), nodes_of(other)) for one, other in zip(*pairs_of(count, words), strict=True)]
    runs = {OURS: (distance, sample), "apted": (apted_distance, sample[::SLOW])}
    for name, module, peer in (("edist", "edist", edist_distance), ("x-ted", "xted", xted_distance)):
        if find_spec(module):
            runs[name] = (peer(), sample)
    for name, (run, pairs) in runs.items():
        if any(run(*pair) != distance(*pair) for pair in pairs):
            sys.exit(f"{name} finds another distance")
    contestants = {
        name: timed(lambda run=run, pairs=pairs: len([run(*pair) for pair in pairs]))
        for name, (run, pairs) in runs.items()
    }
    size = statistics.mean(len(nodes.labels) for pair in sample for nodes in pair)
    rates = rounds(contestants, repeats, warm_up=1)
    return rate_table(f"{count:,} pairs of random trees of {size:.0f} nodes on average", rates, OURS, "pairs/s")


def main() -> None:
    repeats, count = arguments(*DEFAULTS)
    with Record(__file__) as record:
        for size in SIZES:
            record.add(table(*size, repeats))
    texts = [[write_tree(tree) for tree in trees] for trees in pairs_of(count, SIZES[0][0])]
    started = time.perf_counter()
    ted_statistics(*texts)
    print(
        f"{count:,} pairs, levels 3 to 8 and in full, from strings: {time.perf_counter() - started:.1f} s, one process"
    )


if __name__ == "__main__":
    main()
