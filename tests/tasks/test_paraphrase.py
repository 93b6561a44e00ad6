"""Writing texts and trees of pairs: what is options for, what is never written, and what is a tree."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
from pair_models import (
    DATA,
    GUIDED,
    PAIRS,
    PARSES,
    SYMBOLS,
    TASK,
    TEMPLATES,
    TEXTS,
    TREES,
    VOC,
    Waves,
    inputs_of,
    model_of,
    ready,
    size_of,
    view,
)
from pydantic import ValidationError

from espalier.corpora.records import Pair
from espalier.datasets.pairs.data import PairView
from espalier.datasets.pairs.encode import PairSettings
from espalier.datasets.vocabulary import BOS, EOS, PAD, UNK
from espalier.decoding.beam import Hypothesis
from espalier.io.errors import ArtifactError, ConfigError, DataError, EspalierError
from espalier.metrics import metric, rouge
from espalier.metrics.family import Part, family_scores
from espalier.metrics.ibleu import Copies, Paper
from espalier.metrics.metric import Score, confirmed, confirmed_rows
from espalier.metrics.paraphrase import PROTOCOL_HEADLINE, library_scores
from espalier.metrics.perplexity import PairPerplexity
from espalier.models.guig import GuiG
from espalier.models.guig_config import GuiGConfig, SCPNConfig
from espalier.models.ngram import NGram, NGramConfig
from espalier.syntax.constituency import read_tree, write_tree
from espalier.syntax.levels import cut
from espalier.tasks.data import Inputs, Outputs, Ready, RunOptions, Segments
from espalier.tasks.paraphrase_decoder import PairDecoder
from espalier.tasks.paraphrase_scoring import PairScoring
from espalier.tasks.paraphrase_search import pair_constraint, tree_text
from espalier.tasks.registry import TASKS
from espalier.tasks.scoring import scored
from tests.datasets.pairs.bracketed_rows import bracketed_row


def written(decoder: PairDecoder, seen: PairView) -> list[list[list[int]]]:
    rows = TASKS["paraphrase"].generate(Waves(seen), DATA.batch(np.arange(3), seen), decoder, [])
    return [[hypothesis.tokens for hypothesis in row] for row in rows]


# --- what is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seen", [view("text"), view(), view(form="brackets")], ids=["text", "levels", "brackets"])
def test_specials_are_never_written(seen: PairView) -> None:
    decoder = PairDecoder(beam=3, max_ids=6)
    constraint = pair_constraint(decoder, seen, VOC)
    mask = constraint.mask(constraint.start(DATA.batch(np.arange(3), seen)))
    assert mask.shape == (3, size_of(seen))
    assert [place for place, added in enumerate(mask[1].tolist()) if added] == [PAD, UNK, BOS]
    for found in written(decoder, seen):
        assert len(found) == 3 and all(not {PAD, UNK, BOS, EOS} & {*ids} and len(ids) <= 6 for ids in found)


@pytest.mark.parametrize("form", ["levels", "brackets"])
def test_under_a_constraint_every_hypothesis_is_a_tree_in_time(form: Any) -> None:
    seen = view(form=form)
    for steps in (14, 32):
        for found in written(PairDecoder(beam=4, max_ids=steps, constraint="tree"), seen):
            assert len(found) == 4 and all(len(ids) < steps for ids in found)
            assert all(tree_text(ids, seen, VOC) for ids in found)


@pytest.mark.parametrize("form", ["levels", "brackets"])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_template_is_kept_down_to_the_view_s_level(form: Any, levels: int) -> None:
    seen = view(form=form, template=levels)
    found = written(PairDecoder(beam=2, max_ids=40, constraint="template"), seen)
    for tree, hypotheses in zip(TREES, found, strict=True):
        for ids in hypotheses:
            text = tree_text(ids, seen, VOC)
            assert write_tree(cut(read_tree(text, words=False), levels)) == write_tree(
                cut(read_tree(tree, words=False), levels)
            )


def test_a_constraint_of_trees_is_not_for_texts() -> None:
    for constraint in ("tree", "template"):
        decoder = PairDecoder(constraint=constraint)
        with pytest.raises(ConfigError, match=f"decoder.constraint: {constraint} is for trees; none, for texts"):
            pair_constraint(decoder, view("text"), VOC)


def test_a_beam_is_as_wide_as_asked_for_and_the_longer_may_win() -> None:
    seen = view("text")
    assert [len(found) for found in written(PairDecoder(beam=5, max_ids=4), seen)] == [5, 5, 5]
    short, long = (
        sum(len(found[0]) for found in written(PairDecoder(beam=4, max_ids=9, length_power=power), seen))
        for power in (0.0, 3.0)
    )
    assert short < long


# --- trees as text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", TREES)
def test_ids_are_written_as_their_tree(tree: str) -> None:
    ids = SYMBOLS.encode(read_tree(tree, words=False))
    assert tree_text(ids, view(), VOC) == tree
    assert tree_text(bracketed_row(ids, SYMBOLS), view(form="brackets"), VOC) == tree


@pytest.mark.parametrize("form", ["levels", "brackets"])
def test_ids_that_are_no_tree_are_written_as_nothing(form: Any) -> None:
    rows = {
        "levels": [[], PARSES[0][1:], PARSES[0] + PARSES[1], [SYMBOLS.size]],
        "brackets": [[], [4], [4, 6], [4, 6, 5, 5], [6, 7], [4, 6, 5, 4, 6, 5], [4, SYMBOLS.bracketed_size, 5]],
    }
    assert [tree_text(ids, view(form=form), VOC) for ids in rows[form]] == [""] * len(rows[form])


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam": 0}, "beam"),
        ({"max_ids": 1}, "max_ids"),
        ({"length_power": -1}, "length_power"),
        ({"min_ids": -1}, "min_ids"),
        ({"min_ids": 6, "max_ids": 6}, "min_ids: 6 and an end do not fit into max_ids: 6"),
        ({"min_ids": 2, "constraint": "tree"}, "min_ids: 2 is for texts"),
        ({"rows": -1}, "rows"),
        ({"guide": "source"}, "guide"),
        ({"template": "mine"}, "template"),
        ({"constraint": "text"}, "constraint"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PairDecoder(**changes)


def test_the_defaults_are_the_paper_s() -> None:
    decoder = PairDecoder()
    assert (decoder.beam, decoder.length_power, decoder.guide, decoder.constraint) == (8, 0.0, "target", "none")
    assert decoder.max_ids == 52  # 50 and both ends


# --- The task: from records to a table, and from a table to statistics ------------------------------------------------


def trees_of(inputs: Inputs, name: str, view: PairView) -> list[str]:
    ragged = inputs.data.rows(name, np.arange(len(inputs.data)), replace(view, form="levels"))
    return [write_tree(SYMBOLS.decode(ragged.flat[i:j].tolist())) for i, j in pairwise(ragged.offsets)]


def test_each_pair_is_a_prompt_under_the_tree_of_its_target() -> None:
    (inputs,) = inputs_of(GUIDED)
    assert inputs.prompts.tolist() == [0, 1, 2] and inputs.kept == 1 and inputs.data.ids == ["p0", "p1", "p2"]
    assert [row for (row,) in inputs.rows][1] == {
        "id": "p1", "cluster": "p1", "sample": 0, "source": "glows", "reference": "a low lamp",
        "source_tree": TREES[2], "reference_tree": TREES[0], "guide": TREES[0], "template": "",
    }  # fmt: skip
    assert inputs.rows[0][0]["cluster"] == inputs.rows[2][0]["cluster"] != inputs.rows[1][0]["cluster"]
    assert trees_of(inputs, "target_tree", GUIDED) == [TREES[2], TREES[0], TREES[1]]


def test_a_template_alone_is_a_guide() -> None:
    (inputs,) = inputs_of(replace(GUIDED, template=2), guide="template")
    tops = ["(SINV (VP) (NP))", "(S (NP) (VP))", "(S (NP) (VP))"]
    assert [row["guide"] for (row,) in inputs.rows] == tops == trees_of(inputs, "target_tree", GUIDED)


def test_what_another_run_wrote_is_a_guide_and_a_bare_template_where_it_wrote_no_tree() -> None:
    table = pd.DataFrame(
        [
            {"id": name, "seed": seed, "sample": sample, "tree": tree}
            for seed, sample, trees in ((1, 0, [TREES[1], ""]), (2, 0, [TREES[0], TREES[0]]), (1, 1, [TREES[2]]))
            for name, tree in zip(("p0", "p1"), trees, strict=False)
        ]
    )
    view, bare = replace(GUIDED, template=1), ["(SINV)", "(S)", "(S)"]

    def guides(samples: int, seed: int) -> list[list[str]]:
        runs = inputs_of(view, RunOptions(samples, guidance=table), seed, guide="run")
        assert [trees_of(inputs, "target_tree", view) for inputs in runs] == [
            [row["guide"] for (row,) in inputs.rows] for inputs in runs
        ]
        return [[row["guide"] for (row,) in inputs.rows] for inputs in runs]

    assert guides(2, 1) == [[TREES[1], bare[1], bare[2]], [TREES[2], bare[1], bare[2]]]
    assert guides(1, 2) == [[TREES[0], TREES[0], bare[2]]]
    with pytest.raises(DataError, match=r"no run guides this one.*name one as the run's guidance"):
        inputs_of(view, guide="run")


def test_frequent_templates_are_taken_one_a_sample() -> None:
    runs = inputs_of(view(), RunOptions(samples=2), template="frequent")
    assert [row["template"] for inputs in runs for (row,) in inputs.rows] == [
        each["template"] for each in TEMPLATES for _ in range(3)
    ]
    assert [row["sample"] for inputs in runs for (row,) in inputs.rows] == [0] * 3 + [1] * 3
    for inputs, template in zip(runs, TEMPLATES, strict=True):
        assert trees_of(inputs, "template", view()) == [template["template"]] * 3
        assert trees_of(inputs, "target_tree", view()) == [tree for *_, tree in PAIRS]
    with pytest.raises(DataError, match=r"extras\.json.*2 templates.*ask for fewer samples"):
        inputs_of(view(), RunOptions(samples=3), template="frequent")


def test_samples_of_one_tree_or_template_are_the_best_hypotheses_of_its_beam() -> None:
    for one in (view(), GUIDED):
        (inputs,) = inputs_of(one, RunOptions(samples=3))
        assert (inputs.kept, inputs.given) == (3, {"best": 3})
        assert [row["sample"] for (row,) in inputs.rows] == [0] * 3
    varied: list[dict[str, Any]] = [{"guide": "run"}, {"template": "frequent"}]
    for settings in varied:
        PairDecoder(beam=2, **settings).check(GuiGConfig(), PairSettings(), 3)
    with pytest.raises(ConfigError, match=r"decoder\.guide: the model writes no texts along trees; leave it out"):
        PairDecoder(guide="run").check(
            GuiGConfig.model_validate({"encoders": [{"reads": ["source"]}]}), PairSettings(), 2
        )
    with pytest.raises(ConfigError, match=r"samples: 3 samples, the best of 2 beams; a wider beam"):
        PairDecoder(beam=2).check(GuiGConfig(), PairSettings(), 3)


def test_an_expander_s_template_is_the_top_of_the_target_s_tree() -> None:
    (inputs,) = inputs_of(view())
    assert [(row["guide"], row["template"]) for (row,) in inputs.rows] == [
        ("", "(SINV (VP) (NP))"), ("", "(S (NP) (VP))"), ("", "(S (NP) (VP))"),
    ]  # fmt: skip


def test_so_many_rows_are_spread_over_the_split() -> None:
    (inputs,) = inputs_of(GUIDED, rows=1)
    assert inputs.data.ids == ["p0"] and inputs.prompts.tolist() == [0]
    assert inputs_of(GUIDED, rows=9)[0].data.ids == ["p0", "p1", "p2"]


def test_columns_are_texts_or_trees_and_empty_where_there_is_no_hypothesis() -> None:
    text, tree = Hypothesis(TEXTS[0], -1.5, -9.0), Hypothesis(PARSES[1], -2.5, -9.0)
    decoder = PairDecoder()
    assert TASK.columns(text, {}, model_of(GUIDED), decoder) == {"text": "a lamp", "tree": "", "score": -1.5}
    assert TASK.columns(tree, {}, model_of(view()), decoder) == {"text": "", "tree": TREES[1], "score": -2.5}
    for seen in (GUIDED, view()):
        empty = TASK.columns(None, {}, model_of(seen), decoder)
        assert (empty["text"], empty["tree"]) == ("", "") and np.isnan(empty["score"])


@pytest.mark.parametrize("writes", ["text", "tree"])
def test_likelihoods_are_those_of_reading_each_reference_step_by_step(writes: Any) -> None:
    torch.manual_seed(3)
    encoder: dict[str, Any] = {"reads": ["source", "target_tree"] if writes == "text" else ["template"], "layers": 1}
    config = GuiGConfig.model_validate(
        {"encoders": [encoder], "writes": writes, "layers": 1, "heads": 2, "width": 8, "inner": 10, "positions": 40}
    )
    model, data = GuiG(config, VOC).eval(), ready().data
    with torch.inference_mode():
        columns = TASK.likelihood(model, data.batch(np.arange(3), config.view))
        assert tuple(columns) == TASK.likelihood_columns
        for row in range(3):
            alone = data.batch(np.array([row]), config.view)
            state, nats = model.start(alone), 0.0
            for token, target in zip(alone.inputs[0], alone.target[0], strict=True):
                logs, state = model.step(token[None], state)
                nats -= float(logs[0, target])
            assert float(columns["nll"][row]) == pytest.approx(nats, rel=1e-5)
            assert int(columns["tokens"][row]) == alone.target.shape[1]


def outputs(writes: str, **changes: Any) -> Outputs:
    rows = [
        {"id": f"p{n}", "cluster": "p0" if n != 1 else "p1", "seed": seed, "sample": 0, "source": source,
         "reference": target, "source_tree": tree, "reference_tree": other, "guide": "", "template": "",
         "text": source if writes == "text" else "", "tree": tree if n else "", "nll": 3.0 + n, "tokens": 4}
        for seed in (1, 2) for n, (source, tree, target, other) in enumerate(PAIRS)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    parses = table[["id", "seed", "sample"]].assign(target_tree=table["source_tree"], reason=["", "no parse", ""] * 2)
    return Outputs(table, "en", annotations=parses, facts={"writes": writes} | changes)


def plain_outputs(texts: list[str], extras: dict[str, Any]) -> Outputs:
    """Outputs for pairs without trees."""
    table = pd.DataFrame(
        [{"id": f"p{n}", "cluster": f"p{n}", "seed": 1, "sample": 0, "source": source, "reference": target,
          "source_tree": "", "reference_tree": "", "guide": "", "template": "", "text": text, "tree": "", "nll": 3.0,
          "tokens": 4} for n, ((source, _, target, _), text) in enumerate(zip(PAIRS, texts, strict=True))]
    )  # fmt: skip
    return Outputs(table, "en", facts={"writes": "text"}, train=lambda: DATA, extras=lambda: extras)


PROTOCOLS = PairScoring(families=("released", "paper", "copies"), pieces=2)


def test_scoring_names_the_families_and_asks_for_no_parses() -> None:
    (block,) = TASK.statistics(plain_outputs(["a lamp", "glows", "low"], {}), PROTOCOLS)
    assert {family.key for family in block.families} == {
        "released:nltk_3_4:2",
        "paper:0.8,0.9:2",
        "paper:0.8,0.9:whole",
        "copies",
    }
    assert {*block.library} == {
        f"paper_{name}{ending}"
        for name in ("bleu_2", "bleu_4", "self_bleu", "ibleu_80", "ibleu_90", "rouge_l")
        for ending in ("", "_whole")
    }
    names = {metric.name for family in block.families for metric in family.metrics}
    assert {"ted_full", "bleu", "perplexity"}.isdisjoint(names)


def test_sides_are_cut_by_the_vocabulary_before_they_are_compared() -> None:
    pieces = len(VOC.encode_texts(["low lamp"])[0])
    longer = ["a lamp", "glows", f"low lamp{' glows' * 3}"]
    made = plain_outputs(longer, {})
    (block,) = TASK.statistics(made, PairScoring(families=("copies", "paper"), pieces=pieces))
    assert block.families[Copies()][:, 0].tolist() == [1, 1, 1]  # the third is its source as far as it is judged
    whole = block.families[Paper((0.8, 0.9), "whole")]
    assert whole[2, 0] == 5 and block.families[Paper((0.8, 0.9), pieces)][2, 0] == 2
    with pytest.raises(DataError, match="no vocabulary to cut the texts by"):
        TASK.statistics(replace(made, train=None), PROTOCOLS)


def test_scores_stand_for_the_pairs_that_training_does_not_tell_of_too() -> None:
    pairs = [{"source": "A lamp", "target": "x"}, {"source": "X", "target": "low lamp!"}]
    made = plain_outputs(["a lamp", "glows", "low lamp"], {"pairs": pairs})
    (block,) = TASK.statistics(made, PROTOCOLS)
    # The first pair is joined by way of "x", of the second nothing trains, of the third one side.
    assert block.families[Part(Copies(), "joined")][:, 2].tolist() == [1, 0, 0]
    assert block.families[Part(Copies(), "unseen")][:, 2].tolist() == [0, 1, 0]
    parts = {"unseen": 1, "joined": 1, "clusters": 3}
    assert TASK.counts(made, PROTOCOLS) == parts
    assert TASK.counts(made, TASK.scoring()) == {"sources in training": 2, "references in training": 0, **parts}
    found = family_scores(block.families, seed=1, resamples=10)
    assert found["words_unseen"].value == 1.0 and found["copied_joined"].value == 100.0


def test_the_ngram_row_is_searched_once_and_is_what_a_search_for_each_pair_finds() -> None:
    texts = ["a lamp", "low lamp glows", "glows"]
    records = [
        Pair(id=id_, origin="made", language="en", source=one, target=one)
        for id_, one in zip("abc", texts, strict=True)
    ]
    row, decoder = TASK.ngrams(VOC)["ngram"], PairDecoder(beam=3, max_ids=9)
    model = NGram.fit(NGramConfig(row.view), VOC, [DATA.batch(np.arange(3), row.view)], VOC.text_size)
    (inputs,) = TASK.inputs(Ready(records, DATA), model, decoder, RunOptions(), 0)
    assert [[each["id"] for each in rows] for rows in inputs.rows] == [["a", "b", "c"]]
    (once,) = TASK.generate(model, inputs.data.batch(inputs.prompts, row.view), decoder, [])
    reading = NGram(NGramConfig(PairView(("source",))), VOC, model.counts)
    each = TASK.generate(reading, DATA.batch(np.arange(3), reading.config.view), decoder, [])
    assert once and each == [once] * 3


def test_test_texts_that_are_texts_of_training_are_counted() -> None:
    made = plain_outputs(["", "", ""], {})
    table = made.table.assign(source=["A lamp!", "lamp a", "glows"], reference=["low", "Low lamp, glows", "lamp"])
    counts = TASK.counts(replace(made, table=table), TASK.scoring())
    assert counts == {"sources in training": 2, "references in training": 1}


def test_scores_of_models_that_did_not_train_on_these_pairs_have_no_parts() -> None:
    made = plain_outputs(["a lamp", "glows", "low lamp"], {"pairs": [{"source": "A lamp", "target": "x"}]})
    scoring = PairScoring(families=("copies",), parts=False)
    (block,) = TASK.statistics(made, scoring)
    assert {*block.families} == {Copies()} and TASK.counts(made, scoring) == {}


@pytest.mark.parametrize("writes", ["text", "tree"])
def test_statistics_have_a_row_for_each_hypothesis(writes: str) -> None:
    made = outputs(writes)
    (block,) = TASK.statistics(made, PairScoring())
    assert block.rows[["id", "cluster", "seed", "sample"]].equals(made.table[["id", "cluster", "seed", "sample"]])
    # Reports draw the parses of texts; a model that writes trees has them in its outputs.
    assert block.rows.columns[4:].tolist() == (["tree"] if writes == "text" else [])
    for family, values in block.families.items():
        assert len(values) == 6 and (values[:3] == values[3:]).all(), family
    names = {metric.name for family in block.families for metric in family.metrics}
    assert {*TASK.headline(made).values()} <= names | {*PROTOCOL_HEADLINE.values()}
    assert TASK.counts(made, TASK.scoring()) == ({"not parsed": 2} if writes == "text" else {"no tree": 2})
    if writes == "text":
        assert block.families[PairPerplexity()][:3, 0].tolist() == [3.0, 4.0, 5.0]


def scores_of(block: Segments) -> dict[str, Score]:
    return family_scores(block.families, seed=1, resamples=0)


def test_bleu_and_rouge_are_their_libraries() -> None:
    (block,) = TASK.statistics(outputs("text"), PairScoring())
    assert {*block.library} == {"bleu", "length_ratio", "brevity_penalty", "bleu_source", *rouge.KEYS}
    assert block.library["rouge_1"] > 0
    found = confirmed(scores_of(block), block.library)
    assert {key: found[key].value for key in block.library} == dict(block.library)
    (trees,) = TASK.statistics(outputs("tree"), PairScoring())
    assert not trees.library


def test_of_many_segments_the_libraries_score_a_sample_and_the_scores_of_all_are_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = [{"source": "A lamp", "target": "x"}]
    made = plain_outputs(["a lamp", "glows", "low lamp"], {"pairs": pairs})
    made = replace(made, facts=made.facts | {"unfit": 0})
    scoring = PairScoring(families=("similarity", "paper", "copies"), pieces=2)
    expected = scored(TASK, made, scoring)[1:]
    monkeypatch.setattr(metric, "CONFIRMED", 2)
    (block,) = TASK.statistics(made, scoring)
    assert block.confirmed == confirmed_rows(3, seed=1) and len(set(block.confirmed or ())) == 2
    chosen = [made.table[side].iloc[list(block.confirmed or ())].tolist() for side in ("source", "reference", "text")]
    assert block.library.items() >= library_scores(*chosen).items()
    assert "paper_bleu_2_whole_unseen" in block.library
    assert scored(TASK, made, scoring)[1:] == expected
    # A fault outside the sample is not seen; one inside is, in a single segment.
    for row in range(3):
        wrong = {family: values.copy() for family, values in block.families.items()}
        wrong[rouge.Rouge()][row, 0] += 1e-5
        monkeypatch.setattr(type(TASK), "statistics", lambda *_, wrong=wrong: [block._replace(families=wrong)])
        with pytest.raises(EspalierError, match="rouge_1 is") if row in (block.confirmed or ()) else nullcontext():
            scored(TASK, made, scoring)


def test_up_to_two_thousand_segments_are_all_confirmed_and_of_more_as_many_all_over() -> None:
    assert confirmed_rows(2_000, seed=1) is None
    rows = confirmed_rows(20_000, seed=1) or []
    assert len(rows) == len(set(rows)) == 2_000 and rows == sorted(rows) and rows != confirmed_rows(20_000, seed=2)
    assert np.histogram(rows, 4, (0, 20_000))[0] == pytest.approx([500] * 4, abs=60)


@pytest.mark.parametrize(("writes", "pairs"), [("text", 6), ("tree", 4)])
def test_a_sample_of_distances_is_audited(writes: str, pairs: int) -> None:
    (block,) = TASK.statistics(outputs(writes), PairScoring())
    assert block.audits["ted_audit"]["pairs"] == pairs  # of six outputs two are no trees


def test_words_are_unknown_that_neither_training_nor_the_source_has() -> None:
    made = outputs("text")
    without = replace(made, train=lambda: DATA.select(np.array([], dtype=np.int64)))  # pairs of others, to be decoded
    for each in (made, without):
        assert scores_of(TASK.statistics(each, PairScoring())[0])["incomprehensible"].value is None
    made = replace(made, train=lambda: DATA)
    made.table.loc[0, "text"] = "a lampke"
    assert scores_of(TASK.statistics(made, PairScoring())[0])["incomprehensible"].value == pytest.approx(100 / 6)


def test_outputs_are_compared_with_their_guides() -> None:
    made = outputs("text")
    made.table["guide"] = made.table["source_tree"]  # the parses of the texts are those of the sources
    (block,) = TASK.statistics(made, PairScoring())
    found = scores_of(block)
    assert found["ted_guide_full"].value == 0.0 and (found["ted_full"].value or 0) > 0


@pytest.mark.parametrize("rows", [slice(0, 5), slice(None, None, -1)])
def test_parses_of_other_texts_are_refused(rows: slice) -> None:
    made = outputs("text")
    assert made.annotations is not None
    parses = made.annotations.iloc[rows].reset_index(drop=True)
    with pytest.raises(ArtifactError, match=r"the parses are not those of the run's texts; annotate again"):
        TASK.statistics(replace(made, annotations=parses), PairScoring())


def test_pairs_without_trees_are_scored_by_their_words_alone() -> None:
    made = replace(outputs("text"), annotations=None)
    (block,) = TASK.statistics(made, PairScoring())
    keys = {family.key for family in block.families}
    assert {"bleu", "rouge", "defects", "perplexity"} <= keys and "ted" not in keys
    assert not block.audits
    assert TASK.counts(made, TASK.scoring()) == {}


def test_a_run_that_cannot_be_decoded_is_refused_when_it_is_read() -> None:
    text, tree = GuiGConfig(positions=52), SCPNConfig(positions=52, writes="tree")
    PairDecoder(max_ids=52).check(text, PairSettings(), 1)
    PairDecoder(max_ids=52, constraint="tree").check(tree, PairSettings(), 1)
    with pytest.raises(ConfigError, match=r"^decoder\.max_ids: 53 ids, of a model that has 52 positions; at most 52$"):
        PairDecoder(max_ids=53).check(text, PairSettings(), 1)
    with pytest.raises(ConfigError, match=r"^decoder\.constraint: template is for trees; none, for texts$"):
        PairDecoder(constraint="template").check(text, PairSettings(), 1)
    with pytest.raises(ConfigError, match=r"^dataset: the model reads or writes trees, and the pairs have none"):
        PairDecoder().check(text, PairSettings(trees=False), 1)
    with pytest.raises(ConfigError, match=r"decoder\.granularity: the model has no granularity; leave it out"):
        PairDecoder(granularity=True).check(text, PairSettings(), 1)
    with_trees, without = PairSettings(), PairSettings(trees=False)
    assert TASK.needs_annotation(text, with_trees) and not TASK.needs_annotation(tree, with_trees)
    assert not TASK.needs_annotation(text, without)


def settings_of(network: Any, guidance: str | None = None, samples: int = 1, **decoder: Any) -> dict[str, Any]:
    return PairDecoder(**decoder).shown(network, samples, guidance)


@pytest.mark.parametrize(
    ("network", "decoder", "protocol"),
    [
        (GuiGConfig(), {}, "target parse"),
        (GuiGConfig(), {"guide": "template"}, "bare template"),
        (GuiGConfig(), {"guide": "run"}, "expanded parse"),
        (SCPNConfig(writes="tree"), {}, "unconstrained"),
        (SCPNConfig(writes="tree"), {"constraint": "tree"}, "well-formed"),
        (SCPNConfig(writes="tree"), {"constraint": "template"}, "template kept"),
        (SimpleNamespace(view=PairView(("source",))), {}, ""),
    ],
)
def test_the_protocol_says_what_guides_a_text_or_constrains_a_tree(
    network: Any, decoder: dict[str, Any], protocol: str
) -> None:
    assert settings_of(network, **decoder, beam=4) == {
        "protocol": protocol, "guidance": None, "beam": 4, "samples": None
    }  # fmt: skip
    assert settings_of(network, "guig/expanded", 3, **decoder)["guidance"] == "guig/expanded"
