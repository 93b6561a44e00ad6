"""A corpus with test rows alone, and texts that others published for them, scored beside the trivial rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_params import PRESETS, baseline, corpus, dataset, empty

from espalier.io.errors import ConfigError
from espalier.io.files import read_json
from espalier.io.tables import read_table
from pipeline.params.read import load_params
from pipeline.stages import baselines, filter, linearize, parse

#: Source, target and one tree for both.
PAIRS = [
    ("the heron waits here", "here the heron waits", "S NP DT NN VP VBZ ADVP RB", "1 2 3 3 2 3 3 4"),
    ("a heron sings low", "low sings a heron", "S NP DT NN VP VBZ ADVP RB", "1 2 3 3 2 3 3 4"),
    ("herons wait", "the herons wait", "S NP NNS VP VBP", "1 2 3 2 3"),
    ("the moss is green", "green is the moss", "S NP QP VP VBZ", "1 2 3 2 3"),
]


def lines(pairs: list[tuple[str, str, str, str]]) -> str:
    rows = ["\t\t".join((source, labels, levels, target, labels, levels)) for source, target, labels, levels in pairs]
    return "\n".join(rows) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A profile whose corpus `mine` trains, and whose corpus `theirs` has three rows that fit and one that does not."""
    params = empty()
    for source, file, text in (
        ("mine", "pairs.txt", lines(PAIRS[:3] * 3)),
        ("theirs", "test_syn_src.txt", lines(PAIRS)),
    ):
        raw = tmp_path / "data/raw" / source / source
        raw.mkdir(parents=True)
        (raw / file).write_text(text, encoding="utf-8")
        params["sources"]["local"][source] = {"shelf": source, "file": "unused"}
    texts = tmp_path / "data/raw/theirs/theirs/texts.txt"
    texts.write_text("here the heron waits\nlow low low\n\ngreen is the moss\n", encoding="utf-8")
    params["corpora"] = {
        "mine": corpus("en", "paranmt", shelf="mine",
                       split={"kind": "random", "seed": 1, "dev": 1, "test": 1}),
        "theirs": corpus("en", "guig_released", shelf="theirs",
                         split={"kind": "published", "dev": []}),
    }  # fmt: skip
    settings = {"pieces": 60, "min_length": 2}
    params["datasets"]["linearize"] = {
        "mine": dataset("pairs", "mine", **settings),
        "theirs": dataset("pairs", "theirs", **settings) | {"vocab_from": "mine"},
    }
    params["presets"] = {"guig": PRESETS["guig"]}
    params["baselines"] = {
        "theirs": baseline(
            "paraphrase", "theirs", train="mine", published="theirs/theirs", texts={"retrained": "texts.txt"}
        )
    }
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ESPALIER_DEVICE", "cpu")
    yield tmp_path


def changed(folder: Path, **values: Any) -> None:
    params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    params["baselines"]["theirs"] |= values
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


def test_published_texts_are_scored_on_the_rows_that_fit(folder: Path) -> None:
    for key in ("mine", "theirs"):
        parse.run(key)
        filter.run(key)
        linearize.run(key)
    assert read_json(folder / "metrics/corpora/theirs.json") == {
        "read": 4, "train": 0, "dev": 0, "test": 4, "quarantined": 0,
    }  # fmt: skip
    assert read_json(folder / "metrics/details/datasets/theirs.json")["quarantined"] == {"unknown label": 1}
    baselines.run("theirs")
    rows = {path.stem for path in (folder / "metrics/guig/baselines/theirs").iterdir()}
    assert rows == {"chance", "copy", "exemplar", "human", "ngram", "retrained"}
    details = {row: read_json(folder / f"metrics/details/guig/baselines/theirs/{row}.json") for row in rows}
    assert {each["counts"]["records"] for each in details.values()} == {3}
    assert details["human"]["scores"]["rouge_1"] == 100
    # One text is the reference, one shares a word of four, one is empty.
    one = 2 * (1 / 3) * (1 / 4) / (1 / 3 + 1 / 4)
    assert details["retrained"]["scores"]["rouge_1"] == pytest.approx(100 * (1 + one) / 3, abs=1e-3)


def test_each_sample_has_a_file_of_its_own(folder: Path) -> None:
    for key in ("mine", "theirs"):
        parse.run(key)
        filter.run(key)
        linearize.run(key)
    raw = folder / "data/raw/theirs/theirs"
    (raw / "second.txt").write_text("one\ntwo\nthree\nfour\n", encoding="utf-8")
    changed(folder, samples=2, texts={"drawn": ["texts.txt", "second.txt"], "alone": "texts.txt"})
    baselines.run("theirs")
    written = {
        name: read_table(folder / f"data/outputs/guig/baselines/theirs/{name}.parquet") for name in ("drawn", "alone")
    }
    texts = {name: list(table.sort_values(["sample", "id"])["text"]) for name, table in written.items()}
    first = ["here the heron waits", "low low low", ""]
    assert texts == {"drawn": [*first, "one", "two", "three"], "alone": first * 2}


def test_a_row_of_published_texts_has_a_name_of_its_own(folder: Path) -> None:
    for key in ("mine", "theirs"):
        parse.run(key)
        filter.run(key)
        linearize.run(key)
    changed(folder, texts={"human": "texts.txt"})
    with pytest.raises(ConfigError, match=r"baselines\.theirs\.texts: the row human has this name"):
        baselines.run("theirs")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"texts": {}}, r"theirs\.texts: no file of source theirs/theirs"),
        ({"published": "none"}, r"theirs\.texts: files of no source"),
        ({"published": "shelf/ours"}, r"theirs\.published: unknown reference 'shelf/ours'"),
        ({"texts": {"retrained": "../texts.txt"}}, r"must be a plain relative path"),
        ({"samples": 3, "texts": {"drawn": ["a", "b"]}}, r"theirs\.texts\.drawn: 2 files for 3 samples"),
        ({"train": "ours"}, r"theirs\.train: unknown reference 'ours'"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(folder: Path, values: dict[str, Any], message: str) -> None:
    changed(folder, **values)
    with pytest.raises(ConfigError, match=message):
        load_params(folder / "params.yaml")


def test_the_n_gram_model_counts_rows_in_the_same_vocabulary(folder: Path) -> None:
    params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    params["datasets"]["linearize"]["theirs"]["vocab_from"] = "none"
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"theirs\.train: dataset mine does not have the vocabulary of"):
        load_params(folder / "params.yaml")
