"""From pairs with trees to rows of ids: what fits, and why the rest does not."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpora.records import Pair
from espalier.datasets.pairs.data import PairData
from espalier.datasets.pairs.encode import linearize_pairs, reversed_pairs, vocabulary_of
from espalier.syntax.constituency import write_tree
from espalier.syntax.levels import TreeError

LAMP = "(S (NP (DT The) (NN lamp)) (VP (VBZ glows)))"
GLOW = "(NP (NP (DT A) (NN glow)) (PP (IN of) (NP (DT the) (NN lamp))))"


def pair(name: str = "a", **changes: Any) -> Pair:
    given_ = {
        "source": "The lamp glows", "target": "A glow of the lamp", "source_tree": LAMP, "target_tree": GLOW,
    }  # fmt: skip
    return Pair(id=name, origin="made", language="en", **(given_ | changes))


VOC = vocabulary_of([pair()], pieces=60, depth=4, lower=True)


def texts(data: PairData, name: str) -> list[str]:
    flat, offsets = data.columns[name].flat.tolist(), data.columns[name].offsets
    rows = [flat[i:j] for i, j in pairwise(offsets)]
    if "tree" in name:
        return [write_tree(VOC.trees.decode(row)) for row in rows]
    return [VOC.decode_text(row) for row in rows]


# --- The vocabulary ---------------------------------------------------------------------------------------------------


def test_a_vocabulary_knows_both_sides_of_the_rows_that_train() -> None:
    assert {*VOC.trees.labels} == {"S", "NP", "DT", "NN", "VP", "VBZ", "PP", "IN"}
    assert VOC.trees.depth == 4 and VOC.language == "en" and VOC.lower
    (ids,) = VOC.encode_texts(["the glow glows"])
    assert VOC.decode_text(ids) == "the glow glows" and vocabulary_of([pair()], pieces=60, depth=4, lower=True) == VOC


def test_a_row_without_a_tree_teaches_its_words_alone() -> None:
    found = vocabulary_of([pair(source_tree="", target_tree="", target="moss")], pieces=60, depth=4, lower=True)
    assert found.trees.labels == () and found.decode_text(found.encode_texts(["moss"])[0]) == "moss"


def test_chinese_is_what_its_first_row_says() -> None:
    row = Pair(id="a", origin="made", language="zh", source="灯亮", target="亮灯", source_tree="(IP (VV 亮))",
               target_tree="(IP (NN 灯))")  # fmt: skip
    found = vocabulary_of([row], pieces=60, depth=4, lower=False)
    data, aside, _ = linearize_pairs([row], found)
    assert found.language == "zh" and not aside
    assert found.decode_text(data.columns["source"].flat.tolist()) == "灯 亮"  # every character is a word


# --- What fits --------------------------------------------------------------------------------------------------------


def test_what_fits_is_told_by_its_id_and_its_place() -> None:
    rows = [pair("a"), pair("b", target_tree=""), pair("c", source="glows", source_words="glows of", target="LAMP")]
    data, aside, places = linearize_pairs(rows, VOC)
    assert data.ids == ["a", "c"] and places == [0, 2] and [each.id for each in aside] == ["b"]
    assert texts(data, "source") == ["the lamp glows", "glows of"]  # the parser's words, where there are
    assert texts(data, "target") == ["a glow of the lamp", "lamp"]
    assert texts(data, "source_tree") == ["(S (NP (DT) (NN)) (VP (VBZ)))"] * 2
    assert texts(data, "target_tree") == ["(NP (NP (DT) (NN)) (PP (IN) (NP (DT) (NN))))"] * 2
    assert data.template is None


def test_a_guide_stands_for_the_target_s_tree_and_an_empty_one_is_no_tree() -> None:
    rows = [pair("a"), pair("b"), pair("c", target_tree="")]
    data, aside, places = linearize_pairs(rows, VOC, guides=[LAMP, "", "(NP (NN))"])
    assert texts(data, "target_tree") == ["(S (NP (DT) (NN)) (VP (VBZ)))", "(NP (NN))"]
    assert places == [0, 2] and [each.reason for each in aside] == ["no tree"] and data.template is None


def test_a_template_stands_beside_the_target_s_tree_and_may_be_short_or_long() -> None:
    data, aside, places = linearize_pairs(
        [pair("a"), pair("b"), pair("c")], VOC, least=3, most=20, templates=["(S)", LAMP, ""]
    )
    assert places == [0, 1] and [each.reason for each in aside] == ["no tree"]
    assert data.template is not None and data.template.lengths.tolist() == [1, 6]
    assert texts(data, "target_tree")[0].startswith("(NP (NP")


def test_no_rows_make_no_data() -> None:
    data, aside, places = linearize_pairs([], VOC, templates=[])
    assert len(data) == 0 and not aside and not places


# --- What does not ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"source_tree": ""}, "no tree"),
        ({"target_tree": ""}, "no tree"),
        ({"source_tree": "(S (QP few))"}, "unknown label"),
        ({"target_tree": "", "source_tree": "(QP few)"}, "unknown label"),
        ({"source": "a"}, "under 2 word pieces"),
        ({"target": ""}, "under 2 word pieces"),
        ({"target": "µ" * 12}, "over 12 word pieces"),
        ({"source": "µ" * 12}, "over 12 word pieces"),
        ({"source": "a", "target": "µ" * 12}, "under 2 word pieces"),
        ({"source_tree": "(NP a)"}, "under 2 nodes"),
        ({"target_tree": "(S " + "(NN a) " * 12 + ")"}, "over 12 nodes"),
        ({"source": "µ" * 12, "source_tree": "(NP a)"}, "over 12 word pieces"),
    ],
)
def test_each_reason_has_its_name(changes: dict[str, str], reason: str) -> None:
    row = pair("it", **changes)
    data, (aside,), places = linearize_pairs([row], VOC, least=2, most=12, stage="made")
    assert (aside.id, aside.stage, aside.reason) == ("it", "made", reason)
    assert aside.text == f"{row.source}\t{row.target}" and len(data) == 0 and places == []


def test_the_bounds_themselves_fit_and_deep_nodes_are_not_counted() -> None:
    deep = "(S (NP (NP (NP (NP (NP (QP few)))))))"  # four levels count
    row = pair(source="µ", target="µ", source_tree=deep, target_tree=deep)  # a sign before the word, and its character
    assert not linearize_pairs([row], VOC, least=2, most=4)[1]
    assert linearize_pairs([row], VOC, least=2, most=3)[1][0].reason == "over 3 nodes"
    assert linearize_pairs([row], VOC, least=3, most=4)[1][0].reason == "under 3 word pieces"


def test_a_guide_and_a_template_are_asked_for_their_labels() -> None:
    for given_ in ({"guides": ["(QP)"]}, {"templates": ["(QP)"]}):
        assert linearize_pairs([pair()], VOC, **given_)[1][0].reason == "unknown label"  # type: ignore[arg-type]


def test_a_string_that_is_no_tree_is_a_mistake() -> None:
    with pytest.raises(TreeError):
        linearize_pairs([pair(source_tree="(S (NP")], VOC)


# --- The other way round ----------------------------------------------------------------------------------------------

WORD = st.text("abc( )", max_size=4)
SIDES = ("source", "target")
NAMES = [f"{side}{name}" for side in SIDES for name in ("", "_words", "_tags", "_tree", "_heads", "_labels")]


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, WORD)), max_size=3))
def test_to_turn_a_pair_twice_is_to_leave_it(values: list[dict[str, str]]) -> None:
    rows = [Pair(id=f"p{n}", origin="made", language="en", group="g", **each) for n, each in enumerate(values)]
    once = reversed_pairs(rows)
    assert [row.id for row in once] == [f"{row.id}/reversed" for row in rows]
    for row, turned, again in zip(rows, once, reversed_pairs(once), strict=True):
        assert all(getattr(again, name) == getattr(row, name) for name in NAMES)
        swapped = [name.replace("source", "X").replace("target", "source").replace("X", "target") for name in NAMES]
        assert all(getattr(turned, one) == getattr(row, other) for one, other in zip(NAMES, swapped, strict=True))
        assert (turned.group, turned.origin, turned.language) == (row.group, row.origin, row.language)
