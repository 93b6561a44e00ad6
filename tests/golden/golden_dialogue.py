"""Golden values of dialogue: how pairs become trees, what models make of them, and how replies are scored."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from espalier.corpora.records import Pair
from espalier.datasets.dialogue.data import DialogueData, DialogueView
from espalier.datasets.dialogue.encode import DialogueEncoding, DialogueSettings
from espalier.datasets.encoding import Encoded
from espalier.datasets.vocabulary import EOS, WordVocabulary
from espalier.metrics.dialogue import reply_families
from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.metric import details_json
from espalier.metrics.replies import Replies, Writes
from espalier.models.dialogue_config import RNNSeq2SeqConfig, X2TreeConfig
from espalier.models.ngram import NGramConfig
from espalier.models.ngram_tree import NGramTree
from espalier.models.rnn_seq2seq import RNNSeq2Seq
from espalier.models.x2tree import X2Tree
from espalier.tasks.data import Ready
from espalier.tasks.dialogue_decoder import DialogueDecoder
from espalier.tasks.dialogue_likelihood import (
    exact_nats,
    marginal_nats,
    mutual_information,
    recall_candidates,
    sampled_posts,
)
from espalier.tasks.dialogue_search import replies
from espalier.tasks.registry import TASKS

PAIRS = [
    ("the lamp glows", "it glows low , she says", "2 6 2 2 6 0"),
    ("who sings ?", "she", "0"),
    ("moss and stone", "stone moss and stone moss", "3 4 0 3 4"),
    ("who sings ?", "the moss sings low", "2 3 0 3"),
    ("who", "moss moss", "2 1"),
    ("a b c d e f g h", "the stone", "2 0"),
]


def pairs() -> list[Pair]:
    return [
        Pair(id=f"d{n}", origin="made", language="en", source=post, source_words=post,
             target=reply, target_words=reply, target_heads=heads)
        for n, (post, reply, heads) in enumerate(PAIRS)
    ]  # fmt: skip


def vocabulary(coverage: float = 1.0) -> WordVocabulary:
    return DialogueEncoding().build_vocabulary(pairs(), DialogueSettings(words=20, coverage=coverage), "en")


def encoded(voc: WordVocabulary, **settings: Any) -> Encoded:
    return DialogueEncoding().encode(pairs(), voc, DialogueSettings(**settings))


def rows_of(data: DialogueData) -> Any:
    return [data.ids, {name: [ragged.flat.tolist(), ragged.offsets.tolist()] for name, ragged in data.columns.items()}]


def dialogue(folder: Path) -> Any:
    vocabulary(0.9).save(folder / "vocabulary.json")
    voc = WordVocabulary.load(folder / "vocabulary.json")
    found: list[Any] = [list(voc.words)]
    limits: list[dict[str, Any]] = [{}, {"min_words": 2, "max_words": 5, "max_unknown": 0.2}, {"lift": False}]
    for bounds in limits:
        part = encoded(voc, **bounds)
        quarantined = [[row.id, row.reason, row.text] for row in part.quarantined]
        found.append([rows_of(part.split), quarantined, part.facts["lifted"]])
    data = encoded(voc).split
    data.save(folder / "made.parquet")
    for each in (data, DialogueData.load(folder / "made.parquet", voc)):
        for view in (DialogueView("chain"), DialogueView("tree"), DialogueView("tree", 1)):
            batch = each.batch(np.array([2, 0, 1]), view, grain=4)
            found.append({field.name: getattr(batch, field.name).tolist() for field in fields(batch)})
            found.append([each.sizes(view).tolist(), each.longest(view)])
    return found


def wave(*shape: int, phase: float = 0.0) -> Tensor:
    """Values between -1 and 1 that repeat nowhere nearby."""
    return torch.from_numpy(np.sin(np.arange(int(np.prod(shape))) * 1.7 + phase)).float().reshape(shape)


def values_of(model: Any) -> list[Any]:
    """What a model makes of the pairs when its weights are waves: losses, gradients and shapes."""
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(0.5 * wave(*parameter.shape, phase=number))
    data = encoded(model.vocabulary).split
    batch = data.batch(np.arange(len(data)), model.eval().config.view)
    nats = model.tree_losses(batch) if isinstance(model, X2Tree) else model.token_losses(batch).sum(1)
    smoothed = model(batch, 0.1)
    smoothed.total.backward()
    slopes = sum(float(parameter.grad.abs().sum()) for parameter in model.parameters() if parameter.grad is not None)
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    return [nats.tolist(), smoothed.total.item(), int(smoothed.targets), slopes, shapes]


def _models(kind: Any, config: Any, variants: list[dict[str, Any]]) -> Any:
    voc = vocabulary()
    small: dict[str, Any] = {"width": 6, "word": 4, "readout": 5}
    return [[values_of(kind(config(**small, **changes), voc)) for changes in variants], config().model_dump()]


def x2tree(_: Path) -> Any:
    return _models(X2Tree, X2TreeConfig, [
        {}, {"arity": 1, "context": "attention"}, {"context": "nrm", "bidirectional": True}, {"shared": True},
    ])  # fmt: skip


def rnn_seq2seq(_: Path) -> Any:
    return _models(RNNSeq2Seq, RNNSeq2SeqConfig, [
        {}, {"context": "initial"}, {"context": "attention", "bidirectional": True}, {"context": "nrm"},
        {"writes": "tree"},
    ])  # fmt: skip


@dataclass
class WaveState:
    rows: Tensor
    child_hidden: Tensor

    def select(self, index: Tensor) -> WaveState:
        return WaveState(self.rows[index], self.child_hidden[index])


class WaveChain:
    """Log-probabilities from the row, the last id and a trace of those before it."""

    config = SimpleNamespace(view=DialogueView("chain"))

    def __init__(self, size: int) -> None:
        self.size = size

    def logs(self, rows: Tensor, past: Tensor) -> Tensor:
        place = torch.arange(self.size)[None] * 2.3 + (past + rows * 0.7)[:, None]
        scores = 1.5 * torch.sin(place.double()).float()
        scores[:, EOS] += 1.5
        return scores.log_softmax(1)

    def start(self, batch: Any) -> WaveState:
        return WaveState(torch.arange(len(batch)), torch.zeros(len(batch)))

    def step(self, tokens: Tensor, state: WaveState) -> tuple[Tensor, WaveState]:
        past = 0.6 * state.child_hidden + 1.9 * tokens
        return self.logs(state.rows, past), WaveState(state.rows, past)


class WaveTrees(WaveChain):
    """The same for children, from the row, their places, and the ids above and before them."""

    def __init__(self, size: int, arity: int) -> None:
        super().__init__(size)
        self.arity = arity

    def roots(self, state: WaveState) -> Tensor:
        return self.logs(state.rows, state.child_hidden)

    def nodes(self, tokens: Tensor, hidden: Tensor | None, state: WaveState) -> WaveState:
        above = torch.zeros(len(tokens)) if hidden is None else hidden[:, 0]
        below = (0.6 * above + 1.9 * tokens)[:, None] + 1.1 * torch.arange(self.arity)
        return WaveState(state.rows, below[..., None])

    def child(self, k: int, nodes: WaveState, earlier: Tensor) -> Tensor:
        return self.logs(nodes.rows, nodes.child_hidden[:, k, 0] + 1.3 * earlier.sum(1))


def decoding(_: Path) -> Any:
    voc = vocabulary()
    data = encoded(voc).split
    found = []
    models: list[Any] = [WaveChain(voc.text_size), WaveTrees(voc.text_size, 1), WaveTrees(voc.text_size, 3)]
    for model in models:
        view = DialogueView("tree", model.arity) if hasattr(model, "arity") else DialogueView("chain")
        batch = data.batch(np.arange(3), view)
        settings: list[dict[str, Any]] = [{"beam": 3, "max_words": 12}, {"beam": 4, "local": 3, "max_words": 3}]
        settings += [{"beam": 4, "max_words": 9, "length_power": 0.8}]
        if view.shape == "tree":
            settings += [{"beam": 5, "max_words": 9, "order": order, "stop": stop} for order, stop in
                         (("first", "sure"), ("any", "paper"), ("first", "paper"))]  # fmt: skip
            settings += [{"beam": 3, "max_words": 12, "depth": 2}]
        for each in settings:
            rows = replies(model, batch, DialogueDecoder.model_validate(each), voc)
            found.append([[
                [reply.words, reply.log_probability, reply.cut, reply.nodes.tolist() if reply.nodes is not None else []]
                for reply in row
            ] for row in rows])  # fmt: skip
    defaults = DialogueDecoder().model_dump()
    # Under the names of the recorded digest.
    defaults |= {"least": defaults.pop("min_words"), "words": defaults.pop("max_words")}
    for name in ("method", "top_k", "temperature"):  # of samples, which leave the search as it was
        del defaults[name]
    return [found, defaults, _measures(data)]


def _measures(data: DialogueData) -> list[Any]:
    """What is measured of given replies, the replies of a chain over trees, and their order by mutual information."""
    configs: list[tuple[Any, Any]] = [
        (X2Tree, X2TreeConfig(width=6, word=4, readout=5)),
        (RNNSeq2Seq, RNNSeq2SeqConfig(width=6, word=4, readout=5, writes="tree")),
    ]
    found: list[Any] = []
    with torch.inference_mode():
        for kind, config in configs:
            model = kind(config, data.vocabulary).eval()
            for number, parameter in enumerate(model.parameters()):
                parameter.copy_(0.5 * wave(*parameter.shape, phase=number))
            places = np.arange(len(data))
            written = replies(model, data.batch(places, config.view), DialogueDecoder(beam=4, max_words=5),
                              data.vocabulary)  # fmt: skip
            found.append([
                exact_nats(model, data, np.flatnonzero(data.columns["target"].lengths < 6)).tolist(),
                marginal_nats(model, data, places[:3], data).tolist(),
                mutual_information(model, data, places[:3], written, 0.5),
                [[reply.words for reply in row] for row in written],
            ])  # fmt: skip
    posts = [post for post, *_ in PAIRS]
    found.append(sampled_posts([str(n) for n in range(6)], posts, 3).tolist())
    names = [str(n) for n in range(12)]
    found.append(recall_candidates(names, names, names, 4).tolist())
    return found


def metrics(_: Path) -> Any:
    posts, references = ([row[side] for row in PAIRS[:4]] for side in (0, 1))
    replies = [["it glows", "she says"], ["she", "who sings ?"], ["moss and stone"], ["she", "who sings ?"]]
    found = []
    judged = {"whole": [True, False, True, False], "grammatical": [True, True, False, True]}
    cases: list[tuple[Writes, dict[str, Any]]] = [("chain", {}), ("tree", judged)]
    for writes, more in cases:
        made = Replies(
            posts, references, replies, writes=writes, likelihood=([9.5, 1.25, 7.0, 8.0], [6, 1, 5, 4]),
            exact=[8.5, 1.0, float("nan"), 7.5], recall=[1.0, 0.0, 0.5, float("nan")], **more,
        )  # fmt: skip
        scores = family_scores(
            statistics_of(reply_families(made), made), seed=1, groups=["a", "b", "c", "b"], resamples=20
        )
        found.append(details_json(scores))
    # Signatures name the versions of what is compared with, which are not ours.
    return [{key: each[key] for key in ("scores", "intervals", "undefined")} for each in found]


def baselines(_: Path) -> Any:
    train = encoded(vocabulary()).split
    posts = [(row.id, row.source, row.target) for row in pairs() if row.id in train.ids]
    table = pd.DataFrame(
        [{"id": id_, "cluster": id_, "sample": rank, "source": post, "reference": reply}
         for id_, post, reply in posts for rank in range(3)]
    )  # fmt: skip
    rows = TASKS["dialogue"].baselines(table, Ready([], train), train, 1)
    found: dict[str, Any] = {name: [row.columns["text"], row.trivial, list(row.given)] for name, row in rows.items()}
    view = DialogueView("tree")
    batch = train.batch(np.arange(len(train)), view)
    trees = NGramTree.fit(NGramConfig(view), train.vocabulary, [batch], train.vocabulary.text_size)
    found["ngram_tree"] = [trees.tree_losses(batch).tolist(), trees.roots(trees.start(batch))[0].exp().tolist()]
    return found


COMPONENTS = {
    "baselines.dialogue": baselines,
    "encodings.dialogue": dialogue,
    "models.x2tree": x2tree,
    "models.rnn_seq2seq": rnn_seq2seq,
    "decoding.dialogue": decoding,
    "metrics.dialogue": metrics,
}
