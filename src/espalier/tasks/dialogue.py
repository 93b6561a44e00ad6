"""Replies to posts: chains by beam search, trees by its generalization (X2Tree, "Tree Generation" and settings)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from pydantic import Field, model_validator

from espalier.corpora.records import words_of
from espalier.datasets.dialogue.data import ARITY, MISSING, DialogueView
from espalier.datasets.encoding import Settings
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK
from espalier.decoding.bounds import MAX_BEAM, MAX_LOCAL
from espalier.io.errors import ConfigError
from espalier.tasks.task import BaselineRow, Inputs, Outputs, Ready, RunOptions, Segments, shown_settings
from espalier.tasks.training_replies import reply_columns, training_replies

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.datasets.dialogue.data import DialogueBatch, DialogueData
    from espalier.datasets.vocabulary import WordVocabulary
    from espalier.decoding.tree_hypotheses import TreeHypothesis
    from espalier.metrics.metric import Metric
    from espalier.models.contract import ChainModel, TreeModel
    from espalier.syntax.ternary import Nodes

#: Ids that no reply contains.
NEVER: Final = (PAD, UNK, BOS, SEP)


class DialogueDecoder(Settings):
    """How replies are decoded: `decoder` of a run in params.yaml."""

    #: The beam size: G of trees (6 in the paper), or that of chains (200 in the paper).
    beam: int = Field(6, ge=1, le=MAX_BEAM)
    #: L: the number of groups of children that are kept for each leaf of a tree.
    local: int = Field(6, ge=1, le=MAX_LOCAL)
    #: The shortest and the longest reply, in words; a reply of `max_words` words is not expanded.
    min_words: int = Field(1, ge=1, le=10_000)
    max_words: int = Field(50, ge=1, le=10_000)
    #: The largest number of levels of a tree.
    depth: int = Field(30, ge=1, le=10_000)
    #: The leaf that is expanded next: the "first" open one of the tree, or "any", as in the paper.
    order: Literal["any", "first"] = "first"
    #: The search of trees ends when no open tree can overtake the finished ones ("sure"), or, as in the paper, when
    #: enough trees are finished.
    stop: Literal["sure", "paper"] = "sure"
    #: A reply of n words is ranked by log-probability / (n + 1)**length_power, be it a tree or a chain.
    length_power: float = Field(0.0, ge=0, le=10)
    #: The beam's replies are ranked anew by log p(y | x) - mmi log p(y), under the same length rule; 0: they are not.
    mmi: float = Field(0.0, ge=0, le=10)
    #: Decode only this many posts of the split, after the first `skip`; 0 means all.
    posts: int = Field(0, ge=0, le=100_000_000)
    skip: int = Field(0, ge=0, le=100_000_000)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min_words > self.max_words:
            raise ValueError(f"min_words: {self.min_words} is greater than max_words: {self.max_words}")
        return self


class DialogueScoring(Settings):
    """How replies are scored: there are no settings."""


@dataclass(frozen=True, eq=False)
class Reply:
    """A reply and its log-probability.

    Attributes:
        words: in the order of the sentence.
        score: the log-probability under the length rule, by which it was ranked.
        nodes: (n, 3) the tree; None for a chain.
        cut: the bound that stopped the search ("words", "depth" or "rounds"), or "".
    """

    words: list[str]
    log_probability: float
    score: float
    nodes: Nodes | None
    cut: str

    @property
    def heads(self) -> tuple[int, ...]:
        """The head of each word, from 1; empty for a chain, and for a tree whose root has a right child (two roots)."""
        from espalier.syntax.ternary import heads_of

        return heads_of(self.nodes) if self.nodes is not None and self.nodes[0, -1] < 0 else ()


class DialogueTask:
    """The best replies to each post."""

    encodings = ("dialogue",)
    decoder, scoring = DialogueDecoder, DialogueScoring
    dev_likelihood = False
    judge = None
    writes_words = True
    likelihood_columns = ("nll", "words", "exact", "recall")
    text_view = DialogueView("chain")

    def check(self, decoder: DialogueDecoder, network: Any, dataset: Any, samples: int) -> None:
        """A search gives at most `beam` replies, and only ternary trees and chains have an order of words."""
        if samples > decoder.beam:
            raise ConfigError(
                f"{samples} replies of {decoder.beam} beams", where="samples", remedy=f"at most {decoder.beam}"
            )
        if network.view.shape == "tree":
            _check_arity(network.view.arity)

    def needs_annotation(self, network: Any, dataset: Any) -> bool:
        """Replies are judged without parses."""
        return False

    # --- Decoding ----------------------------------------------------------------------------------------------------

    def inputs(
        self, ready: Ready, model: Any, decoder: DialogueDecoder, options: RunOptions, seed: int
    ) -> list[Inputs]:
        """Each distinct post once; all pairs with the same post get the same replies."""
        import numpy as np

        posts = [" ".join(words_of(record, "source")) for record in ready.records]
        chosen = list(dict.fromkeys(posts))[decoder.skip :][: decoder.posts or None]
        if not chosen:
            count = len(set(posts))
            raise ConfigError(f"{decoder.skip} of {count} posts are skipped", where="decoder.skip", remedy="lower it")
        places: dict[str, list[int]] = {post: [] for post in chosen}
        for place, post in enumerate(posts):
            if post in places:
                places[post].append(place)
        rows = [
            [
                {
                    "id": ready.records[place].id,
                    "cluster": ready.records[group[0]].id,
                    "sample": 0,
                    "source": post,
                    "reference": " ".join(words_of(ready.records[place], "target")),
                }
                for place in group
            ]
            for post, group in places.items()
        ]
        references = [" ".join(words_of(record, "target")) for record in ready.records]
        measure = _Measure(model, ready.data, posts, references)
        prompts = np.array([group[0] for group in places.values()])
        rerank = _Rerank(model, ready.data, posts, decoder) if decoder.mmi else None
        return [Inputs(ready.data, prompts, rows, options.samples, rerank, measure)]

    def prefixes(self, decoder: DialogueDecoder) -> int:
        """The beam size."""
        return decoder.beam

    def generate(
        self, model: Any, batch: DialogueBatch, decoder: DialogueDecoder, seeds: Sequence[int]
    ) -> list[list[Reply]]:
        """The best replies to each post."""
        return replies(model, batch, decoder, model.vocabulary)

    def columns(
        self, hypothesis: Reply | None, row: Mapping[str, Any], model: Any, decoder: DialogueDecoder
    ) -> dict[str, Any]:
        """The words joined by spaces, the heads of the tree, the bound that stopped it, and the log-probability."""
        if hypothesis is None:
            return {"text": "", "heads": "", "cut": "", "score": float("nan")}
        return {
            "text": " ".join(hypothesis.words),
            "heads": " ".join(map(str, hypothesis.heads)),
            "cut": hypothesis.cut,
            "score": hypothesis.log_probability,
        }

    def likelihood(self, model: Any, batch: DialogueBatch) -> dict[str, Tensor]:
        """Nats of each reference: of its words and EOS, or of all choices of its tree; and its number of words."""
        from espalier.tasks.dialogue_likelihood import batch_nats

        view, written = model.config.view, batch.real.sum(1) - 1
        # A linearized tree of n words has ARITY n + 1 symbols.
        words = (written - 1) // view.arity if view.shape == "linear" else written
        return {"nll": batch_nats(model, batch), "words": words}

    def facts(self, model: Any) -> dict[str, str]:
        """Whether the model writes trees or chains."""
        view = model.config.view
        return {"writes": "tree" if view.shape != "chain" and view.arity > 1 else "chain"}

    def baselines(self, table: pd.DataFrame, ready: Ready, train: DialogueData, seed: int) -> Mapping[str, BaselineRow]:
        """The posts and the responses of the corpus, each as the best reply, and lists of training replies."""
        best = table["sample"] == 0
        copied, human = (reply_columns(table[name].where(best, "").tolist()) for name in ("source", "reference"))
        return {
            "copy": BaselineRow("the post itself", copied, given=("copied", "empty")),
            "human": BaselineRow("the reference", human, trivial=False),
            **training_replies(table, ready.data, train, seed),
        }

    # --- Scoring -----------------------------------------------------------------------------------------------------

    def statistics(self, outputs: Outputs, scoring: DialogueScoring) -> list[Segments]:
        """A segment is a pair under one of the model's seeds."""
        import numpy as np

        from espalier.metrics.dialogue import library_scores

        table = outputs.table
        tables = [rows for _, rows in table.groupby("seed", sort=False)]
        seeds = [_statistics(rows, outputs) for rows in tables]
        families = {family: np.concatenate([statistics[family] for statistics in seeds]) for family in seeds[0]}
        first = table[table["sample"] == 0].reset_index(drop=True)
        return [Segments(first[["id", "cluster", "seed", "sample"]], families, library_scores(map(_texts, tables)))]

    def metrics(self, family: str) -> tuple[Metric, ...]:
        """The metrics of replies."""
        from espalier.metrics.dialogue import metrics_of

        return metrics_of(family)

    def headline(self, outputs: Outputs) -> Mapping[str, str]:
        """BLEU, variety, perplexity, and defects of the replies."""
        from espalier.metrics.dialogue import HEADLINE

        return HEADLINE

    def counts(self, outputs: Outputs) -> dict[str, int]:
        """Posts, missing replies, and replies that a bound stopped."""
        table = outputs.table
        return {
            "posts": int(table["cluster"].nunique()),
            "missing": int(table["score"].isna().sum()),
            "cut": int((table["cut"] != "").sum()),
        }

    def settings(self, decoder: DialogueDecoder, network: Any, samples: int, guidance: str | None) -> dict[str, Any]:
        """Those of the search of trees are left out of a run that writes chains."""
        shape = network.view.shape
        tree = shape == "tree"
        return {
            "protocol": {"tree": "tree beam", "chain": "chain beam", "linear": "chain beam over trees"}[shape],
            "K": network.view.arity if shape != "chain" else None,
            "context": network.context,
            **shown_settings(decoder, ("beam", "local"), () if tree else ("local", "depth", "order", "stop")),
            "replies": samples,
        }


