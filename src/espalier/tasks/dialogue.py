"""Replies to posts: decoding and scoring (X2Tree)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.corpora.records import Pair, words_of
from espalier.datasets.dialogue.data import DialogueBatch, DialogueData, DialogueView
from espalier.io.errors import ConfigError
from espalier.metrics.dialogue import HEADLINE, library_scores, reply_families
from espalier.metrics.replies import Replies
from espalier.tasks.data import SEGMENT_COLUMNS, BaselineRow, Inputs, NGramRow, Outputs, Ready, RunOptions, Segments
from espalier.tasks.dialogue_decoder import DialogueDecoder, DialogueModel, length_of
from espalier.tasks.dialogue_likelihood import batch_nats, exact_nats, mutual_information, recalls, sampled_posts
from espalier.tasks.settings import Scoring
from espalier.tasks.task import Task
from espalier.tasks.training_replies import reply_columns, training_replies
from espalier.text.language import Language

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from espalier.datasets.ragged import IntArray
    from espalier.datasets.vocabulary import WordVocabulary
    from espalier.tasks.dialogue_likelihood import FloatArray
    from espalier.tasks.dialogue_search import ReplyHypothesis


class DialogueTask(Task):
    """The best replies to each post."""

    encodings = ("dialogue",)
    decoder, scoring = DialogueDecoder, Scoring
    likelihood_columns = ("nll", "words", "exact", "recall")

    def ngrams(self, vocabulary: WordVocabulary) -> Mapping[str, NGramRow[DialogueView]]:
        """An n-gram model of the replies' words, and one of their trees."""
        return {
            "ngram": NGramRow(DialogueView("chain"), given=("copied",)),
            "ngram_tree": NGramRow(DialogueView("tree"), given=("copied",)),
        }

    def writes_words(self, language: Language) -> bool:
        """Always: texts are words joined by spaces."""
        return True

    # --- Decoding ----------------------------------------------------------------------------------------------------

    def inputs(
        self,
        ready: Ready[Pair, DialogueData],
        model: DialogueModel,
        decoder: DialogueDecoder,
        options: RunOptions,
        seed: int,
    ) -> Iterator[Inputs[DialogueData, ReplyHypothesis]]:
        """Each distinct post once. All pairs with the same post get the same replies.

        A post whose pairs are in several parts is answered in each of them.

        Raises:
            ConfigError: all posts are skipped.
        """
        posts, references = list[str](), list[str]()  # of all parts: recall draws other replies from the whole split
        first = dict[str, int]()
        for place, record in enumerate(ready.records):
            posts.append(intern(" ".join(words_of(record, "source"))))
            references.append(intern(" ".join(words_of(record, "target"))))
            first.setdefault(posts[-1], place)
        chosen = {*list(first)[decoder.skip :][: decoder.posts or None]}
        if not chosen:
            what = f"{decoder.skip} of {len(first)} posts are skipped"
            raise ConfigError(what, where="decoder.skip", remedy="lower it")
        wanted = np.array([place for place, post in enumerate(posts) if post in chosen])

        def rerank(prompts: IntArray, rows: list[list[ReplyHypothesis]]) -> list[list[ReplyHypothesis]]:
            """The replies of each beam in the order of their mutual information."""
            values = mutual_information(model, ready.data, averaged(), rows, decoder.mmi)
            return reranked(rows, values, decoder)

        def measure(places: IntArray) -> dict[str, FloatArray]:
            """Sums over all trees of short references, and whether the true reply ranks first of ten."""
            return {
                "exact": exact_nats(model, ready.data, places),
                "recall": recalls(model, ready.data, posts, references, places),
            }

        averaged = cache(lambda: sampled_posts(ready.data.ids, posts))
        for places, part in ready.parts(options.at_once, wanted):
            groups = dict[str, list[int]]()
            for number, place in enumerate(places.tolist()):
                groups.setdefault(posts[place], []).append(number)
            rows = [
                [
                    {
                        "id": part.data.ids[number],
                        "cluster": ready.data.ids[first[post]],
                        "sample": 0,
                        "source": post,
                        "reference": references[places[number]],
                    }
                    for number in group
                ]
                for post, group in groups.items()
            ]
            prompts = np.array([group[0] for group in groups.values()])
            measured = partial(_of_part, measure, places)
            yield Inputs(part.data, prompts, rows, options.samples, rerank if decoder.mmi else None, measured)

    def generate(
        self, model: DialogueModel, batch: DialogueBatch, decoder: DialogueDecoder, seeds: Sequence[int]
    ) -> list[list[ReplyHypothesis]]:
        """The best replies to each post, or samples."""
        from espalier.tasks.dialogue_search import replies

        return replies(model, batch, decoder, model.vocabulary, seeds if decoder.method == "top_k" else ())

    def columns(
        self, hypothesis: ReplyHypothesis | None, row: Mapping[str, Any], model: DialogueModel, decoder: DialogueDecoder
    ) -> dict[str, Any]:
        """The words joined by spaces, the heads of the tree, the limit that stopped it, and the log-probability."""
        if hypothesis is None:
            return {"text": "", "heads": "", "cut": "", "score": float("nan")}
        return {
            "text": " ".join(hypothesis.words),
            "heads": " ".join(map(str, hypothesis.heads)),
            "cut": hypothesis.cut,
            "score": hypothesis.log_probability,
        }

    def likelihood(self, model: DialogueModel, batch: DialogueBatch) -> dict[str, Tensor]:
        """The nats of each reference (of its words and EOS, or of all choices of its tree), and its number of words."""
        view, written = model.config.view, batch.real.sum(1) - 1
        # A linearized tree of n words has ARITY n + 1 symbols.
        words = (written - 1) // view.arity if view.shape == "linear" else written
        return {"nll": batch_nats(model, batch), "words": words}

    def facts(self, model: DialogueModel) -> dict[str, str]:
        """Whether the model writes trees or chains."""
        view = model.config.view
        return {"writes": "tree" if view.shape != "chain" and view.arity > 1 else "chain"}

    def baselines(
        self, table: pd.DataFrame, ready: Ready[Pair, DialogueData], train: DialogueData, seed: int
    ) -> Mapping[str, BaselineRow]:
        """The corpus's posts and responses, each as the best reply, and lists of training replies."""
        best = table["sample"] == 0
        copied, human = (reply_columns(table[name].where(best, "").tolist()) for name in ("source", "reference"))
        return {
            "copy": BaselineRow("the post itself", copied, given=("copied", "empty")),
            "human": BaselineRow("the reference", human, trivial=False),
            **training_replies(table, ready.data, train, seed),
        }

    # --- Scoring -----------------------------------------------------------------------------------------------------

    def statistics(self, outputs: Outputs[DialogueData], scoring: Scoring) -> list[Segments]:
        """Statistics by segment. A segment is a pair under one of the model's seeds."""
        table = outputs.table
        tables = [rows for _, rows in table.groupby("seed", sort=False)]
        seeds = [_replies(rows, outputs) for rows in tables]
        families = {
            family: np.concatenate([family.statistics(replies) for replies in seeds])
            for family in reply_families(seeds[0])
        }
        first = table[table["sample"] == 0].reset_index(drop=True)
        return [Segments(first[list(SEGMENT_COLUMNS)], families, library_scores(map(_texts, tables)))]

    def headline(self, outputs: Outputs[DialogueData]) -> Mapping[str, str]:
        """BLEU, variety, perplexity, and defects of the replies."""
        return HEADLINE

    def counts(self, outputs: Outputs[DialogueData], scoring: Scoring) -> dict[str, int]:
        """The numbers of posts, missing replies, and replies stopped by a limit."""
        table = outputs.table
        return {
            "posts": int(table["cluster"].nunique()),
            "missing": int(table["score"].isna().sum()),
            "cut": int((table["cut"] != "").sum()),
        }


