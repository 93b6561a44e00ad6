"""Replies to posts, through the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import CHINESE, Words

import espalier
from espalier.corpora.records import Pair
from espalier.datasets.dialogue.encode import DialogueEncoding
from espalier.datasets.vocabulary import WordVocabulary
from espalier.inference.dialogue import known_parts
from espalier.inference.requests import Post
from espalier.inference.system import System
from espalier.inference.writer import ArgumentError, InferenceWarning, parted
from espalier.io.errors import DataError
from espalier.syntax.ternary import spell, ternary
from espalier.tasks.dialogue_decoder import DialogueDecoder
from espalier.tasks.dialogue_search import replies

POST = "今天好吗？"
#: Models that were never trained write until they are stopped.
pytestmark = pytest.mark.filterwarnings("ignore::espalier.inference.writer.InferenceWarning")


@pytest.fixture(scope="module", params=["tree", "chain"])
def system(models: Path, request: pytest.FixtureRequest) -> System:
    pytest.importorskip("opencc")
    return espalier.load(models / request.param, parser=Words(), device="cpu")


@pytest.fixture(scope="module")
def tree(models: Path) -> System:
    pytest.importorskip("opencc")
    return espalier.load(models / "tree", parser=Words(), device="cpu")


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_replies_are_the_best_of_the_task_s_search(system: System, power: float) -> None:
    found = system.reply([POST], n=4, beam=8, length_power=power)
    assert found[0].post_words == tuple("今天好吗？")
    words = " ".join(found[0].post_words)
    row = Pair(id="a", origin="", language="zh", source=POST, source_words=words, target="好", target_words="好",
               target_heads="0")  # fmt: skip
    split = DialogueEncoding().encode([row], system.vocabulary, system.settings).split
    batch = split.batch(np.array([0]), system.view)
    (best,) = replies(system.model, batch, DialogueDecoder(beam=8, max_words=10, length_power=power), system.vocabulary)
    assert [each.words for each in found] == [tuple(each.words) for each in best[:4]]
    assert [each.log_probability for each in found] == pytest.approx(
        [each.log_probability for each in best[:4]], abs=1e-4
    )


def test_replies_to_several_posts_stand_in_order(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = [POST, "你喜欢山吗？", POST]
    found = system.reply(posts, n=2, beam=4)
    assert [each.post for each in found] == [post for post in posts for _ in range(2)]
    monkeypatch.setattr("espalier.inference.writer.PREFIXES", 4)
    assert [each.words for each in system.reply(posts, n=2, beam=4)] == [each.words for each in found]


def test_samples_depend_on_the_post_and_the_seed_alone(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"n": 6, "beam": 0, "top_k": 5, "temperature": 1.5}
    first, other = "今天好吗？", "你喜欢山吗？"
    found = system.reply([first, other], seed=3, **options)
    words = [each.words for each in found if each.post == first]
    assert 1 < len(words) <= 6
    monkeypatch.setattr("espalier.inference.writer.PREFIXES", 6)
    assert [each.words for each in system.reply([other, first], seed=3, **options) if each.post == first] == words
    assert [each.words for each in system.reply([first], seed=4, **options)] != words


def test_a_tree_is_spelled_and_is_that_of_the_heads(tree: System) -> None:
    found = [each for each in tree.reply([POST], n=20, beam=40) if each.heads]
    assert any(len(each.words) > 1 for each in found)
    for each in found:
        ternary_tree = ternary(each.heads)
        assert each.tree == spell(ternary_tree.children, [each.words[word] for word in ternary_tree.words])


def test_chains_have_no_tree(models: Path) -> None:
    (found,) = espalier.load(models / "chain", parser=Words(), device="cpu").reply([POST])
    assert (found.tree, found.heads) == ("", ())


def test_traditional_characters_are_read_as_simplified_ones_with_a_warning(tree: System) -> None:
    with pytest.warns(InferenceWarning, match=r"posts\[0\]: Traditional characters are read as Simplified ones"):
        (found,) = tree.reply(["你喜歡山嗎？"])
    assert found.post_words == tuple("你喜欢山吗？") and found.post == "你喜歡山嗎？"


def test_a_reply_that_a_cap_stops_says_so(tree: System) -> None:
    import torch

    bias = next(value for name, value in tree.model.named_parameters() if name.endswith("bias") and "readout" in name)
    before = bias.detach().clone()
    with torch.no_grad():
        for name, value in tree.model.named_parameters():
            if name.endswith("bias") and "readout" in name:
                value[3] -= 30  # EOS
    try:
        with pytest.warns(InferenceWarning, match=r"posts\[0\], reply 1: cut at 10 words"):
            (found,) = tree.reply([POST])
    finally:
        with torch.no_grad():
            for name, value in tree.model.named_parameters():
                if name.endswith("bias") and "readout" in name:
                    value[3] += 30
    assert torch.allclose(bias, before) and found.cut == "words" and len(found.words) >= 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n: 0 is too small; at least 1"),
        ({"n": 21}, "n: 21 replies of 20 beams; raise the beam to 21, or lower n"),
        ({"beam": -1}, "beam: -1 is too small"),
        ({"beam": 0, "min_words": 2}, "min_words: samples have no shortest length; leave it out, or search"),
        ({"beam": 0, "temperature": 0.0}, "temperature: 0.0 is no temperature"),
        ({"beam": 1001}, "beam: 1001 is too large; at most 1,000"),
        ({"local": 0}, "local: 0 is too small"),
        ({"min_words": 0}, "min_words: 0 is too small"),
        ({"length_power": -1.0}, "length_power: -1.0 is too small; at least 0"),
        ({"min_words": 11}, "min_words: model tree writes 10 words at most; at most 10"),
    ],
)
def test_an_option_that_cannot_be_is_one_line(tree: System, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        tree.reply([POST], **options)
    assert str(caught.value).startswith(f"tree.reply, {message}")


def test_children_are_for_trees(models: Path) -> None:
    chain = espalier.load(models / "chain", parser=Words(), device="cpu")
    with pytest.raises(ArgumentError, match="local: model chain writes chains, which have no children; leave it out"):
        chain.reply([POST], local=3)


@pytest.mark.parametrize(
    ("post", "message"),
    [
        ("", "posts[0]: no words; give a Chinese sentence"),
        ("好" * 10_001, "posts[0]: 10,001 characters; at most 10,000"),
        ("hello there", "posts[0]: most of its words are not Chinese"),
        ("鹤鸣", "posts[0]: model tree knows none of its words (鹤 鸣); word it otherwise"),
        ("好" * 30, "posts[0]: 30 words; at most 12 words; give one sentence at a time"),
        ("好吗zzz", "posts[0]: parser given refuses its 5 characters (no tree)"),
    ],
)
def test_a_bad_post_is_named_and_the_others_are_answered(tree: System, post: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        tree.reply([post])
    assert str(caught.value).startswith(message)
    writer = tree.writer("reply")
    jobs, errors = parted(writer.read([Post(POST, "row 1"), Post(post, "posts[0]"), Post(POST, "row 3")]))
    assert [str(error) for error in errors] == [str(caught.value)]
    assert [request.name for request, _ in writer.write(jobs)] == ["row 1", "row 3"]


def test_likelihood_counts_words_and_their_end(system: System) -> None:
    record = {"source": POST, "source_words": "今天 好 吗 ？", "target": "天气真好", "target_words": "天气 真 好"}
    (found,) = system.likelihood([{**record, "target_heads": "3 3 0"}])
    assert found.tokens == 4 and found.counts["words"] == 3 and found.nll > 0
    with pytest.raises(DataError, match=r"records\[0\]: no tree"):
        system.likelihood([record])


# --- Words that a model knows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("天气", ["天气"]),
        ("今天天气", ["今天", "天气"]),
        ("真好你", ["真", "好", "你"]),
        ("今天鹤", ["今天鹤"]),
        ("鹤", ["鹤"]),
        ("好" * 17, ["好" * 17]),
        ("", [""]),
    ],
)
def test_an_unknown_word_is_split_into_known_ones_if_nothing_is_left(word: str, parts: list[str]) -> None:
    assert known_parts(word, WordVocabulary(tuple(CHINESE), "zh")) == parts


def test_the_fewest_parts_are_found_where_the_longest_first_lead_astray() -> None:
    vocabulary = WordVocabulary(("一二", "一", "二三四", "三", "四"), "zh")
    assert known_parts("一二三四", vocabulary) == ["一", "二三四"]


@given(words=st.sets(st.text("一二三", min_size=1, max_size=3)), word=st.text("一二三", min_size=1, max_size=6))
def test_parts_spell_the_word_and_are_known(words: set[str], word: str) -> None:
    parts = known_parts(word, WordVocabulary(tuple(sorted(words)), "zh"))
    assert "".join(parts) == word and (parts == [word] or {*parts} <= words)


def test_a_note_names_the_words_that_the_model_does_not_know(models: Path) -> None:
    system = espalier.load(models / "tree", parser=Words(), device="cpu")
    with pytest.warns(InferenceWarning) as noted:
        system.reply(["我你龘鱼。"])
    [said] = [str(note.message) for note in noted if "does not know" in str(note.message)]
    assert said == "posts[0]: model tree does not know 龘 鱼, and reads it as unknown"


# --- Mutual information -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0.0, 0.5])
def test_replies_are_ranked_by_what_they_owe_to_the_post(models: Path, power: float) -> None:
    """log p(y | x) - mmi log p(y), where p(y) is the mean of p(y | x') over the posts, from likelihoods of pairs."""
    pytest.importorskip("opencc")
    chain = espalier.load(models / "chain", parser=Words(), device="cpu")
    posts = [["今", "天"], ["好"], ["明", "天", "好"]]
    chain.posts = lambda: posts
    plain = chain.reply([POST], n=8, beam=8, length_power=power)
    by_hand = {}
    for reply in plain:
        pairs = [{"source": "".join(words), "target": reply.text, "source_words": " ".join(words),
                  "target_words": " ".join(reply.words),
                  "target_heads": " ".join(["0", *["1"] * (len(reply.words) - 1)])} for words in posts]  # fmt: skip
        marginal = np.log(np.mean(np.exp([-each.nll for each in chain.likelihood(pairs)])))
        by_hand[reply.text] = (reply.log_probability - 0.7 * marginal) / min(len(reply.words) + 1, 10) ** power
    ranked = chain.reply([POST], n=8, beam=8, length_power=power, mmi=0.7)
    assert [reply.text for reply in ranked] == sorted(by_hand, key=lambda text: -by_hand[text])
    assert [reply.text for reply in ranked] != [reply.text for reply in plain]
    assert {reply.text: reply.log_probability for reply in ranked} == {
        reply.text: reply.log_probability for reply in plain
    }


def test_without_posts_there_is_no_mutual_information(system: System) -> None:
    with pytest.raises(ArgumentError, match="has no posts to average over") as caught:
        system.reply([POST], mmi=0.5)
    assert str(caught.value.where).endswith(".reply, mmi")
    with pytest.raises(ArgumentError, match="mmi"):
        system.reply([POST], mmi=-1)
