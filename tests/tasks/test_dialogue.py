"""Writing replies: what is never written, where they are cut, and in which order a tree's words are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from espalier.corpora.records import Pair
from espalier.datasets.dialogue.data import DialogueBatch, DialogueData, DialogueView
from espalier.datasets.dialogue.encode import DialogueEncoding, DialogueSettings
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, SPECIALS, UNK, WordVocabulary
from espalier.io.errors import ConfigError
from espalier.metrics.dialogue import ReplyPerplexity, reply_families
from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.metric import confirmed
from espalier.metrics.replies import Replies
from espalier.models.dialogue_config import RNNSeq2SeqConfig, X2TreeConfig
from espalier.models.rnn_seq2seq import RNNSeq2Seq
from espalier.models.x2tree import X2Tree
from espalier.syntax.ternary import EOB, heads_of, ternary
from espalier.tasks.data import Inputs, Outputs, Ready, RunOptions
from espalier.tasks.dialogue import DialogueTask
from espalier.tasks.dialogue_decoder import DialogueDecoder
from espalier.tasks.dialogue_search import ReplyHypothesis, replies
from espalier.tasks.settings import Scoring

VOC = WordVocabulary(("山", "桥", "灯", "雨", "石"), "zh")
DATA = DialogueData.of(
    list("abc"),
    {"source": [[5, 6], [7], [8, 9, 5]], "target": [[5]] * 3, "order": [[0]] * 3, "children": [[EOB] * 3] * 3},
    VOC,
)


@dataclass
class Rows:
    """Prefixes, or nodes: which post each answers, and what came before it as a number."""

    rows: Tensor
    child_hidden: Tensor

    def select(self, index: Tensor) -> Rows:
        return Rows(self.rows[index], self.child_hidden[index])


def waves(rows: Tensor, past: Tensor, ends: float) -> Tensor:
    """(n, vocabulary) log-probabilities; specials are what these like best, and ends as much as `ends` says."""
    scores = torch.sin(torch.arange(VOC.text_size)[None] * 2.3 + (past + rows * 0.7)[:, None])
    scores[:, [PAD, UNK, BOS, SEP]] += 3
    scores[:, EOS] = ends
    return scores.log_softmax(1)


@dataclass
class Chain:
    config: ClassVar[SimpleNamespace] = SimpleNamespace(view=DialogueView("chain"))

    ends: float

    def start(self, batch: DialogueBatch) -> Rows:
        return Rows(torch.arange(len(batch)), torch.zeros(len(batch)))

    def step(self, tokens: Tensor, state: Rows) -> tuple[Tensor, Rows]:
        past = state.child_hidden * 0.6 + tokens * 1.9
        return waves(state.rows, past, self.ends), Rows(state.rows, past)


@dataclass
class Trees:
    arity: int
    ends: float

    def start(self, batch: DialogueBatch) -> Rows:
        return Rows(torch.arange(len(batch)), torch.zeros(len(batch)))

    def roots(self, state: Rows) -> Tensor:
        return waves(state.rows, state.child_hidden, self.ends)

    def nodes(self, tokens: Tensor, hidden: Tensor | None, state: Rows) -> Rows:
        above = torch.zeros(len(tokens)) if hidden is None else hidden[:, 0]
        below = (above * 0.6 + tokens * 1.9)[:, None] + torch.arange(self.arity)
        return Rows(state.rows, below[..., None])

    def child(self, k: int, nodes: Rows, earlier: Tensor) -> Tensor:
        return waves(nodes.rows, nodes.child_hidden[:, k, 0] + 1.3 * earlier.sum(1), self.ends)


CHAIN, TREE, LINE = Chain(1.0), Trees(3, 2.0), Trees(1, 1.0)
MODELS = {"chain": CHAIN, "tree": TREE, "line": LINE}


def batch(model: Any) -> DialogueBatch:
    view = DialogueView("tree", model.arity) if hasattr(model, "arity") else DialogueView("chain")
    return DATA.batch(np.arange(3), view)


def written(model: Any, seeds: Sequence[int] = (), **settings: Any) -> list[list[ReplyHypothesis]]:
    return replies(model, batch(model), DialogueDecoder(**settings), VOC, seeds)


# --- what is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_a_reply_has_words_and_no_special_one(name: str) -> None:
    for found in written(MODELS[name], beam=4, max_words=8):
        assert len(found) == 4
        for each in found:
            assert each.words and not {*each.words} & {*SPECIALS}
            assert (each.nodes is None) == (name != "tree")


@pytest.mark.parametrize("name", MODELS)
def test_the_best_come_first_and_none_twice(name: str) -> None:
    for found in written(MODELS[name], beam=5, max_words=8):
        scores = [each.log_probability for each in found]
        assert scores == sorted(scores, reverse=True) and max(scores) < 0
        keys = {(*each.words, each.nodes.tobytes() if each.nodes is not None else b"") for each in found}
        assert len(keys) == 5 or any(each.cut for each in found)


@pytest.mark.parametrize(
    ("model", "more"), [(Chain(-30.0), 0), (Trees(1, -30.0), 0), (Trees(3, -30.0), 2)], ids=["chain", "line", "tree"]
)
def test_a_reply_that_does_not_end_is_cut_at_the_cap_of_words(model: Any, more: int) -> None:
    for words in (1, 4):
        for found in written(model, beam=2, max_words=words):
            # The last group of a tree's children may be of three.
            assert all(each.cut and words <= len(each.words) <= words + more for each in found)


@pytest.mark.parametrize("name", MODELS)
def test_a_reply_that_ends_before_the_cap_is_not_cut(name: str) -> None:
    found = [each for row in written(MODELS[name], beam=6, max_words=40) for each in row]
    assert any(not each.cut for each in found)
    assert all(bool(each.cut) == (len(each.words) >= 40) for each in found)


@pytest.mark.parametrize("name", MODELS)
def test_samples_are_those_of_their_seeds_and_have_the_log_probability_of_the_search(name: str) -> None:
    model, seeds = MODELS[name], [3, 4, 5]
    sampled = {"method": "top_k", "top_k": 4, "beam": 8, "max_words": 20}
    found = written(model, seeds, **sampled)
    assert [[each.words for each in row] for row in written(model, seeds, **sampled)] == [
        [each.words for each in row] for row in found
    ]
    other = written(model, [3, 4, 6], **sampled)
    assert [each.words for each in other[0]] == [each.words for each in found[0]]
    assert [each.words for each in other[2]] != [each.words for each in found[2]]
    searched = written(model, beam=400, local=6, max_words=20)
    for row, best in zip(found, searched, strict=True):
        texts = ["".join(each.words) for each in row]
        assert 1 < len(texts) == len({*texts}) <= 8
        assert not {*SPECIALS} & {word for each in row for word in each.words}
        known = {(*each.words, str(each.heads)): each.log_probability for each in best}
        own = {(*each.words, str(each.heads)): each.log_probability for each in row if not each.cut}
        assert (shared := own.keys() & known.keys())
        assert [own[key] for key in shared] == pytest.approx([known[key] for key in shared], abs=1e-4)
    (greedy, *_) = written(model, seeds, method="top_k", top_k=1, beam=3, max_words=20)
    assert len(greedy) == 1


@pytest.mark.parametrize("name", MODELS)
def test_no_reply_is_shorter_than_the_least(name: str) -> None:
    assert any(len(each.words) < 5 for row in written(MODELS[name], beam=4, max_words=9) for each in row)
    for found in written(MODELS[name], beam=4, min_words=5, max_words=9):
        assert found and all(len(each.words) >= 5 for each in found)


def test_a_reply_of_as_many_words_as_the_cap_is_taken_as_it_stands() -> None:
    (found, *_) = written(Chain(30.0), beam=2, max_words=1)
    assert [each.cut for each in found] == ["words"] * 2 and all(len(each.words) == 1 for each in found)
    (found, *_) = written(Chain(30.0), beam=2, max_words=2)
    assert [each.cut for each in found] == [""] * 2 and all(len(each.words) == 1 for each in found)


def test_of_replies_with_the_same_words_the_best_is_kept() -> None:
    for found in written(Trees(3, 1.2), beam=12, max_words=3):
        assert len({tuple(each.words) for each in found}) == len(found) > 1
        scores = [each.log_probability for each in found]
        assert scores == sorted(scores, reverse=True)


def test_a_tree_is_cut_at_its_levels() -> None:
    for found in written(Trees(3, 1.2), beam=4, max_words=50, depth=2):
        deep = [each for each in found if each.cut == "depth"]
        assert deep and all(2 <= len(each.words) <= 4 for each in deep)
        assert all(each.nodes is not None and (each.nodes[1:] == EOB).all() for each in deep)


def test_a_line_is_no_deeper_than_its_words() -> None:
    for found in written(Trees(1, -30.0), beam=2, max_words=6, depth=2):
        assert all(each.cut and len(each.words) == 6 for each in found)


@pytest.mark.parametrize("settings", [{"beam": 1}, {"beam": 3}, {"beam": 6}])
def test_a_tree_of_one_child_is_a_chain(settings: dict[str, Any]) -> None:
    """The chain model reads the begin mark where the tree's root reads nothing: begin there is made to count 0."""

    class Begun(Chain):
        def step(self, tokens: Tensor, state: Rows) -> tuple[Tensor, Rows]:
            return super().step(torch.where(tokens == BOS, 0, tokens), state)

    chains = written(Begun(2.0), **settings)
    lines = written(Trees(1, 2.0), **settings, local=6)
    for chain, line in zip(chains, lines, strict=True):
        assert [each.words for each in chain] == [each.words for each in line]
        assert [each.cut for each in chain] == [each.cut for each in line]
        scores = [[each.log_probability for each in found] for found in (chain, line)]
        assert scores[0] == pytest.approx(scores[1], abs=1e-5)


