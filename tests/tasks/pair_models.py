"""Pairs, and models of them that are no networks."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from espalier.corpora.records import Pair
from espalier.datasets.pairs.data import PairBatch, PairData, PairView
from espalier.datasets.pairs.encode import PairEncoding, PairSettings
from espalier.datasets.pairs.tree_symbols import TreeSymbols
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import EOS
from espalier.syntax.constituency import read_tree
from espalier.tasks.data import Inputs, Ready, RunOptions
from espalier.tasks.paraphrase import ParaphraseTask
from espalier.tasks.paraphrase_decoder import PairDecoder

TREES = ["(S (NP (DT) (NN)) (VP (VB) (NP (NN))))", "(S (NP (NN)) (VP (VB)))", "(SINV (VP (VB)) (NP (DT) (NN)))"]
SYMBOLS = TreeSymbols.build([read_tree(tree, words=False) for tree in TREES], 4)
VOC = PairVocabulary.build(["a lamp glows low"], SYMBOLS, "en", pieces=30, lower=True)
PARSES = [SYMBOLS.encode(read_tree(tree, words=False)) for tree in TREES]
TEXTS = VOC.encode_texts(["a lamp", "low lamp glows", "glows"])
DATA = PairData.of(
    list("abc"), {"source": TEXTS, "target": TEXTS, "source_tree": PARSES[::-1], "target_tree": PARSES}, VOC
)


def view(writes: Any = "tree", form: Any = "levels", template: int = 2) -> PairView:
    return PairView(("source_tree", "template"), writes, form, template)


@dataclass
class State:
    rows: Tensor
    time: int

    def select(self, index: Tensor) -> State:
        return State(self.rows[index], self.time)


@dataclass
class Waves:
    """Scores of ids that depend on the row, the last id and the time; ends and specials are what it likes best."""

    view: PairView
    vocabulary: PairVocabulary = VOC

    @property
    def config(self) -> SimpleNamespace:
        return SimpleNamespace(view=self.view)

    @property
    def size(self) -> int:
        return size_of(self.view)

    def start(self, batch: PairBatch) -> State:
        return State(torch.arange(len(batch)), 0)

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        place = torch.arange(self.size)[None] * 2.3 + (tokens * 1.9 + state.rows * 0.7 + state.time * 1.1)[:, None]
        scores = torch.sin(place)
        scores[:, : EOS + 1] += 2
        return scores.log_softmax(1), State(state.rows, state.time + 1)


def size_of(seen: PairView) -> int:
    if seen.writes == "text":
        return VOC.text_size
    return SYMBOLS.size if seen.form == "levels" else SYMBOLS.bracketed_size


TASK = ParaphraseTask()
ENCODING = PairEncoding()
#: The first and the third share a sentence.
PAIRS = [("a lamp", TREES[1], "low lamp", TREES[2]), ("glows", TREES[2], "a low lamp", TREES[0]),
           ("low lamp", TREES[0], "glows low", TREES[1])]  # fmt: skip
TEMPLATES = [{"template": "(S (NP) (VP))", "count": 2}, {"template": "(SINV (VP))", "count": 1}]


def ready() -> Ready:
    records = [
        Pair(
            id=f"p{n}", origin="test", language="en", source=source, source_tree=tree, target=target, target_tree=other
        )
        for n, (source, tree, target, other) in enumerate(PAIRS)
    ]
    encoded = ENCODING.encode(records, VOC, PairSettings(depth=4, min_length=1))
    assert list(encoded.places) == [0, 1, 2]
    return Ready(records, encoded.split, {"templates": TEMPLATES})


def model_of(view: PairView) -> Any:
    return SimpleNamespace(config=SimpleNamespace(view=view, positions=64), vocabulary=VOC)


GUIDED = PairView(("source", "target_tree"))


def inputs_of(view: PairView, options: RunOptions | None = None, seed: int = 1, **decoder: Any) -> list[Inputs]:
    return [*TASK.inputs(ready(), model_of(view), PairDecoder(**decoder), options or RunOptions(), seed)]
