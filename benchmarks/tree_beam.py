"""Generalized tree beam search: ours, batched, against algorithm 2 of X2Tree one tree and one leaf at a time.

    python benchmarks/tree_beam.py [rounds] [sources] [words] [--record]

Both search the same X2Tree with G = L = 6 and "any" leaf next, and must find the same trees. The model learns a made-up
language of ternary trees first. That has few words, so that it is learned in seconds; the model that is searched has
thousands (5,000; the paper has 28,000) and knows that the others are never used, for its softmaxes are most of the
work. The plain search keeps the hidden states of what it has grown, but opens every leaf again in every round, as the
paper's text has it: with the hypotheses of its local beam in one call, or each by itself. Ours is timed on one source
at a time, too. Rates are words of all trees found.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import Record, arguments, rate_table, rounds, timed

from espalier.datasets.dialogue.data import DialogueData, DialogueView
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK, WordVocabulary
from espalier.decoding.tree_beam import tree_beam
from espalier.decoding.tree_hypotheses import TreeHypothesis
from espalier.layers.linear import constant_weights
from espalier.models.dialogue_config import X2TreeConfig
from espalier.models.x2tree import X2Tree
from espalier.syntax.ternary import EOB, flatten

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/decoding"))
from plain_tree_beam import PlainTree, plain_tree_beam

CLASSES, CHOICES = 40, 3
STEPS, BATCH = 250, 32
DEFAULTS = (3, 24, 5000)
CONFIG = X2TreeConfig(width=256, word=128, readout=256, shared=True, scale=0.1)
SEARCH: dict[str, Any] = {
    "beam": 6, "local": 6, "end": EOS, "never": (PAD, UNK, BOS, SEP), "depth": 16, "max_words": 40, "max_rounds": 60,
}  # fmt: skip
VIEW = DialogueView("tree")
FIRST = SEP + 1
UNUSED = -15.0


def dialogues(count: int, seed: int) -> DialogueData:
    """Posts of 3 to 9 words, whose first calls for a root. A word's class says where it has children, of later classes.

    A child is there, or not, in 97 of 100 cases, and is one of three words of its class.
    """
    language, draw = np.random.default_rng(0), np.random.default_rng(seed)
    often = np.where(language.random((CLASSES, 3)) < (0.6, 0.6, 0.3), 0.97, 0.03)  # class, slot
    later = np.arange(CLASSES)[:, None] + language.integers(1, 12, (CLASSES, 3))  # the class of a child
    columns: dict[str, list[Any]] = {"source": [], "target": [], "order": [], "children": []}
    for _ in range(count):
        post = draw.integers(0, 40, draw.integers(3, 10))
        words, children = [int(post[0]) % 10], []
        for node, word in enumerate(words):  # the list grows as it is read
            children.append([EOB] * 3)
            for slot in range(3 if node else 2):  # a root has no right child
                below = later[word % CLASSES, slot]
                if below < CLASSES and len(words) < 30 and draw.random() < often[word % CLASSES, slot]:
                    children[-1][slot] = len(words)
                    words.append(int(below + CLASSES * draw.choice(CHOICES, p=(0.8, 0.15, 0.05))))
        order = np.argsort(flatten(np.array(children, np.int32)))
        response = np.empty(len(words), np.int64)
        response[order] = np.array(words) + FIRST
        for name, row in zip(columns, (post + FIRST, response, order, np.ravel(children)), strict=True):
            columns[name].append(row)
    return DialogueData.of([str(i) for i in range(count)], columns, vocabulary(CLASSES * CHOICES))


def vocabulary(words: int) -> WordVocabulary:
    return WordVocabulary(tuple(f"w{i}" for i in range(words)), "en")


def learned() -> X2Tree:
    """A little of the made-up language."""
    torch.manual_seed(0)
    data = dialogues(STEPS * BATCH, seed=1)
    model = X2Tree(CONFIG, data.vocabulary)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    nats = []
    for step in range(STEPS):
        loss = model(data.batch(np.arange(step * BATCH, (step + 1) * BATCH), VIEW, grain=data.GRAIN))
        mean = loss.total / loss.targets
        optimizer.zero_grad(set_to_none=True)
        mean.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        nats.append(float(mean.detach()))
    print(f"learned: {nats[0]:.2f} nats a choice at first, {statistics.mean(nats[-20:]):.2f} in the end")
    return model.eval()


def widened(model: X2Tree, words: int) -> X2Tree:
    """The same model with so many words; it knows that the new ones are never used."""
    made = X2Tree(CONFIG, vocabulary(words)).eval()
    for name, parameter in made.state_dict().items():
        known = model.state_dict()[name]
        if parameter.shape != known.shape and parameter.dim() == 1:  # biases of the readout
            parameter.fill_(UNUSED)
        parameter[: len(known)] = known
    return made


def same(ours: list[TreeHypothesis], plain: list[PlainTree]) -> bool:
    """Equal trees in equal order, with equal scores."""
    trees = [(tree.tokens, tree.children.tolist()) for tree in ours] == [tree.flat(3) for tree in plain]
    scores = [tree.log_probability for tree in ours], [tree.score for tree in plain]
    return trees and bool(np.allclose(scores[0], scores[1], rtol=0, atol=1e-4))


def race(model: X2Tree, data: DialogueData, count: int) -> None:
    whole = data.batch(np.arange(len(data)), VIEW)
    single = [data.batch(np.array([row]), VIEW) for row in range(len(data))]
    found: dict[str, list[Any]] = {}

    def plain(apart: bool) -> list[list[PlainTree]]:
        with constant_weights():
            return [plain_tree_beam(model, batch, apart=apart, **SEARCH) for batch in single]

    def contestant(name: str, search: Callable[[], list[Any]]) -> Callable[[], int]:
        def run() -> int:
            found[name] = search()
            return sum(len(tree.tokens) for row in found[name] for tree in row)

        return run

    searches: dict[str, Callable[[], list[Any]]] = {
        "tree beam": lambda: tree_beam(model, whole, **SEARCH),
        "tree beam, a source at a time": lambda: [tree_beam(model, each, **SEARCH)[0] for each in single],
        "plain, a leaf at a time": lambda: plain(apart=False),
        "plain, a hypothesis at a time": lambda: plain(apart=True),
    }
    rates = rounds({name: timed(contestant(name, search)) for name, search in searches.items()}, count, warm_up=0)
    ours = found["tree beam"]
    for name, others in found.items():
        if name.startswith("plain"):
            assert all(map(same, ours, others)), f"{name} found other trees"
    lengths = [len(tree.tokens) for row in ours for tree in row]
    title = (
        f"{len(data)} sources, G = {SEARCH['beam']}, L = {SEARCH['local']}, K = {CONFIG.arity}, "
        f"{model.vocabulary.text_size:,} words, width {CONFIG.width}, {torch.get_num_threads()} threads; trees of "
        f"{statistics.mean(lengths):.1f} words ({min(lengths)} to {max(lengths)}), the same in all searches"
    )
    with Record(__file__) as record:
        record.add(rate_table(title, rates, "tree beam"))


def main() -> None:
    count, sources, words = arguments(*DEFAULTS)
    race(widened(learned(), words), dialogues(sources, seed=2), count)


if __name__ == "__main__":
    main()
