"""espalier granularity, and espalier paraphrase by models that read texts alone. The models were never trained."""

from __future__ import annotations

import io
import json
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_params import PRESETS, corpus, dataset, empty, model, parser, run, write
from untrained import save_untrained

import espalier
from espalier.datasets.pairs.encode import PairSettings
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.io.tables import read_table
from espalier.io.yaml_files import load_yaml

Cli = Callable[..., Any]
Refuse = Callable[..., str]

SOURCE = "How long is the ferry ride?"
SIZES = {"encoder_layers": 2, "layers": 3, "width": 12, "heads": 2, "inner": 12, "positions": 32}
MODELS: dict[str, dict[str, Any]] = {"cdnpg_rs": {"first_layer": 1}, "plain": {"granularity": "none"}}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of models of pairs without trees; there is no parser."""
    folder = tmp_path_factory.mktemp("harbour")
    vocabulary = PairVocabulary.build([SOURCE, "abcdefghijklmnopqrstuvwxyz"], None, "en", pieces=60, lower=True)
    for key, network in MODELS.items():
        settings = PairSettings(trees=False, max_length=20)
        save_untrained(folder / "data/models" / key, "cdnpg", SIZES | network, vocabulary, settings)
    tree = empty()
    tree["corpora"] = {"harbour": corpus("en", "paraphrase_en")}
    tree["datasets"]["linearize"] = {"harbour": dataset("pairs", "harbour", trees=False, max_length=20)}
    tree["presets"] = {"plain": {"network": {}, "training": {"steps": 1}}}
    tree["models"] = {key: model("cdnpg", "harbour", SIZES | network) for key, network in MODELS.items()}
    write(folder, tree)
    return folder


# --- paraphrase -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", MODELS)
def test_paraphrase_needs_no_parser_and_no_expander_where_there_are_no_trees(harbour: Path, cli: Cli, key: str) -> None:
    answer = cli(harbour, "paraphrase", SOURCE, "--model", key, "--n", "2", "--beam", "3", "--json")
    found = [json.loads(line) for line in answer.out.splitlines()]
    assert answer.status == 0 and [each["model"] for each in found] == [key, key]
    wanted = espalier.load(harbour / "data/models" / key, device="cpu").paraphrase([SOURCE], n=2, beam=3)
    assert [each["text"] for each in found] == [each.text for each in wanted]
    lines = cli(harbour, "paraphrase", SOURCE, "--model", key, "--n", "2", "--beam", "3").out.splitlines()
    assert lines == [each.text for each in wanted]


def test_the_parser_that_gives_texts_their_words_is_named_with_its_stage(
    harbour: Path, refused: Refuse, tmp_path: Path
) -> None:
    project = shutil.copytree(harbour, tmp_path / "harbour")
    tree = load_yaml(project / "params.yaml") | {"parsers": {"own": parser("benepar", "en", "harbour")}}
    write(project, tree)
    line = refused(project, "paraphrase", SOURCE, "--model", "plain")
    assert "data/parsers/own: parser own is not made; dvc repro train_parser@own" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--template", "(S (NP))"], "--template: model plain reads no tree; leave it out"),
        (["--templates", "2"], "--templates: model plain reads no tree"),
        (["--like", "i sleep"], "--like: model plain reads no tree"),
        (["--show-tree"], "--show-tree: model plain reads no tree"),
        (["--expander", "cdnpg_rs"], "--expander: model plain reads no tree"),
        (["--n", "9"], "--n: 9 texts of 8 beams"),
    ],
)
def test_an_option_for_trees_is_refused(harbour: Path, refused: Refuse, options: list[str], message: str) -> None:
    assert message in refused(harbour, "paraphrase", SOURCE, "--model", "plain", *options)


# --- granularity ------------------------------------------------------------------------------------------------------


def test_a_table_has_a_column_for_each_piece_and_a_row_for_each_layer(harbour: Path, cli: Cli) -> None:
    lines = cli(harbour, "granularity", SOURCE, "--model", "cdnpg_rs").out.splitlines()
    (found,) = espalier.load(harbour / "data/models/cdnpg_rs", device="cpu").granularities([SOURCE])
    assert lines[0].split() == ["encoder", *found.source_pieces]
    assert [line.split()[:2] for line in lines[1:3]] == [["layer", "2"], ["layer", "1"]]
    assert lines[2].split()[2:] == [f"{z:.2f}" for z in found.encoder[1]]
    assert lines[3].split() == ["decoder", *found.text_pieces] and len({len(line) for line in lines[:3]}) == 1
    assert [line.split()[1] for line in lines[4:7]] == ["3", "2", "1"]


def test_the_only_model_with_granularity_needs_no_name(harbour: Path, cli: Cli) -> None:
    named, unnamed = (cli(harbour, "granularity", SOURCE, *more) for more in (["--model", "cdnpg_rs"], []))
    assert (unnamed.status, unnamed.out) == (0, named.out)


def test_json_has_the_values_of_every_layer(harbour: Path, cli: Cli) -> None:
    (line,) = cli(harbour, "granularity", SOURCE, "--model", "cdnpg_rs", "--json").out.splitlines()
    found = json.loads(line)
    assert (found["source"], found["model"]) == (SOURCE, "cdnpg_rs")
    assert [*found["encoder"]] == ["1", "2"] and [*found["decoder"]] == ["1", "2", "3"]
    assert len(found["encoder"]["2"]) == len(found["source_pieces"])
    assert all(z == round(z, 4) for z in found["encoder"]["2"])


def test_the_drawing_stands_alone_and_has_each_piece_and_value(harbour: Path, cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "z.svg"
    answer = cli(harbour, "granularity", SOURCE, "--model", "cdnpg_rs", "--out", str(out))
    assert (answer.status, answer.err) == (0, "")
    svg = out.read_text(encoding="utf-8")
    assert "var(" not in svg and "<script" not in svg
    root = ET.fromstring(svg)
    texts = ["".join(each.itertext()).strip() for each in root.iter("{http://www.w3.org/2000/svg}text")]
    (found,) = espalier.load(harbour / "data/models/cdnpg_rs", device="cpu").granularities([SOURCE])
    assert {*found.source_pieces, *found.text_pieces, "layer 1", "layer 2", "layer 3"} <= {*texts}
    assert {f"encoder: {SOURCE}", f"decoder: {found.text}"} <= {*texts}
    values = [f"{z:.2f}" for layers in (found.encoder, found.decoder) for row in layers.values() for z in row]
    assert sorted(text for text in texts if text.replace(".", "").isdigit()) == sorted(values)
    first = svg
    cli(harbour, "granularity", SOURCE, "--model", "cdnpg_rs", "--out", str(out))
    assert out.read_text(encoding="utf-8") == first


def test_what_follows_a_tab_is_read_too(harbour: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("how long\tis the ride?\n"))
    (line,) = cli(harbour, "granularity", "--json").out.splitlines()
    assert json.loads(line)["source"] == "how long is the ride?"


def test_a_line_that_cannot_be_read_is_named_and_the_others_are_drawn(
    harbour: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{SOURCE}\n?!\nhow long?\n"))
    answer = cli(harbour, "granularity", "--model", "cdnpg_rs", "--out", str(tmp_path / "z.svg"))
    assert answer.status == 1 and answer.err.startswith("espalier: standard input, row 2: no words")
    svg = (tmp_path / "z.svg").read_text(encoding="utf-8")
    assert f"encoder: {SOURCE}" in svg and "encoder: how long?" in svg


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([SOURCE, "--model", "plain"], "--model: model plain serves paraphrase; granularity needs a model with gran"),
        (
            [SOURCE, "--model", "cdnpg_rs", "--out", "z.png"],
            "--out: z.png is no name of a drawing; give a name",
        ),
        ([SOURCE, "--model", "cdnpg_rs", "--beam", "0"], "--beam: 0 is too small; at least 1"),
        (["", "--model", "cdnpg_rs"], "text: no words"),
        (["--file", "nosuch.txt", "--model", "cdnpg_rs"], "nosuch.txt: no such file"),
    ],
)
def test_bad_input_is_one_line(harbour: Path, refused: Refuse, command: list[str], message: str) -> None:
    assert message in refused(harbour, "granularity", *command)


def test_a_drawing_of_too_many_texts_is_refused(
    harbour: Path, refused: Refuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{SOURCE}\n" * 11))
    line = refused(harbour, "granularity", "--model", "cdnpg_rs", "--out", "z.svg")
    assert "--out: 11 texts in one drawing; at most 10" in line


# --- From a corpus to a text ------------------------------------------------------------------------------------------


def test_a_corpus_without_trees_becomes_a_model_that_writes_and_shows_its_granularity(tmp_path: Path, cli: Cli) -> None:
    tree = empty()
    split = {"kind": "group", "seed": 1, "sides": False, "dev": 6, "test": 6}
    tree["corpora"] = {"said": corpus("en", "paraphrase_en", options={"count": 60, "seed": 1}, split=split)}
    tree["datasets"]["linearize"] = {"said": dataset("pairs", "said", pieces=200, trees=False, max_length=60)}
    tree["presets"] = PRESETS
    training = PRESETS["guig"]["training"]
    tree["models"] = {
        "cdnpg_rs": model("cdnpg", "said", SIZES | {"copying": True, "positions": 64}, paper="guig", training=training)
    }
    tree["runs"] = {"cdnpg_rs": run("paraphrase", "cdnpg_rs", "said", {"beam": 2, "max_ids": 61, "granularity": True})}
    write(tmp_path, tree)
    for stage, key in (
        ("parse", "said"), ("filter", "said"), ("linearize", "said"), ("train", "cdnpg_rs"), ("decode", "cdnpg_rs"),
    ):  # fmt: skip
        answer = cli(tmp_path, stage, key)
        assert answer.status == 0, answer.err
    table = read_table(tmp_path / "data/outputs/guig/cdnpg_rs.parquet")
    assert len(table) == 6 and table["nll"].notna().all() and (table["tree"] == "").all()
    row = table.iloc[0]
    kept = json.loads(row["granularity"])
    (found,) = espalier.load(tmp_path / "data/models/cdnpg_rs", device="cpu").granularities([row["source"]], beam=2)
    assert tuple(kept["source_pieces"]) == found.source_pieces and tuple(kept["text_pieces"]) == found.text_pieces
    assert kept["decoder"]["3"] == pytest.approx(found.decoder[3], abs=1e-3)
    answer = cli(tmp_path, "granularity", "the cook sees a dog .", "--model", "cdnpg_rs")
    assert answer.status == 0 and answer.out.startswith("encoder")
