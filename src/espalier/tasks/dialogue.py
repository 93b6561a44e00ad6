"""Replies to posts: chains by beam search, trees by its generalization (X2Tree, "Tree Generation" and settings)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from pydantic import Field, model_validator

from espalier.corpora.records import words_of
from espalier.datasets.dialogue.data import ARITY, DialogueView
from espalier.datasets.encoding import Settings
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, UNK
from espalier.io.errors import ConfigError
from espalier.tasks.task import Inputs, Outputs, Ready, RunOptions, Segments

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.datasets.dialogue.data import DialogueBatch
    from espalier.datasets.vocabulary import WordVocabulary
    from espalier.metrics.metric import Metric
    from espalier.models.contract import ChainModel, TreeModel
    from espalier.syntax.ternary import Nodes

#: What no reply contains.
NEVER: Final = (PAD, UNK, BOS, SEP)


class DialogueDecoder(Settings):
    """How a model of dialogue is decoded, as it stands in params.yaml."""

    #: Beams: G of trees (6 in the paper), those of chains (200).
    beam: int = Field(6, ge=1)
    #: L: the groups of children that are kept for each leaf of a tree.
    local: int = Field(6, ge=1)
    #: The shortest and the longest reply, in words; what has `max_words` is taken as it stands.
    min_words: int = Field(1, ge=1)
    max_words: int = Field(50, ge=1)
    #: Levels of a tree; a word at the last level has no children.
    depth: int = Field(30, ge=1)
    #: Which leaf of a tree grows next: any, as in the paper, or the first open one.
    order: Literal["any", "first"] = "any"
    #: When the search of trees ends: once no open tree can overtake, or, as in the paper, once enough have ended.
    stop: Literal["sure", "paper"] = "sure"
    #: Decode only so many posts of the split, after the first `skip`; 0 means all.
    posts: int = Field(0, ge=0)
    skip: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min_words > self.max_words:
            raise ValueError(f"min_words: {self.min_words} is greater than max_words: {self.max_words}")
        return self


class DialogueScoring(Settings):
    """How replies are scored: nothing can be set."""


@dataclass(frozen=True, eq=False)
class Reply:
    """A reply and its log-probability.

    Attributes:
        words: in the order of the sentence.
        nodes: (n, 3) its tree; None for a chain.
        cut: the cap that stopped it ("words", "depth" or "rounds"), or "".
    """

    words: list[str]
    log_probability: float
    nodes: Nodes | None
    cut: str

    @property
    def heads(self) -> tuple[int, ...]:
        """The head of each word, from 1; empty for a chain, and where the root has a right child: a second root."""
        from espalier.syntax.ternary import heads_of

        return heads_of(self.nodes) if self.nodes is not None and self.nodes[0, -1] < 0 else ()


class DialogueTask:
    """The best replies to each post."""

    encodings = ("dialogue",)
    decoder, scoring = DialogueDecoder, DialogueScoring
    dev_likelihood = False
    likelihood_columns = ("nll", "words")
    text_view = DialogueView("chain")

    def check(self, decoder: DialogueDecoder, network: Any, dataset: Any, samples: int) -> None:
        """A search finds no more replies than it has beams, and trees need an order of words."""
        if samples > decoder.beam:
            raise ConfigError(
                f"{samples} replies of {decoder.beam} beams", where="samples", remedy=f"at most {decoder.beam}"
            )
        if network.view.shape == "tree" and network.view.arity not in (1, ARITY):
            raise ConfigError(
                f"trees of {network.view.arity} children a node have no order of words",
                where="model",
                remedy=f"a model with arity {ARITY}, or 1",
            )

    def needs_annotation(self, network: Any, dataset: Any) -> bool:
        """Replies are judged without parses."""
        return False

    # --- Decoding ----------------------------------------------------------------------------------------------------

    def inputs(
        self, ready: Ready, model: Any, decoder: DialogueDecoder, options: RunOptions, seed: int
    ) -> list[Inputs]:
        """Each distinct post once; every pair of the post gets the same replies."""
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
                    "cluster": ready.records[own[0]].id,
                    "sample": 0,
                    "source": post,
                    "reference": " ".join(words_of(ready.records[place], "target")),
                }
                for place in own
            ]
            for post, own in places.items()
        ]
        return [Inputs(ready.data, np.array([own[0] for own in places.values()]), rows, kept=options.samples)]

    def prefixes(self, decoder: DialogueDecoder) -> int:
        """The beams."""
        return decoder.beam

    def generate(
        self, model: Any, batch: DialogueBatch, decoder: DialogueDecoder, seeds: Sequence[int]
    ) -> list[list[Reply]]:
        """The best replies to each post."""
        return replies(model, batch, decoder, model.vocabulary)

    def columns(
        self, hypothesis: Reply | None, row: Mapping[str, Any], model: Any, decoder: DialogueDecoder
    ) -> dict[str, Any]:
        """The words joined by spaces, the heads of the tree, the cap that stopped it, and the log-probability."""
        if hypothesis is None:
            return {"text": "", "heads": "", "cut": "", "score": float("nan")}
        return {
            "text": " ".join(hypothesis.words),
            "heads": " ".join(map(str, hypothesis.heads)),
            "cut": hypothesis.cut,
            "score": hypothesis.log_probability,
        }

    def likelihood(self, model: Any, batch: DialogueBatch) -> dict[str, Tensor]:
        """Nats of each reference: of its words and end, or of all choices of its tree; and its words."""
        tree = model.config.view.shape == "tree"
        nll = model.tree_losses(batch) if tree else model.token_losses(batch).sum(1)
        return {"nll": nll.double(), "words": batch.real.sum(1) - 1}

    def facts(self, model: Any) -> dict[str, str]:
        """Whether trees or chains are written."""
        view = model.config.view
        return {"writes": "tree" if view.shape == "tree" and view.arity > 1 else "chain"}

    def baselines(self, table: pd.DataFrame) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """The posts, and the responses that were given; each once, as the best reply."""
        import numpy as np

        score = np.where(table["sample"] == 0, 0.0, np.nan)
        blank: dict[str, Any] = {"heads": [""] * len(table), "cut": [""] * len(table), "score": score}
        return {
            "copy": {**blank, "text": table["source"].where(table["sample"] == 0, "").tolist()},
            "human": {**blank, "text": table["reference"].where(table["sample"] == 0, "").tolist()},
        }

    # --- Scoring -----------------------------------------------------------------------------------------------------

    def statistics(self, outputs: Outputs, scoring: DialogueScoring) -> list[Segments]:
        """A segment is a pair under one of the model's seeds."""
        import numpy as np

        table = outputs.table
        seeds = [_statistics(own, outputs) for _, own in table.groupby("seed", sort=False)]
        families = {family: np.concatenate([own[family] for own in seeds]) for family in seeds[0]}
        first = table[table["sample"] == 0].reset_index(drop=True)
        return [Segments(first[["id", "cluster", "seed", "sample"]], families)]

    def metrics(self, family: str) -> tuple[Metric, ...]:
        """The metrics of replies."""
        from espalier.metrics.dialogue import metrics_of

        return metrics_of(family)

    def headline(self, outputs: Outputs) -> Mapping[str, str]:
        """BLEU, variety, perplexity, and what the replies look like."""
        from espalier.metrics.dialogue import HEADLINE

        return HEADLINE

    def counts(self, outputs: Outputs) -> dict[str, int]:
        """Posts, replies that no search found, replies that a cap stopped."""
        table = outputs.table
        return {
            "posts": int(table["cluster"].nunique()),
            "missing": int(table["score"].isna().sum()),
            "cut": int((table["cut"] != "").sum()),
        }

    def settings(self, run: Any, model: Any) -> dict[str, Any]:
        """The decoder's; those of trees are left out of a run that writes chains."""
        tree = model.view.shape == "tree"
        of_trees = () if tree else ("local", "depth", "order", "stop")
        return {
            "protocol": "tree beam" if tree else "chain beam",
            "K": model.view.arity if tree else None,
            "context": model.context,
            **{name: value for name, value in run.decoder.items() if name not in of_trees},
            "replies": run.samples,
        }


