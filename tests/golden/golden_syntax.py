"""Golden values of parsers, and of the scores of parses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from espalier.metrics.metric import scores_json
from espalier.metrics.parsing import parsing_scores
from espalier.syntax.constituency import read_tree, tags, words, write_tree
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.benepar_chart import best_nodes
from espalier.syntax.parsers.benepar_config import BeneparTraining
from espalier.syntax.parsers.benepar_spans import spans_of, tree_over
from espalier.syntax.parsers.jieba_backend import keywords, load
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.penn_words import penn_words

TREES = [
    "(S (NP (DT the) (NN lamp)) (VP (VBZ burns) (ADVP (RB low))) (. .))",
    "(S (NP (PRP we)) (VP (VP (VBD sang)) (CC and) (VP (VBD slept))) (. .))",
    "(FRAG (NP (NNS bricks)))",
]
OTHERS = ["(S (NP (DT the) (NN lamp)) (VP (VBZ burns) (ADJP (JJ low))) (. .))", "(S (VP (VB sing)))", ""]


def benepar(_: Path) -> Any:
    """What is ours around benepar's network: words, spans, and the best tree of given scores."""
    found: list[Any] = [
        penn_words(text) for text in ('"Stop," they said (twice).', "the agency's low-cost lamps can't")
    ]
    for text in TREES:
        tree = read_tree(text)
        downward = sorted(spans_of(tree), key=lambda span: (span.start, -span.end))
        found += [downward, write_tree(tree_over(words(tree), tags(tree), downward))]
    start, end = torch.triu_indices(6, 6)
    chances = torch.rand(2, len(start), 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64) - 0.6
    nodes = best_nodes(chances, start, end - start, torch.tensor([6, 4]), True)
    found += [part.tolist() for part in nodes]
    return [*found, BeneparTraining().hparams(tagged=True, rooted=False)]


def jieba(_: Path) -> Any:
    parsed = load().parse(["小猫在窗台上晒太阳，一动也不动。", "", ["小猫", "窗台上"]])
    answers = [each.reason if isinstance(each, Refused) else [each.words, each.tags] for each in parsed]
    return [answers, keywords("小猫在窗台上晒太阳，太阳落山了，小猫还在窗台上。", 3)]


def parsing(_: Path) -> Any:
    gold = [
        Parse(
            words(tree), tags(tree), text, tuple(range(len(words(tree)))), ("root",) + ("dep",) * (len(words(tree)) - 1)
        )
        for text, tree in ((text, read_tree(text)) for text in TREES)
    ]
    found = [
        Parse(each.words, each.tags[::-1], other, each.heads[:1] + (1,) * (len(each.heads) - 1), each.labels)
        if other
        else Parse(())
        for each, other in zip(gold, OTHERS, strict=True)
    ]
    return scores_json(parsing_scores(gold, found, resamples=20))


COMPONENTS = {"parsers.benepar": benepar, "parsers.jieba": jieba, "metrics.parsing": parsing}
