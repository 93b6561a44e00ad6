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

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from espalier.io.errors import ConfigError, EspalierError
from espalier.metrics.bleu import (
    bleu_metric,
    bleu_statistics,
    bleu_statistics_all,
    length_metrics,
    library_bleu,
    sentence_bleu,
)
from espalier.metrics.bootstrap import Array
from espalier.metrics.distinct import WORDS_MACRO, WORDS_POOLED, distinct_statistics, pooled_shares
from espalier.metrics.metric import Metric, ratio, require_lengths, share_of, signature_of
from espalier.metrics.perplexity import METRICS as PERPLEXITY
from espalier.metrics.perplexity import CorpusLikelihood, perplexity_statistics

#: The output that likelihoods refer to: the words and EOS, or the 3n + 1 decisions of a tree.
Writes = Literal["chain", "tree"]

#: Posts, references, and lists of replies, as for `dialogue_statistics`.
Texts = tuple[Sequence[str], Sequence[str], Sequence[Sequence[str]]]

#: The most words of a reference whose trees are summed over (`tasks.dialogue_likelihood`).
EXACT_WORDS: Final = 6

#: The metrics of `dialogue_statistics`, always all of them.
KEYS: Final = (
    "bleu", "length_ratio", "brevity_penalty", "bleu_all", "bleu_list", "bleu_best",
    "distinct_1", "distinct_2", "distinct_1_macro", "distinct_2_macro",
    "perplexity_per_word", "perplexity_per_token", "perplexity_exact_per_word", "recall_1_of_10", "tree_whole",
    "grammatical", "copied", "commonest", "empty", "words",
)  # fmt: skip

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

_FAMILIES: Final = (
    "bleu", "bleu_all", "bleu_list:5", "bleu_best:5", "distinct", "distinct:pooled", "perplexity:chain",
    "perplexity:tree", "perplexity:exact", "recall", "replies",
)  # fmt: skip
_WHOLE, _TREES, _GRAMMATICAL, _JUDGED, _COPIED, _COMMONEST, _EMPTY, _WORDS, _POSTS = range(9)


def metrics_of(family: str) -> tuple[Metric, ...]:
    """The metrics of one family. The setting of the family follows a colon.

    Raises:
        ConfigError: the family is unknown.
    """
    match family.partition(":")[::2]:
        case "bleu", "":
            first = {"tokens": "words", "replies": "first"}
            return bleu_metric("bleu", **first), *length_metrics(**first)
        case "bleu_all", "":
            return (_multi_bleu("bleu_all", replies="first"),)
        case "bleu_list", size if size.isdecimal():
            return (_multi_bleu("bleu_list", replies=f"each-of-{size}"),)
        case "bleu_best", size if size.isdecimal():
            return (_multi_bleu("bleu_best", replies=f"oracle-of-{size}", by="sentence-bleu"),)
        case "distinct", "":
            return WORDS_MACRO
        case "distinct", "pooled":
            return WORDS_POOLED
        case "perplexity", "chain" | "tree" as writes:
            decisions = {"nll": "words+eos"} if writes == "chain" else {"nll": "words+eobs", "bound": "upper"}
            return (
                _perplexity("perplexity_per_word", object=writes, per="words", **decisions),
                _perplexity("perplexity_per_token", object=writes, per="words+end", **decisions),
            )
        case "perplexity", "exact":
            how = {"object": "sentence", "per": "words", "nll": "all-trees", "words": f"1-{EXACT_WORDS}"}
            return (_perplexity("perplexity_exact_per_word", **how),)
        case "recall", "":
            return (_RECALL,)
        case "replies", "":
            return _REPLIES
    raise ConfigError.unknown("family", family, _FAMILIES, where="metrics of dialogue")


