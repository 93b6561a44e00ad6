"""Tree edit distances a second: our default engine against `apted`, and `zss` where it is installed, on equal pairs.

    python benchmarks/ted.py [rounds] [pairs] [--record]

The trees are random, seeded, and have about 28 nodes, parts of speech included. The engines must agree on every pair.
Then the family as a whole: from Penn strings to the statistics of every level, on so many pairs (20,000).
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from measuring import Record, arguments, rate_table, rounds, timed

from espalier.metrics.ted import Engine, Nodes, distance, nodes_of, ted_statistics
from espalier.syntax.constituency import write_tree
from espalier.syntax.tree import Tree

LABELS = ("S", "NP", "VP", "PP", "SBAR", "ADJP", "ADVP", "QP")
TAGS = ("DT", "NN", "NNS", "NNP", "IN", "VBD", "VBZ", "VB", "JJ", "RB", "PRP", "CC", "TO", "CD")
DEFAULTS = (5, 20_000)
OURS = "Espalier, edist"
SAMPLE = 200  # pairs of a round: apted is slow


def made_up(words: int, draw: np.random.Generator) -> Tree:
    """A tree over so many words; a node has two or three parts, or one now and then."""
    if words == 1:
        tag = Tree(str(draw.choice(TAGS)), ["word"])
        return Tree(str(draw.choice(LABELS)), [tag]) if draw.random() < 0.25 else tag
    parts = min(words, int(draw.integers(2, 4)))
    ends = sorted(draw.choice(np.arange(1, words), parts - 1, replace=False).tolist())
    sizes = np.diff([0, *ends, words])
    return Tree(str(draw.choice(LABELS)), [made_up(int(size), draw) for size in sizes])


def forest(count: int, draw: np.random.Generator) -> list[Tree]:
    return [made_up(int(words), draw) for words in np.clip(draw.normal(15, 4, count), 2, 40)]


def ours(engine: Engine) -> Callable[[list[tuple[Nodes, Nodes]]], list[int]]:
    return lambda pairs: [distance(one, other, engine) for one, other in pairs]


def zss_distances() -> Callable[[list[tuple[Nodes, Nodes]]], list[int]] | None:
    try:
        import zss
    except ImportError:
        return None

    def node(nodes: Nodes) -> zss.Node:
        line: list[zss.Node] = []
        for label, level in zip(*nodes, strict=True):
            made = zss.Node(label)
            del line[level - 1 :]
            if line:
                line[-1].addkid(made)
            line.append(made)
        return line[0]

    return lambda pairs: [int(zss.simple_distance(node(one), node(other))) for one, other in pairs]


def main() -> None:
    count, pairs = arguments(*DEFAULTS)
    draw = np.random.default_rng(1)
    references, hypotheses = forest(pairs, draw), forest(pairs, draw)
    sample = [(nodes_of(one), nodes_of(other)) for one, other in zip(references, hypotheses, strict=True)][:SAMPLE]
    engines = {OURS: ours("edist"), "Espalier, apted": ours("apted")}
    if (slow := zss_distances()) is not None:
        engines["zss"] = slow
    answers = [engine(sample) for engine in engines.values()]
    size = statistics.mean(len(nodes.labels) for pair in sample for nodes in pair)
    title = f"{len(sample)} pairs of {size:.1f} nodes on average, mean distance {statistics.mean(answers[0]):.2f}"
    found = rounds({name: timed(lambda run=run: len(run(sample))) for name, run in engines.items()}, count, warm_up=1)
    with Record(__file__) as record:
        record.add(rate_table(title, found, OURS, "pairs/s"))
    texts = [[write_tree(tree) for tree in trees] for trees in (references, hypotheses)]
    started = time.perf_counter()
    ted_statistics(*texts)
    print(
        f"{pairs:,} pairs, levels 3 to 8 and in full, from strings: {time.perf_counter() - started:.1f} s, one process"
    )
    if any(answer != answers[0] for answer in answers):
        sys.exit("the engines do not agree")


if __name__ == "__main__":
    main()
