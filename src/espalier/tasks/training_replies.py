"""Replies from the training split as rows of a report on dialogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.datasets.dialogue.data import DialogueData
from espalier.datasets.ragged import IntArray
from espalier.datasets.vocabulary import ranked
from espalier.tasks.chance import chance_seeds, known_rows
from espalier.tasks.data import BaselineRow
from espalier.tasks.nearest import Nearest

if TYPE_CHECKING:
    import pandas as pd


def training_replies(table: pd.DataFrame, data: DialogueData, train: DialogueData, seed: int) -> dict[str, BaselineRow]:
    """For each post, lists of training replies: the most frequent, those to the nearest posts, and random ones.

    Lists are as long as those of the table. Replies with unknown words are left out, since no model could write them.
    All rows of one post have the same list.

    Args:
        table: output table; `sample` is the rank in the list.
        data: the decoded rows.

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
