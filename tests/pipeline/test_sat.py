"""Texts under templates, from a nursery's lines to scored runs and rows: SAT, GPT2 and the n-grams beside them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_params import PRESETS, baseline, corpus, dataset, empty, model, parser, run

from espalier.io.errors import ConfigError
from espalier.io.files import read_json
from espalier.io.tables import read_table
from pipeline.params.read import load_params
from pipeline.records.baseline_rows import read_rows
from pipeline.stages import annotate, baselines, decode, filter, linearize, parse, score, train, train_parser

RUNS: dict[str, dict[str, Any]] = {
    "gpt2": {"structures": []},
    "p2": {"structures": ["pc", "pos"], "topic": True},
}
ROWS = {"ngram", "ngram_pc", "ngram_pos", "ngram_pc_pos", "chance", "topics", "human"}


def params() -> dict[str, Any]:
    tree = empty()
    tree["parsers"] = {"words": parser()}
    split = {"kind": "random", "seed": 1, "dev": 10, "test": 12}
    options = {"count": 60, "seed": 1}
    tree["corpora"] = {
        "lines": corpus("zh", "lyrics_zh", options=options, parser="words", split=split),
    }
    tree["datasets"]["linearize"] = {
        "lines": dataset("structure", "lines", structures=["pc", "pos"], min_count=1, max_length=24, topics=2)
    }
    tree["presets"] = {"sat": PRESETS["sat"]}
    tree["models"] = {key: model("sat", "lines", network, preset="sat") for key, network in RUNS.items()}
    tree["runs"] = {key: run("compose", key, "lines", annotation=key) for key in RUNS}
    tree["runs"]["p2"]["decoder"] = {"method": "beam", "beam": 2, "frame": True}
    rows = baseline("compose", "lines", parser="words", preset="sat")
    tree["baselines"] = {"lines": rows, "lines_beam": {**rows, "decoder": {"method": "beam", "beam": 3}}}
    tree["annotations"] = {key: {"paper": "sat", "parser": "words", "run": key} for key in RUNS}
    return tree


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project whose stages have all run."""
    place = tmp_path_factory.mktemp("sat")
    (place / "params.yaml").write_text(yaml.safe_dump(params(), allow_unicode=True), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("ESPALIER_DEVICE", "cpu")
        train_parser.run("words")
        for stage in (parse, filter, linearize, baselines):
            stage.run("lines")
        baselines.run("lines_beam")
        for key in RUNS:
            for step in (train, decode, annotate, score):
                step.run(key)
        yield place


def scores(folder: Path, place: str) -> dict[str, float | None]:
    found: dict[str, float | None] = read_json(folder / f"metrics/details/sat/{place}.json")["scores"]
    return found


def test_n_grams_are_searched_as_their_entry_says_and_their_rows_name_another_method(folder: Path) -> None:
    found = {}
    for entry in ("lines", "lines_beam"):
        place = folder / f"metrics/details/sat/baselines/{entry}"
        found[entry] = {path.stem: read_json(path) for path in place.glob("*.json") if path.stem != "dataset"}
    assert {*found["lines_beam"]} == {name for name in ROWS if "ngram" in name}
    for entry, method in (("lines", None), ("lines_beam", "beam")):
        assert {each["settings"].get("method") for each in found[entry].values()} == {method}
    drawn, searched = (own["ngram_pc_pos"]["scores"]["text_bleu_2"] for own in found.values())
    assert searched > drawn


def test_runs_and_rows_are_scored_alike(folder: Path) -> None:
    rows = {path.stem for path in (folder / "metrics/details/sat/baselines/lines").glob("*.json")} - {"dataset"}
    assert rows == ROWS
    both = [scores(folder, "p2"), scores(folder, "baselines/lines/ngram_pc_pos")]
    for name in (
        "perplexity",
        "perplexity_tokens",
        "perplexity_padded_30",
        "perplexity_dev",
        "pc_bleu_2",
        "pos_bleu_1",
    ):
        assert all(each[name] is not None for each in both), name
    ids = [
        set(read_table(folder / f"data/outputs/sat/{place}.parquet")["id"])
        for place in ("p2", "baselines/lines/chance")
    ]
    assert ids[0] == ids[1] and len(ids[0]) == 12
    assert scores(folder, "p2")["length_within_0"] == 100  # by the frame
    assert scores(folder, "gpt2")["own_weight"] is None and (scores(folder, "p2")["own_weight"] or 0) > 0


def test_scoring_test_before_dev_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    score.run("gpt2")
    assert "scored on dev" not in capsys.readouterr().err  # no run of this paper is on dev: nothing is chosen there
    tree = params()
    tree["runs"]["p2_dev"] = {**tree["runs"]["p2"], "split": "dev", "annotation": "p2_dev"}
    tree["annotations"]["p2_dev"] = {"paper": "sat", "parser": "words", "run": "p2_dev"}
    with_dev = folder / "with_dev"
    shutil.copytree(folder, with_dev)
    monkeypatch.chdir(with_dev)
    Path("params.yaml").write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")

    score.run("gpt2")

    assert "gpt2 is scored on test, and no run of gpt2 is scored on dev" in capsys.readouterr().err


def test_the_reference_that_is_tagged_again_has_the_structures_of_its_template(folder: Path) -> None:
    """The template is tagged as a whole line, and so is what was written for it."""
    human = scores(folder, "baselines/lines/human")
    assert human["pc_bleu_2"] == human["pos_bleu_2"] == human["text_bleu_2"] == 1


def test_an_n_gram_that_is_given_more_finds_texts_more_probable(folder: Path) -> None:
    values = {row: scores(folder, f"baselines/lines/{row}")["perplexity"] or 0.0 for row in ROWS if "ngram" in row}
    assert values["ngram_pc_pos"] < values["ngram_pos"] < values["ngram"]
    assert values["ngram_pc"] < values["ngram"]


def test_a_row_says_which_structures_it_is_given(folder: Path) -> None:
    rows = {row.key: row.structures for row in read_rows("lines", load_params().baselines["lines"], "nursery", "zh")}
    assert rows["lines/ngram"] == rows["lines/human"] == frozenset()
    assert rows["lines/ngram_pos"] == {"pos"} and rows["lines/ngram_pc_pos"] == {"pc", "pos"}
    assert rows["lines/topics"] == {"topic"}


def test_the_n_grams_have_three_discounts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from espalier.models.ngram import NGram

    fitted: list[Any] = []
    fit: Callable[..., Any] = NGram.fit

    def watched(config: Any, *arguments: Any) -> Any:
        fitted.append(config)
        return fit(config, *arguments)

    monkeypatch.setattr(NGram, "fit", watched)
    baselines.run("lines")
    assert [(config.order, config.discounts) for config in fitted] == [(4, 3)] * 4


def test_texts_that_no_tagger_reads_again_are_refused(tmp_path: Path) -> None:
    tree = params()
    tree["runs"]["gpt2"]["annotation"] = "none"
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"runs\.gpt2\.annotation: texts of task compose are scored by their parses"):
        load_params(tmp_path / "params.yaml")