def replies(
    model: ChainModel | TreeModel, batch: DialogueBatch, decoder: DialogueDecoder, vocabulary: WordVocabulary
) -> list[list[Reply]]:
    """The best replies to each post of `batch`, `beam` at most and the best first; of equal texts the best.

    Raises:
        ConfigError: beams that the vocabulary is too small for; trees that have no order of words (K = 2).
    """
    search = _tree_replies if hasattr(model, "arity") else _chain_replies
    best: list[dict[str, Reply]] = []
    for hypotheses in search(model, batch, decoder, vocabulary):
        texts: dict[str, Reply] = {}
        for reply in hypotheses:  # trees can differ where their words do not, and words where their letters do not
            texts.setdefault("".join(reply.words), reply)
        best.append(texts)
    return [list(texts.values()) for texts in best]


def _chain_replies(model: Any, batch: Any, decoder: DialogueDecoder, vocabulary: WordVocabulary) -> list[list[Reply]]:
    import torch

    from espalier.decoding.beam import beam_search
    from espalier.decoding.constraints.constraint import Never

    rows = beam_search(
        model, batch, beam=decoder.beam, max_ids=decoder.max_words, begin=BOS, end=EOS, min_ids=decoder.min_words,
        constraint=Never(torch.tensor(NEVER), vocabulary.text_size),
    )  # fmt: skip
    return [
        [
            Reply(
                [vocabulary.token(identity) for identity in hypothesis.tokens],
                hypothesis.log_probability,
                None,
                "words" if len(hypothesis.tokens) == decoder.max_words else "",
            )
            for hypothesis in row
        ]
        for row in rows
    ]


