"""Replies to posts: what the metrics of dialogue are computed from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from espalier.io.errors import EspalierError
from espalier.metrics.bleu import bleu_statistics_all, sentence_bleu
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import require_lengths

#: The output that likelihoods refer to: the words and EOS, or the 3n + 1 decisions of a tree.
Writes = Literal["chain", "tree"]


@dataclass(frozen=True, eq=False)
class Replies:
    """Replies of one model to posts. All texts are words joined by single spaces.

    Attributes:
        posts: rows of one post need not be adjacent.
        references: the human replies; never empty.
        replies: replies of one model, the best first. An empty or missing reply counts as wrong. Rows of one post share
            their replies; those of the first row are used.
        writes: what the model writes.
        likelihood: -log p in nats of each reference under the model, over all its decisions including end marks, and
            its number of words without end marks. Without it the perplexity is undefined.
        exact: -log p of the words of each reference, summed over all trees; NaN if it has too many words. Requires
            `likelihood`.
        recall: for each row, whether its reference ranks first of ten, from 0 to 1; NaN if not measured. Requires
            `likelihood`.
        whole: for each row, whether the tree of the first reply is complete: not cut by a cap, and without a right
            child of the root. Only for models that write trees.
        grammatical: for each row, whether the first reply is grammatical; only for data with a grammar.

    Raises:
        EspalierError: the lists differ in length, a reference is empty, replies are a text instead of a list, or
            `whole` is given for chains.
    """

    posts: Sequence[str]
    references: Sequence[str]
    replies: Sequence[Sequence[str]]
    writes: Writes
    likelihood: tuple[Sequence[float], Sequence[int]] | None = None
    exact: Sequence[float] | None = None
    recall: Sequence[float] | None = None
    whole: Sequence[bool] | None = None
    grammatical: Sequence[bool] | None = None

    def __post_init__(self) -> None:
        count = len(self.posts)
        require_lengths("posts", count, references=self.references, replies=self.replies)
        for row, (reference, listed) in enumerate(zip(self.references, self.replies, strict=True), start=1):
            where = f"scoring, row {row}"
            if not reference.strip():
                raise EspalierError("the reference is empty", where=where, remedy="filter it out before")
            if isinstance(listed, str):
                raise EspalierError("the replies are one text", where=where, remedy="give a list of them, best first")
        if self.whole is not None and self.writes == "chain":
            raise EspalierError("chains have no trees to be whole", where="scoring", remedy="leave `whole` out")
        for name in ("whole", "grammatical", "exact", "recall"):
            if (judged := getattr(self, name)) is not None:
                require_lengths("posts", count, **{name: judged})
        nll, words = self.nats
        require_lengths("posts", count, likelihood=nll, words=words)

    @property
    def nats(self) -> tuple[Sequence[float], Sequence[int]]:
        """`likelihood`, or zeros without it. Rows without words are those of no model."""
        count = len(self.posts)
        return self.likelihood if self.likelihood is not None else ([0.0] * count, [0] * count)

    @cached_property
    def rows(self) -> list[list[int]]:
        """The rows of each post. Posts are in the order of their first rows."""
        return rows_of_posts(self.posts)

    @cached_property
    def once(self) -> list[int]:
        """The first row of each post."""
        return [group[0] for group in self.rows]

    @cached_property
    def texts(self) -> list[list[str]]:
        """The references of each post."""
        return [[self.references[row] for row in group] for group in self.rows]

    @cached_property
    def lists(self) -> list[tuple[str, ...]]:
        """The replies to each post, at least one."""
        return [tuple(self.replies[row]) or ("",) for row in self.once]

    @cached_property
    def first(self) -> list[str]:
        """The best reply to each post."""
        return [replies[0] for replies in self.lists]

    @cached_property
    def lists_of_bleu(self) -> tuple[Array, Array]:
        """For each post: BLEU statistics of all its replies together, and of the reply with the best sentence BLEU."""
        return _list_statistics(self.texts, self.lists)

    def measured(self, values: Sequence[float] | None) -> Array:
        """Values of each row; NaN if they were not measured."""
        return np.full(len(self.posts), np.nan) if values is None else np.where(self.nats[1], values, np.nan)

    def at_rows(self, statistics: Array) -> Array:
        """(posts, k) -> (rows, k): each row of statistics at the first row of its post, zeros elsewhere."""
        placed = np.zeros((len(self.posts), statistics.shape[1]))
        placed[self.once] = statistics
        return placed


def rows_of_posts(posts: Sequence[str]) -> list[list[int]]:
    """The rows of each post. Posts are in the order of their first rows."""
    rows: dict[str, list[int]] = {}
    for row, post in enumerate(posts):
        rows.setdefault(letters_of(post), []).append(row)
    return list(rows.values())


def first_of(replies: Sequence[Sequence[str]]) -> list[str]:
    """The best of the replies to each post; "" for none."""
    return [(*listed, "")[0] for listed in replies]


def _list_statistics(references: Sequence[Sequence[str]], lists: Sequence[Sequence[str]]) -> tuple[Array, Array]:
    """For each post: BLEU statistics of all its replies together, and of the reply with the best sentence BLEU."""
    sizes = [len(replies) for replies in lists]
    rows = bleu_statistics_all(
        [texts for texts, size in zip(references, sizes, strict=True) for _ in range(size)],
        [reply for replies in lists for reply in replies],
    )
    every = np.split(rows, np.cumsum(sizes)[:-1]) if sizes else []
    # The first of the best replies: ties, up to rounding, go to the higher rank.
    best = [sentences[np.argmax(sentence_bleu(sentences).round(9))] for sentences in every]
    width = rows.shape[1]
    return np.array([sentences.sum(axis=0) for sentences in every]).reshape(-1, width), np.array(best).reshape(
        -1, width
    )


def letters_of(text: str) -> str:
    """The text without spaces."""
    return "".join(text.split())