def _of_part(
    measure: Callable[[IntArray], dict[str, FloatArray]], part: IntArray, places: IntArray
) -> dict[str, FloatArray]:
    """What is measured at places of a part, which are other places of the whole."""
    return measure(part[places])


def reranked(
    rows: Sequence[list[ReplyHypothesis]], values: Sequence[Sequence[float]], decoder: DialogueDecoder
) -> list[list[ReplyHypothesis]]:
    """The replies of each row by their values with the length penalty, the largest first."""

    def ranked(row: list[ReplyHypothesis], own: Sequence[float]) -> list[ReplyHypothesis]:
        scores = [value / length_of(reply.words, decoder) for reply, value in zip(row, own, strict=True)]
        return [row[place] for place in sorted(range(len(row)), key=lambda place: -scores[place])]

    return [ranked(row, own) for row, own in zip(rows, values, strict=True)]


def _texts(table: pd.DataFrame) -> tuple[list[str], list[str], list[list[str]]]:
    """Posts, references and lists of replies of one seed's rows, one entry per pair."""
    first = table[table["sample"] == 0]
    lists = [texts.tolist() for _, texts in table.groupby("id", sort=False)["text"]]
    return first["source"].tolist(), first["reference"].tolist(), lists


def _replies(table: pd.DataFrame, outputs: Outputs[DialogueData]) -> Replies:
    """The replies of one seed, one row per pair."""
    first = table[table["sample"] == 0]
    tree = outputs.facts["writes"] == "tree"
    is_grammatical = outputs.is_grammatical
    return Replies(
        *_texts(table),
        writes="tree" if tree else "chain",
        likelihood=(first["nll"].tolist(), first["words"].tolist()),
        exact=first["exact"].tolist(),
        recall=first["recall"].tolist(),
        whole=((first["heads"] != "") & (first["cut"] == "")).tolist() if tree else None,
        grammatical=[is_grammatical(text.split()) for text in first["text"]] if is_grammatical else None,
    )