def _tree_replies(model: Any, batch: Any, decoder: DialogueDecoder, vocabulary: WordVocabulary) -> list[list[Reply]]:
    from espalier.decoding.tree_beam import tree_beam
    from espalier.syntax.ternary import flatten

    if model.arity not in (1, ARITY):
        raise ConfigError(
            f"trees of {model.arity} children a node have no order of words", where="decoder", remedy="arity 3, or 1"
        )
    chain = model.arity == 1
    rows = tree_beam(
        model, batch, beam=decoder.beam, local=decoder.local, end=EOS, never=NEVER, max_words=decoder.max_words,
        min_words=decoder.min_words, depth=decoder.max_words + 1 if chain else decoder.depth,
        max_rounds=decoder.max_words, order=decoder.order, stop=decoder.stop,
    )  # fmt: skip
    written = []
    for row in rows:
        trees = []
        for tree in row:
            order = range(len(tree.tokens)) if chain else flatten(tree.children).tolist()
            words = [vocabulary.token(tree.tokens[node]) for node in order]
            trees.append(Reply(words, tree.log_probability, None if chain else tree.children, tree.cut))
        written.append(trees)
    return written


def _statistics(table: pd.DataFrame, outputs: Outputs) -> dict[str, Any]:
    """Of one seed's rows, a row for each pair."""
    from espalier.metrics.dialogue import dialogue_statistics

    first = table[table["sample"] == 0]
    tree = outputs.facts["writes"] == "tree"
    judge = outputs.judge
    return dialogue_statistics(
        first["source"].tolist(),
        first["reference"].tolist(),
        [texts.tolist() for _, texts in table.groupby("id", sort=False)["text"]],
        writes="tree" if tree else "chain",
        likelihood=(first["nll"].tolist(), first["words"].tolist()),
        whole=((first["heads"] != "") & (first["cut"] == "")).tolist() if tree else None,
        grammatical=[judge(text.split()) for text in first["text"]] if judge else None,
    )
