"""Likelihoods of given replies against slow references: one pair, one post and one tree at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from espalier.corpora.records import Pair
from espalier.datasets.dialogue.data import MISSING, DialogueData, DialogueView
from espalier.datasets.dialogue.encode import DialogueEncoding, DialogueSettings
from espalier.datasets.ragged import Ragged
from espalier.datasets.vocabulary import BOS, EOS, PAD, WordVocabulary
from espalier.models.dialogue_config import RNNSeq2SeqConfig, X2TreeConfig
from espalier.models.ngram import NGram, NGramConfig
from espalier.models.rnn_seq2seq import RNNSeq2Seq
from espalier.models.x2tree import X2Tree
from espalier.syntax.dependency import is_projective, mistake
from espalier.syntax.ternary import flatten, ternary
from espalier.tasks.data import Ready, RunOptions
from espalier.tasks.dialogue import DialogueTask
from espalier.tasks.dialogue_decoder import DialogueDecoder
from espalier.tasks.dialogue_likelihood import (
    CANDIDATES,
    batch_nats,
    exact_nats,
    hit,
    marginal_nats,
    nats_of,
    recall_candidates,
    recalls,
    sampled_posts,
)
from espalier.tasks.dialogue_search import ReplyHypothesis, replies

WORDS = tuple("abcdefgh")
VOC = WordVocabulary(WORDS, "en")
TASK = DialogueTask()
SMALL: dict[str, Any] = {"width": 6, "word": 5, "readout": 4}
KINDS: dict[str, tuple[Any, Any]] = {
    "tree": (X2Tree, X2TreeConfig(**SMALL)),
    "line": (X2Tree, X2TreeConfig(**SMALL, arity=1)),
    "chain": (RNNSeq2Seq, RNNSeq2SeqConfig(**SMALL)),
    "linear": (RNNSeq2Seq, RNNSeq2SeqConfig(**SMALL, writes="tree")),
}


def model_of(kind: str) -> Any:
    torch.manual_seed(4)
    architecture, config = KINDS[kind]
    model = architecture(config, VOC).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.6)
    return model


def pairs() -> list[Pair]:
    """Fourteen pairs; the posts of the first two, and the replies of the last two, are the same."""
    rng = np.random.default_rng(1)
    made = []
    for n in range(14):
        post = "h h" if n < 2 else " ".join(rng.choice(list(WORDS), 3))
        length = 13 - n if n < 13 else 1
        reply = "a" if length == 1 else " ".join(rng.choice(list(WORDS), length))
        heads = " ".join(map(str, range(length)))  # each word depends on the one before
        made.append(Pair(id=f"p{n}", origin="test", language="en", source=post, source_words=post,
                         target=reply, target_words=reply, target_heads=heads))  # fmt: skip
    return made


RECORDS = pairs()
POSTS, REPLIES = [row.source_words for row in RECORDS], [row.target_words for row in RECORDS]
DATA: DialogueData = DialogueEncoding().encode(RECORDS, VOC, DialogueSettings()).split


def one(post: str, reply: str, heads: tuple[int, ...]) -> DialogueData:
    """One pair as data."""
    tree = ternary(heads)
    ids = [VOC.encode(side.split()) for side in (post, reply)]
    columns = {"source": [ids[0]], "target": [ids[1]], "order": [tree.words], "children": [tree.children.ravel()]}
    return DialogueData.of(["x"], columns, VOC)  # type: ignore[arg-type]


def nats(model: Any, post: str, reply: str, heads: tuple[int, ...] | None = None, nodes: Any = None) -> float:
    """-log p of a reply whose tree is given by heads or by its nodes; else each word depends on the one before."""
    data = one(post, reply, heads or tuple(range(len(reply.split()))))
    if nodes is not None:  # which may have two roots
        place = {node: word for word, node in enumerate(flatten(nodes).tolist())}
        tree = {"order": [[place[node] for node in range(len(nodes))]], "children": [nodes.ravel()]}
        data = replace(data, columns=data.columns | {name: Ragged.of(rows) for name, rows in tree.items()})
    with torch.inference_mode():
        return float(batch_nats(model, data.batch(np.array([0]), model.config.view))[0])


# --- Linearized trees -------------------------------------------------------------------------------------------------


def test_a_linearized_tree_has_each_node_before_its_children() -> None:
    # says(he, likes(she, apples(red,E,E),E), E), every E written out.
    said = "a b c d e f"  # he says she likes red apples
    data = one("h", said, (2, 0, 4, 2, 6, 4))
    batch = data.batch(np.array([0]), DialogueView("linear"))
    names = ["E" if token == MISSING else VOC.token(token) for token in batch.target[0].tolist()]
    assert " ".join(names) == "b a E E E d c E E E f e E E E E E E E <eos>"
    assert batch.inputs[0].tolist() == [BOS, *batch.target[0].tolist()[:-1]]
    assert data.longest(DialogueView("linear")) == 3 * 6 + 2


def test_linearized_trees_of_a_split_are_those_of_each_row() -> None:
    view = DialogueView("linear")
    batch = DATA.batch(np.array([3, 0, 12]), view)
    for row, place in enumerate([3, 0, 12]):
        alone = one(POSTS[place], REPLIES[place], tuple(range(len(REPLIES[place].split())))).batch(np.array([0]), view)
        target = batch.target[row]
        assert target[target != PAD].tolist() == alone.target[0].tolist()


def test_a_chain_over_the_tree_writes_whole_trees_and_their_log_probability() -> None:
    model = model_of("linear")
    batch = DATA.batch(np.array([0, 5]), model.config.view)
    for power in (0.0, 1.0):
        decoder = DialogueDecoder(beam=8, min_words=2, max_words=5, length_power=power)
        for place, found in zip((0, 5), replies(model, batch, decoder, VOC), strict=True):
            scores = [each.score for each in found]
            assert len(found) > 3 and scores == sorted(scores, reverse=True)
            for each in found:
                assert 2 <= len(each.words) <= 5 and each.nodes is not None
                assert each.score == pytest.approx(each.log_probability / min(len(each.words) + 1, 5) ** power)
                if each.heads:
                    wanted = nats(model, POSTS[place], " ".join(each.words), each.heads)
                    assert each.log_probability == pytest.approx(-wanted, rel=1e-5)


def test_likelihood_counts_the_words_of_a_linearized_tree() -> None:
    model = model_of("linear")
    with torch.inference_mode():
        columns = TASK.likelihood(model, DATA.batch(np.array([0, 7, 13]), model.config.view))
    assert columns["words"].tolist() == [13, 6, 1]
    assert TASK.facts(model) == {"writes": "tree"}


# --- Sums over all trees ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tree", "linear"])
def test_an_exact_sum_is_over_all_projective_heads(kind: str) -> None:
    model, places = model_of(kind), np.array([13, 11, 10, 9, 0])
    found = exact_nats(model, DATA, places)
    for value, place in zip(found[:4], places, strict=False):
        n = len(REPLIES[place].split())
        every = [heads for heads in product(range(n + 1), repeat=n) if mistake(heads) is None and is_projective(heads)]
        total = sum(math.exp(-nats(model, POSTS[place], REPLIES[place], heads)) for heads in every)
        assert value == pytest.approx(-math.log(total), rel=1e-5)
    assert np.isnan(found[4])  # thirteen words


@pytest.mark.parametrize("kind", ["chain", "line"])
def test_of_a_chain_there_is_nothing_to_sum(kind: str) -> None:
    model = model_of(kind)
    found = exact_nats(model, DATA, np.array([8, 0]))
    assert found[0] == pytest.approx(nats(model, POSTS[8], REPLIES[8]), rel=1e-5) and np.isnan(found[1])


# --- p(y), and recall among ten ---------------------------------------------------------------------------------------


def test_posts_are_drawn_once_each_whatever_their_order() -> None:
    ids = [row.id for row in RECORDS]
    chosen = sampled_posts(ids, POSTS, 5)
    assert len({POSTS[place] for place in chosen}) == 5
    backwards = sampled_posts(ids[:1:-1], POSTS[:1:-1], 5)
    assert {POSTS[:1:-1][place] for place in backwards} >= {POSTS[place] for place in chosen} - {"h h"}
    assert len(sampled_posts(ids, POSTS, 99)) == 13


@pytest.mark.parametrize("kind", KINDS)
def test_the_marginal_is_the_mean_over_the_posts(kind: str) -> None:
    model, posts = model_of(kind), np.array([0, 4, 9])
    found = marginal_nats(model, DATA, posts, DATA.select(np.array([10, 12])))
    for value, place in zip(found, (10, 12), strict=True):
        each = [math.exp(-nats(model, POSTS[post], REPLIES[place])) for post in posts]
        assert value == pytest.approx(-math.log(sum(each) / 3), rel=1e-5)


def test_the_ten_are_the_pair_and_nine_others_of_other_posts_and_other_letters() -> None:
    ids = [row.id for row in RECORDS]
    for place in range(14):
        ten = recall_candidates(ids, POSTS, REPLIES, place).tolist()
        assert ten[0] == place and len(set(ten)) == CANDIDATES
        assert len({REPLIES[other] for other in ten}) == CANDIDATES
        assert all(POSTS[other] != POSTS[place] for other in ten[1:])
        assert ten == recall_candidates(ids, POSTS, REPLIES, place).tolist()
    assert len(recall_candidates(ids[:9], POSTS[:9], REPLIES[:9], 0)) == 0


def test_equal_scores_share_a_hit() -> None:
    assert hit(np.array([2.0, 1.0, 0.0])) == 1.0
    assert hit(np.array([1.0, 2.0, 0.0])) == 0.0
    assert hit(np.array([2.0, 2.0 + 1e-6, 0.0, 2.0, 2.0])) == 0.25


@pytest.mark.parametrize("kind", ["tree", "chain"])
def test_recall_asks_for_the_largest_pointwise_mutual_information(kind: str) -> None:
    model, places = model_of(kind), np.arange(14)
    found = recalls(model, DATA, POSTS, REPLIES, places)
    posts = sampled_posts(DATA.ids, POSTS)
    for place in (0, 3, 12):
        scores = []
        for other in recall_candidates(DATA.ids, POSTS, REPLIES, place):
            mean = np.mean([math.exp(-nats(model, POSTS[post], REPLIES[other])) for post in posts])
            scores.append(-nats(model, POSTS[place], REPLIES[other]) - math.log(mean))
        assert found[place] == float(np.argmax(scores) == 0)
    assert 0 < found.mean() < 1
    few = DATA.select(np.arange(9))
    assert np.isnan(recalls(model, few, POSTS[:9], REPLIES[:9], np.arange(9))).all()


def test_a_model_that_does_not_read_the_post_is_at_chance() -> None:
    view = DialogueView("chain")
    model = NGram.fit(NGramConfig(view), VOC, [DATA.batch(np.arange(14), view)], VOC.text_size)
    found = recalls(model, DATA, POSTS, REPLIES, np.arange(14))
    assert found.tolist() == [0.1] * 14


# --- Maximum mutual information ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [0.0, 1.0])
def test_replies_are_ranked_anew_by_mutual_information(kind: str, power: float) -> None:
    model = model_of(kind)
    decoder = DialogueDecoder(beam=6, local=4, max_words=7, mmi=0.7, length_power=power)
    (inputs,) = TASK.inputs(Ready(RECORDS, DATA), model, decoder, RunOptions(), 1)
    prompts = np.array([0, 4])
    with torch.inference_mode():
        batch = DATA.batch(prompts, model.config.view)
        before = TASK.generate(model, batch, decoder, ())
        assert inputs.rerank is not None
        after = inputs.rerank(prompts, before)
    posts = sampled_posts(DATA.ids, POSTS)

    def score(reply: ReplyHypothesis) -> float:
        text = " ".join(reply.words)
        mean = np.mean([math.exp(-nats(model, POSTS[post], text, nodes=reply.nodes)) for post in posts])
        return (reply.log_probability - 0.7 * math.log(mean)) / min(len(reply.words) + 1, 7) ** power

    for was, now in zip(before, after, strict=True):
        assert {id(each) for each in was} == {id(each) for each in now}
        scores = [score(each) for each in now]
        assert len(scores) > 1 and scores == pytest.approx(sorted(scores, reverse=True), rel=1e-5)
    (plain,) = TASK.inputs(Ready(RECORDS, DATA), model, DialogueDecoder(), RunOptions(), 1)
    assert plain.rerank is None


def test_measures_of_a_run_are_columns_for_its_rows() -> None:
    model = model_of("chain")
    (inputs,) = TASK.inputs(Ready(RECORDS, DATA), model, DialogueDecoder(), RunOptions(), 1)
    assert inputs.measure is not None
    columns = inputs.measure(np.array([13, 0]))
    assert tuple(columns) == TASK.likelihood_columns[2:]
    assert columns["exact"][0] == pytest.approx(nats_of(model, DATA.select(np.array([13])))[0])
    assert np.isnan(columns["exact"][1]) and set(columns["recall"]) <= {0.0, 1.0}


def test_ends_are_no_words_of_a_linearized_tree() -> None:
    assert EOS not in one("h", "a b", (0, 1)).batch(np.array([0]), DialogueView("linear")).target[0, :-1].tolist()
