"""The page on GuiG: every table of settings is compared with the code and params.yaml."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from espalier.datasets.pairs.encode import PairSettings
from espalier.inference.requests import ParaphraseOptions
from espalier.models.guig_config import EncoderConfig, GuiGConfig, SCPNConfig
from espalier.tasks.paraphrase_decoder import PairDecoder
from pipeline.params.entries import Model, Params, Run
from pipeline.shell.app import app

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import ROOT, Page, key_of, profile

PAGE = Page("docs/guig.md")
TEXT, blocks, table = PAGE.prose, PAGE.blocks, PAGE.table


def keys_of(name: str) -> set[str]:
    """GuiG's models and runs in a profile."""
    params = profile(name)
    return {key for each in (params.models, params.runs) for key, entry in each.items() if entry.paper == "guig"}


#: Those that the tables of models and of runs do not have.
SMALL_ALONE = keys_of("small") - keys_of("paper")


# --- Options ---------------------------------------------------------------------------------------------------------


def test_every_option_of_the_command_is_in_its_table() -> None:
    command = get_command(app).commands["paraphrase"]  # type: ignore[attr-defined]
    options = {name for each in command.params for name in each.opts if name.startswith("--")}
    named = {key_of(each) for row in table("option") for each in row["option"].split(", ")}
    assert named == options - {"--help"}
    [beam] = [row[""] for row in table("option") if row["option"] == "`--beam`"]
    assert beam == f"the model's own, else {ParaphraseOptions.beam}"


# --- Data ------------------------------------------------------------------------------------------------------------


def test_the_shares_are_those_of_the_stand_in() -> None:
    options = profile("small").corpora["guig"].options
    assert {key_of(row["stratum"]): float(row["share"]) for row in table("stratum")} == options["shares"]
    assert f"draws {options['count']:,} pairs of {options['min_words']} to {options['max_words']} words" in TEXT
    assert options["lower"] and options["ascii_only"]


@pytest.mark.parametrize("name", ["small", "paper"])
def test_what_the_page_says_of_the_corpus_is_so(name: str) -> None:
    corpus: Any = profile(name).corpora["guig"]
    assert corpus.options["lower"] and corpus.options["ascii_only"] and corpus.reader == "paraphrases"
    assert (corpus.parser, corpus.filters.min_label_count, corpus.filters.without_identical) == ("penn", 50, True)
    assert (corpus.split.dev, corpus.split.test, corpus.split.sides, corpus.split.stratify) == (
        500,
        800,
        True,
        "origin",
    )
    dataset = profile(name).datasets.linearize["guig"].settings
    assert isinstance(dataset, PairSettings) and dataset.both_directions and dataset.lower
    assert f"{dataset.pieces:,} in `{name}`" in TEXT
    lexicons = {run.lexicon for run in profile(name).runs.values() if run.paper == "guig"}
    assert lexicons == {"lexicons/wordnet"}
    own = {key for key, run in profile(name).runs.items() if run.paper == "guig"}
    assert {each.parser for each in profile(name).annotations.values() if each.run in own} == {"penn"}


def test_what_the_page_says_of_the_whole_stand_in_and_of_the_nursery_is_so() -> None:
    options = profile("paper").corpora["guig"].options
    assert (options["min_words"], options["max_words"], "shares" in options) == (3, 50, False)
    assert {run.lexicon for run in profile("nursery").runs.values()} == {"none"}
    for name in ("nursery", "small"):
        models = [each for each in profile(name).models.values() if each.arch == "guig"]
        assert {each.network.norm for each in models} == {"pre"}


# --- Models, numbers, runs -------------------------------------------------------------------------------------------


def reading(model: Model) -> str:
    """What a model's encoders read, as the page writes it."""
    config = model.network
    if isinstance(config, SCPNConfig):
        return " + ".join(config.view.reads)
    return " + ".join(",".join(each.reads) + ("/path" if each.attention == "path" else "") for each in config.encoders)


