"""The page on X2Tree: its examples are run, and every table and number is compared with the code and params.yaml."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from typer.main import get_command

from espalier.datasets.dialogue.encode import DialogueSettings
from espalier.models.dialogue_config import RNNSeq2SeqConfig, X2TreeConfig
from espalier.tasks.dialogue_decoder import DialogueDecoder
from espalier.training.config import TrainingConfig
from pipeline import layout
from pipeline.params.entries import Model, Params
from pipeline.shell.app import app

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import ROOT, Page, details, key_of, profile

PAGE = Page("docs/x2tree.md")
TEXT, table = PAGE.prose, PAGE.table
#: What is not there for a model.
NONE = "–"


# --- What the page names ---------------------------------------------------------------------------------------------


def test_every_equation_of_the_paper_has_a_row() -> None:
    assert [row["eq."] for row in table("eq.")] == list("123456")


# --- Models, numbers, search -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", layout.PROFILES)
def test_the_table_of_models_is_that_of_params(name: str) -> None:
    rows = {key_of(row["model"]): row for row in table("model", "in the paper")}
    models = {key: model for key, model in profile(name).models.items() if key in rows}
    assert name == "nursery" or list(models) == list(rows)
    for key, model in models.items():
        row, config = rows[key], model.network
        assert (key_of(row["arch"]), key_of(row["context"])) == (model.arch, config.context), key
        assert row["in the paper"].split(" (")[0] == model.title, key
        assert model.paper == "x2tree"


def test_the_default_of_x2tree_is_the_context_that_encdec_has() -> None:
    assert X2TreeConfig().context == RNNSeq2SeqConfig().context == "last"


def setting(params: Params, key: str, path: str) -> Any:
    """The value of a setting of one model, or of the run of its name, defaults included; `NONE` for none."""
    model = params.models[key]
    first, *rest = path.split(".")
    if not rest:
        return list(getattr(model, first))
    if first == "decoder" and rest[0] in ("local", "order") and model.arch != "x2tree":
        return NONE
    parts: dict[str, Any] = {
        "dataset": params.datasets.canonicalize[model.dataset].settings,
        "network": model.network,
        "decoder": params.runs[key].decoder,
        "training": model.training,
    }
    return getattr(parts[first], rest[0], NONE)


@pytest.mark.parametrize("row", table("key", "the paper"), ids=lambda row: row["key"].strip("`"))
def test_every_number_of_the_table_is_that_of_params(row: dict[str, str]) -> None:
    cells = list(row.items())[2:]
    assert cells
    for column, cell in cells:
        name, _, key = column.partition(": ")
        assert setting(profile(name), key_of(key), key_of(row["key"])) == yaml.safe_load(cell), column


def test_every_number_of_the_networks_and_of_the_dataset_is_in_the_table() -> None:
    named = {key_of(row["key"]) for row in table("key", "the paper")}
    own = {f"network.{each}" for config in (X2TreeConfig, RNNSeq2SeqConfig) for each in config.model_fields}
    own |= {f"dataset.{name}" for name in DialogueSettings.model_fields}
    assert own <= named


def test_what_the_page_prints_of_the_paper_is_what_the_defaults_are() -> None:
    rows = {key_of(row["key"]): row["the paper"] for row in table("key", "the paper")}
    tree, chain = X2TreeConfig(), RNNSeq2SeqConfig()
    for key in ("arity", "width", "word", "scale"):
        assert float(rows[f"network.{key}"].replace(",", "")) == getattr(tree, key), key
    assert (tree.width, tree.word, tree.scale) == (chain.width, chain.word, chain.scale)
    assert (tree.readout, chain.readout) == (512, 512) and "`readout: 512`" in TEXT
    assert not tree.bidirectional and not tree.shared
    assert TrainingConfig(steps=1).rho == 0.95 and "`rho: 0.95`" in TEXT
    decoder = DialogueDecoder()
    assert rows["decoder.beam"].split(";")[0] == str(decoder.beam) and rows["decoder.local"] == str(decoder.local)


def test_the_table_of_search_is_the_decoders_own() -> None:
    rows = {key_of(row["key"]): row for row in table("key", "meaning", "default")}
    assert {key: yaml.safe_load(row["default"]) for key, row in rows.items()} == DialogueDecoder().model_dump()
    for key, field in DialogueDecoder.model_fields.items():
        for choice in get_args(field.annotation):
            assert f"`{choice}`" in rows[key]["meaning"], f"{key}: {choice}"


def test_every_key_that_the_page_sets_is_one() -> None:
    settings = re.findall(
        r"`(arity|context|bidirectional|shared|readout|order|stop|optimizer|rho|patience): ([\w.]+)`", TEXT
    )
    assert len(settings) > 8
    for key, value in settings:
        kind = next(kind for kind in (X2TreeConfig, DialogueDecoder, TrainingConfig) if key in kind.model_fields)
        steps = {"steps": 1} if kind is TrainingConfig else {}
        assert getattr(kind.model_validate({key: yaml.safe_load(value), **steps}), key) == yaml.safe_load(value)


@pytest.mark.parametrize("name", ["reply", "chat"])
def test_every_option_of_a_command_is_in_the_table(name: str) -> None:
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    options = {option for each in command.params for option in each.opts if option.startswith("--")}
    rows = table("option", "of")
    assert {key_of(row["option"]) for row in rows if name in row["of"].split(", ")} == options - {"--help"}


def test_the_beams_of_the_commands_are_those_that_the_page_names() -> None:
    from espalier.inference.dialogue import LOCAL
    from espalier.inference.requests import ReplyOptions

    rows = {key_of(row["option"]): row[""] for row in table("option", "of")}
    assert rows["--beam"].endswith(f"default: the model's own, else {ReplyOptions.beam}")
    assert rows["--local"].endswith(f"default: the model's own, else {LOCAL}")


# --- Data ------------------------------------------------------------------------------------------------------------


def test_what_the_page_says_of_the_corpus_is_what_was_counted() -> None:
    corpus = details("corpora", "weibo")
    rows = corpus["rows"]
    assert f"{rows['read']:,} pairs are read" in TEXT
    assert f"the training split has {rows['train']:,}, dev {rows['dev']:,} and test {rows['test']:,}" in TEXT
    fit = details("datasets", "weibo")["rows"]["train"]
    assert f"Of the {rows['train']:,} pairs {fit:,} fit the encoding" in TEXT
    assert {row["reason"]: int(row["pairs"]) for row in table("reason")} == corpus["quarantined"]
    assert not any(corpus["leakage"].values())


def test_what_the_page_says_of_the_second_corpus_is_what_was_counted() -> None:
    corpus = details("corpora", "xdailydialog")
    rows = corpus["rows"]
    assert f"of {rows['read']:,} pairs {corpus['quarantined']['duplicate']:,} are duplicates" in TEXT
    assert f"{rows['train']:,} training, {rows['dev']:,} dev and {rows['test']:,} test pairs" in TEXT
    assert not any(corpus["leakage"].values())


def test_what_the_page_says_of_both_corpora_together_is_what_was_counted() -> None:
    corpus, fit = details("corpora", "weibo_daily"), details("datasets", "weibo_daily")["rows"]
    read, *kept = (corpus["rows"][name] for name in ("read", "train", "dev", "test"))
    assert f"of {read:,} pairs, {kept[0]:,} are training, {kept[1]:,} dev and {kept[2]:,} test pairs" in TEXT
    assert f"{fit['train']:,}, {fit['dev']:,} and {fit['test']:,} fit the encoding" in TEXT
    assert not any(corpus["leakage"].values())


def test_what_the_page_says_of_how_the_corpus_is_made_is_so() -> None:
    corpus: Any = profile("small").corpora["weibo"]
    assert (corpus.reader, corpus.parser, corpus.filters.max_repeat) == ("weibo", "gsd", 4)
    assert (corpus.split.kind, corpus.split.sides) == ("group", True)
    assert profile("small").parsers["gsd"].backend == "spacy"
    assert profile("small").parsers["ewt"].language == "en"
    assert profile("nursery").corpora["dialogue_zh"].parser == layout.NONE


def test_the_parsers_score_stands_beside_the_results() -> None:
    scores = details("parsers", "gsd")["scores"]
    assert f"**UAS of {scores['uas']:.2f}** and a LAS of {scores['las']:.2f}" in TEXT


def test_the_rows_that_do_not_read_the_post_are_at_chance() -> None:
    assert "the n-gram models have exactly 10 %" in TEXT
    for row in ("ngram", "ngram_tree"):
        assert details("x2tree/baselines/weibo", row)["scores"]["recall_1_of_10"] == 10


# --- Parameters ------------------------------------------------------------------------------------------------------


def counted(model: Model, words: int) -> int:
    """The parameters of a model with a vocabulary of so many words; nothing is allocated."""
    import torch

    from espalier.datasets.vocabulary import WordVocabulary
    from espalier.models.rnn_seq2seq import RNNSeq2Seq
    from espalier.models.x2tree import X2Tree

    kind: Any = {"x2tree": X2Tree, "rnn_seq2seq": RNNSeq2Seq}[model.arch]
    with torch.device("meta"):
        built = kind(model.network, WordVocabulary(tuple(map(str, range(words))), "zh"))
    return sum(parameter.numel() for parameter in built.parameters())


@pytest.mark.parametrize("name", ["small", "paper"])
def test_the_counts_of_parameters_are_those_of_the_models(name: str) -> None:
    # The vocabulary of `small` was counted; that of `paper` is the most that is allowed.
    words = (
        details("datasets", "weibo")["rows"]["words"]
        if name == "small"
        else setting(profile(name), "x2tree", "dataset.words")
    )
    counts = {}
    for row in table("model", "small: width"):
        key = key_of(row["model"])
        if row[f"{name}: width"] == NONE:
            assert key not in profile(name).models
            continue
        model = profile(name).models[key]
        counts[key] = counted(model, words)
        assert int(row[f"{name}: width"]) == model.network.width, key
        assert row[f"{name}: million parameters"] == f"{counts[key] / 1e6:.2f}", key
        assert f"{words:,}" in TEXT
    large = {"x2tree_full", "x2tree_att_full"}
    ours = {"x2tree_line", "x2tree_linear", "x2tree_shared", "x2tree_encdec_wide"}
    groups = [large, counts.keys() - large] if name == "small" else [ours]
    assert list(map(len, groups)) == {"small": [2, 7], "paper": [4]}[name]
    for group in groups:
        equal = [counts[key] for key in group]
        assert max(equal) < 1.1 * min(equal)


# --- Scoring ---------------------------------------------------------------------------------------------------------


def test_what_the_page_says_of_the_report_is_so() -> None:
    from espalier.report.comparisons import RESAMPLES

    printed = yaml.safe_load((ROOT / "papers" / "printed" / "x2tree.yaml").read_text(encoding="utf-8"))
    assert f"{RESAMPLES:,} resamples" in TEXT
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    assert params["protocols"]["x2tree"]["best"] == 5 and "the five best replies of each model" in TEXT
    levels = {row["label"]: row["printed"]["level_3"] for row in printed["tables"][0]["rows"]}
    assert f"{levels['X2Tree']} − {levels['NRM']}" in TEXT
    assert round(levels["X2Tree"] - levels["NRM"], 2) == 11.15
