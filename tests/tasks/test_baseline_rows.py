"""Rows without a trained model: what they take from the training split, and for which text."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.records import Pair
from espalier.datasets.dialogue.data import DialogueData
from espalier.datasets.pairs.data import PairData
from espalier.datasets.pairs.encode import PairEncoding, PairSettings
from espalier.datasets.ragged import Ragged
from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.frames import frame_of, target_of
from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import SPECIALS, UNK, WordVocabulary
from espalier.io.errors import DataError
from espalier.syntax.constituency import read_tree
from espalier.syntax.ternary import EOB
from espalier.tasks.chance import known_rows
from espalier.tasks.data import Ready
from espalier.tasks.dialogue import DialogueTask
from espalier.tasks.paraphrase import ParaphraseTask
from espalier.tasks.paraphrase_baselines import exemplars
from espalier.tasks.training_replies import Nearest
from espalier.tasks.verse import VerseTask
from espalier.verse.format import Format, format_of
from espalier.verse.text import units_of

# --- Words of the training split --------------------------------------------------------------------------------------


def test_targets_with_unknown_words_are_left_out() -> None:
    assert known_rows(Ragged.of([[5, 6], [UNK], [], [6, UNK, 5], [7]])).tolist() == [0, 2, 4]
    with pytest.raises(DataError, match=r"^the training split: no target without unknown words; raise"):
        known_rows(Ragged.of([[UNK, 5]]))


# --- Nearest texts ----------------------------------------------------------------------------------------------------


def plain_cosines(query: list[int], texts: list[list[int]]) -> list[float]:
    """TF-IDF cosines as their definition reads, one word at a time."""
    texts, query = [[w for w in t if w >= len(SPECIALS)] for t in texts], [w for w in query if w >= len(SPECIALS)]

    def vector(text: list[int]) -> dict[int, float]:
        return {
            word: count * (math.log((1 + len(texts)) / (1 + sum(word in other for other in texts))) + 1)
            for word, count in Counter(text).items()
        }

    def norm(values: dict[int, float]) -> float:
        return math.sqrt(sum(value**2 for value in values.values()))

    one = vector(query)
    found = []
    for text in texts:
        other = vector(text)
        dot = sum(value * other.get(word, 0.0) for word, value in one.items())
        found.append(dot / (norm(one) * norm(other)) if dot else 0.0)
    return found


words = st.lists(st.integers(UNK, 10), min_size=1, max_size=6)


@given(st.lists(words, min_size=1, max_size=8), words, st.integers(1, 4))
def test_the_nearest_texts_are_those_of_the_plain_definition(
    texts: list[list[int]], query: list[int], count: int
) -> None:
    ids = [f"t{(7 * n) % 11}" for n in range(len(texts))]  # not in the order of the rows
    index = Nearest(Ragged.of(texts), ids, 11)
    wanted = plain_cosines(query, texts)
    assert index.cosines(np.array(query)).tolist() == pytest.approx(wanted, abs=1e-12)
    best = sorted(range(len(texts)), key=lambda n: (-round(wanted[n], 9), ids[n]))[:count]
    assert index.nearest(np.array(query), count).tolist() == best


def test_a_rare_word_weighs_more_and_equals_are_ordered_by_id() -> None:
    texts = Ragged.of([[5, 6], [5, 7], [5, 8], [5, 8]])
    index = Nearest(texts, ["a", "b", "d", "c"], 9)
    assert index.nearest(np.array([5, 7]), 1).tolist() == [1]
    assert index.nearest(np.array([8]), 3).tolist() == [3, 2, 0]
    assert index.nearest(np.array([UNK]), 2).tolist() == [0, 1]  # nothing in common: by id


# --- Paraphrases ------------------------------------------------------------------------------------------------------

TREES = {
    "small": "(S (NP (NN lamp)) (VP (VBZ glows)))",
    "larger": "(S (NP (DT the) (NN lamp)) (VP (VBZ glows)))",
    "deep": "(S (NP (NN lamp)) (VP (VBZ glows) (ADVP (RB low))))",
    "deeper": "(S (NP (NN lamp)) (VP (VBZ glows) (ADVP (RB low) (RB so) (RB low))))",
    "other": "(SINV (VP (VBZ glows)) (NP (NN lamp)))",
}


def pair(id_: str, text: str, tree: str) -> Pair:
    return Pair(id=id_, origin="made", language="en", source="a lamp", source_tree=TREES["larger"], target=text,
                target_tree=TREES[tree])  # fmt: skip


TRAIN = [
    pair("t3", "three lamps", "small"), pair("t1", "one lamp", "small"), pair("t2", "two lamps", "deep"),
    pair("t4", "four lamps", "deeper"), pair("t5", "five lamps", "other"),
]  # fmt: skip
PAIRS = PairEncoding()
SETTINGS = PairSettings(depth=4, min_length=1, both_directions=False)
VOC = PAIRS.build_vocabulary(TRAIN, SETTINGS, "en")


def encoded(rows: list[Pair]) -> PairData:
    part = PAIRS.encode(rows, VOC, SETTINGS)
    assert len(part.places) == len(rows)
    return part.split


def found(*trees: str, levels: int = 3) -> list[str]:
    wanted = [VOC.trees.encode(read_tree(TREES.get(tree, tree), words=False)) for tree in trees]
    train = encoded(TRAIN)
    return [train.ids[place] for place in exemplars(Ragged.of(wanted), train, levels)]


def test_an_exemplar_has_the_template_and_is_the_nearest_in_size() -> None:
    # The template of "deep" and "deeper" ends at ADVP, which "small" has not.
    assert found("small", "deep", "deeper", "other") == ["t1", "t2", "t4", "t5"]
    middle = "(S (NP (NN)) (VP (VBZ) (ADVP (RB) (RB))))"  # as far from either: the smaller
    assert found(middle) == ["t2"]


def test_without_its_template_an_exemplar_has_as_many_of_its_levels_as_there_are() -> None:
    # No target has DT and NN under NP. Of those with NP and VP under S "small" and "deep" differ by one node.
    assert found("larger") == ["t1"]
    assert found("(NP (NN))") == ["t1"]  # no level in common: the nearest in size, then by id


def slow_exemplar(own: list[int], train: PairData, among: list[int]) -> int:
    """The best of some rows, each compared by itself."""

    def top(tree: list[int], levels: int) -> list[int]:
        return [node for node in tree if VOC.trees.levels_of(np.array([node]))[0] <= levels]

    def distance(place: int) -> tuple[int, int, int, str]:
        tree = train.columns["target_tree"].row(place)
        levels = next(levels for levels in (3, 2, 1, 0) if top(tree, levels) == top(own, levels))
        return -levels, abs(len(tree) - len(own)), len(tree), train.ids[place]

    return min(among, key=distance)


@given(st.lists(st.sampled_from([*TREES]), min_size=1, max_size=9), st.data())
def test_exemplars_among_some_rows_are_those_that_a_comparison_with_each_row_finds(
    rows: list[str], draw: st.DataObject
) -> None:
    ids = draw.draw(st.permutations([f"t{number}" for number in range(len(rows))]))
    train = encoded([pair(id_, "a lamp", tree) for id_, tree in zip(ids, rows, strict=True)])
    among = draw.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, unique=True))
    wanted = Ragged.of([VOC.trees.encode(read_tree(tree, words=False)) for tree in TREES.values()])
    slow = [slow_exemplar(wanted.row(number), train, among) for number in range(len(TREES))]
    assert exemplars(wanted, train, 3, np.array(among)).tolist() == slow


def table_of(ready: Ready, texts: list[str]) -> pd.DataFrame:
    records = ready.records
    return pd.DataFrame(
        [{"id": r.id, "cluster": r.id, "seed": 0, "sample": 0, "source": r.source, "reference": r.target, "text": text,
          "source_tree": r.source_tree, "reference_tree": r.target_tree}
         for r, text in zip(records, texts, strict=True)]
    )  # fmt: skip


def paraphrase_rows(tests: list[Pair], seed: int = 1) -> Any:
    ready = Ready(tests, encoded(tests))
    return ParaphraseTask().baselines(table_of(ready, ["x"] * len(tests)), ready, encoded(TRAIN), seed)


def test_rows_of_paraphrases() -> None:
    tests = [pair("p1", "the lamp", "deep"), pair("p0", "a lamp", "small")]
    rows = paraphrase_rows(tests)
    assert sorted(rows) == ["chance", "copy", "exemplar", "human"]
    texts = {name: row.columns["text"] for name, row in rows.items()}
    assert texts["exemplar"] == ["two lamps", "one lamp"]
    assert texts["copy"] == ["a lamp", "a lamp"] and texts["human"] == ["the lamp", "a lamp"]
    assert rows["copy"].trees == [TREES["larger"]] * 2 and rows["human"].trees == [TREES["deep"], TREES["small"]]
    assert rows["exemplar"].trees is None and rows["chance"].trees is None
    # They consist of words of the source or of training, so that no output of a model can have fewer unknown words.
    assert all("incomprehensible" in rows[name].given for name in ("copy", "chance", "exemplar"))
    assert "incomprehensible" not in rows["human"].given
    assert [name for name, row in rows.items() if not row.trivial] == ["human"]
    assert set(texts["chance"]) <= {row.target for row in TRAIN}


def test_what_is_drawn_for_a_pair_depends_on_its_id_and_the_seed_alone() -> None:
    tests = [pair(f"p{n}", "the lamp", "small") for n in range(12)]
    drawn = paraphrase_rows(tests)["chance"].columns["text"]
    assert paraphrase_rows(tests[::-1])["chance"].columns["text"] == drawn[::-1]
    assert paraphrase_rows(tests[5:])["chance"].columns["text"] == drawn[5:]
    assert paraphrase_rows(tests, seed=2)["chance"].columns["text"] != drawn
    assert len(set(drawn)) > 2


def plain_rows(tests: list[Pair], extras: dict[str, Any], seed: int = 1) -> Any:
    """The texts of the rows of pairs without trees."""
    settings = PairSettings(trees=False, min_length=1, both_directions=False)
    voc = PAIRS.build_vocabulary(TRAIN, settings, "en")
    ready = Ready(tests, PAIRS.encode(tests, voc, settings).split, extras)
    train = PAIRS.encode(TRAIN, voc, settings).split
    rows = ParaphraseTask().baselines(table_of(ready, ["x"] * len(tests)), ready, train, seed)
    return {name: row.columns["text"] for name, row in rows.items()}


def test_pairs_without_trees_have_no_exemplars() -> None:
    assert sorted(plain_rows(TRAIN, {})) == ["chance", "copy", "human", "noise"]


def asked(id_: str, source: str, target: str) -> Pair:
    return Pair(id=id_, origin="made", language="en", source=source, target=target)


def test_a_look_up_is_the_first_training_pair_s_other_side_else_the_source() -> None:
    pairs = [{"source": "A lamp !", "target": "the Light"}, {"source": "a lamp", "target": "later"}]
    tests = [asked("p0", "a lamp", "x"), asked("p1", "the light ?", "x"), asked("p2", "a moth", "x")]
    assert plain_rows(tests, {"pairs": pairs})["look_up"] == ["the light", "a lamp !", "a moth"]
    assert "look_up" not in plain_rows(tests, {})


def test_noise_replaces_four_words_of_ten_by_words_of_the_references() -> None:
    tests = [asked(f"p{n}", "one two three four five .", "red green green .") for n in range(500)]
    texts = plain_rows(tests, {})["noise"]
    assert texts == plain_rows(tests[::-1], {})["noise"][::-1] != plain_rows(tests, {}, seed=2)["noise"]
    # A mark goes with its word: of five words "five." is one, and of three in the references "green." is one.
    drawn = Counter(word for text in texts for word in text.replace(" .", ".").split())
    replaced = {word: drawn[word] for word in ("red", "green", "green.")}
    assert sum(replaced.values()) / 2500 == pytest.approx(0.4, abs=0.03)
    assert all(count / sum(replaced.values()) == pytest.approx(1 / 3, abs=0.05) for count in replaced.values())
    assert {len(text.replace(" .", ".").split()) for text in texts} == {5}


# --- Dialogue ---------------------------------------------------------------------------------------------------------

TALK = WordVocabulary(("山", "桥", "灯", "雨", "石"), "zh")


def dialogue(rows: dict[str, tuple[str, str]]) -> DialogueData:
    sides = [[TALK.encode(text.split()) for text in side] for side in zip(*rows.values(), strict=True)]
    nodes = [len(target) for target in sides[1]]
    return DialogueData.of(
        list(rows),
        {"source": list(sides[0]), "target": list(sides[1]), "order": [range(n) for n in nodes],
         "children": [[EOB] * 3 * n for n in nodes]},
        TALK,
    )  # fmt: skip


def reply_rows(train: dict[str, tuple[str, str]], tests: dict[str, tuple[str, str]], samples: int) -> Any:
    first = {post: id_ for id_, (post, _) in reversed(tests.items())}
    table = pd.DataFrame(
        [{"id": id_, "cluster": first[post], "seed": 0, "sample": rank, "source": post, "reference": reply, "text": ""}
         for id_, (post, reply) in tests.items() for rank in range(samples)]
    )  # fmt: skip
    return DialogueTask().baselines(table, Ready([], dialogue(tests)), dialogue(train), 1)


def test_rows_of_dialogue_are_lists_of_training_replies() -> None:
    train = {
        "b": ("山 桥", "灯"), "a": ("山 桥", "石 石"), "c": ("雨 山", "雨"), "d": ("灯 山", "灯"), "e": ("山", "天"),
    }  # fmt: skip
    tests = {"p": ("山 桥", "石"), "q": ("雨", "山"), "r": ("山 桥", "灯 雨")}
    rows = reply_rows(train, tests, 3)
    texts = {name: np.array(row.columns["text"]).reshape(3, 3).tolist() for name, row in rows.items()}
    # "天" is unknown, so that e is left out; 灯 has been said twice, 石 石 and 雨 once.
    assert texts["commonest"] == [["灯", "石 石", "雨"]] * 3
    assert texts["nearest"][0] == texts["nearest"][2] and texts["nearest"][0][:2] == ["石 石", "灯"]
    assert texts["nearest"][1][0] == "雨"
    assert texts["copy"] == [["山 桥", "", ""], ["雨", "", ""], ["山 桥", "", ""]]
    assert texts["human"] == [["石", "", ""], ["山", "", ""], ["灯 雨", "", ""]]
    assert texts["chance"][0] == texts["chance"][2] and {*rows["chance"].columns["text"]} <= {"灯", "石 石", "雨"}
    assert np.isnan(rows["copy"].columns["score"]).tolist() == [False, True, True] * 3


def test_a_list_is_no_longer_than_the_training_replies() -> None:
    rows = reply_rows({"a": ("山", "灯"), "b": ("桥", "灯")}, {"p": ("山", "石")}, 4)
    assert rows["commonest"].columns["text"] == ["灯", "", "", ""]
    assert rows["nearest"].columns["text"] == ["灯", "灯", "", ""]
    assert rows["chance"].columns["text"] == ["灯"] * 4


# --- Verse ------------------------------------------------------------------------------------------------------------

ZH = VerseVocabulary(tuple("，。山桥灯雨"), units=4, length=12, language="zh")


def format_in(text: str) -> Format:
    return format_of(text, "zh", "." * len(units_of(text)))


def verse(texts: list[str]) -> VerseData:
    frames = [frame_of(format_in(text), ZH) for text in texts]
    return VerseData.of([str(n) for n in range(len(texts))], frames, ZH, targets=[target_of(t, ZH) for t in texts])


def test_chance_keeps_the_format_and_draws_words_as_often_as_they_train() -> None:
    reference = "山山，山山山。\n雨雨雨！"
    table = pd.DataFrame({"id": [f"p{n}" for n in range(400)], "sample": 0, "reference": reference, "rhyme": "AA"})
    rows = VerseTask().baselines(table, Ready([], None), verse(["山灯天，山。\n山。", "灯，桥。"]), 1)
    texts = rows["chance"].columns["text"]
    assert {str(format_in(text)) for text in texts} == {"2，3。3！"}
    drawn = Counter(character for text in texts for character in text if character not in "，。！\n")
    # 山 three times, 灯 twice, 桥 once; never what is unknown, does not train, or is a mark.
    assert set(drawn) == set("山灯桥")
    assert [drawn[word] / sum(drawn.values()) for word in "山灯桥"] == pytest.approx([3 / 6, 2 / 6, 1 / 6], abs=0.03)
    assert rows["human"].columns["text"] == [reference] * 400 and not rows["human"].trivial
    assert "format_macro_f1" in rows["chance"].given and "rhyme_macro_f1" not in rows["chance"].given


def test_verse_without_a_known_word_has_no_chance() -> None:
    table = pd.DataFrame({"id": ["p"], "sample": 0, "reference": "山。", "rhyme": "."})
    with pytest.raises(DataError, match=r"^the training split: no known word; lower"):
        VerseTask().baselines(table, Ready([], None), verse(["天，月。"]), 1)