class Told:
    """A tree model that writes one tree: the word of each place, the root's "" and its children's "0", "1", "2", ..."""

    arity = 3

    def __init__(self, words: dict[str, str]) -> None:
        self.places = sorted(words, key=lambda place: (len(place), place))
        self.words = words

    def start(self, batch: DialogueBatch) -> Rows:
        return Rows(torch.arange(len(batch)), torch.zeros(len(batch), dtype=torch.long))

    def roots(self, state: Rows) -> Tensor:
        return torch.stack([self._logs("") for _ in state.rows])

    def nodes(self, tokens: Tensor, hidden: Tensor | None, state: Rows) -> Rows:
        """Each child has its place's number, or -1 where nothing is to be written."""
        above = [""] * len(tokens) if hidden is None else [self._name(int(each)) for each in hidden[:, 0]]
        below = [[[self._number(f"{place}{k}")] for k in range(3)] for place in above]
        return Rows(state.rows, torch.tensor(below))

    def child(self, k: int, nodes: Rows, earlier: Tensor) -> Tensor:
        return torch.stack([self._logs(self._name(int(number))) for number in nodes.child_hidden[:, k, 0]])

    def _number(self, place: str) -> int:
        return self.places.index(place) if place in self.words else -1

    def _name(self, number: int) -> str:
        return self.places[number] if number >= 0 else "none"

    def _logs(self, place: str) -> Tensor:
        scores = torch.zeros(VOC.text_size)
        scores[VOC.id_of(self.words[place]) if place in self.words else EOS] = 9.0
        return scores.log_softmax(0)


