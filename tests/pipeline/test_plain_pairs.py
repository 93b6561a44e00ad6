"""Pairs without trees, from raw lines to scored rows: no parser, published word pieces, sides that are cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from small_params import PRESETS, baseline, corpus, dataset, empty

from espalier.io.errors import DataError
from espalier.io.files import read_json
from espalier.io.tables import read_table
from pipeline.stages import baselines, filter, linearize, parse

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, "?", "lamp", "lit", "who", "it"]
TRAIN = [("Who lit it?", "It is lit?"), ("It is lit?", "a lamp lit it?"), ("A lamp?", "lamps")] * 2
TEST = [("who lit it", "A lamp lit it?"), ("a moth?", "lamps who lit it lamps lit it?"), ("lamps", "who?")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    params = empty()
    for source, shelf, file, lines in (
        ("asked", "questions", "train.tsv", ["\t".join(pair) for pair in TRAIN]),
        ("asked", "questions", "test.tsv", ["\t".join(pair) for pair in TEST]),
        ("bert", "pieces", "bert-base-uncased-vocab.txt", [*PIECES, *(f"##{letter}" for letter in LETTERS)]),
    ):
        raw = tmp_path / "data/raw" / shelf / source
        raw.mkdir(parents=True, exist_ok=True)
        (raw / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        params["sources"]["local"][source] = {"shelf": shelf, "file": "unused"}
    params["corpora"] = {"asked": corpus("en", "tsv", shelf="questions", split={"kind": "published", "dev": []})}
    settings = {"trees": False, "min_length": 1, "max_length": 5, "min_count": 2, "cut": True, "keep_pairs": True}
    params["datasets"]["linearize"] = {
        "asked": dataset("pairs", "asked", both_directions=False, **settings) | {"pieces_from": "pieces/bert"}
    }
    params["presets"] = {"guig": PRESETS["guig"]}
    scoring = {"families": ["released", "paper", "copies", "perplexity"], "pieces": 5}
    decoder = {"beam": 2, "max_ids": 6}
    params["baselines"] = {"asked": baseline("paraphrase", "asked", scoring=scoring, decoder=decoder)}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ESPALIER_DEVICE", "cpu")
    yield tmp_path


def test_pairs_without_trees_need_no_parser_and_are_scored_on_three_sets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for stage in (parse, filter, linearize):
        stage.run("asked")
    # "a m ##o ##t ##h ?" has six pieces, its target ten; five are left of each.
    assert "test: cut source 1, cut target 1" in capsys.readouterr().err
    counts = read_json(folder / "metrics/details/datasets/asked.json")["splits"]["test"]
    assert (counts["cut_source"], counts["cut_target"]) == (1, 1)
    baselines.run("asked")
    details = {
        path.stem: read_json(path)
        for path in (folder / "metrics/details/guig/baselines/asked").glob("*.json")
        if path.stem != "dataset"
    }
    assert {*details} == {"chance", "copy", "human", "look_up", "ngram", "noise"}
    # The first pair is joined by way of "It is lit?"; of the second no side trains; of the third one does.
    assert {(each["counts"]["unseen"], each["counts"]["joined"]) for each in details.values()} == {(1, 1)}
    copy, looked_up = (details[row]["scores"] for row in ("copy", "look_up"))
    assert copy["copied"] == copy["copied_joined"] == copy["copied_unseen"] == 100
    assert looked_up["copied"] == pytest.approx(100 / 3, abs=1e-3) and looked_up["copied_unseen"] == 100
    texts = read_table(folder / "data/outputs/guig/baselines/asked/look_up.parquet").sort_values("id")["text"]
    assert list(texts) == ["it is lit ?", "a moth ?", "a lamp ?"]
    assert details["human"]["scores"]["paper_bleu_2"] == 100 and "ted_full" not in copy and "bleu" not in copy


def test_pieces_of_no_bert_vocabulary_are_one_line(folder: Path) -> None:
    (folder / "data/raw/pieces/bert/bert-base-uncased-vocab.txt").write_text("lamp\nlit\n", encoding="utf-8")
    for stage in (parse, filter):
        stage.run("asked")
    with pytest.raises(DataError, match=r"vocab\.txt: no BERT vocabulary: no \[CLS\], \[SEP\], \[UNK\]"):
        linearize.run("asked")