def replies(
    model: ChainModel | TreeModel, batch: DialogueBatch, decoder: DialogueDecoder, vocabulary: WordVocabulary
) -> list[list[Reply]]:
    """The best replies to each post of `batch`, at most `beam` and the best first; texts differ.

    Raises:
        ConfigError: the vocabulary is too small for the beam; the trees have no order of words (K = 2).
    """
    search = _SEARCHES[_shape(model)]
    best: list[dict[str, Reply]] = []
    for hypotheses in search(model, batch, decoder, vocabulary):
        texts: dict[str, Reply] = {}
        for reply in hypotheses:  # different trees may have the same words, and different words the same characters
            texts.setdefault("".join(reply.words), reply)
        best.append(texts)
    return [list(texts.values()) for texts in best]


def _chain_replies(model: Any, batch: Any, decoder: DialogueDecoder, vocabulary: WordVocabulary) -> list[list[Reply]]:
    import torch

    from espalier.decoding.beam import beam_search
    from espalier.decoding.constraints.constraint import Never

    rows = beam_search(
        model, batch, beam=decoder.beam, max_ids=decoder.max_words, begin=BOS, end=EOS, min_ids=decoder.min_words,
        length_power=decoder.length_power, constraint=Never(torch.tensor(NEVER), vocabulary.text_size),
    )  # fmt: skip
    return [
        [
            Reply(
                [vocabulary.token(identity) for identity in hypothesis.tokens],
                hypothesis.log_probability,
                hypothesis.score,
                None,
                "words" if len(hypothesis.tokens) == decoder.max_words else "",
            )
            for hypothesis in row
        ]
        for row in rows
    ]