def test_words_stand_in_the_order_of_the_sentence() -> None:
    # Left part, word, middle part, right part: a right child follows on all that is below its elder sibling.
    told: Any = Told({"": "灯", "0": "山", "02": "桥", "1": "雨", "12": "石", "10": "桥"})
    for found in written(told, beam=2, local=4, max_words=20):
        assert found[0].words == ["山", "桥", "灯", "桥", "雨", "石"] and found[0].cut == ""
        assert found[0].nodes is not None and heads_of(found[0].nodes) == (3, 3, 0, 5, 3, 3)


@pytest.mark.parametrize("order", ["any", "first"])
@pytest.mark.parametrize("stop", ["sure", "paper"])
def test_orders_and_stops_are_those_of_the_search(order: Any, stop: Any) -> None:
    for found in written(TREE, beam=3, max_words=6, order=order, stop=stop):
        assert 1 <= len(found) <= 3 and found[0].words


# --- what cannot be ---------------------------------------------------------------------------------------------------


def test_trees_without_an_order_of_words_are_refused() -> None:
    model: Any = Trees(2, 1.0)
    with pytest.raises(
        ConfigError, match="model: trees of 2 children a node have no order of words; a model with arity 3, or 1"
    ):
        replies(model, batch(CHAIN), DialogueDecoder(), VOC)


