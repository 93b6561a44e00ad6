"""Replies from the training split as rows of a report on dialogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from espalier.datasets.dialogue.data import DialogueData
from espalier.datasets.ragged import IntArray, Ragged
from espalier.datasets.vocabulary import SPECIALS, ranked
from espalier.tasks.chance import chance_seeds, known_rows
from espalier.tasks.data import BaselineRow

if TYPE_CHECKING:
    import pandas as pd


#: Decimals of a cosine; equal texts must have equal cosines, whatever the order of summation.
DECIMALS = 12


class Nearest:
    """An index of texts by the cosine of their TF-IDF vectors (Salton and Buckley 1988).

    The weight of a word in a text is its count times ln((1 + n) / (1 + df)) + 1, where df of the n texts contain the
    word. Unknown words and other specials are ignored.

    Args:
        texts: word ids of the texts; at least one text.
        ids: ids of the texts, used to break ties.
    """

    def __init__(self, texts: Ragged, ids: Sequence[str], size: int) -> None:
        self.count = len(ids)
        self._rank = np.empty(self.count, dtype=np.int64)
        self._rank[np.argsort(np.array(ids), kind="stable")] = np.arange(self.count)
        rows, words = np.repeat(np.arange(self.count), texts.lengths), texts.flat.astype(np.int64)
        real = words >= len(SPECIALS)
        # By word, and by text within a word.
        keys, counts = np.unique(words[real] * self.count + rows[real], return_counts=True)
        words, self._rows = np.divmod(keys, max(1, self.count))
        frequencies = np.bincount(words, minlength=size)
        self._ends = np.cumsum(frequencies)
        self._idf = np.log((1 + self.count) / (1 + frequencies)) + 1
        weights = counts * self._idf[words]
        self._weights = weights / np.sqrt(np.bincount(self._rows, weights**2, minlength=self.count))[self._rows]

    def cosines(self, words: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """(texts,) cosine of each text and a text with these word ids; 0 if they share no word."""
        words, counts = np.unique(words[words >= len(SPECIALS)], return_counts=True)
        weights = counts * self._idf[words]
        ends = self._ends[words]
        lengths = ends - np.where(words > 0, self._ends[words - 1], 0)
        entries = np.arange(lengths.sum()) + np.repeat(ends - np.cumsum(lengths), lengths)
        products = self._weights[entries] * np.repeat(weights, lengths)
        norm = np.sqrt((weights**2).sum())
        return np.bincount(self._rows[entries], products, minlength=self.count) / max(norm, 1.0)

    def nearest(self, words: npt.NDArray[Any], count: int) -> IntArray:
        """(count,) indices of the nearest texts, the nearest first; fewer if there are fewer texts."""
        cosines = self.cosines(words).round(DECIMALS)
        last = max(0, self.count - count)
        near = np.flatnonzero(cosines >= np.partition(cosines, last)[last])
        return near[np.lexsort((self._rank[near], -cosines[near]))][:count]


def training_replies(table: pd.DataFrame, data: DialogueData, train: DialogueData, seed: int) -> dict[str, BaselineRow]:
    """For each post, lists of training replies: the most frequent, those to the nearest posts, and random ones.

    Lists are as long as those of the table. Replies with unknown words are left out, since no model could write them.
    All rows of one post have the same list.

    Args:
        table: output table; `sample` is the rank in the list.

    Raises:
        DataError: every reply has an unknown word.
    """
    known = train.select(known_rows(train.columns["target"]))
    replies = _texts(known)
    ranks, posts = table["sample"].tolist(), table["source"].tolist()
    commonest = ranked(Counter(replies))[: max(ranks) + 1]
    near = {post: [replies[n] for n in places] for post, places in _nearest(table, data, known).items()}
    seeds = chance_seeds(table, seed, of="cluster")
    # Replies of people are never empty, and follow the grammar that grew them, if one did.
    given = ("empty", "grammatical")
    return {
        "commonest": BaselineRow(
            "the commonest training replies, whatever the post",
            reply_columns([_at(commonest, rank) for rank in ranks]),
            given=("commonest", *given),
        ),
        "nearest": BaselineRow(
            "the replies to the training posts nearest by TF-IDF",
            reply_columns([_at(near[post], rank) for post, rank in zip(posts, ranks, strict=True)]),
            given=given,
        ),
        "chance": BaselineRow(
            "training replies drawn at random",
            reply_columns([replies[own % len(replies)] for own in seeds]),
            given=given,
        ),
    }


def reply_columns(texts: Sequence[str]) -> dict[str, list[Any]]:
    """The columns for replies that no model wrote. An empty text is a missing reply."""
    blank = [""] * len(texts)
    scores = [0.0 if text else float("nan") for text in texts]
    return {"text": list(texts), "heads": blank, "cut": blank, "score": scores}


def _texts(data: DialogueData) -> list[str]:
    """The responses, as words joined by spaces."""
    targets = data.columns["target"]
    words = [data.vocabulary.token(identity) for identity in targets.flat.tolist()]
    return [" ".join(words[start:end]) for start, end in zip(targets.offsets[:-1], targets.offsets[1:], strict=True)]


def _nearest(table: pd.DataFrame, data: DialogueData, train: DialogueData) -> dict[str, IntArray]:
    """For each post, the indices of the training pairs with the nearest posts, one per rank."""
    index = Nearest(train.columns["source"], train.ids, train.vocabulary.text_size)
    place_of = {id_: place for place, id_ in enumerate(data.ids)}
    posts, count = data.columns["source"], int(table["sample"].max()) + 1
    first = table.drop_duplicates("source")
    return {
        post: index.nearest(posts.select(np.array([place_of[id_]])).flat, count)
        for post, id_ in zip(first["source"], first["id"], strict=True)
    }


def _at(texts: Sequence[str], rank: int) -> str:
    return texts[rank] if rank < len(texts) else ""