@pytest.mark.parametrize("name", ["small", "paper"])
def test_the_table_of_models_is_that_of_params(name: str) -> None:
    models = {key: model for key, model in profile(name).models.items() if model.paper == "guig"}
    models = {key: model for key, model in models.items() if key not in SMALL_ALONE}
    rows = {key_of(row["model"]): row for row in table("model", "in the paper")}
    assert list(rows) == list(models)
    for key, model in models.items():
        row, config = rows[key], model.network
        assert (key_of(row["encoders"]), row["writes"]) == (reading(model), config.writes), key
        assert row["in the paper"] in (model.title, model.title.removeprefix("SE ")), key


def test_the_entries_that_small_alone_has_are_named() -> None:
    assert SMALL_ALONE and all(f"`{key}`" in TEXT for key in SMALL_ALONE)


def test_the_nurserys_models_are_among_them() -> None:
    rows = {key_of(row["model"]): key_of(row["encoders"]) for row in table("model", "in the paper")}
    nursery = {key: reading(model) for key, model in profile("nursery").models.items() if model.paper == "guig"}
    assert nursery and nursery.items() <= rows.items()


def setting(params: Params, key: str, path: str) -> Any:
    """The value of a setting of one model, defaults included."""
    model = params.models[key]
    first, *rest = path.split(".")
    parts: dict[str, Any] = {
        "dataset": params.datasets.linearize[model.dataset].settings,
        "network": model.network,
        "training": model.training,
    }
    value: Any = parts[first] if first in parts else getattr(model, first)
    for part in rest:
        value = [getattr(each, part) for each in value] if isinstance(value, tuple) else getattr(value, part)
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("row", table("key", "released: generator; expander"), ids=lambda row: row["key"].strip("`"))
def test_every_number_of_the_table_is_that_of_params(row: dict[str, str]) -> None:
    cells = list(row.items())[2:]
    assert len(cells) == 4
    for column, cell in cells:
        name, _, key = column.partition(": ")
        assert setting(profile(name), key_of(key), key_of(row["key"])) == yaml.safe_load(cell), column


def test_every_number_of_the_networks_is_in_the_table() -> None:
    named = {key_of(row["key"]) for row in table("key", "released: generator; expander")}
    told = {"writes", "positions", "residual", "divide", "boundary_ids", "sharpness", "encoders", "cut", "copying"}
    own = {f"network.{each}" for each in GuiGConfig.model_fields}
    own |= {f"network.encoders.{each}" for each in EncoderConfig.model_fields if each not in ("reads", "attention")}
    assert own - named == {f"network.{name}" for name in told}


@pytest.mark.parametrize("name", ["small", "paper"])
def test_what_the_page_says_of_the_released_pairs_and_of_our_two_models_is_so(name: str) -> None:
    params = profile(name)
    corpus, dataset = params.corpora["guig_released"], params.datasets.linearize["guig_released"]
    assert (corpus.reader, corpus.parser, dataset.vocab_from) == ("guig_released", "none", "guig")
    row = params.baselines["guig_released"]
    assert (row.train, sorted(row.texts)) == ("guig", ["retrained", "retrained_vectors"])
    tried = {key: run for key, run in params.runs.items() if key.startswith("guig_tg_power_")}
    assert {key: run.decoder.length_power for key, run in tried.items()} == {
        "guig_tg_power_0": 0.0, "guig_tg_power_05": 0.5, "guig_tg_power_1": 1.0,
    }  # fmt: skip
    on_dev = {key for key, run in params.runs.items() if run.paper == "guig" and run.split == "dev"}
    in_both = {run for run in on_dev if run not in SMALL_ALONE}
    assert in_both == {*tried, "guig_se_dev", "guig_se_tg_dev", "guig_se_tg_strict_dev", "guig_se_trees_dev"}
    assert (params.models["guig_tg_cut"].network.cut, params.models["guig_tg"].network.cut) == (0.5, 0.0)
    plain = params.models["guig_scpn_no_copy"].network
    assert isinstance(plain, SCPNConfig) and not plain.copying


def test_the_sizes_of_scpn_are_those_that_the_page_names() -> None:
    models = profile("paper").models
    text, tree = (models[key].network for key in ("guig_scpn", "guig_se_scpn"))
    assert isinstance(text, SCPNConfig) and isinstance(tree, SCPNConfig)
    assert (text.width, text.word, text.label, tree.label, text.attention) == (512, 300, 56, 128, "before")
    training = models["guig_scpn"].training
    assert (training.optimizer, training.rate, training.clip, training.schedule) == ("adam", 5e-5, 5.0, "linear")
    small = {key: each.network.attention for key, each in profile("small").models.items() if each.arch == "scpn"}
    assert {key for key, attention in small.items() if attention == "before"} == {"guig_scpn_full"}
    assert profile("small").runs["guig_se_scpn"].decoder.max_ids == 151


