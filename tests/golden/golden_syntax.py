"""Golden values of parsers, and of the scores of parses."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import torch

from espalier.metrics.metric import details_json
from espalier.metrics.parsing import parsing_scores
from espalier.syntax.constituency import read_tree, tags, words, write_tree
from espalier.syntax.parse import Parse, columns_of
from espalier.syntax.parsers.benepar_chart import best_nodes, spans_of, tree_over
from espalier.syntax.parsers.jieba_backend import keywords, load
from espalier.syntax.parsers.ltp_backend import LtpParser
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.penn_words import penn_words
from espalier.syntax.parsers.registry import save_parser
from espalier.syntax.parsers.spacy_backend import load as load_spacy
from espalier.syntax.parsers.spacy_training import SpacyTraining, train_spacy
from espalier.syntax.parsers.training_config import BeneparTraining
from espalier.syntax.parsers.trivial_backend import TrivialParser, counted
from pipeline.graph.shards import annotated

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


class Letters:
    """Stands for LTP's model: each character is a token and a word, on the one before; every third is a root."""

    supported_tasks = ("cws", "pos", "dep")

    def tokenizer(self, inputs: list[Any], **_: Any) -> Any:
        tokens = [[n for n, part in enumerate(each) for _ in part] for each in inputs]
        return SimpleNamespace(
            encodings=[SimpleNamespace(word_ids=[None, *ids, None], ids=[0, *ids, 0]) for ids in tokens]
        )

    def pipeline(self, batch: list[Any], tasks: list[str]) -> Any:
        arcs = [
            {
                "head": [0 if n % 3 == 0 else n for n in range(len(each))],
                "label": ["HED", "SBV", "VOB"][: len(each)] * 9,
            }
            for each in batch
        ]
        arcs = [{**each, "label": each["label"][: len(each["head"])]} for each in arcs]
        return SimpleNamespace(cws=[list(each) for each in batch], pos=[["n"] * len(each) for each in batch], dep=arcs)


def ltp(_: Path) -> Any:
    """What is ours around LTP's model: what is refused, and one root."""
    asked = ["春天来了", "", ["春天", "来", "了"], ["春 天"], "花" * 600]
    answers = LtpParser(Letters(), "made").parse(asked)
    return [each.reason if isinstance(each, Refused) else [each.words, each.heads, each.labels] for each in answers]


def spacy(folder: Path) -> Any:
    """A tiny training, and what its pipeline answers."""
    bank = [
        Parse(("she", "sings"), ("PRON", "VERB"), "", (2, 0), ("nsubj", "root")),
        Parse(("we", "drink", "tea", "."), ("PRON", "VERB", "NOUN", "PUNCT"), "", (2, 0, 2, 2),
              ("nsubj", "root", "obj", "punct")),
    ] * 8  # fmt: skip
    config = SpacyTraining(
        epochs=6, batch=20, rate=1e-2, warmup=4, width=16, depth=1, rows=200, hidden=8, min_frequency=1
    )
    best = train_spacy(bank, bank[:2], config, folder / "model", folder / "scratch", seed=1)
    answers = load_spacy(folder / "model").parse(["we drink tea.", ["she", "sings"], "", ["a b"]])
    found = [each.reason if isinstance(each, Refused) else [each.words, each.tags, each.heads] for each in answers]
    return [best["uas"], best["tags"], found, SpacyTraining().components()["parser"]]


def trivial(_: Path) -> Any:
    trees = [(text, read_tree(text)) for text in TREES]
    bank = [Parse(words(tree), tags(tree), text, tuple(range(len(words(tree)))), tags(tree)) for text, tree in trees]
    model = counted(bank)
    answers = TrivialParser(model, "made").parse([parse.words for parse in bank])
    return [model.model_dump(), [None if isinstance(each, Refused) else columns_of(each, "_") for each in answers]]


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
    return details_json(parsing_scores(gold, found, resamples=20))


def annotation(folder: Path) -> Any:
    """Texts parsed as words, and as text."""
    save_parser(folder / "jieba", "jieba", None, {})
    texts = pd.DataFrame({"id": ["a", "b", "c"], "seed": 1, "sample": [0, 1, 0], "text": ["我 今天天气", "", "灯 灯"]})
    tables = [annotated(texts, folder / "jieba", folder / "scratch", words=words) for words in (True, False)]
    return [table.to_dict("list") for table in tables]


COMPONENTS = {
    "annotation": annotation,
    "parsers.benepar": benepar,
    "parsers.jieba": jieba,
    "parsers.ltp": ltp,
    "parsers.spacy": spacy,
    "parsers.trivial": trivial,
    "metrics.parsing": parsing,
}