def test_more_groups_than_there_are_are_refused() -> None:
    written(TREE, local=216, max_words=3)  # five words and none: 6^3 groups
    with pytest.raises(ConfigError, match="local: is 217, but 6 tokens make 216 groups of 3; give at most 216"):
        written(TREE, local=217)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam": 0}, "beam"),
        ({"local": 0}, "local"),
        ({"min_words": 0}, "min_words"),
        ({"max_words": 0}, "max_words"),
        ({"min_words": 5, "max_words": 4}, "min_words: 5 is greater than max_words: 4"),
        ({"method": "top_k", "min_words": 2}, "min_words: 2, but samples have no shortest length"),
        ({"depth": 0}, "depth"),
        ({"posts": -1}, "posts"),
        ({"skip": -1}, "skip"),
        ({"order": "last"}, "order"),
        ({"stop": "never"}, "stop"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DialogueDecoder(**changes)


def test_the_defaults_are_the_paper_s_but_for_the_order() -> None:
    decoder = DialogueDecoder()
    assert (decoder.beam, decoder.local, decoder.length_power, decoder.mmi) == (6, 6, 0, 0)
    assert decoder.order == "first"  # the paper's "any" reaches a tree in several ways


# --- The task: from records to a table, and from a table to statistics ------------------------------------------------

TASK = DialogueTask()
ENCODING = DialogueEncoding()
#: Three posts; the first and the fourth pair share one.
PAIRS = [
    ("山 桥", "灯 雨", "0 1"),
    ("灯", "石", "0"),
    ("雨 雨", "山 桥 灯", "2 0 2"),
    ("山 桥", "灯 石 雨 山", "3 3 0 3"),
]
POSTS = ["山 桥", "灯", "雨 雨"]


def ready() -> Ready:
    records = [
        Pair(id=f"p{n}", origin="test", language="zh", source=post.replace(" ", ""), source_words=post,
             target=reply.replace(" ", ""), target_words=reply, target_heads=heads)
        for n, (post, reply, heads) in enumerate(PAIRS)
    ]  # fmt: skip
    encoded = ENCODING.encode(records, VOC, DialogueSettings())
    assert list(encoded.places) == [0, 1, 2, 3]
    return Ready(records, encoded.split)


def inputs_of(samples: int = 1, **decoder: Any) -> Inputs:
    (inputs,) = TASK.inputs(ready(), None, DialogueDecoder(**decoder), RunOptions(samples), 1)
    return inputs


def test_pairs_of_one_post_share_a_prompt() -> None:
    inputs = inputs_of(samples=3)
    assert inputs.prompts.tolist() == [0, 1, 2] and inputs.kept == 3 and inputs.data.ids == ["p0", "p1", "p2", "p3"]
    assert [[row["id"] for row in rows] for rows in inputs.rows] == [["p0", "p3"], ["p1"], ["p2"]]
    assert [[row["source"] for row in rows] for rows in inputs.rows] == [[POSTS[0]] * 2, [POSTS[1]], [POSTS[2]]]
    assert inputs.rows[0][1] == {
        "id": "p3", "cluster": "p0", "sample": 0, "source": "山 桥", "reference": "灯 石 雨 山"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "prompts"),
    [
        ({"posts": 1}, ["p0"]),
        ({"skip": 1}, ["p1", "p2"]),
        ({"skip": 1, "posts": 1}, ["p1"]),
        ({"posts": 9}, ["p0", "p1", "p2"]),
    ],
)
def test_posts_are_counted_and_skipped_not_pairs(settings: dict[str, int], prompts: list[str]) -> None:
    inputs = inputs_of(**settings)
    assert [inputs.data.ids[place] for place in inputs.prompts] == prompts


def test_to_skip_all_posts_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^decoder\.skip: 3 of 3 posts are skipped; lower it$"):
        inputs_of(skip=3)


def test_columns_are_words_heads_and_the_cap() -> None:
    tree = ternary((2, 0, 2))
    reply = ReplyHypothesis(["山", "桥", "灯"], -1.5, -0.5, tree.children, "depth")
    decoder = DialogueDecoder()
    assert TASK.columns(reply, {}, None, decoder) == {
        "text": "山 桥 灯", "heads": "2 0 2", "cut": "depth", "score": -1.5
    }  # fmt: skip
    assert TASK.columns(ReplyHypothesis(["山"], -1.0, -1.0, None, ""), {}, None, decoder)["heads"] == ""
    two_roots = np.array([[EOB, EOB, 1], [EOB, EOB, EOB]], np.int32)
    assert TASK.columns(ReplyHypothesis(["山", "桥"], -1.0, -1.0, two_roots, ""), {}, None, decoder)["heads"] == ""
    empty = TASK.columns(None, {}, None, decoder)
    assert (empty["text"], empty["heads"], empty["cut"]) == ("", "", "") and np.isnan(empty["score"])


SMALL: dict[str, Any] = {"width": 6, "word": 5, "readout": 4}


