"""Texts under templates, from records to scores: prompts, lengths, what is compared with what."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from espalier.corpora.records import Sentence
from espalier.datasets.ragged import Ragged
from espalier.datasets.structure.encode import StructureEncoding, StructureSettings
from espalier.datasets.structure.vocabulary import TOPIC, StructureVocabulary
from espalier.datasets.vocabulary import EOS, SPECIALS
from espalier.io.errors import ArtifactError, ConfigError
from espalier.metrics.family import family_scores
from espalier.models.ngram import NGram, NGramConfig
from espalier.models.sat import SAT
from espalier.models.sat_config import SATConfig
from espalier.tasks.compose import ComposeScoring, ComposeTask
from espalier.tasks.compose_decoder import ComposeDecoder
from espalier.tasks.data import Inputs, Outputs, Ready, RunOptions
from espalier.text.language import Language

TASK = ComposeTask()
#: Words, tags, and the song.
LINES = [
    ("灯山 桥 雨石", "n v n", "song"),
    ("令 舟灯 山 桥", "d n v n", "song"),
    ("雨石令 灯", "i n", ""),
    ("桥 山 舟雨", "n v nr", "other"),
]
TRAIN = [("灯 山 桥 雨", "n v n v", ""), ("石令 舟 灯 山", "n d n v", ""), ("桥雨 石令", "nr i", "")]


def sentence(place: int, words: str, tags: str, group: str, language: Language = "zh") -> Sentence:
    text = words.replace(" ", "") if language == "zh" else words
    return Sentence(
        id=f"r{place}", origin="made", language=language, target=text, target_words=words, target_tags=tags, group=group
    )


@pytest.fixture(scope="module")
def split() -> tuple[Ready, Any]:
    """What is decoded, and the training rows."""
    encoding, settings = StructureEncoding(), StructureSettings(max_length=8)
    train = [sentence(place, *line) for place, line in enumerate(TRAIN)]
    records = [sentence(place, *line) for place, line in enumerate(LINES)]
    vocabulary = encoding.build_vocabulary(train, settings, "zh")
    return Ready(records, encoding.encode(records, vocabulary, settings).split), encoding.encode(
        train, vocabulary, settings
    ).split


@pytest.fixture(scope="module")
def model(split: tuple[Ready, Any]) -> SAT:
    torch.manual_seed(3)
    config = SATConfig(structures=("pc", "pos"), encoder_layers=1, layers=1, width=8, heads=2, inner=8, positions=40)
    built = SAT(config, split[1].vocabulary).eval()
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.normal_(std=0.4)
    return built


def written(ready: Ready, model: SAT, decoder: ComposeDecoder, samples: int = 1) -> pd.DataFrame:
    """The output rows, as the decode stage makes them."""
    (inputs,) = TASK.inputs(ready, model, decoder, RunOptions(samples), seed=1)
    assert isinstance(inputs, Inputs)
    batch = inputs.data.batch(inputs.prompts, model.config.view)
    found = TASK.generate(model, batch, decoder, list(range(len(inputs.prompts))))
    rows = [
        {**first, "seed": 1, **TASK.columns(hypotheses[0], first, model, decoder)}
        for (first,), hypotheses in zip(inputs.rows, found, strict=True)
    ]
    nats = {name: value.numpy() for name, value in TASK.likelihood(model, batch).items()}
    return pd.DataFrame(rows).assign(**nats)


METHODS: list[dict[str, Any]] = [{"method": "top_k", "top_k": 4}, {"method": "beam", "beam": 3}]


@pytest.mark.parametrize("method", METHODS)
@torch.no_grad()
def test_a_text_begins_with_its_prompt_and_a_frame_makes_its_length_exact(
    split: tuple[Ready, Any], model: SAT, method: dict[str, Any]
) -> None:
    table = written(split[0], model, ComposeDecoder(frame=True, **method), samples=2)
    assert table["prompt"].tolist() == np.repeat(split[0].data.columns["prompt"].flat, 2).tolist()
    assert table["prompt"].any()
    for text, reference, given in zip(table["text"], table["reference"], table["prompt"], strict=True):
        assert len(text) == len(reference) and text[:given] == reference[:given]
        assert not any(special in text for special in SPECIALS)


@pytest.mark.parametrize("method", METHODS)
@torch.no_grad()
def test_a_free_text_is_bounded_and_needs_no_prompt(
    split: tuple[Ready, Any], model: SAT, method: dict[str, Any]
) -> None:
    table = written(split[0], model, ComposeDecoder(prompt="none", slack=2, **method), samples=3)
    assert not table["prompt"].any()
    off = [len(text) - len(reference) for text, reference in zip(table["text"], table["reference"], strict=True)]
    assert max(off) <= 2 and len(set(off)) > 1


@torch.no_grad()
def test_unknown_tokens_of_a_prompt_stay_as_they_were_given(split: tuple[Ready, Any], model: SAT) -> None:
    row = {"reference": "灯龘桥雨", "prompt": 2}
    hypothesis = type("H", (), {"tokens": [5, 1, 6, 7]})()
    text = TASK.columns(hypothesis, row, model, ComposeDecoder())["text"]
    assert text == "灯龘" + model.vocabulary.token(6) + model.vocabulary.token(7)
    assert TASK.columns(None, row, model, ComposeDecoder())["text"] == "灯龘"


@torch.no_grad()
def test_the_end_mark_counts_in_one_of_two_likelihoods(split: tuple[Ready, Any], model: SAT) -> None:
    ready = split[0]
    batch = ready.data.batch(np.arange(4), model.config.view)
    found = TASK.likelihood(model, batch)
    assert found["tokens"].tolist() == [6, 6, 5, 5] and found["words"].tolist() == [5, 5, 4, 4]
    ends = model.token_losses(batch).double()[batch.target == EOS]
    assert torch.allclose(found["nll"] - found["word_nll"], ends)
    assert torch.equal(found["own_weight"], model.own_weights(batch).amax((1, 2)))


def test_records_of_a_song_are_one_cluster(split: tuple[Ready, Any], model: SAT) -> None:
    (inputs,) = TASK.inputs(split[0], model, ComposeDecoder(), RunOptions(), seed=1)
    assert [row["cluster"] for (row,) in inputs.rows] == ["song", "song", "r2", "other"]


# --- scoring ---------------------------------------------------------------------------------------------------------


def outputs(table: pd.DataFrame, train: Any, words: list[str], tags: list[str]) -> Outputs:
    parses = table[["id", "seed", "sample"]].assign(target_words=words, target_tags=tags, reason="")
    facts = {"structures": "pc pos", "unfit": "0"}
    return Outputs(table, "zh", annotations=parses, facts=facts, train=lambda: train)


def values(found: Outputs, scoring: ComposeScoring) -> dict[str, float | None]:
    return {
        name: score.value
        for block in TASK.statistics(found, scoring)
        for name, score in family_scores(block.families, seed=1, resamples=0).items()
    }


def base(split: tuple[Ready, Any], model: SAT, prompt: str = "none") -> pd.DataFrame:
    decoder = ComposeDecoder.model_validate({"prompt": prompt, "frame": True})
    with torch.no_grad():
        return written(split[0], model, decoder)


def test_structures_are_compared_as_they_were_found_again(split: tuple[Ready, Any], model: SAT) -> None:
    """The references themselves, cut into other words: 灯山桥 / 雨石 where the template has 灯山 / 桥 / 雨石."""
    table = base(split, model)
    table["text"] = table["reference"]
    words, tags = table["reference_words"].tolist(), table["reference_tags"].tolist()
    same = values(outputs(table, split[1], words, tags), ComposeScoring(padded=12))
    assert [same[f"{of}_bleu_{n}"] for of in ("text", "pc", "pos") for n in (1, 2)] == pytest.approx([1.0] * 6)
    assert same["length_within_0"] == 100.0 and same["in_training"] == 0.0 and same["distinct_texts"] == 100.0
    other = values(outputs(table, split[1], ["灯山桥 雨石", *words[1:]], ["n n", *tags[1:]]), ComposeScoring())
    # pc of the first: BME BE for BE S BE, 4 of 5; the other 13 symbols match.
    assert other["pc_bleu_1"] == pytest.approx(17 / 18)
    assert other["pos_bleu_1"] == pytest.approx(17 / 18)  # nnnnn for nnvnn
    assert other["text_bleu_1"] == pytest.approx(1.0)
    nats, tokens = table["nll"].sum(), table["tokens"].sum()
    assert same["perplexity"] == other["perplexity"] == pytest.approx(np.exp(nats / tokens))
    assert same["perplexity_padded_12"] == pytest.approx(np.exp(nats / 48))
    assert "perplexity_padded_12" not in other


def test_a_text_that_cannot_be_tagged_has_wrong_structures(split: tuple[Ready, Any], model: SAT) -> None:
    table = base(split, model)
    found = values(outputs(table, split[1], [""] * 4, [""] * 4), ComposeScoring())
    assert found["pc_bleu_1"] == found["pos_bleu_2_whole"] == 0.0


def test_segments_keep_the_words_and_tags_that_were_found_for_reports(split: tuple[Ready, Any], model: SAT) -> None:
    found = outputs(base(split, model), split[1], ["灯山", "", "雨", "石"], ["n", "", "v", "n"])
    rows = TASK.statistics(found, ComposeScoring())[0].rows
    assert rows["text_words"].tolist() == ["灯山", "", "雨", "石"] and rows["text_tags"].tolist() == ["n", "", "v", "n"]


def test_the_likelihood_of_the_dev_split_has_names_of_its_own(split: tuple[Ready, Any], model: SAT) -> None:
    table = base(split, model)
    words, tags = table["reference_words"].tolist(), table["reference_tags"].tolist()
    found = outputs(table, split[1], words, tags)
    half = table.iloc[:2]
    with_dev = Outputs(**{**vars(found), "dev": half})
    scored = values(with_dev, ComposeScoring(padded=9))
    assert scored["perplexity_dev"] == pytest.approx(np.exp(half["nll"].sum() / half["tokens"].sum()))
    assert {"perplexity_tokens_dev", "perplexity_padded_9_dev", "perplexity"} <= scored.keys()


def test_parses_of_other_texts_are_refused(split: tuple[Ready, Any], model: SAT) -> None:
    table = base(split, model)
    found = outputs(table, split[1], [""] * 4, [""] * 4)
    assert found.annotations is not None
    for parses in (None, found.annotations.iloc[::-1]):
        with pytest.raises(ArtifactError, match="the parses are not those of the run's texts; annotate again"):
            TASK.statistics(Outputs(**{**vars(found), "annotations": parses}), ComposeScoring())


# --- rows without a model --------------------------------------------------------------------------------------------


def test_the_floor_goes_on_after_the_prompt_with_a_training_line(split: tuple[Ready, Any], model: SAT) -> None:
    table, train = base(split, model, "continue"), split[1]
    rows = TASK.baselines(table, split[0], train, seed=1)
    assert rows["human"].columns["text"] == table["reference"].tolist() and not rows["human"].trivial
    lines = ["灯山桥雨", "石令舟灯山", "桥雨石令"]
    for text, reference, given in zip(rows["chance"].columns["text"], table["reference"], table["prompt"], strict=True):
        assert text in {reference[:given] + line[given:] for line in lines}
    again = TASK.baselines(table.iloc[2:], split[0], train, seed=1)["chance"].columns["text"]
    assert list(again) == list(rows["chance"].columns["text"])[2:]  # whatever the other rows are
    assert len({*TASK.baselines(table, split[0], train, seed=2)["chance"].columns["text"], *again}) > 2


def test_the_floor_of_models_that_read_topics_is_the_topic_words_behind_the_prompt(
    split: tuple[Ready, Any], model: SAT
) -> None:
    ready, train = split
    assert "topics" not in TASK.baselines(base(split, model), ready, train, seed=1)  # a dataset without topics
    encode = train.vocabulary.encode
    topics = [[*encode("灯山龘"), TOPIC], [TOPIC], [*encode("雨石令灯"), TOPIC], [*encode("山"), TOPIC]]
    columns = {**ready.data.columns, "topic": Ragged.of(topics)}
    topical = dataclasses.replace(ready, data=dataclasses.replace(ready.data, columns=columns))
    table = base(split, model, "continue").iloc[::-1]  # rows are found by their ids

    row = TASK.baselines(table, topical, train, seed=1)["topics"]

    words = {"r0": "灯山", "r1": "", "r2": "雨石令灯", "r3": "山"}
    assert row.columns["text"] == [
        reference[:given] + words[id_]
        for id_, reference, given in zip(table["id"], table["reference"], table["prompt"], strict=True)
    ]
    assert (row.reads, row.trivial) == (("topic",), True)


def test_an_n_gram_model_stands_beside_each_structure_and_writes_under_a_template(split: tuple[Ready, Any]) -> None:
    ready, train = split
    rows = TASK.ngrams(train.vocabulary)
    assert {name: (row.view.structures, row.order) for name, row in rows.items()} == {
        "ngram": ((), 4),
        "ngram_pc": (("pc",), 4),
        "ngram_pos": (("pos",), 4),
        "ngram_pc_pos": (("pc", "pos"), 4),
    }
    nats = {}
    for name, row in rows.items():
        config = NGramConfig(row.view, row.order)
        model = NGram.fit(config, train.vocabulary, [train.batch(np.arange(3), row.view)], train.vocabulary.text_size)
        (inputs,) = TASK.inputs(ready, model, ComposeDecoder(frame=True), RunOptions(), seed=1)
        batch = ready.data.batch(inputs.prompts, row.view)
        found = TASK.generate(model, batch, ComposeDecoder(frame=True), [1, 2, 3, 4])
        assert [len(hypotheses[0].tokens) for hypotheses in found] == [5, 5, 4, 4]
        nats[name] = float(TASK.likelihood(model, train.batch(np.arange(3), row.view))["nll"].sum())
    assert nats["ngram_pc_pos"] < nats["ngram"]  # what is given is no surprise
    english = StructureVocabulary(("a",), "en", {"pos": ("DT",)})
    assert {name: row.order for name, row in TASK.ngrams(english).items()} == {"ngram": 5, "ngram_pos": 4}


# --- settings --------------------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused_before_anything_is_decoded() -> None:
    dataset, decoder = StructureSettings(max_length=20, structures=("pc",)), ComposeDecoder(slack=10)
    with pytest.raises(ConfigError, match=r"no structure pos, which the model reads; add it .* which are pc"):
        decoder.check(SATConfig(structures=("pos",)), dataset, 1)
    config = SATConfig(structures=("pc",), positions=30)
    with pytest.raises(ConfigError, match="texts of up to 31 tokens, of a model that has 30 positions"):
        decoder.check(config, dataset, 1)
    ComposeDecoder(frame=True).check(config, dataset, 1)


def test_a_report_shows_what_the_method_uses_alone() -> None:
    config = SATConfig()
    sampled = ComposeDecoder(slack=5).shown(config, 1, None)
    assert sampled == {
        "protocol": "free", "prompt": "continue", "decoder": "top-k", "k": 32, "beam": None, "slack": 5, "samples": None
    }  # fmt: skip
    searched = ComposeDecoder(method="beam", frame=True, prompt="none").shown(config, 2, None)
    assert searched == {
        "protocol": "frame", "prompt": "none", "decoder": "beam", "k": None, "beam": 5, "samples": 2
    }  # fmt: skip
