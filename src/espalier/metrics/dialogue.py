"""All metrics of replies to posts (X2Tree, "Evaluation Methods"): a fixed set of keys for all decoders.

A row is a pair of the test data: a post and a human reply, the reference. A post may have several rows. `bleu` and the
perplexity compare with one reference and are measured for each row. All other metrics are measured once per post, at
its first row; its other rows have zeros. So a post with many replies has no more weight than another.

Texts are segmented words joined by single spaces and are not split further. Two texts are equal if their letters are
equal, whatever their segmentation.

The perplexities are of the references: exp(Σ -log p / Σ words) per word, and exp(Σ -log p / Σ (words + 1)) per token,
where the end of each sentence is a token. For a chain, p is the probability of the words and EOS; for a tree, that of
the root and all children, 3n + 1 decisions for n words. Both are divided by the same counts. A sentence has many trees,
but only the parser's tree is scored: since p(tree) <= p(sentence), the value of a tree model is an upper bound of its
perplexity. `perplexity_exact_per_word` is exact: p is summed over all trees of a sentence, for short sentences only, so
that chains and trees can be compared.

`recall_1_of_10` is the share of rows whose own reply has a larger log p(y | x) - log p(y) than nine other replies of
the split. Chance is 10 %.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from espalier.io.calls import checked_call
from espalier.metrics.bleu import bleu_metric, bleu_statistics, bleu_statistics_all, length_metrics, library_bleu
from espalier.metrics.bootstrap import Array
from espalier.metrics.distinct import WORDS_MACRO, WORDS_POOLED, distinct_statistics, pooled_shares
from espalier.metrics.family import Family
from espalier.metrics.metric import Metric, ratio, share_of, signature_of
from espalier.metrics.perplexity import METRICS as PERPLEXITY
from espalier.metrics.perplexity import perplexity_statistics
from espalier.metrics.replies import Replies, Writes, first_of, letters_of, rows_of_posts
from espalier.metrics.texts import CorpusLikelihood

#: Posts, references, and lists of replies, as in `Replies`.
Texts = tuple[Sequence[str], Sequence[str], Sequence[Sequence[str]]]

#: The most words of a reference whose trees are summed over (`tasks.dialogue_likelihood`).
EXACT_WORDS: Final = 6

#: The metrics that `dvc metrics show` prints, by their short names there.
HEADLINE: Final = {
    "bleu": "bleu",
    "dist2": "distinct_2",
    "ppl": "perplexity_per_word",
    "ppl_ex": "perplexity_exact_per_word",
    "recall": "recall_1_of_10",
    "whole": "tree_whole",
    "grammar": "grammatical",
}

_WHOLE, _TREES, _GRAMMATICAL, _JUDGED, _COPIED, _COMMONEST, _EMPTY, _WORDS, _POSTS = range(9)


def reply_families(replies: Replies) -> list[Family[Replies]]:
    """The families of replies."""
    size = max(map(len, replies.lists), default=0)
    return [
        ReplyBleu(), AllBleu(), ListBleu(size), BestBleu(size), ReplyDistinct(), ReplyDistinct(pooled=True),
        ReplyShares(), ReplyPerplexity(replies.writes), ReplyPerplexity("exact"), Recall(),
    ]  # fmt: skip


def library_scores(seeds: Iterable[Texts]) -> dict[str, float]:
    """Corpus scores by sacreBLEU, by metric, over the rows of all seeds; empty for no rows.

    Args:
        seeds: posts, references and lists of replies, for each seed of the model.
    """
    of_rows, of_posts, first, once = [], [], list[str](), list[str]()
    for posts, references, replies in seeds:
        own, groups = first_of(replies), rows_of_posts(posts)
        of_rows += [(reference,) for reference in references]
        of_posts += [tuple(references[row] for row in group) for group in groups]
        first += own
        once += [own[group[0]] for group in groups]
    every = library_bleu(of_posts, once)
    return {**library_bleu(of_rows, first), **({"bleu_all": every["bleu"]} if every else {})}


# --- Families --------------------------------------------------------------------------------------------------------


@checked_call
class ReplyBleu(Family[Replies]):
    """BLEU of each row."""

    name = "bleu"

    def statistics(self, replies: Replies, /) -> Array:
        return bleu_statistics(replies.references, first_of(replies.replies))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        first = {"tokens": "words", "replies": "first"}
        return bleu_metric("bleu", **first), *length_metrics(**first)


@checked_call
class AllBleu(Family[Replies]):
    """BLEU against all references of a post."""

    name = "bleu_all"

    def statistics(self, replies: Replies, /) -> Array:
        return replies.at_rows(bleu_statistics_all(replies.texts, replies.first))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (_multi_bleu("bleu_all", replies="first"),)


@checked_call
@dataclass(frozen=True)
class ListBleu(Family[Replies]):
    """BLEU of all replies to a post.

    Attributes:
        size: number of replies.
    """

    name = "bleu_list"
    size: int

    def statistics(self, replies: Replies, /) -> Array:
        return replies.at_rows(replies.lists_of_bleu[0])

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (_multi_bleu("bleu_list", replies=f"each-of-{self.size}"),)


@checked_call
class BestBleu(ListBleu):
    """BLEU of the reply with the best sentence BLEU, of so many."""

    name = "bleu_best"

    def statistics(self, replies: Replies, /) -> Array:
        return replies.at_rows(replies.lists_of_bleu[1])

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (_multi_bleu("bleu_best", replies=f"oracle-of-{self.size}", by="sentence-bleu"),)


@checked_call
@dataclass(frozen=True)
class ReplyDistinct(Family[Replies]):
    """Distinct-n of the best replies.

    Attributes:
        pooled: whether all replies are pooled; else values are averaged over replies.
    """

    name = "distinct"
    pooled: bool = False

    def statistics(self, replies: Replies, /) -> Array:
        return replies.at_rows((pooled_shares if self.pooled else distinct_statistics)(replies.first))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return WORDS_POOLED if self.pooled else WORDS_MACRO


@checked_call
@dataclass(frozen=True)
class ReplyPerplexity(Family[Replies]):
    """The perplexity of references.

    Attributes:
        of: what the model writes; "exact" for sums over all trees.
    """

    name = "perplexity"
    of: Writes | Literal["exact"]

    def statistics(self, replies: Replies, /) -> Array:
        """The statistics of `metrics.perplexity`, where the end of each sentence is a token too."""
        nll, words = map(np.asarray, replies.nats)
        if self.of == "exact":
            sums = replies.measured(replies.exact)
            nll, words = np.where(np.isnan(sums), 0.0, sums), np.where(np.isnan(sums), 0, words)
        tokens = np.where(words > 0, words + 1, 0)
        nats, counts = list(map(float, nll)), list(map(int, words))
        return perplexity_statistics(CorpusLikelihood(nats, tokens.tolist(), nats, counts))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        if self.of == "exact":
            how = {"object": "sentence", "per": "words", "nll": "all-trees", "words": f"1-{EXACT_WORDS}"}
            return (_perplexity("perplexity_exact_per_word", **how),)
        decisions = {"nll": "words+eos"} if self.of == "chain" else {"nll": "words+eobs", "bound": "upper"}
        return (
            _perplexity("perplexity_per_word", object=self.of, per="words", **decisions),
            _perplexity("perplexity_per_token", object=self.of, per="words+end", **decisions),
        )


@checked_call
class Recall(Family[Replies]):
    """Whether the true reply ranks first of ten."""

    name = "recall"
    metrics = (
        Metric(
            "recall_1_of_10",
            ratio(0, 1, scale=100.0),
            signature_of("recall", at="1", of="10", by="log p(y|x) - log p(y)", ties="shared", mean="share"),
            "no likelihoods of a model",
        ),
    )

    def statistics(self, replies: Replies, /) -> Array:
        """(rows, 2): from 0 to 1, and whether it was measured."""
        found = replies.measured(replies.recall)
        asked = ~np.isnan(found)
        return np.stack([np.where(asked, found, 0.0), asked], axis=1).astype(np.float64)


def _reply_metric(key: str, column: int, given: int = _POSTS, undefined: str = "no posts", *, mean: str) -> Metric:
    signature = signature_of("replies", counts=key, mean=mean, replies="first", posts="once")
    if mean == "share":
        return share_of(key, column, given, signature, undefined)
    return Metric(key, ratio(column, given), signature, undefined)


@checked_call
class ReplyShares(Family[Replies]):
    """Whole, grammatical, copied, commonest and empty replies, and their words."""

    name = "replies"
    metrics = (
        _reply_metric("tree_whole", _WHOLE, _TREES, "no trees", mean="share"),
        _reply_metric("grammatical", _GRAMMATICAL, _JUDGED, "no grammar was asked", mean="share"),
        _reply_metric("copied", _COPIED, mean="share"),
        _reply_metric("commonest", _COMMONEST, mean="share"),
        _reply_metric("empty", _EMPTY, mean="share"),
        _reply_metric("words", _WORDS, mean="mean"),
    )

    def statistics(self, replies: Replies, /) -> Array:
        """(rows, 9): whether the best reply is each of these, and whether that was judged; words; 1."""
        once = replies.once
        found = replies.at_rows(_reply_statistics([replies.posts[row] for row in once], replies.first))
        for judged, yes, applicable in ((replies.whole, _WHOLE, _TREES), (replies.grammatical, _GRAMMATICAL, _JUDGED)):
            if judged is not None:
                found[once, yes] = np.asarray(judged, dtype=np.float64)[once]
                found[once, applicable] = 1.0
        return found


def _perplexity(key: str, **how: str) -> Metric:
    """Perplexity per word or per token, as set by `how["per"]`."""
    signature = signature_of("perplexity", **how, base="e", mean="pooled")
    return replace(PERPLEXITY[1 if how["per"] == "words" else 0], name=key, signature=signature)


def _multi_bleu(key: str, **more: str) -> Metric:
    return bleu_metric(key, refs="all", tokens="words", posts="once", **more)


def _reply_statistics(posts: Sequence[str], first: Sequence[str]) -> Array:
    statistics = np.zeros((len(posts), _POSTS + 1))
    letters = [letters_of(reply) for reply in first]
    commonest = {reply for reply, _ in Counter(letters).most_common(1)}
    statistics[:, _COPIED] = [reply == letters_of(post) for reply, post in zip(letters, posts, strict=True)]
    statistics[:, _COMMONEST] = [reply in commonest for reply in letters]
    statistics[:, _EMPTY] = [not reply for reply in letters]
    statistics[:, _WORDS] = [len(reply.split()) for reply in first]
    statistics[:, _POSTS] = 1.0
    return statistics
