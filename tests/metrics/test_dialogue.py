"""All metrics of dialogue: the keys are fixed, a post counts once, and each number is worked out by hand."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.io.errors import ConfigError, EspalierError
from espalier.metrics.dialogue import (
    HEADLINE,
    BestBleu,
    ListBleu,
    ReplyBleu,
    ReplyPerplexity,
    reply_families,
)
from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.metric import Score
from espalier.metrics.paired import paired
from espalier.metrics.registry import family
from espalier.metrics.replies import Replies
from tests.metrics.keys import DIALOGUE

# Two posts, the first of which two people have answered.
POSTS = ["还 没 睡 吗", "下雨 了", "还 没 睡 吗"]
REFERENCES = ["马上 就 去 睡 了", "我 没有 带 伞", "还 在 加班 呢"]
REPLIES = [["马上 就 睡 了", "还 在 加班"], ["下雨 了", "我 没有 带 伞"], ["马上 就 睡 了", "还 在 加班"]]

WORDS = st.lists(st.sampled_from("一二三"), max_size=6).map(" ".join)
ROWS = st.lists(
    st.tuples(st.sampled_from(["甲", "乙", "丙"]), WORDS.filter(bool), st.lists(WORDS, max_size=3)),
    min_size=1,
    max_size=6,
)


def statistics(
    posts: list[str] = POSTS, references: list[str] = REFERENCES, replies: list[list[str]] = REPLIES, **options: Any
) -> dict[Any, np.ndarray[Any, Any]]:
    made = Replies(posts, references, replies, **{"writes": "tree", **options})
    return statistics_of(reply_families(made), made)


def scored(*parts: list[Any], resamples: int = 0, **options: Any) -> dict[str, Score]:
    groups = parts[0] if parts else POSTS
    return family_scores(statistics(*parts, **options), seed=1, groups=groups, resamples=resamples)


def values(*parts: list[Any], **options: Any) -> dict[str, float | None]:
    return {key: score.value for key, score in scored(*parts, **options).items()}


def sacre(hypotheses: list[str], references: list[list[str]]) -> float:
    """Corpus BLEU with as many references as each has; sacreBLEU wants them by rank, with None for one too few."""
    most = max(map(len, references))
    ranked = [[own[rank] if rank < len(own) else None for own in references] for rank in range(most)]
    return float(sacrebleu.corpus_bleu(hypotheses, ranked, tokenize="none", force=True).score)  # type: ignore[arg-type]


# --- Keys and families -----------------------------------------------------------------------------------------------


def test_all_keys_are_there_whatever_is_known() -> None:
    found = scored()
    assert found.keys() == set(DIALOGUE)
    undefined = {key: score.undefined for key, score in found.items() if score.value is None}
    assert undefined == {
        "perplexity_per_word": "no likelihoods of a model",
        "perplexity_per_token": "no likelihoods of a model",
        "perplexity_exact_per_word": "no likelihoods of a model",
        "recall_1_of_10": "no likelihoods of a model",
        "tree_whole": "no trees",
        "grammatical": "no grammar was asked",
    }


def test_the_headline_is_of_the_keys_under_short_names() -> None:
    assert set(HEADLINE.values()) <= set(DIALOGUE)
    assert 5 <= len(HEADLINE) <= 8 and all(len(name) <= 8 for name in HEADLINE)


def test_every_family_has_a_row_per_row_and_metrics_to_compare_systems_by() -> None:
    one, other = statistics(), statistics(replies=[["我 没有 带 伞"] * 2] * 3)
    keys = []
    for each, rows in one.items():
        assert len(rows) == len(POSTS)
        keys += [metric.name for metric in each.metrics]
        for metric in each.metrics:
            paired(metric, rows, other[each], seed=0, resamples=5, groups=POSTS)
    assert sorted(keys) == sorted(DIALOGUE)


def test_rows_of_one_post_are_resampled_together() -> None:
    found = scored(resamples=5)
    pooled = {"distinct_1", "distinct_2"}
    assert all("groups:2|" in found[key].signature for key in set(DIALOGUE) - pooled)
    assert "groups:2|bs:5" in found["bleu"].signature and "groups:2|ci:95|interval:korn" in found["empty"].signature
    assert all(found[key].low is None and "interval:none" in found[key].signature for key in pooled)


def test_signatures_tell_what_was_counted() -> None:
    bleu, every, best = (each.metrics[0].signature for each in (ReplyBleu(), ListBleu(5), BestBleu(5)))
    assert bleu == (
        "bleu|order:4|against:reference|refs:1|mean:corpus|case:mixed|eff:no|tok:none|smooth:exp"
        f"|sacrebleu:{version('sacrebleu')}|tokens:words|replies:first"
    )
    assert "refs:all" in every and "replies:each-of-5" in every
    assert "refs:all" in best and "replies:oracle-of-5" in best
    chain, tree = (ReplyPerplexity(writes).metrics[0].signature for writes in ("chain", "tree"))
    assert "object:chain|per:words|nll:words+eos" in chain and "bound" not in chain
    assert "object:tree|per:words|nll:words+eobs" in tree and "bound:upper" in tree


def test_no_rows_give_no_values() -> None:
    assert set(values([], [], []).values()) == {None}


# --- BLEU ------------------------------------------------------------------------------------------------------------


def test_bleu_takes_each_row_and_bleu_all_each_post() -> None:
    found = values()
    first = [own[0] for own in REPLIES]
    both = [[REFERENCES[0], REFERENCES[2]], [REFERENCES[1]]]
    assert found["bleu"] == pytest.approx(sacre(first, [[text] for text in REFERENCES]), abs=1e-9)
    assert found["bleu_all"] == pytest.approx(sacre(first[:2], both), abs=1e-9)
    every = [*REPLIES[0], *REPLIES[1]]
    assert found["bleu_list"] == pytest.approx(sacre(every, [both[0], both[0], both[1], both[1]]), abs=1e-9)
    # 马上 就 睡 了 has 4/4, 2/3, 0/2, 0/1 and the length of one: (1 * 2/3 * 1/4 * 1/4)**.25 = .45 by itself. 还 在 加班
    # has 3/3, 2/2, 1/1 and is a word shorter than the closest: exp(1 - 4/3) = .72.
    assert found["bleu_best"] == pytest.approx(sacre([REPLIES[0][1], REPLIES[1][1]], both), abs=1e-9)


def test_bleu_worked_out_by_hand() -> None:
    # Against a b c d e: 4/4 words, 2/3 pairs (ab, de), 0/2 -> 1/4, 0/1 -> 1/4. The length is that of the closest.
    hand = 100 * (1 * 2 / 3 * 1 / 4 * 1 / 4) ** 0.25
    found = values(["p"], ["a b c d e"], [["a b d e"]])
    assert found["bleu"] == found["bleu_all"] == pytest.approx(hand * math.exp(1 - 5 / 4))
    # With b d e as well, of as close a length: b d and a b d e gains bd (3/3) and bde (1/2); 0/1 -> 1/2.
    found = values(["p", "p"], ["a b c d e", "b d e"], [["a b d e"]] * 2)
    assert found["bleu_all"] == pytest.approx(100 * (1 * 1 * 1 / 2 * 1 / 2) ** 0.25)


@given(ROWS)
@settings(deadline=None)
def test_all_bleus_equal_sacrebleu(rows: list[tuple[str, str, list[str]]]) -> None:
    posts, references, replies = (list(side) for side in zip(*rows, strict=True))
    found = values(posts, references, replies)
    first = [own[0] if own else "" for own in replies]
    assert found["bleu"] == pytest.approx(sacre(first, [[text] for text in references]), abs=1e-9)
    once = [posts.index(post) for post in dict.fromkeys(posts)]
    wanted = [[text for text, post in zip(references, posts, strict=True) if post == posts[row]] for row in once]
    assert found["bleu_all"] == pytest.approx(sacre([first[row] for row in once], wanted), abs=1e-9)
    lists = [replies[row] or [""] for row in once]
    every = [(reply, own) for replies_, own in zip(lists, wanted, strict=True) for reply in replies_]
    one_each = sacre([reply for reply, _ in every], [own for _, own in every])
    assert found["bleu_list"] == pytest.approx(one_each, abs=1e-9)
    best = []
    for replies_, own in zip(lists, wanted, strict=True):
        single = [round(sacrebleu.sentence_bleu(reply, own, tokenize="none").score, 9) for reply in replies_]
        best.append(replies_[single.index(max(single))])
    assert found["bleu_best"] == pytest.approx(sacre(best, wanted), abs=1e-9)


def test_of_equally_good_replies_the_higher_ranked_is_the_best() -> None:
    # a b and b a are as good by themselves where neither pair is in the reference; what is better comes later.
    one = statistics(["p"], ["a x b y"], [["a b", "b a", "x"]])[BestBleu(3)]
    assert one.tolist() == statistics(["p"], ["a x b y"], [["a b"]])[BestBleu(1)].tolist()
    later = statistics(["p"], ["a x b y"], [["a b", "b a", "a x b y"]])[BestBleu(3)]
    assert later.tolist() == [[4, 4, 4, 3, 2, 1, 4, 3, 2, 1]]


# --- Perplexity ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("writes", ["chain", "tree"])
def test_the_perplexity_is_of_all_decisions_per_word(writes: str) -> None:
    # A uniform model over 8 symbols; sentences of 5, 4 and 4 words: 13 words and 3 ends, or 3 * 13 + 3 decisions.
    lengths = [len(text.split()) for text in REFERENCES]
    decisions = [words + 1 if writes == "chain" else 3 * words + 1 for words in lengths]
    found = scored(writes=writes, likelihood=([math.log(8) * count for count in decisions], lengths))
    expected = 8 ** (16 / 13) if writes == "chain" else 8 ** (42 / 13)
    assert found["perplexity_per_word"].value == pytest.approx(expected)
    assert f"object:{writes}" in found["perplexity_per_word"].signature
    # Per token: the ends of the three sentences count, and the decisions of a tree are not tokens.
    per_token = 8 ** (16 / 16) if writes == "chain" else 8 ** (42 / 16)
    assert found["perplexity_per_token"].value == pytest.approx(per_token)
    assert "per:words+end" in found["perplexity_per_token"].signature


@pytest.mark.parametrize("writes", ["chain", "tree"])
def test_the_exact_perplexity_is_of_short_sentences_alone(writes: str) -> None:
    likelihood: Any = ([9.0, 8.0, 7.0], [5, 4, 4])
    found = scored(writes=writes, likelihood=likelihood, exact=[6.0, math.nan, 2.0], recall=[1.0, 0.5, math.nan])
    assert found["perplexity_exact_per_word"].value == pytest.approx(math.exp((6 + 2) / (5 + 4)))
    assert "object:sentence|per:words|nll:all-trees|words:1-6" in found["perplexity_exact_per_word"].signature
    assert found["recall_1_of_10"].value == pytest.approx(75.0)
    # Rows of no model have no words, and nothing is asked of them.
    none = scored(writes=writes, likelihood=([0, 0, 0], [0, 0, 0]), exact=[0.0] * 3, recall=[0.0] * 3)
    assert none["perplexity_exact_per_word"].value is none["recall_1_of_10"].value is None


# --- Replies ---------------------------------------------------------------------------------------------------------


def test_a_post_counts_once_however_many_have_answered_it() -> None:
    found = values(whole=[True, False, True], grammatical=[False, True, False])
    # 下雨 了 repeats its post; each reply is as common as the other; 4 and 2 words.
    assert (found["copied"], found["commonest"], found["empty"], found["words"]) == (50.0, 50.0, 0.0, 3.0)
    assert (found["tree_whole"], found["grammatical"]) == (50.0, 50.0)
    # 马上 就 睡 了 下雨 了: five of six words; 马上就 就睡 睡了 下雨了: four of four.
    assert found["distinct_1"] == pytest.approx(500 / 6)
    assert found["distinct_2"] == pytest.approx(100.0)
    assert (found["distinct_1_macro"], found["distinct_2_macro"]) == (100.0, 100.0)


def test_a_row_more_of_a_known_post_changes_only_what_is_measured_by_row() -> None:
    likelihood: Any = ([9.0, 8.0, 7.0], [5, 4, 4])
    three = values(likelihood=likelihood, whole=[True] * 3, grammatical=[True] * 3)
    two = values(
        POSTS[:2],
        REFERENCES[:2],
        REPLIES[:2],
        likelihood=([9.0, 8.0], [5, 4]),
        whole=[True] * 2,
        grammatical=[True] * 2,
    )
    changed = {key for key in DIALOGUE if three[key] != two[key]}
    lengths = {"length_ratio", "brevity_penalty"}
    assert (
        changed
        <= {"bleu", "bleu_all", "bleu_list", "bleu_best", "perplexity_per_word", "perplexity_per_token"} | lengths
    )
    assert {"bleu", "perplexity_per_word"} <= changed


def test_dull_and_missing_replies_are_counted() -> None:
    posts, references = ["甲", "乙", "丙", "丁", "戊"], ["一 二"] * 5
    found = values(posts, references, [["哈 哈", "一 二"], ["哈哈"], [""], [], ["好 啊"]])
    assert (found["commonest"], found["empty"], found["copied"]) == (40.0, 40.0, 0.0)
    assert found["words"] == pytest.approx((2 + 1 + 0 + 0 + 2) / 5)
    assert found["distinct_1"] == pytest.approx(100 * 4 / 5)  # 哈 哈哈 好 啊 of 哈 哈 哈哈 好 啊
    assert found["distinct_1_macro"] == pytest.approx(100 * (1 / 2 + 1 + 0 + 0 + 1) / 5)


def test_how_a_text_was_split_does_not_matter_to_what_it_is() -> None:
    found = values(["你 好 啊", "你好 啊"], ["好 啊", "你 也 好"], [["你好啊"], ["你好啊"]])
    assert (found["copied"], found["commonest"], found["words"]) == (100.0, 100.0, 1.0)


def test_mistakes_are_named() -> None:
    with pytest.raises(EspalierError, match="2 references for 3 posts"):
        statistics(references=REFERENCES[:2])
    with pytest.raises(EspalierError, match="2 replies for 3 posts"):
        statistics(replies=REPLIES[:2])
    with pytest.raises(EspalierError, match="1 likelihood for 3 posts"):
        statistics(likelihood=([1.0], [1, 1, 1]))
    with pytest.raises(EspalierError, match="1 grammatical for 3 posts"):
        statistics(grammatical=[True])
    with pytest.raises(EspalierError, match="scoring, row 2: the reference is empty; filter it out before"):
        statistics(references=["a", " ", "b"])
    with pytest.raises(EspalierError, match="row 1: the replies are one text; give a list of them, best first"):
        Replies(["a"], ["b"], ["c"], writes="chain")
    with pytest.raises(EspalierError, match="chains have no trees to be whole"):
        statistics(writes="chain", whole=[True] * 3)
    for key in ("chrf", "bleu:8", "bleu_best", "perplexity", "perplexity:graph", "distinct:macro"):
        with pytest.raises(ConfigError, match=f"metrics of dialogue: unknown family '{key}'"):
            family(key, "dialogue")