def seeded(kind: Any, config: Any) -> Any:
    torch.manual_seed(4)
    model = kind(config, VOC).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.6)
    return model


def test_likelihoods_of_chains_are_those_of_reading_each_reference_step_by_step() -> None:
    model, data = seeded(RNNSeq2Seq, RNNSeq2SeqConfig(**SMALL)), ready().data
    with torch.inference_mode():
        columns = TASK.likelihood(model, data.batch(np.arange(4), model.config.view))
        assert tuple(columns) == TASK.likelihood_columns[:2] and columns["words"].tolist() == [2, 1, 3, 4]
        for row in range(4):
            alone = data.batch(np.array([row]), model.config.view)
            state, nats = model.start(alone), 0.0
            for token, target in zip(alone.inputs[0], alone.target[0], strict=True):
                logs, state = model.step(token[None], state)
                nats -= float(logs[0, target])
            assert float(columns["nll"][row]) == pytest.approx(nats, rel=1e-5)


def test_likelihoods_of_trees_are_those_of_growing_each_reference_node_by_node() -> None:
    model, data = seeded(X2Tree, X2TreeConfig(**SMALL)), ready().data
    with torch.inference_mode():
        columns = TASK.likelihood(model, data.batch(np.arange(4), model.config.view))
        assert columns["words"].tolist() == [2, 1, 3, 4]
        for row, (_, reply, heads) in enumerate(PAIRS):
            state = model.start(data.batch(np.array([row]), model.config.view))
            tree = ternary(tuple(map(int, heads.split())))
            ids = [VOC.encode(reply.split())[word] for word in tree.words]

            def below(node: int, hidden: Tensor | None, state: Any, tree: Any, ids: list[int]) -> float:
                nodes, earlier, nats = model.nodes(torch.tensor([ids[node]]), hidden, state), list[int](), 0.0
                for k, child in enumerate(tree.children[node].tolist()):
                    logs = model.child(k, nodes, torch.tensor([earlier], dtype=torch.long))
                    earlier.append(EOS if child == EOB else ids[child])
                    nats -= float(logs[0, earlier[-1]])
                for k, child in enumerate(tree.children[node].tolist()):
                    nats += 0.0 if child == EOB else below(child, nodes.child_hidden[:, k], state, tree, ids)
                return nats

            nats = below(0, None, state, tree, ids) - float(model.roots(state)[0, ids[0]])
            assert float(columns["nll"][row]) == pytest.approx(nats, rel=1e-5)


def outputs(writes: str, samples: int = 2, is_grammatical: Any = None) -> Outputs:
    """Two seeds; the best reply to a post is the reference of its first pair, the next is "灯" and cut or missing."""
    best = dict(zip(POSTS, [PAIRS[0], PAIRS[1], PAIRS[2]], strict=True))
    rows: list[dict[str, Any]] = [
        {"id": f"p{n}", "cluster": f"p{POSTS.index(post)}", "seed": seed, "sample": sample, "source": post,
         "reference": reply, "text": "灯" if sample else best[post][1], "heads": "" if sample else best[post][2],
         "cut": "words" if sample and n == 1 else "", "score": np.nan if sample and n == 2 else -1.0,
         "nll": 2.0 + n, "words": len(reply.split()), "exact": 1.5 + n if n < 3 else np.nan, "recall": float(n == 1)}
        for seed in (1, 2) for n, (post, reply, _) in enumerate(PAIRS) for sample in range(samples)
    ]  # fmt: skip
    return Outputs(pd.DataFrame(rows), "zh", is_grammatical=is_grammatical, facts={"writes": writes})


@pytest.mark.parametrize("writes", ["tree", "chain"])
def test_statistics_have_a_row_for_each_pair_and_seed(writes: Any) -> None:
    made = outputs(writes)
    (block,) = TASK.statistics(made, Scoring())
    table = made.table[made.table["sample"] == 0].reset_index(drop=True)
    assert block.rows.equals(table[["id", "cluster", "seed", "sample"]]) and len(block.rows) == 8
    for family, values in block.families.items():
        assert len(values) == 8 and (values[:4] == values[4:]).all(), family
    assert block.families[ReplyPerplexity(writes)][:4, 0].tolist() == [2.0, 3.0, 4.0, 5.0]
    names = {metric.name for family in block.families for metric in family.metrics}
    assert {*TASK.headline(made).values()} <= names
    assert TASK.counts(made, None) == {"posts": 3, "missing": 2, "cut": 2}