@pytest.mark.parametrize("name", ["small", "paper"])
def test_the_table_of_runs_is_that_of_params(name: str) -> None:
    runs = profile(name).runs
    rows = {key_of(row["run"]): row for row in table("run")}
    guided = {key: run for key, run in runs.items() if run.paper == "guig" and _guide(run) != "target"}
    guided = {key: run for key, run in guided.items() if key not in SMALL_ALONE}
    assert sorted(rows) == sorted(guided)
    for key, run in guided.items():
        row, guide = rows[key], run.guidance.removeprefix("guig/") if run.guidance != "none" else "template"
        bound = runs[guide].decoder.constraint if guide in runs else ""
        assert (key_of(row["writes the text"]), key_of(row["guided by"])) == (run.model, guide), key
        assert row["whose constraint is"] == bound, key
        assert _guide(run) == ("run" if guide in runs else "template"), key
    assert runs["guig_se_free"].model == "guig_se"
    assert runs["guig_frequent"].samples == 5


def _guide(run: Run) -> str:
    return run.decoder.guide


def test_the_table_of_decoding_is_the_decoders_own() -> None:
    rows = {key_of(row["key"]): row for row in table("key", "meaning", "default")}
    assert {key: yaml.safe_load(row["default"]) for key, row in rows.items()} == dict(PairDecoder())
    for key, field in PairDecoder.model_fields.items():
        for choice in getattr(field.annotation, "__args__", ()):
            assert f"`{choice}`" in rows[key]["meaning"], f"{key}: {choice}"
    small = [run for run in profile("small").runs.values() if run.paper == "guig"]
    assert {run.decoder.beam for run in small} == {8}


# --- The released code -----------------------------------------------------------------------------------------------


def test_the_block_of_released_settings_is_one() -> None:
    [(_, lines)] = blocks("yaml")
    block = yaml.safe_load("\n".join(lines))
    config = GuiGConfig.model_validate(block)
    assert config.sharpness**2 == config.width
    named = {part.split(":")[0] for row in table("released", "here") for part in _selected(row)}
    assert {f"network.{key}" for key in block} <= named


def _selected(row: dict[str, str]) -> list[str]:
    return re.findall(r"`((?:network|decoder)\.\w+: [\w.]+)`", row["selected by"])


@pytest.mark.parametrize("row", table("released", "here"), ids=lambda row: row["released"][:40])
def test_every_parameter_that_selects_the_released_behaviour_is_one(row: dict[str, str]) -> None:
    selected = _selected(row)
    assert selected or "not built" in row["selected by"]
    for text in selected:
        path, value = next(iter(yaml.safe_load(text).items()))
        part, name = path.split(".")
        kind: Any = PairDecoder if part == "decoder" else SCPNConfig if "scpn" in row["selected by"] else GuiGConfig
        assert getattr(kind.model_validate({name: value}), name) == value


def test_the_protocols_that_the_page_calls_defaults_are() -> None:
    config = GuiGConfig()
    assert (config.norm, config.residual, config.divide, config.boundary_ids) == ("post", "outside", "paths", False)
    assert (config.alpha, config.beta, config.sharpness, config.passes) == (0.5, 0.5, 1.0, 2)
    assert SCPNConfig().mixture == "distribution"


def test_the_number_of_orderings_and_of_their_resamples_is_right() -> None:
    from espalier.report.comparisons import RESAMPLES

    printed = yaml.safe_load((ROOT / "papers" / "printed" / "guig.yaml").read_text(encoding="utf-8"))
    again = [each for each in printed["orderings"] if each["better"].endswith("_full")]
    ours = [each for each in printed["orderings"] if each.get("ours")]
    theirs = len(printed["orderings"]) - len(again) - len(ours)
    assert f"paper's {theirs} comparisons, four of them again at the paper's sizes, and three of ours" in TEXT
    assert len(ours) == 3
    assert len(again) == 4
    assert f"{RESAMPLES:,} resamples" in TEXT
