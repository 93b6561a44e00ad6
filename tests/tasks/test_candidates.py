"""Candidates for a text: the beam's and samples beyond it; and which of them is taken, by parses made by hand."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

sys.path.insert(0, str(Path(__file__).parent))
from pair_models import DATA, GUIDED, TASK, VOC, Waves, inputs_of, model_of, ready

from espalier.datasets.pairs.data import PairView
from espalier.datasets.pairs.encode import PairSettings
from espalier.datasets.pairs.word_classes import Lexicon
from espalier.decoding.beam import Hypothesis
from espalier.decoding.bounds import CANDIDATES
from espalier.decoding.constraints.words import GivenWord
from espalier.io.errors import ArtifactError, ConfigError, DataError
from espalier.models.guig_config import GuiGConfig
from espalier.tasks.candidates import RANKING, chosen, kept_of_source, taken
from espalier.tasks.data import Outputs, RunOptions
from espalier.tasks.paraphrase_decoder import PairDecoder
from espalier.tasks.paraphrase_search import of_classes, weighted
from espalier.tasks.registry import TASKS

GUIDE = "(S (NP (DT) (NN)) (VP (VB)))"
KEPT, DEEPER = "(S (NP (DT a) (NN lamp)) (VP (VB glows)))", "(S (NP (DT a) (NN lamp)) (VP (VB (X glows))))"
LOST = "(S (NP (NN lamp)) (VP (VB glows)))"
NAN = float("nan")


def found_by(decoder: PairDecoder, rows: list[int], seeds: list[int]) -> list[list[Hypothesis]]:
    return TASKS["paraphrase"].generate(Waves(GUIDED), DATA.batch(np.array(rows), GUIDED), decoder, seeds)


def texts_of(row: list[Hypothesis]) -> list[str]:
    return [VOC.decode_text(each.tokens) for each in row]


# --- What is written --------------------------------------------------------------------------------------------------


def test_candidates_are_the_beam_s_and_samples_each_text_once_the_best_first() -> None:
    common = {"beam": 4, "max_ids": 7, "min_ids": 1, "length_power": 0.8}
    beam = found_by(PairDecoder(**common), [0, 1, 2], [])
    rows = found_by(PairDecoder(**common, strict=True, candidates=40), [0, 1, 2], [5, 6, 7])
    for row, best in zip(rows, beam, strict=True):
        texts = texts_of(row)
        assert {*texts_of(best)} <= {*texts} and len(best) < len(row) <= 40 and len({*texts}) == len(texts)
        assert [each.score for each in row] == sorted((each.score for each in row), reverse=True)
        assert all(1 <= len(each.tokens) <= 7 for each in row)
        for each in row:
            length = min(len(each.tokens) + 1, 7)
            assert each.score == pytest.approx(each.log_probability / length**0.8, rel=1e-5)


def test_a_beam_that_suffices_is_not_sampled_beyond() -> None:
    beam = found_by(PairDecoder(beam=6, max_ids=5), [0, 1], [])
    for count in (6, 2):
        rows = found_by(PairDecoder(beam=6, max_ids=5, strict=True, candidates=count), [0, 1], [1, 2])
        assert [texts_of(row) for row in rows] == [list(dict.fromkeys(texts_of(row[:count]))) for row in beam]


def test_samples_depend_on_the_seed_of_their_pair_and_not_on_its_neighbours() -> None:
    decoder = PairDecoder(beam=2, max_ids=8, strict=True, candidates=12)
    first, second = found_by(decoder, [0, 0], [3, 4])
    assert texts_of(first) != texts_of(second)
    assert [texts_of(first)] == [texts_of(row) for row in found_by(decoder, [0], [3])]


def test_of_the_candidates_as_many_as_the_beam_has_are_under_classes_of_words_and_the_rest_are_samples() -> None:
    parts = {
        count: (decoder.classed, decoder.sampled, decoder.prefixes)
        for count in (2, 4, 6, 8, 9, 20)
        for decoder in [PairDecoder(beam=4, strict=True, candidates=count)]
    }
    assert parts == {2: (0, 0, 4), 4: (0, 0, 4), 6: (2, 0, 4), 8: (4, 0, 4), 9: (4, 1, 4), 20: (4, 12, 12)}


# --- Candidates under classes of words --------------------------------------------------------------------------------

LEXICON = Lexicon.of_trees(["(S (DT a) (NN lamp) (VB glows))"], VOC)


def classed(
    view: PairView, lexicon: Lexicon = LEXICON, rows: tuple[int, ...] = (0, 1, 2), given: Any = (), **own: Any
) -> list[list[str]]:
    decoder = PairDecoder(**{"beam": 5, "max_ids": 14, "strict": True, "candidates": 10} | own)
    found = of_classes(Waves(view), DATA.batch(np.array(rows), view), decoder, view, [lexicon] * len(rows), given)
    return [texts_of(row) for row in found]


@pytest.mark.parametrize("form", ["levels", "brackets"])
def test_words_are_of_the_classes_of_the_leaves_or_words_of_the_source_that_no_class_has(form: Any) -> None:
    # The trees have the leaves DT NN VB NN, NN VB and VB DT NN; the sources are a lamp, low lamp glows, glows.
    first, second, third = classed(PairView(("source", "target_tree"), form=form))
    assert first == ["a lamp glows lamp"] and third == ["glows a lamp"]
    assert sorted(second) == sorted(["lamp glows", "low glows", "lamp low", "low low"])


def test_a_leaf_of_an_unknown_class_is_any_word_and_a_phrase_any_words() -> None:
    few = Lexicon.of_trees(["(S (VB glows))"], VOC)
    (row,) = classed(GUIDED, few, rows=(1,), beam=20, candidates=40)
    assert row and {text.split()[1] for text in row} <= {"glows", "low", "lamp"}  # the source's words are new
    assert {len(text.split()) for text in row} == {2} and len({text.split()[0] for text in row}) > 3
    data = DATA.with_trees(["(S (NP) (VP (VB)))"] * 3, None)
    found = of_classes(
        Waves(GUIDED), data.batch(np.array([1]), GUIDED), PairDecoder(beam=20, max_ids=14, strict=True), GUIDED, [few]
    )
    assert len({len(text.split()) for text in texts_of(found[0])}) > 1


def test_a_given_word_stands_at_its_leaf_whatever_its_class() -> None:
    given = [[GivenWord(1, VOC.encode_texts(["low"])[0])], [], []]
    assert classed(GUIDED, given=given)[0] == ["a low glows lamp"]


def test_a_text_that_may_be_cut_is_no_candidate_and_no_more_are_taken_than_there_is_room() -> None:
    size = len(VOC.encode_texts(["glows a lamp"])[0])
    assert classed(GUIDED, rows=(2,), max_ids=size + 1) == [["glows a lamp"]]
    assert classed(GUIDED, rows=(2,), max_ids=size) == [[]]
    assert [len(row) for row in classed(GUIDED, candidates=7)] == [1, 2, 1]
    assert classed(GUIDED, candidates=5) == [[], [], []]


def test_a_run_takes_the_classes_of_its_training_pairs() -> None:
    decoder = {"strict": True, "candidates": 12, "beam": 3, "max_ids": 14}

    def given(view: PairView, train: Any, **settings: Any) -> Any:
        (inputs,) = TASK.inputs(replace(ready(), train=train), model_of(view), PairDecoder(**settings), RunOptions(), 1)
        return inputs.given

    assert tuple(VOC.encode_texts(["glows"])[0]) in given(GUIDED, lambda: ready().data, **decoder)["lexicon"].known
    assert given(GUIDED, None, **decoder) == given(GUIDED, lambda: DATA.select(np.array([], int)), **decoder) == {}
    # Others do not read them.
    for view, settings in ((PairView(("source",)), decoder), (GUIDED, {})):
        assert given(view, lambda: pytest.fail("read"), **settings) == {"best": 1}  # they write only the best text


def test_candidates_under_classes_stand_among_the_others_by_their_scores() -> None:
    decoder = PairDecoder(strict=True, candidates=12, beam=3, max_ids=14)
    batch = DATA.batch(np.array([0, 1, 2]), GUIDED)
    without, rows = (TASK.generate(Waves(GUIDED), batch, decoder, [1, 2, 3], *more) for more in ((), (LEXICON,)))
    for row, fewer, own in zip(rows, without, classed(GUIDED, beam=3, candidates=12), strict=True):
        assert own and {*texts_of(row)} == {*texts_of(fewer), *own} and len(row) <= 12
        assert [each.score for each in row] == sorted((each.score for each in row), reverse=True)


def test_each_candidate_is_a_row_with_its_ranking() -> None:
    (inputs,) = inputs_of(GUIDED, strict=True, candidates=5)
    assert inputs.kept == 5
    (plain,) = inputs_of(PairView(("source",)), strict=True)
    assert plain.kept == 1  # as an n-gram model beside the runs, which follows no tree
    decoder = PairDecoder(strict=True)
    one = Hypothesis(VOC.encode_texts(["a lamp"])[0], -1.5, -0.5)
    found = TASK.columns(one, {}, model_of(GUIDED), decoder)
    assert (found["text"], found["score"], found[RANKING]) == ("a lamp", -1.5, -0.5)
    assert np.isnan(TASK.columns(None, {}, model_of(GUIDED), decoder)[RANKING])
    assert RANKING not in TASK.columns(one, {}, model_of(GUIDED), PairDecoder())
    assert decoder.candidates == CANDIDATES


def test_the_candidates_of_each_tree_of_a_run_have_numbers_of_their_own() -> None:
    trees = [GUIDE, KEPT]
    guidance = pd.DataFrame(
        {"id": id_, "seed": 1, "sample": sample, "tree": tree}
        for id_ in ("p0", "p1", "p2")
        for sample, tree in enumerate(trees)
    )
    runs = inputs_of(GUIDED, RunOptions(2, guidance=guidance), guide="run", strict=True, candidates=5)
    assert [[(row["sample"], row["guide"]) for (row,) in inputs.rows] for inputs in runs] == [
        [(0, GUIDE)] * len(DATA), [(5, KEPT)] * len(DATA),
    ]  # fmt: skip
    with pytest.raises(DataError, match=r"outputs of the guidance: no sample 3; run its stage again"):
        inputs_of(GUIDED, RunOptions(3, guidance=guidance), guide="run", strict=True)


def test_what_a_text_keeps_of_its_source_is_the_f1_of_their_bigrams() -> None:
    source = ["a", "lamp", "glows", "in", "a", "lamp"]  # a-lamp twice, lamp-glows, glows-in, in-a
    assert kept_of_source(source, source) == 1
    assert kept_of_source(source, ["a", "lamp", "a", "lamp", "a", "lamp"]) == pytest.approx(2 * 2 / (5 + 5))
    assert (
        kept_of_source(source, ["glows", "lamp", "a"]) == kept_of_source(source, ["a"]) == kept_of_source([], []) == 0
    )


def test_a_weight_of_the_source_raises_candidates_by_what_they_keep_of_it() -> None:
    source = VOC.encode_texts(["a lamp glows"])[0]
    rows = [Hypothesis(VOC.encode_texts([text])[0], -3.0, -0.5) for text in ("a lamp", "a lamp glows", "glows a")]
    assert weighted(rows, source, VOC, 0.0) == rows
    assert [each.score for each in weighted(rows, source, VOC, 0.3)] == pytest.approx([-0.5 + 0.3 * 2 / 3, -0.2, -0.5])
    assert [each.log_probability for each in weighted(rows, source, VOC, 0.3)] == [-3.0] * 3


# --- Which is taken ---------------------------------------------------------------------------------------------------


def outputs(*rows: tuple[str, int, int, float, str], **changes: Any) -> Outputs[Any]:
    """Outputs of rows of id, seed, sample, ranking and parse."""
    table = pd.DataFrame(rows, columns=["id", "seed", "sample", RANKING, "tree"])
    table = table.assign(cluster=table["id"], guide=GUIDE, text=[f"t{place}" for place in range(len(rows))])
    keys = table[["id", "seed", "sample"]]
    parses = keys.assign(target_tree=table["tree"], reason="")
    return Outputs(table.drop(columns="tree"), "en", annotations=parses, **changes)


def test_the_likeliest_of_those_that_keep_the_template_is_taken_else_the_likeliest() -> None:
    found = chosen(
        outputs(
            ("a", 1, 0, -0.1, LOST), ("a", 1, 1, -0.3, DEEPER), ("a", 1, 2, -0.2, KEPT), ("a", 1, 3, NAN, ""),
            ("b", 1, 0, -2.0, LOST), ("b", 1, 1, -1.0, ""), ("b", 1, 2, NAN, ""),
            ("a", 2, 0, -0.4, KEPT), ("a", 2, 1, -0.4, KEPT),
        )
    )  # fmt: skip
    assert found.table["text"].tolist() == ["t2", "t5", "t7"]
    assert found.table[["id", "seed", "sample"]].values.tolist() == [["a", 1, 2], ["b", 1, 1], ["a", 2, 0]]
    assert found.parses()["target_tree"].tolist() == [KEPT, "", KEPT]


def test_a_report_shows_the_texts_that_were_scored() -> None:
    made = outputs(("a", 1, 0, -0.1, LOST), ("a", 1, 1, -0.3, KEPT), ("b", 1, 0, -1.0, LOST))
    segments = chosen(made).table[["id", "cluster", "seed", "sample"]]
    assert taken(made.table, segments)["text"].tolist() == ["t1", "t2"]
    plain = made.table.drop(columns=RANKING)
    assert taken(plain, segments) is plain


def test_texts_that_are_no_candidates_stay_as_they_are() -> None:
    made = outputs(("a", 1, 0, -0.1, LOST))
    plain: Outputs[Any] = Outputs(made.table.drop(columns=RANKING), "en")
    assert chosen(plain) is plain


def test_candidates_without_their_parses_are_refused() -> None:
    made = outputs(("a", 1, 0, -0.1, LOST))
    with pytest.raises(ArtifactError, match="the parses are not those of the run's texts"):
        chosen(Outputs(made.table, "en"))


# --- Settings ---------------------------------------------------------------------------------------------------------

NETWORK = GuiGConfig.model_validate({"encoders": [{"reads": ["source", "target_tree"]}], "positions": 64})
SOURCELESS = GuiGConfig.model_validate({"encoders": [{"reads": ["target_tree"]}], "positions": 64})
UNGUIDED = GuiGConfig.model_validate({"encoders": [{"reads": ["source"]}], "positions": 64})


@pytest.mark.parametrize(
    ("network", "decoder", "samples", "message"),
    [
        (UNGUIDED, {}, 1, "decoder.strict: the model writes no texts along trees; leave it out"),
        (
            NETWORK,
            {},
            2,
            "samples: candidates of several samples are guided by the trees of a run; one sample, or guide: "
            "run and template: target",
        ),
        (
            NETWORK,
            {"guide": "run", "template": "frequent"},
            2,
            "samples: candidates of several samples are guided by the "
            "trees of a run; one sample, or guide: run and template: target",
        ),
        (NETWORK, {"granularity": True}, 1, "decoder.granularity: the model has no granularity; leave it out"),
        (SOURCELESS, {"source_weight": 1}, 1, "decoder.source_weight: the model reads no source; leave it out"),
    ],
)
def test_a_run_that_cannot_be_strict_is_one_line(network: Any, decoder: Any, samples: int, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PairDecoder(strict=True, **decoder).check(network, PairSettings(), samples)
    assert str(caught.value) == message
    PairDecoder(strict=True).check(NETWORK, PairSettings(), 1)
    PairDecoder(strict=True, guide="run").check(NETWORK, PairSettings(), 8)


def test_records_of_runs_without_candidates_do_not_name_them() -> None:
    plain, strict = PairDecoder(beam=4).model_dump(), PairDecoder(beam=4, strict=True).model_dump()
    assert strict == {**plain, "strict": True, "candidates": CANDIDATES} and plain["beam"] == 4
    assert PairDecoder(strict=True, source_weight=0.5, beam=4).model_dump() == {**strict, "source_weight": 0.5}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"candidates": 4}, "candidates: 4 are for strict: true"),
        ({"source_weight": 0.5}, "source_weight: 0.5 is for strict: true"),
        ({"strict": True, "source_weight": -0.5}, "source_weight"),
        ({"strict": True, "candidates": 0}, "candidates"),
        ({"strict": True, "candidates": 1001}, "candidates"),
    ],
)
def test_a_number_of_candidates_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PairDecoder(**changes)
