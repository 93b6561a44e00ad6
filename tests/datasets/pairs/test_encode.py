"""From pairs with trees to rows of ids: what fits, and why the rest does not."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from espalier.corpora.records import Pair
from espalier.datasets.encoding import Encoded
from espalier.datasets.pairs.data import PairData, PairView
from espalier.datasets.pairs.encode import PairEncoding, PairSettings, reversed_pair
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.vocabulary import BOS, EOS, UNK
from espalier.io.errors import ConfigError
from espalier.syntax.constituency import write_tree
from espalier.syntax.levels import TreeError
from espalier.text.language import Language

LAMP = "(S (NP (DT The) (NN lamp)) (VP (VBZ glows)))"
GLOW = "(NP (NP (DT A) (NN glow)) (PP (IN of) (NP (DT the) (NN lamp))))"


def pair(name: str = "a", **changes: Any) -> Pair:
    given_ = {
        "source": "The lamp glows", "target": "A glow of the lamp", "source_tree": LAMP, "target_tree": GLOW,
    }  # fmt: skip
    return Pair(id=name, origin="made", language="en", **(given_ | changes))


ENCODING = PairEncoding()


def vocabulary_of(rows: list[Pair], language: Language = "en", **settings: Any) -> PairVocabulary:
    return ENCODING.build_vocabulary(
        rows, PairSettings.model_validate({"pieces": 60, "depth": 4, **settings}), language
    )


VOC = vocabulary_of([pair()])


def encode(rows: list[Pair], vocabulary: PairVocabulary = VOC, **settings: Any) -> Encoded:
    wide = {"min_length": 1, "max_length": 510}
    encoded = ENCODING.encode(rows, vocabulary, PairSettings.model_validate({**wide, **settings}))
    assert [rows[place].id for place in encoded.places] == encoded.split.ids
    return encoded


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
    assert VOC.decode_text(ids) == "the glow glows" and vocabulary_of([pair()]) == VOC


def test_a_row_without_a_tree_teaches_its_words_alone() -> None:
    found = vocabulary_of([pair(source_tree="", target_tree="", target="moss")])
    assert found.trees.labels == () and found.decode_text(found.encode_texts(["moss"])[0]) == "moss"


def test_every_character_of_chinese_is_a_word() -> None:
    row = Pair(id="a", origin="made", language="zh", source="灯亮", target="亮灯", source_tree="(IP (VV 亮))",
               target_tree="(IP (NN 灯))")  # fmt: skip
    vocabulary = vocabulary_of([row], "zh", lower=False)
    encoded = encode([row], vocabulary)
    assert vocabulary.language == "zh" and not encoded.quarantined
    assert vocabulary.decode_text(encoded.split.columns["source"].flat.tolist()) == "灯 亮"  # every character is a word


# --- What fits --------------------------------------------------------------------------------------------------------


def test_what_fits_is_told_by_its_id_and_its_place() -> None:
    rows = [pair("a"), pair("b", target_tree=""), pair("c", source="glows", source_words="glows of", target="LAMP")]
    encoded = encode(rows)
    data = encoded.split
    assert data.ids == ["a", "c"] and list(encoded.places) == [0, 2]
    assert [row.id for row in encoded.quarantined] == ["b"] and encoded.facts == {}
    assert texts(data, "source") == ["the lamp glows", "glows of"]  # the parser's words, where there are
    assert texts(data, "target") == ["a glow of the lamp", "lamp"]
    assert texts(data, "source_tree") == ["(S (NP (DT) (NN)) (VP (VBZ)))"] * 2
    assert texts(data, "target_tree") == ["(NP (NP (DT) (NN)) (PP (IN) (NP (DT) (NN))))"] * 2
    assert data.template is None


def test_no_rows_make_no_data() -> None:
    encoded = encode([])
    assert len(encoded.split) == 0 and not encoded.quarantined and not encoded.places


# --- What does not ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"source_tree": ""}, "no tree"),
        ({"target_tree": ""}, "no tree"),
        ({"source_tree": "(S (QP few))"}, "unknown label"),
        ({"target_tree": "", "source_tree": "(QP few)"}, "no tree"),
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
    encoded = encode([row], min_length=2, max_length=12)
    (quarantined,) = encoded.quarantined
    assert (quarantined.id, quarantined.stage, quarantined.reason) == ("it", "linearize", reason)
    assert quarantined.text == f"{row.source}\t{row.target}"
    assert len(encoded.split) == 0 and list(encoded.places) == []


def test_the_bounds_themselves_fit_and_deep_nodes_are_not_counted() -> None:
    deep = "(S (NP (NP (NP (NP (NP (QP few)))))))"  # four levels count
    row = pair(source="µ", target="µ", source_tree=deep, target_tree=deep)  # a sign before the word, and its character
    assert not encode([row], min_length=2, max_length=4).quarantined
    assert encode([row], min_length=2, max_length=3).quarantined[0].reason == "over 3 nodes"
    assert encode([row], min_length=3, max_length=4).quarantined[0].reason == "under 3 word pieces"


def test_a_string_that_is_no_tree_is_a_mistake() -> None:
    with pytest.raises(TreeError):
        encode([pair(source_tree="(S (NP")])


# --- Pairs without trees ----------------------------------------------------------------------------------------------

BARE = [pair("a", source_tree="", target_tree=""), pair("b", source="a lamp"), pair("c", source="of", target="of")]


def test_without_trees_a_pair_is_its_pieces_alone() -> None:
    vocabulary = vocabulary_of(BARE, trees=False)
    assert vocabulary.symbols is None
    encoded = encode(BARE, vocabulary, trees=False, min_length=2)
    assert encoded.split.ids == ["a", "b"] and [row.reason for row in encoded.quarantined] == ["under 2 word pieces"]
    assert [encoded.split.columns[name].lengths.tolist() for name in ("source_tree", "target_tree")] == [[0, 0]] * 2
    assert ENCODING.counts(encoded.split)["nodes"] == 0
    assert ENCODING.numbers(vocabulary) == {"pieces": vocabulary.text_size}
    assert ENCODING.extras(BARE, PairSettings(trees=False)) == {}


def test_a_vocabulary_without_trees_is_saved_and_loaded(tmp_path: Path) -> None:
    vocabulary = vocabulary_of(BARE, trees=False)
    vocabulary.save(tmp_path / "vocabulary.json")
    loaded = PairVocabulary.load(tmp_path / "vocabulary.json")
    assert loaded == vocabulary != vocabulary_of(BARE) and loaded.symbols is None
    assert loaded.encode_texts(["a glow"]) == vocabulary.encode_texts(["a glow"])
    with pytest.raises(ConfigError, match=r"^vocabulary: the pairs have no trees; make the dataset with trees: true$"):
        loaded.trees  # noqa: B018


def test_pairs_without_trees_are_batched_for_a_model_of_texts(tmp_path: Path) -> None:
    vocabulary, view = vocabulary_of(BARE, trees=False), PairView(("source",))
    encode(BARE, vocabulary, trees=False).split.save(tmp_path / "train.parquet")
    data = PairData.load(tmp_path / "train.parquet", vocabulary)
    source, target = (vocabulary.encode_texts([text])[0] for text in ("the lamp glows", "a glow of the lamp"))
    batch = data.batch(np.array([0]), view)
    assert batch.source.tolist() == [source] and batch.target.tolist() == [[*target, EOS]]
    assert batch.inputs.tolist() == [[BOS, *target]] and batch.template.shape == batch.target_tree.shape == (1, 0)
    assert data.longest(view) == 2 + max(len(source), len(target))
    assert data.sizes(view)[0] == 1 + len(source) + len(target)


@pytest.mark.parametrize(
    ("view", "rows"),
    [
        (PairView(("source", "target_tree")), "target_tree"),
        (PairView(("source_tree", "template")), "source_tree, template"),
        (PairView(("source",), "tree"), "target_tree"),
    ],
)
def test_a_model_of_trees_cannot_read_pairs_without_trees(view: PairView, rows: str) -> None:
    data = encode(BARE, vocabulary_of(BARE, trees=False), trees=False).split
    line = (
        f"network: the dataset has no trees, and the model reads or writes {rows}; "
        "make the dataset with trees: true, or choose a model of texts alone"
    )
    with pytest.raises(ConfigError) as caught:
        data.longest(view)
    assert str(caught.value) == line


# --- Settings, and what is told of a dataset --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pieces": 9}, "pieces"),
        ({"depth": 0}, "depth"),
        ({"min_length": 0}, "min_length"),
        ({"min_length": 6, "max_length": 5}, "min_length 6 is greater than max_length 5"),
        ({"trees": "few"}, "trees"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_settings_out_of_bounds_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PairSettings(**changes)


def test_the_default_settings_are_the_paper_s() -> None:
    settings = PairSettings()
    assert (settings.pieces, settings.depth, settings.min_length, settings.max_length) == (16_000, 8, 3, 50)


def test_training_reads_both_directions_where_the_settings_say_so() -> None:
    rows = [pair("a"), pair("b")]
    both = ENCODING.training_records(rows, PairSettings())
    assert [row.id for row in both] == ["a", "b", "a/reversed", "b/reversed"]
    assert both[2].source == rows[0].target and both[2].target_tree == LAMP
    assert len(both) == 4 and both[-1] == both[3] and both[1:3] == [both[1], both[2]]
    assert ENCODING.training_records(rows, PairSettings(both_directions=False)) == rows


def test_counts_are_of_targets() -> None:
    split = encode([pair("a"), pair("b", target="lamp µ", target_tree=LAMP)]).split
    pieces = VOC.encode_texts(["a glow of the lamp", "lamp µ"])
    unknown = sum(row.count(UNK) for row in pieces)
    assert unknown == 1
    assert ENCODING.counts(split) == {"pieces": sum(map(len, pieces)), "nodes": 9 + 6, "unknown": unknown}
    # Four levels, and the four specials.
    assert ENCODING.numbers(VOC) == {"pieces": VOC.text_size, "labels": 8, "levels": 8}
    assert ENCODING.measures(split) == {}


def test_templates_are_the_targets_trees_of_three_levels_the_most_frequent_first() -> None:
    deep = "(S (NP (DT The) (NN lamp)) (VP (VBZ glows) (PP (IN of) (NP (NN lamp)))))"
    rows = [pair("a"), pair("b", target_tree=LAMP), pair("c", target_tree=deep), pair("d", target_tree=LAMP),
            pair("e", target_tree="")]  # fmt: skip
    assert ENCODING.extras(rows, PairSettings()) == {
        "templates": [
            {"template": "(S (NP (DT) (NN)) (VP (VBZ)))", "count": 2},
            {"template": "(NP (NP (DT) (NN)) (PP (IN) (NP)))", "count": 1},
            {"template": "(S (NP (DT) (NN)) (VP (VBZ) (PP)))", "count": 1},
        ]
    }


# --- The other way round ----------------------------------------------------------------------------------------------

WORD = st.text("abc( )", max_size=4)
SIDES = ("source", "target")
NAMES = [f"{side}{name}" for side in SIDES for name in ("", "_words", "_tags", "_tree", "_heads", "_labels")]


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, WORD)), max_size=3))
def test_to_turn_a_pair_twice_is_to_leave_it(values: list[dict[str, str]]) -> None:
    rows = [Pair(id=f"p{n}", origin="made", language="en", group="g", **each) for n, each in enumerate(values)]
    once = [reversed_pair(row) for row in rows]
    assert [row.id for row in once] == [f"{row.id}/reversed" for row in rows]
    for row, turned, again in zip(rows, once, map(reversed_pair, once), strict=True):
        assert all(getattr(again, name) == getattr(row, name) for name in NAMES)
        swapped = [name.replace("source", "X").replace("target", "source").replace("X", "target") for name in NAMES]
        assert all(getattr(turned, one) == getattr(row, other) for one, other in zip(NAMES, swapped, strict=True))
        assert (turned.group, turned.origin, turned.language) == (row.group, row.origin, row.language)


# --- Pairs without trees ----------------------------------------------------------------------------------------------


def test_a_side_that_is_too_long_is_cut_and_counted_where_it_may_be() -> None:
    rows = [pair("a"), pair("b", source="The lamp"), pair("c", target="glow")]
    plain = {"trees": False, "min_length": 1}
    voc = vocabulary_of(rows, **plain)
    whole = encode(rows, voc, **plain)
    assert whole.facts == {}
    sizes = {side: whole.split.columns[side].lengths for side in ("source", "target")}
    limit = 2
    part = encode(rows, voc, **plain, max_length=limit, cut=True)
    assert part.split.ids == ["a", "b", "c"] and not part.quarantined
    assert part.facts == {f"cut_{side}": int((lengths > limit).sum()) for side, lengths in sizes.items()}
    assert 0 < part.facts["cut_source"] < 3
    for side, lengths in sizes.items():
        short, long = part.split.columns[side], whole.split.columns[side]
        assert short.lengths.tolist() == np.minimum(lengths, limit).tolist()
        for row in range(3):
            n = int(short.lengths[row])
            one, other = short.offsets[row], long.offsets[row]
            assert short.flat[one : one + n].tolist() == long.flat[other : other + n].tolist()
    reasons = {row.reason for row in encode(rows, voc, **plain, max_length=limit).quarantined}
    assert reasons == {"over 2 word pieces"}


def test_pairs_with_trees_are_not_cut() -> None:
    with pytest.raises(ValidationError, match="cut: true is for pairs without trees"):
        PairSettings(cut=True)


def test_the_texts_of_training_pairs_are_kept_if_asked_for() -> None:
    rows = [pair("a"), pair("b", source="Moss")]
    kept = [{"source": "The lamp glows", "target": "A glow of the lamp"},
            {"source": "Moss", "target": "A glow of the lamp"}]  # fmt: skip
    assert ENCODING.extras(rows, PairSettings(trees=False, keep_pairs=True)) == {"pairs": kept}
    assert ENCODING.extras(rows, PairSettings(trees=False)) == {}
    assert {*ENCODING.extras(rows, PairSettings(keep_pairs=True))} == {"pairs", "templates"}
