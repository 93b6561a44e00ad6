"""What a tree costs to train: words a second of X2Tree, a level at once, against chains, and against a node at a time.

    python benchmarks/train_tree.py [rounds] [--record]

Made-up posts and responses of 3 to 20 words, the responses with random projective trees; the shapes are those of the
nursery and, with half its words, of the paper. All have our optimizer and the same batches in 32 bits; words are the
responses', ends not counted. A tree of n words takes 3n + 1 softmaxes over the vocabulary where a chain takes n + 1.
The last contestant computes each node by itself, as the paper's figure 2 draws it, with the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
import torch
from measuring import Record, arguments, rate_table, rounds, timed
from torch import Tensor, nn

from espalier.datasets.batch import batch_plan
from espalier.datasets.dialogue.data import DialogueBatch, DialogueData
from espalier.datasets.vocabulary import WordVocabulary
from espalier.models.dialogue_config import RNNSeq2SeqConfig, X2TreeConfig
from espalier.models.rnn_seq2seq import RNNSeq2Seq
from espalier.models.x2tree import X2Tree
from espalier.syntax.ternary import ternary
from espalier.training.config import TrainingConfig
from espalier.training.optimization import Optimizer

BUDGET, BATCHES, STEPS = 2048, 6, 3


@dataclass(frozen=True)
class Shape:
    """What all contestants share."""

    name: str
    words: int
    width: int
    word: int
    readout: int

    @property
    def sizes(self) -> dict[str, int]:
        """As the models' settings have them."""
        return {"width": self.width, "word": self.word, "readout": self.readout}

    def __str__(self) -> str:
        return f"{self.name}: GRUs of {self.width}, embeddings of {self.word}, {self.words:,} words"


NURSERY = Shape("nursery", words=900, width=128, word=64, readout=128)
PAPER = Shape("half of paper", words=14_000, width=1024, word=128, readout=512)


def corpus(shape: Shape, count: int) -> DialogueData:
    """Random words under random trees."""
    rng = np.random.default_rng(0)
    vocabulary = WordVocabulary(tuple(f"w{n}" for n in range(shape.words)), "en")
    lengths = np.clip(rng.lognormal(2.0, 0.5, (2, count)), 3, 20).astype(int)
    trees = [ternary(heads(rng, length)) for length in lengths[1].tolist()]
    sides = [[rng.integers(5, vocabulary.text_size, length) for length in side] for side in lengths]
    columns: dict[str, list[Any]] = {
        "source": sides[0], "target": sides[1],
        "order": [tree.words for tree in trees], "children": [tree.children.ravel() for tree in trees],
    }  # fmt: skip
    return DialogueData.of([str(n) for n in range(count)], columns, vocabulary)


def heads(rng: np.random.Generator, size: int) -> list[int]:
    """A random projective tree: spans take a root, and what is left of it on both sides depends on it."""
    found, todo = [0] * size, [(0, size, 0)]
    while todo:
        low, high, head = todo.pop()
        if low < high:
            root = int(rng.integers(low, high))
            found[root] = head
            todo += [(low, root, root + 1), (root + 1, high, root + 1)]
    return found


class OneByOne(nn.Module):
    """The same model and the same loss, over one node after another."""

    def __init__(self, model: X2Tree) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: DialogueBatch) -> Tensor:
        state = self.model.start(batch)
        words = torch.arange(len(batch))
        total = -self.model.roots(state)[words, batch.tokens[: len(batch)]].sum()
        before: list[Tensor] = []
        node = 0
        for width in batch.widths.tolist():
            level = []
            for _ in range(width):
                hidden = before[int(batch.place[node])] if before else None
                here = state.select(batch.owner[node : node + 1])
                parents = self.model.nodes(batch.tokens[node : node + 1], hidden, here)
                for k in range(self.model.arity):
                    scores = self.model.child(k, parents, batch.below[node : node + 1, :k])
                    total = total - scores[0, batch.below[node, k]]
                    level.append(parents.child_hidden[:, k])
                node += 1
            before = level
        return total / (len(batch) + batch.below.numel())


class Mean(nn.Module):
    """A model's mean loss."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: DialogueBatch) -> Tensor:
        loss = self.model(batch)
        mean: Tensor = loss.total / loss.targets
        return mean


def contestant(model: nn.Module, batches: Sequence[DialogueBatch], steps: int) -> Callable[[], float]:
    """One round: the next few steps."""
    optimizer = Optimizer(model.train(), TrainingConfig(steps=1))
    ahead: Iterator[DialogueBatch] = cycle(batches)

    def run() -> int:
        words = 0
        for _ in range(steps):
            batch = next(ahead)
            model(batch).backward()
            optimizer.step()
            optimizer.zero_grad()
            words += int(batch.real.sum()) - len(batch)
        return words

    return timed(run)


def race(shape: Shape, count: int, record: Record) -> None:
    data = corpus(shape, 4000)
    chain, tree = RNNSeq2SeqConfig(**shape.sizes), X2TreeConfig(**shape.sizes)
    plan = batch_plan(data.sizes(tree.view), budget=BUDGET, seed=1, epoch=0)[:BATCHES]
    trees, chains = ([data.batch(part, each.view, grain=data.GRAIN) for part in plan] for each in (tree, chain))
    grown = X2Tree(tree, data.vocabulary)
    slow = X2Tree(tree, data.vocabulary)
    slow.load_state_dict(grown.state_dict())
    with torch.no_grad():
        apart = max(abs(float(Mean(grown)(batch)) - float(OneByOne(slow)(batch))) for batch in trees[:1])
    assert apart < 1e-4, f"the two readings of a tree are not the same: losses {apart} apart"
    name = "X2Tree, a level at once"
    runs = {
        name: contestant(Mean(grown), trees, STEPS),
        "EncDec, a chain": contestant(Mean(RNNSeq2Seq(chain, data.vocabulary)), chains, STEPS),
        "Att, a chain with attention": contestant(
            Mean(RNNSeq2Seq(chain.model_copy(update={"context": "attention"}), data.vocabulary)), chains, STEPS
        ),
        "X2Tree, a node at a time": contestant(OneByOne(slow), trees, 1),
    }
    found = rounds(runs, count, warm_up=1)
    record.add(rate_table(f"{shape}; losses {apart:.1e} apart; {torch.get_num_threads()} threads", found, name))


def main() -> None:
    [count] = arguments(5)
    with Record(__file__) as record:
        for shape in (NURSERY, PAPER):
            race(shape, count, record)


if __name__ == "__main__":
    main()