def dialogue_statistics(
    posts: Sequence[str],
    references: Sequence[str],
    replies: Sequence[Sequence[str]],
    *,
    writes: Writes,
    likelihood: tuple[Sequence[float], Sequence[int]] | None = None,
    exact: Sequence[float] | None = None,
    recall: Sequence[float] | None = None,
    whole: Sequence[bool] | None = None,
    grammatical: Sequence[bool] | None = None,
) -> dict[str, Array]:
    """Statistics of every row by family: (rows, columns of the family).

    Args:
        posts: words joined by single spaces, like all texts. Rows of one post need not be adjacent.
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
    count = len(posts)
    require_lengths("posts", count, references=references, replies=replies)
    for row, (reference, listed) in enumerate(zip(references, replies, strict=True), start=1):
        where = f"scoring, row {row}"
        if not reference.strip():
            raise EspalierError("the reference is empty", where=where, remedy="filter it out before")
        if isinstance(listed, str):
            raise EspalierError("the replies are one text", where=where, remedy="give a list of them, best first")
    if whole is not None and writes == "chain":
        raise EspalierError("chains have no trees to be whole", where="scoring", remedy="leave `whole` out")
    rows = _rows_of_posts(posts)
    once = [group[0] for group in rows]
    texts = [[references[row] for row in group] for group in rows]
    lists = [tuple(replies[row]) or ("",) for row in once]
    first = [families[0] for families in lists]
    every, best = _list_statistics(texts, lists)
    size = max(map(len, lists), default=0)
    of_posts = {
        "bleu_all": bleu_statistics_all(texts, first),
        f"bleu_list:{size}": every,
        f"bleu_best:{size}": best,
        "distinct": distinct_statistics(first),
        "distinct:pooled": pooled_shares(first),
        "replies": _reply_statistics([posts[row] for row in once], first),
    }
    families = {family: _at_rows(statistics, once, count) for family, statistics in of_posts.items()}
    for name, judged, (yes, applicable) in (
        ("whole", whole, (_WHOLE, _TREES)),
        ("grammatical", grammatical, (_GRAMMATICAL, _JUDGED)),
    ):
        if judged is not None:
            require_lengths("posts", count, **{name: judged})
            families["replies"][once, yes] = np.asarray(judged, dtype=np.float64)[once]
            families["replies"][once, applicable] = 1.0
    nll, words = likelihood if likelihood is not None else ([0.0] * count, [0] * count)
    require_lengths("posts", count, likelihood=nll, words=words)
    require_lengths("posts", count, **{"exact": exact or nll, "recall": recall or nll})
    # Rows without words are those of no model.
    sums = np.where(words, exact, np.nan) if exact is not None else np.full(count, np.nan)
    found = np.where(words, recall, np.nan) if recall is not None else np.full(count, np.nan)
    short, asked = ~np.isnan(sums), ~np.isnan(found)
    return {
        "bleu": bleu_statistics(references, _first(replies)),
        **families,
        f"perplexity:{writes}": _perplexity_statistics(nll, words),
        "perplexity:exact": _perplexity_statistics(np.where(short, sums, 0.0), np.where(short, words, 0)),
        "recall": np.stack([np.where(asked, found, 0.0), asked], axis=1).astype(np.float64),
    }


def library_scores(seeds: Iterable[Texts]) -> dict[str, float]:
    """Corpus scores by sacreBLEU, by metric, over the rows of all seeds; empty for no rows.

    Args:
        seeds: posts, references and lists of replies, for each seed of the model.
    """
    of_rows, of_posts, first, once = [], [], list[str](), list[str]()
    for posts, references, replies in seeds:
        own, groups = _first(replies), _rows_of_posts(posts)
        of_rows += [(reference,) for reference in references]
        of_posts += [tuple(references[row] for row in group) for group in groups]
        first += own
        once += [own[group[0]] for group in groups]
    every = library_bleu(of_posts, once)
    return {**library_bleu(of_rows, first), **({"bleu_all": every["bleu"]} if every else {})}


# --- Families --------------------------------------------------------------------------------------------------------


def _rows_of_posts(posts: Sequence[str]) -> list[list[int]]:
    """The rows of each post. Posts are in the order of their first rows."""
    rows: dict[str, list[int]] = {}
    for row, post in enumerate(posts):
        rows.setdefault(_letters(post), []).append(row)
    return list(rows.values())


def _first(replies: Sequence[Sequence[str]]) -> list[str]:
    return [(*listed, "")[0] for listed in replies]


def _perplexity(key: str, **how: str) -> Metric:
    """Perplexity per word or per token, as set by `how["per"]`."""
    signature = signature_of("perplexity", **how, base="e", mean="pooled")
    return replace(PERPLEXITY[1 if how["per"] == "words" else 0], name=key, signature=signature)


def _perplexity_statistics(nll: Sequence[float] | Array, words: Sequence[int] | Array) -> Array:
    """The statistics of `metrics.perplexity`, where the end of each sentence is a token too."""
    tokens = np.where(np.asarray(words) > 0, np.asarray(words) + 1, 0)
    nats, counts = list(map(float, nll)), list(map(int, words))
    return perplexity_statistics(CorpusLikelihood(nats, tokens.tolist(), nats, counts))


def _multi_bleu(key: str, **more: str) -> Metric:
    return bleu_metric(key, refs="all", tokens="words", posts="once", **more)


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


def _reply_statistics(posts: Sequence[str], first: Sequence[str]) -> Array:
    statistics = np.zeros((len(posts), _POSTS + 1))
    letters = [_letters(reply) for reply in first]
    commonest = {reply for reply, _ in Counter(letters).most_common(1)}
    statistics[:, _COPIED] = [reply == _letters(post) for reply, post in zip(letters, posts, strict=True)]
    statistics[:, _COMMONEST] = [reply in commonest for reply in letters]
    statistics[:, _EMPTY] = [not reply for reply in letters]
    statistics[:, _WORDS] = [len(reply.split()) for reply in first]
    statistics[:, _POSTS] = 1.0
    return statistics


def _at_rows(statistics: Array, rows: Sequence[int], count: int) -> Array:
    """(posts, k) -> (count, k): each row of statistics at its row of the data, zeros elsewhere."""
    placed = np.zeros((count, statistics.shape[1]))
    placed[rows] = statistics
    return placed


def _letters(text: str) -> str:
    return "".join(text.split())


def _reply_metric(key: str, column: int, given: int = _POSTS, undefined: str = "no posts", *, mean: str) -> Metric:
    signature = signature_of("replies", counts=key, mean=mean, replies="first", posts="once")
    if mean == "share":
        return share_of(key, column, given, signature, undefined)
    return Metric(key, ratio(column, given), signature, undefined)


_RECALL: Final = Metric(
    "recall_1_of_10",
    ratio(0, 1, scale=100.0),
    signature_of("recall", at="1", of="10", by="log p(y|x) - log p(y)", ties="shared", mean="share"),
    "no likelihoods of a model",
)

_REPLIES: Final = (
    _reply_metric("tree_whole", _WHOLE, _TREES, "no trees", mean="share"),
    _reply_metric("grammatical", _GRAMMATICAL, _JUDGED, "no grammar was asked", mean="share"),
    _reply_metric("copied", _COPIED, mean="share"),
    _reply_metric("commonest", _COMMONEST, mean="share"),
    _reply_metric("empty", _EMPTY, mean="share"),
    _reply_metric("words", _WORDS, mean="mean"),
)