def _linear_replies(model: Any, batch: Any, decoder: DialogueDecoder, vocabulary: WordVocabulary) -> list[list[Reply]]:
    """Of a chain model that writes trees: only whole trees, of `max_words` words at most."""
    from espalier.decoding.beam import beam_search
    from espalier.decoding.constraints.preorder import Preorder
    from espalier.syntax.ternary import flatten, read_preorder

    rows = beam_search(
        model, batch, beam=decoder.beam, max_ids=ARITY * decoder.max_words + 2, begin=BOS, end=EOS,
        length_power=decoder.length_power,
        constraint=Preorder(vocabulary.text_size, ARITY, MISSING, EOS, NEVER, decoder.min_words, decoder.max_words),
    )  # fmt: skip

    def reply(tokens: list[int], log_probability: float) -> Reply:
        nodes = read_preorder([token != MISSING for token in tokens])
        words = [vocabulary.token(token) for token in tokens if token != MISSING]
        text = [words[node] for node in flatten(nodes)]
        cut = "words" if len(text) == decoder.max_words else ""
        return Reply(text, log_probability, log_probability / _length(text, decoder), nodes, cut)

    replies = [[reply(hypothesis.tokens, hypothesis.log_probability) for hypothesis in row] for row in rows]
    return [sorted(row, key=lambda reply: -reply.score) for row in replies]


