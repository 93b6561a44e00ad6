"""Scores that a dialogue model gives to replies: p(y | x), p(y), recall among ten, and sums over all trees.

p(y) is the mean of p(y | x') over posts x' of the split. It comes from the same model, so that factors common to all
replies, such as the 3 n + 1 choices of a tree, cancel in log p(y | x) - log p(y). They would not cancel with another
model, such as a language model of replies. An empty post cannot be used, since no model was trained on one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from espalier.datasets.dialogue.data import ARITY, DialogueBatch, DialogueData
from espalier.datasets.ragged import IntArray, Ragged
from espalier.datasets.vocabulary import UNK, WordVocabulary
from espalier.io.hashing import seed_from
from espalier.metrics.dialogue import EXACT_WORDS
from espalier.models.contract import is_tree
from espalier.syntax.ternary import EOB, flatten, trees_of
from espalier.tasks.likelihood import measured

if TYPE_CHECKING:
    from torch import Tensor

    from espalier.tasks.dialogue_decoder import DialogueModel
    from espalier.tasks.dialogue_search import ReplyHypothesis

FloatArray = npt.NDArray[np.float64]

#: The true reply and nine others.
CANDIDATES: Final = 10
#: The posts over which p(y) is a mean.
POSTS: Final = 10
#: Nats that rounding can change.
ROUNDING: Final = 1e-3


def batch_nats(model: DialogueModel, batch: DialogueBatch) -> Tensor:
    """(batch,) -log p of each response: over its words and end mark, or over all choices of its tree."""
    nats = model.tree_losses(batch) if is_tree(model) else model.token_losses(batch).sum(1)
    return nats.double()


def nats_of(model: DialogueModel, data: DialogueData) -> FloatArray:
    """(rows,) -log p of each response of `data`."""
    import torch

    device = next(model.parameters()).device if isinstance(model, torch.nn.Module) else torch.device("cpu")
    found = measured(lambda *given: {"nats": batch_nats(*given)}, model, data, np.arange(len(data)), device)
    return found.get("nats", np.zeros(0))


def paired(posts: DialogueData, post: IntArray, replies: DialogueData, reply: IntArray) -> DialogueData:
    """Rows that pair the posts `post` of one split with the replies `reply` of another."""
    columns = {name: column.select(reply) for name, column in replies.columns.items()}
    columns["source"] = posts.columns["source"].select(post)
    return replace(replies, ids=[""] * len(reply), columns=columns)


# --- p(y) ------------------------------------------------------------------------------------------------------------


def sampled_posts(ids: Sequence[str], posts: Sequence[str], count: int = POSTS) -> IntArray:
    """The indices of `count` distinct posts, or of all, in an order drawn from their ids."""
    first = {post: place for place, post in reversed(list(enumerate(posts)))}
    order = sorted(first.values(), key=lambda place: seed_from("marginal", ids[place]))
    return np.array(order[:count], dtype=np.int64)


def marginal_nats(model: DialogueModel, data: DialogueData, posts: IntArray, replies: DialogueData) -> FloatArray:
    """(replies,) -log p(y) of each reply, where p(y) is the mean of p(y | x) over the posts `posts` of `data`."""
    post, reply = np.tile(posts, len(replies)), np.repeat(np.arange(len(replies)), len(posts))
    nats = nats_of(model, paired(data, post, replies, reply)).reshape(len(replies), len(posts))
    return np.log(len(posts)) - np.asarray(np.logaddexp.reduce(-nats, axis=1))


# --- Recall ----------------------------------------------------------------------------------------------------------


def recall_candidates(ids: Sequence[str], posts: Sequence[str], replies: Sequence[str], place: int) -> IntArray:
    """(10,) the pair `place` and nine pairs with other posts, drawn from its id.

    The ten replies differ in their letters.

    Empty if there are not nine such pairs.
    """
    letters = "".join(replies[place].split())
    taken, chosen = {letters}, [place]
    for other in np.random.default_rng(seed_from("recall", ids[place])).permutation(len(ids)):
        letters = "".join(replies[other].split())
        if posts[other] != posts[place] and letters not in taken:
            taken.add(letters)
            chosen.append(other)
            if len(chosen) == CANDIDATES:
                return np.array(chosen, dtype=np.int64)
    return np.zeros(0, dtype=np.int64)


def hit(scores: FloatArray) -> float:
    """Whether the first score is the largest. If k scores tie for the largest, each counts 1 / k."""
    best = scores >= scores.max() - ROUNDING
    return float(best[0] / best.sum())


def recalls(
    model: DialogueModel, data: DialogueData, posts: Sequence[str], replies: Sequence[str], places: IntArray
) -> FloatArray:
    """(places,) whether log p(y | x) - log p(y) is larger for a post's own reply than for nine others.

    NaN for a pair without nine others. Chance is 1/10.

    Args:
        posts, replies: posts and replies of all rows of `data`.
    """
    drawn = [recall_candidates(data.ids, posts, replies, place) for place in places.tolist()]
    judged = np.array([row for row, ten in enumerate(drawn) if len(ten)], dtype=np.int64)
    found = np.full(len(places), np.nan)
    if not len(judged):
        return found
    tens = np.stack([drawn[row] for row in judged])
    own = np.repeat(places[judged], CANDIDATES)
    conditional = nats_of(model, paired(data, own, data, tens.ravel())).reshape(tens.shape)
    needed, where = np.unique(tens, return_inverse=True)
    marginal = marginal_nats(model, data, sampled_posts(data.ids, posts), data.select(needed))
    scores = marginal[where].reshape(tens.shape) - conditional
    found[judged] = [hit(row) for row in scores]
    return found


# --- Sums over all trees ---------------------------------------------------------------------------------------------


def exact_nats(model: DialogueModel, data: DialogueData, places: IntArray) -> FloatArray:
    """(places,) -log p of each response's words, summed over all its trees; NaN for over `EXACT_WORDS` words.

    A chain has only one derivation.
    """
    view = model.config.view
    words = data.columns["target"].lengths[places]
    found = np.full(len(places), np.nan)
    if view.shape == "chain" or view.arity == 1:
        short = np.flatnonzero(words <= EXACT_WORDS)
        found[short] = nats_of(model, data.select(places[short]))
        return found
    for count in range(1, EXACT_WORDS + 1):
        rows = np.flatnonzero(words == count)
        if len(rows):
            trees = with_all_trees(data, places[rows], count)
            nats = nats_of(model, trees).reshape(len(rows), -1)
            found[rows] = -np.logaddexp.reduce(-nats, axis=1)
    return found


def with_all_trees(data: DialogueData, places: IntArray, words: int) -> DialogueData:
    """The rows `places`, whose responses have `words` words, each with all trees of its response in turn."""
    trees = trees_of(words)
    rows = np.repeat(places, len(trees))
    order = np.tile(np.concatenate([tree.words for tree in trees]), len(places))
    children = np.tile(np.concatenate([tree.children.ravel() for tree in trees]), len(places))
    starts = np.arange(len(rows) + 1, dtype=np.int64)
    columns = {name: data.columns[name].select(rows) for name in ("source", "target")}
    columns |= {"order": Ragged(order, words * starts), "children": Ragged(children, ARITY * words * starts)}
    return replace(data, ids=[""] * len(rows), columns=columns)


# --- Maximum mutual information ---------------------------------------------------------------------------------------


def mutual_information(
    model: DialogueModel, data: DialogueData, posts: IntArray, rows: Sequence[Sequence[ReplyHypothesis]], weight: float
) -> list[list[float]]:
    """log p(y | x) - `weight` log p(y) of each reply of each row (Li et al. 2016, MMI-antiLM).

    Args:
        posts: the rows of `data` over which p(y) is averaged.
    """
    listed = [reply for row in rows for reply in row]
    if not listed:
        return [[] for _ in rows]
    marginal = marginal_nats(model, data, posts, _as_data(listed, data.vocabulary))
    scores = iter((np.array([reply.log_probability for reply in listed]) + weight * marginal).tolist())
    return [[next(scores) for _ in row] for row in rows]


def _as_data(replies: Sequence[ReplyHypothesis], vocabulary: WordVocabulary) -> DialogueData:
    columns: dict[str, list[npt.ArrayLike]] = {name: [] for name in DialogueData.COLUMNS}
    for reply in replies:
        order = np.arange(len(reply.words))
        children = np.full((len(order), ARITY), EOB)
        if reply.nodes is not None:
            order, children = np.argsort(flatten(reply.nodes)), reply.nodes
        columns["source"].append([UNK])
        columns["target"].append(vocabulary.encode(reply.words))
        columns["order"].append(order)
        columns["children"].append(children.ravel())
    return DialogueData.of([""] * len(replies), columns, vocabulary)