@pytest.mark.parametrize("samples", [1, 2])
def test_bleu_is_its_library_s_over_the_rows_of_all_seeds(samples: int) -> None:
    made = outputs("chain", samples)
    made.table.loc[made.table["seed"] == 2, "text"] = "石"  # the seeds differ
    (block,) = TASK.statistics(made, Scoring())
    assert {*block.library} == {"bleu", "length_ratio", "brevity_penalty", "bleu_all"}
    own = family_scores(block.families, seed=1, resamples=0)
    assert confirmed(own, block.library)["bleu_all"].value == block.library["bleu_all"]
    assert 0 < block.library["length_ratio"] < 1


def test_each_pair_is_scored_with_the_replies_to_its_own_post() -> None:
    made = outputs("chain")
    (block,) = TASK.statistics(made, Scoring())
    replies_to = {"山 桥": ["灯 雨", "灯"], "灯": ["石", "灯"], "雨 雨": ["山 桥 灯", "灯"]}
    made_of = Replies(
        [post for post, *_ in PAIRS],
        [reply for _, reply, _ in PAIRS],
        [replies_to[post] for post, *_ in PAIRS],
        writes="chain",
        likelihood=([2.0, 3.0, 4.0, 5.0], [2, 1, 3, 4]),
        exact=[1.5, 2.5, 3.5, np.nan],
        recall=[0.0, 1.0, 0.0, 0.0],
    )
    expected = statistics_of(reply_families(made_of), made_of)
    assert block.families.keys() == expected.keys()
    for family, values in expected.items():
        assert block.families[family].tolist() == [*values.tolist(), *values.tolist()]


def test_the_grammar_is_asked_for_the_best_replies() -> None:
    options: list[list[str]] = []
    made = outputs("chain", is_grammatical=lambda words: options.append(words) or len(words) > 1)
    (block,) = TASK.statistics(made, Scoring())
    assert options == [["灯", "雨"], ["石"], ["山", "桥", "灯"], ["灯", "雨"]] * 2
    metric = next(m for family in block.families for m in family.metrics if m.name == "grammatical")
    family = next(family for family in block.families if metric in family.metrics)
    scores = family_scores({family: block.families[family]}, seed=1, resamples=2)
    assert scores["grammatical"].value == pytest.approx(100 * 2 / 3)  # of the three posts


def test_a_run_that_cannot_be_decoded_is_refused_when_it_is_read() -> None:
    decoder = DialogueDecoder(beam=4)
    for network in (RNNSeq2SeqConfig(), X2TreeConfig(), X2TreeConfig(arity=1)):
        decoder.check(network, None, 4)
        assert not TASK.needs_annotation(network, None)
    with pytest.raises(ConfigError, match=r"^samples: 5 replies of 4 beams; at most 4$"):
        decoder.check(X2TreeConfig(), None, 5)
    binary: Any = SimpleNamespace(view=DialogueView("tree", 2))
    line = r"^model: trees of 2 children a node have no order of words; a model with arity 3, or 1$"
    with pytest.raises(ConfigError, match=line):
        decoder.check(binary, None, 1)


def test_facts_and_settings_tell_trees_from_chains() -> None:
    def told(network: Any) -> tuple[str, dict[str, Any]]:
        decoder = DialogueDecoder(beam=5, local=3, order="any", max_words=9, depth=30)
        facts = TASK.facts(SimpleNamespace(config=network))
        return facts["writes"], decoder.shown(network, 2, None)

    assert told(X2TreeConfig(context="attention")) == (
        "tree",
        {"protocol": "tree beam", "K": 3, "context": "attention", "beam": 5, "local": 3, "order": "any",
         "max_words": 9, "replies": 2},
    )  # fmt: skip
    assert told(RNNSeq2SeqConfig(context="initial")) == (
        "chain",
        {"protocol": "chain beam", "K": None, "context": "initial", "beam": 5, "max_words": 9, "replies": 2},
    )
    sampled = DialogueDecoder(method="top_k", top_k=9, beam=4, local=3, temperature=0.7)
    assert sampled.shown(X2TreeConfig(context="attention"), 2, None) == {
        "protocol": "tree samples", "K": 3, "context": "attention", "k": 9, "beam": 4, "temperature": 0.7, "replies": 2,
    }  # fmt: skip
    writes, settings = told(X2TreeConfig(arity=1, context="attention"))
    assert (writes, settings["protocol"], settings["K"]) == ("chain", "tree beam", 1)