def _tree_replies(model: Any, batch: Any, decoder: DialogueDecoder, vocabulary: WordVocabulary) -> list[list[Reply]]:
    from espalier.decoding.tree_beam import tree_beam
    from espalier.syntax.ternary import flatten

    _check_arity(model.arity)
    chain = model.arity == 1
    rows = tree_beam(
        model, batch, beam=decoder.beam, local=decoder.local, end=EOS, never=NEVER, max_words=decoder.max_words,
        min_words=decoder.min_words, depth=decoder.max_words + 1 if chain else decoder.depth,
        max_rounds=decoder.max_words, order=decoder.order, stop=decoder.stop, length_power=decoder.length_power,
    )  # fmt: skip

    def reply(tree: TreeHypothesis) -> Reply:
        order = range(len(tree.tokens)) if chain else flatten(tree.children).tolist()
        words = [vocabulary.token(tree.tokens[node]) for node in order]
        return Reply(words, tree.log_probability, tree.score, None if chain else tree.children, tree.cut)

    return [[reply(tree) for tree in row] for row in rows]


_SEARCHES: Final[dict[str, Any]] = {"chain": _chain_replies, "linear": _linear_replies, "tree": _tree_replies}


def _shape(model: Any) -> str:
    """What a model writes; models of trees are known by the tree contract."""
    if hasattr(model, "arity"):
        return "tree"
    return str(model.config.view.shape) if hasattr(model, "config") else "chain"


def _length(words: Sequence[str], decoder: DialogueDecoder) -> float:
    """What the length rule divides by: (n + 1)**`length_power`, where n + 1 is at most `max_words`."""
    return float(min(len(words) + 1, decoder.max_words) ** decoder.length_power)


@dataclass(frozen=True)
class _Measure:
    """`Inputs.measure`: sums over all trees of short references, and whether the true reply is found among ten."""

    model: Any
    data: Any
    posts: Sequence[str]
    references: Sequence[str]

    def __call__(self, places: Any) -> dict[str, Any]:
        from espalier.tasks.dialogue_likelihood import exact_nats, recalls

        return {
            "exact": exact_nats(self.model, self.data, places),
            "recall": recalls(self.model, self.data, self.posts, self.references, places),
        }


@dataclass(frozen=True)
class _Rerank:
    """`Inputs.rerank`: the replies of a beam by mutual information."""

    model: Any
    data: Any
    posts: Sequence[str]
    decoder: DialogueDecoder

    def __call__(self, prompts: Any, rows: list[list[Reply]]) -> list[list[Reply]]:
        from espalier.tasks.dialogue_likelihood import mutual_information, sampled_posts

        chosen = sampled_posts(self.data.ids, self.posts)
        values = mutual_information(self.model, self.data, chosen, rows, self.decoder.mmi)
        return [self._ranked(row, own) for row, own in zip(rows, values, strict=True)]

    def _ranked(self, row: list[Reply], values: list[float]) -> list[Reply]:
        scores = [value / _length(reply.words, self.decoder) for reply, value in zip(row, values, strict=True)]
        return [row[place] for place in sorted(range(len(row)), key=lambda place: -scores[place])]


def _check_arity(arity: int) -> None:
    if arity not in (1, ARITY):
        raise ConfigError(
            f"trees of {arity} children a node have no order of words",
            where="model",
            remedy=f"a model with arity {ARITY}, or 1",
        )


def _texts(table: pd.DataFrame) -> tuple[list[str], list[str], list[list[str]]]:
    """Posts, references, and lists of replies, of one seed's rows: one for each pair."""
    first = table[table["sample"] == 0]
    lists = [texts.tolist() for _, texts in table.groupby("id", sort=False)["text"]]
    return first["source"].tolist(), first["reference"].tolist(), lists


def _statistics(table: pd.DataFrame, outputs: Outputs) -> dict[str, Any]:
    """The statistics of one seed's rows, by family: a row for each pair."""
    from espalier.metrics.dialogue import dialogue_statistics

    first = table[table["sample"] == 0]
    tree = outputs.facts["writes"] == "tree"
    judge = outputs.judge
    return dialogue_statistics(
        *_texts(table),
        writes="tree" if tree else "chain",
        likelihood=(first["nll"].tolist(), first["words"].tolist()),
        exact=first["exact"].tolist(),
        recall=first["recall"].tolist(),
        whole=((first["heads"] != "") & (first["cut"] == "")).tolist() if tree else None,
        grammatical=[judge(text.split()) for text in first["text"]] if judge else None,
    )
