"""All metrics of replies to posts (X2Tree, "Evaluation Methods"): a fixed set of keys, whatever the decoder writes.

A row is a pair of the test data: a post and the reply that somebody gave, the reference. A post may stand in several
rows. What is measured against one reference, `bleu` and the perplexity, is measured row by row; all else is measured
once for each post, at the first of its rows, and its other rows are zeros there. So the rows are those of the data, and
a post that many have answered has no more weight than another.

Texts are words joined by single spaces, as they were segmented; nothing splits them any further. Two texts are the same
if their letters are: how they were split does not matter.

The perplexities are of the references: exp(Σ -log p / Σ words) per word, and exp(Σ -log p / Σ (words + 1)) per token,
where each sentence's end is a token. p is the probability of what the model writes: of the words and EOS in a chain, of
the root and all children, 3n + 1 decisions for n words, in a tree. Both are divided by the same counts. But a sentence
has many trees, of which only the parser's is asked for: p(tree) <= p(sentence), and a tree's value is an upper bound of
the perplexity that its model has of the sentences. `perplexity_exact_per_word` is no bound: p is summed over all trees
of a sentence, for short sentences alone, so that chains and trees can be compared.

`recall_1_of_10` is the share of posts' own replies for which the model's log p(y | x) - log p(y) is larger than for
nine other replies of the split. Chance is 10 %.
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

#: What a decoder writes, and so what its likelihoods are of: the words and EOS, or a tree's 3n + 1 decisions.
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
    """The metrics over the statistics of one family. After the colon stands its setting.

    Raises:
        ConfigError: there is no such family.
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
    """What every row contributes, by family: (rows, columns of the family).

    Args:
        posts: words joined by single spaces, as all texts are. Rows of one post need not be neighbours.
        references: what was replied; never empty.
        replies: one model's, best first. An empty reply, or none, is kept and counts as wrong. Rows of one post have
            the same; the first row's are taken.
        writes: what the model writes.
        likelihood: of each reference under the model, and its number of words: -log p in nats of all that the model
            decides in writing it, end marks included. End marks are no words. Without it the perplexity is undefined.
        exact: of each reference -log p of its words, all trees taken together; NaN where it has too many words. Only
            with `likelihood`.
        recall: of each row whether its reference is found among ten, from 0 to 1; NaN where nothing was asked. Only
            with `likelihood`.
        whole: for each row whether the first reply's tree is whole: no cap cut it short, and its root has no right
            child. Only where trees are written.
        grammatical: for each row whether the first reply is grammatical, where there is a grammar to ask.

    Raises:
        EspalierError: lists of different lengths, an empty reference, a text in place of a list of replies, `whole`
            where chains are written.
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
    """The corpus scores that sacreBLEU gives, by metric, over the rows of all seeds; nothing for no rows.

    Args:
        seeds: posts, references and lists of replies, for each of the model's seeds.
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
    """The rows of each post, in the order of their first."""
    rows: dict[str, list[int]] = {}
    for row, post in enumerate(posts):
        rows.setdefault(_letters(post), []).append(row)
    return list(rows.values())


def _first(replies: Sequence[Sequence[str]]) -> list[str]:
    return [(*listed, "")[0] for listed in replies]


def _perplexity(key: str, **how: str) -> Metric:
    """Per word or per token, as `how["per"]` says."""
    signature = signature_of("perplexity", **how, base="e", mean="pooled")
    return replace(PERPLEXITY[1 if how["per"] == "words" else 0], name=key, signature=signature)


def _perplexity_statistics(nll: Sequence[float] | Array, words: Sequence[int] | Array) -> Array:
    """The statistics of `metrics.perplexity`, where tokens are the words and each sentence's end."""
    tokens = np.where(np.asarray(words) > 0, np.asarray(words) + 1, 0)
    nats, counts = list(map(float, nll)), list(map(int, words))
    return perplexity_statistics(CorpusLikelihood(nats, tokens.tolist(), nats, counts))


def _multi_bleu(key: str, **more: str) -> Metric:
    return bleu_metric(key, refs="all", tokens="words", posts="once", **more)


def _list_statistics(references: Sequence[Sequence[str]], lists: Sequence[Sequence[str]]) -> tuple[Array, Array]:
    """Of each post: BLEU's statistics of all its replies together, and of the one with the best sentence BLEU."""
    sizes = [len(replies) for replies in lists]
    rows = bleu_statistics_all(
        [texts for texts, size in zip(references, sizes, strict=True) for _ in range(size)],
        [reply for replies in lists for reply in replies],
    )
    every = np.split(rows, np.cumsum(sizes)[:-1]) if sizes else []
    # The first of the best: of equals, but for the last bits, the one that the model ranks higher.
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
    """(posts, k) -> (count, k), each at its row, zeros elsewhere."""
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
