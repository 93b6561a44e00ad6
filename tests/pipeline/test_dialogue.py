"""The stages of dialogue on the small project: trees of the nursery's talk, two models, and their replies."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from small_params import baseline

from espalier.corpora.readers import READERS
from espalier.corpora.records import Pair
from espalier.datasets.dialogue.data import ARITY
from espalier.datasets.registry import ENCODINGS
from espalier.datasets.vocabulary import WordVocabulary
from espalier.io.files import read_json
from espalier.io.hashing import digest
from espalier.io.tables import table_metadata, write_table
from espalier.models.serialization import load_model
from espalier.nursery.dialogue_zh import is_grammatical
from espalier.syntax.ternary import flatten
from pipeline import layout
from pipeline.graph.written import record
from pipeline.params.entries import Corpus
from pipeline.records.artifacts import grammar_of, read_ready, read_records
from pipeline.stages import baselines, canonicalize, decode, score, train
from tests.metrics.keys import DIALOGUE

Cli = Callable[..., Any]
Refuse = Callable[..., str]
Edit = Callable[..., None]


def added(params: dict[str, Any]) -> None:
    """A dataset of short sides with a model, a chain model with two seeds, runs of both, and a dialogue's baselines."""
    models, runs = params["models"], params["runs"]
    datasets = params["datasets"]["canonicalize"]
    datasets["short"] = datasets["talk"] | {"max_words": 10, "words": 100, "max_unknown": 0.5}
    models["twice"] = models["grower"] | {
        "arch": "rnn_seq2seq", "network": {"context": "nrm"}, "default_for": [], "seeds": [1, 2],
    }  # fmt: skip
    models["short"] = models["grower"] | {"dataset": "short", "network": {"positions": 11}, "default_for": []}
    runs["replied"] = runs["grown"] | {"model": "twice", "decoder": {"beam": 4, "max_words": 12}, "samples": 3}
    runs["skipped"] = runs["replied"] | {"decoder": {"beam": 4, "max_words": 12, "skip": 1, "posts": 2}}
    runs["short"] = runs["grown"] | {"model": "short", "dataset": "short"}
    params["baselines"]["talk"] = baseline("dialogue", "talk", samples=2)


@pytest.fixture(scope="module")
def talked(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small project in which all of this has run; tests leave it as they found it."""
    folder = tmp_path_factory.mktemp("talked") / "project"
    shutil.copytree(built, folder, symlinks=True, ignore=shutil.ignore_patterns(".git", ".dvc"))
    params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    added(params)
    (folder / "params.yaml").write_text(json.dumps(params, ensure_ascii=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("ESPALIER_DEVICE", "cpu")
        patch.setenv("ESPALIER_WORKERS", "1")  # each process of a seed would import torch
        canonicalize.run("short")
        for model in ("twice", "short"):
            train.run(model)
        for run in ("replied", "skipped", "short"):
            decode.run(run)
            score.run(run)
        baselines.run("talk")
    return folder


@pytest.fixture
def restored(talked: Path) -> Any:
    """The built folder, with `params.yaml` and the files of run `grown` put back after the test."""
    names = [
        "params.yaml", "metrics/x2tree/grown.json", "metrics/details/x2tree/grown.json",
        "data/outputs/x2tree/grown.parquet",
        "data/segments/x2tree/grown.parquet", "data/ready/talk/vocabulary.json",
        "metrics/details/parsing/talk.json",
    ]  # fmt: skip
    before = [(talked / name, (talked / name).read_bytes()) for name in names]
    yield talked
    for file, data in before:
        file.chmod(0o644)
        file.write_bytes(data)
    (talked / layout.scratch("written") / "canonicalize@talk.json").unlink(missing_ok=True)


def outputs(folder: Path, run: str) -> pd.DataFrame:
    return pd.read_parquet(folder / f"data/outputs/x2tree/{run}.parquet")


def details(folder: Path, run: str) -> Any:
    return read_json(folder / f"metrics/details/x2tree/{run}.json")


def split_of(folder: Path, split: str = "test") -> list[Pair]:
    return read_records(folder / "data/corpora/talk", split, Pair)


# --- canonicalize -----------------------------------------------------------------------------------------------------


def test_every_pair_is_ready_and_its_tree_gives_its_words_back(talked: Path) -> None:
    numbers, dataset = (read_json(talked / f"{kind}/datasets/talk.json") for kind in ("metrics", "metrics/details"))
    assert sum(numbers[name] for name in ("train", "dev", "test")) == 60 and numbers["quarantined"] == 0
    assert dataset["quarantined"] == {} and dataset["rows"] == numbers
    vocabulary = WordVocabulary.load(talked / "data/ready/talk/vocabulary.json")
    for split in ("train", "dev", "test"):
        table = pd.read_parquet(talked / f"data/ready/talk/{split}.parquet")
        rows = split_of(talked, split)
        assert table["id"].tolist() == [row.id for row in rows] and len(table) == numbers[split]
        assert dataset["splits"][split]["words"] == sum(len(row.target_words.split()) for row in rows)
        for row, order, children in zip(rows, table["order"], table["children"], strict=True):
            assert order[flatten(children.reshape(-1, ARITY))].tolist() == list(range(len(order)))
            assert len(order) == len(row.target_words.split())
    words = {word for row in split_of(talked, "train") for word in f"{row.source_words} {row.target_words}".split()}
    assert {*vocabulary.words} <= words and len(vocabulary.words) == min(250, len(words)) == numbers["words"]


def test_the_records_of_a_split_are_kept_beside_its_ids_but_those_of_training(talked: Path) -> None:
    for split in ("dev", "test"):
        assert read_records(talked / "data/ready/talk", f"{split}.records", Pair) == split_of(talked, split)
    assert not (talked / "data/ready/talk/train.records.parquet").exists()


def test_the_depths_of_figure_6_are_those_of_the_training_responses(talked: Path) -> None:
    depths = read_json(talked / "metrics/details/datasets/talk.json")["measures"]["depths"]
    lengths = [len(row.target_words.split()) for row in split_of(talked, "train")]
    assert {int(length): row["sentences"] for length, row in depths.items()} == {
        length: lengths.count(length) for length in sorted({*lengths})
    }
    long = [row for length, row in depths.items() if int(length) > 8]
    assert long and all(row["chain"] > row["ternary"] for row in long)


def test_pairs_that_do_not_fit_are_quarantined_with_a_reason(talked: Path) -> None:
    numbers, dataset = (read_json(talked / f"{kind}/datasets/short.json") for kind in ("metrics", "metrics/details"))
    tables = [pd.read_parquet(talked / f"data/ready/short/{name}.quarantine.parquet") for name in dataset["splits"]]
    quarantined = pd.concat(tables)
    assert numbers["quarantined"] == len(quarantined) > 0
    assert dataset["quarantined"] == quarantined["reason"].value_counts().sort_index().to_dict()
    assert {"over 10 words", "too many unknown words"} <= {*dataset["quarantined"]}
    assert {*quarantined["id"]} == {row.id for name in dataset["splits"] for row in split_of(talked, name)} - {
        identity
        for name in dataset["splits"]
        for identity in pd.read_parquet(talked / f"data/ready/short/{name}.parquet")["id"]
    }
    assert numbers["words"] == 100 and dataset["splits"]["train"]["known responses"] < 100


def test_a_shared_vocabulary_is_the_other_dataset_s(
    restored: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = {"encoding": "dialogue", "corpus": "talk", "vocab_from": "short", "words": 10}
    edit(restored / "params.yaml", "datasets.canonicalize.shared", shared)
    monkeypatch.chdir(restored)
    canonicalize.run("shared")
    own, other = (restored / f"data/ready/{key}/vocabulary.json" for key in ("shared", "short"))
    assert own.read_bytes() == other.read_bytes()


# --- decode -----------------------------------------------------------------------------------------------------------

COLUMNS = [
    "id",
    "cluster",
    "sample",
    "source",
    "reference",
    "seed",
    "text",
    "heads",
    "cut",
    "score",
    "nll",
    "words",
    "exact",
    "recall",
]


@pytest.mark.parametrize(("run", "samples", "seeds"), [("grown", 2, [1]), ("replied", 3, [1, 2])])
def test_each_pair_has_its_replies_the_best_first(talked: Path, run: str, samples: int, seeds: list[int]) -> None:
    table, rows = outputs(talked, run), sorted(split_of(talked), key=lambda row: row.id)
    assert list(table) == COLUMNS
    assert table["id"].tolist() == [row.id for _ in seeds for row in rows for _ in range(samples)]
    assert table["seed"].tolist() == [seed for seed in seeds for _ in range(len(rows) * samples)]
    assert table["sample"].tolist() == list(range(samples)) * len(rows) * len(seeds)
    sides = {row.id: (row.source_words, row.target_words) for row in rows}
    assert [sides[identity] for identity in table["id"]] == list(zip(table["source"], table["reference"], strict=True))
    for _, scores in table.groupby(["seed", "id"])["score"]:
        assert scores.is_monotonic_decreasing and (scores < 0).all()


@pytest.mark.parametrize("run", ["grown", "replied"])
def test_pairs_of_one_post_share_its_replies_and_its_cluster(talked: Path, run: str) -> None:
    table = outputs(talked, run)
    first = {row.source_words: row.id for row in reversed(split_of(talked))}
    assert table["source"].nunique() < table["id"].nunique()
    for (_, source), rows in table.groupby(["seed", "source"], sort=False):
        assert rows["cluster"].unique().tolist() == [first[source]]
        for _, ranked in rows.groupby("sample"):
            assert len(ranked[["text", "heads", "cut", "score"]].drop_duplicates()) == 1


def test_only_whole_trees_have_heads_and_chains_have_none(talked: Path) -> None:
    grown = outputs(talked, "grown")
    for text, heads in zip(grown["text"], grown["heads"], strict=True):
        assert heads == "" or (len(heads.split()) == len(text.split()) and heads.split().count("0") == 1)
    assert (outputs(talked, "replied")["heads"] == "").all()


@pytest.mark.parametrize(("run", "key"), [("grown", "grower"), ("replied", "twice")])
def test_the_likelihood_is_that_of_each_reference_under_its_seed(
    talked: Path, run: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.chdir(talked)
    table = outputs(talked, run).query("sample == 0")
    seed = int(table["seed"].max())
    model: Any = load_model(talked / f"data/models/{key}", seed)[0]
    ready = read_ready("talk", "test", ENCODINGS["dialogue"])
    for place in (0, 3):
        with torch.inference_mode():
            nats = float(model(ready.data.batch(np.array([place]), model.config.view)).total)
        ((_, row),) = table[(table["seed"] == seed) & (table["id"] == ready.records[place].id)].iterrows()
        assert row["nll"] == pytest.approx(nats, rel=1e-4) and row["words"] == len(row["reference"].split())


def test_posts_are_taken_in_order_after_those_that_are_skipped(talked: Path) -> None:
    posts = list(dict.fromkeys(row.source_words for row in split_of(talked)))
    table = outputs(talked, "skipped")
    assert {*table["source"]} == {*posts[1:3]}
    assert {*table["id"]} == {row.id for row in split_of(talked) if row.source_words in posts[1:3]}
    # A post is answered as it is among others.
    whole = outputs(talked, "replied").query("id in @table.id")
    assert whole["text"].tolist() == table["text"].tolist()
    assert whole["score"].tolist() == pytest.approx(table["score"].tolist(), abs=1e-4)


def test_the_records_that_the_dataset_quarantined_are_counted_as_unfit(talked: Path) -> None:
    kept = {*outputs(talked, "short")["id"]}
    unfit = len(split_of(talked)) - len(kept)
    assert kept == {*pd.read_parquet(talked / "data/ready/short/test.parquet")["id"]}
    assert table_metadata(talked / "data/outputs/x2tree/short.parquet")["unfit"] == str(unfit)
    assert details(talked, "short")["counts"]["unfit"] == unfit > 0


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("runs.skipped.samples", 5, "runs.skipped.samples: 5 replies of 4 beams; at most 4"),
        ("runs.skipped.decoder.skip", 99, "decoder.skip: 99 of "),
        ("runs.skipped.dataset", "short", "dataset short does not have the vocabulary of model twice"),
    ],
)
def test_a_run_that_cannot_be_is_one_line(
    restored: Path, refused: Refuse, edit: Edit, key: str, value: Any, message: str
) -> None:
    edit(restored / "params.yaml", key, value)
    assert message in refused(restored, "decode", "skipped")


def test_a_dataset_that_was_made_again_after_training_is_one_line(restored: Path, refused: Refuse) -> None:
    shutil.copy(restored / "data/ready/short/vocabulary.json", restored / "data/ready/talk/vocabulary.json")
    record("canonicalize@talk", [layout.ready("talk")], restored)  # as if it was made again
    line = refused(restored, "decode", "skipped")
    assert "the vocabulary of dataset talk is not that of model twice; give the dataset vocab_from: talk" in line


# --- score ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", ["grown", "replied", "skipped", "short"])
def test_every_run_has_all_scores_and_counts_that_add_up(talked: Path, run: str) -> None:
    scored, table = details(talked, run), outputs(talked, run)
    assert list(scored) == ["scores", "intervals", "signatures", "undefined", "ids", "counts", "settings"]
    assert scored["ids"] == digest(*sorted(set(table["id"])))
    assert {*scored["scores"]} == {*DIALOGUE}
    undefined = {name for name, value in scored["scores"].items() if value is None}
    trees = run in ("grown", "short")
    # There are fewer than ten pairs, and a short split may have no short reference.
    assert undefined == {*scored["undefined"]} and "recall_1_of_10" in undefined
    assert undefined - {"recall_1_of_10", "perplexity_exact_per_word"} == (set() if trees else {"tree_whole"})
    counts = scored["counts"]
    assert counts["records"] == table["id"].nunique() and counts["posts"] == table["source"].nunique()
    assert counts["texts"] == len(table) and counts["cut"] == (table["cut"] != "").sum()
    segments = pd.read_parquet(talked / f"data/segments/x2tree/{run}.parquet")
    assert segments["id"].tolist() == table.query("sample == 0")["id"].tolist()


def test_the_metrics_are_few_numbers_of_the_details(talked: Path) -> None:
    scores, numbers = details(talked, "grown")["scores"], read_json(talked / "metrics/x2tree/grown.json")
    assert {*numbers} == {"bleu", "dist2", "ppl", "ppl_ex", "whole", "grammar"}
    assert numbers["ppl"] == pytest.approx(scores["perplexity_per_word"], rel=1e-4)
    assert "whole" not in read_json(talked / "metrics/x2tree/replied.json")


def test_the_replies_of_every_seed_count(talked: Path) -> None:
    first = outputs(talked, "replied").query("sample == 0").drop_duplicates(["seed", "source"])
    texts = [own["text"].tolist() for _, own in first.groupby("seed")]
    assert len(texts) == 2 and texts[0] != texts[1]
    words = details(talked, "replied")["scores"]["words"]
    assert words == pytest.approx(first["text"].str.split().map(len).mean(), abs=1e-3)


def test_the_grammar_of_the_nursery_judges_each_post_s_first_reply(talked: Path) -> None:
    table = outputs(talked, "grown").query("sample == 0").drop_duplicates("source")
    judged = [is_grammatical(text.split()) for text in table["text"]]
    assert details(talked, "grown")["scores"]["grammatical"] == pytest.approx(100 * np.mean(judged), abs=1e-3)


def test_references_would_all_be_grammatical_and_perplexity_is_per_word(
    restored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outputs with each reply replaced by its reference, scored again."""
    table = outputs(restored, "grown")
    heads = {row.id: row.target_heads for row in split_of(restored)}
    write_table(
        restored / "data/outputs/x2tree/grown.parquet",
        table.assign(text=table["reference"], heads=[heads[identity] for identity in table["id"]], cut=""),
        {"unfit": "0", "writes": "tree"},
    )
    monkeypatch.chdir(restored)
    score.run("grown")
    scores = details(restored, "grown")["scores"]
    assert scores["grammatical"] == scores["tree_whole"] == 100 and scores["bleu"] == pytest.approx(100)
    first = table[table["sample"] == 0]
    assert scores["perplexity_per_word"] == pytest.approx(math.exp(first["nll"].sum() / first["words"].sum()), rel=1e-3)


def test_a_corpus_that_no_grammar_grew_is_judged_by_none(restored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readers = {name: grammar_of(Corpus.model_construct(reader=name)) for name in ("dialogue_zh", "weibo")}
    assert readers == {"dialogue_zh": is_grammatical, "weibo": None}
    monkeypatch.setitem(READERS, "dialogue_zh", replace(READERS["dialogue_zh"], is_grammatical=None))
    monkeypatch.chdir(restored)
    score.run("grown")
    assert "grammatical" in details(restored, "grown")["undefined"]


# --- baselines --------------------------------------------------------------------------------------------------------


def test_the_baselines_stand_over_the_pairs_of_the_runs(talked: Path) -> None:
    names = {"ngram", "ngram_tree", "copy", "human", "commonest", "nearest", "chance"}
    for kind in ("data/outputs", "data/segments", "metrics", "metrics/details"):
        files = {path.stem for path in (talked / f"{kind}/x2tree/baselines/talk").iterdir()}
        assert files == (names | {"dataset"} if kind == "metrics/details" else names)
    ids = outputs(talked, "grown")["id"].tolist()
    for name in names:
        assert outputs(talked, f"baselines/talk/{name}")["id"].tolist() == ids
        assert {*details(talked, f"baselines/talk/{name}")["scores"]} == {*DIALOGUE}
    human, copied, ngram = (details(talked, f"baselines/talk/{name}")["scores"] for name in ("human", "copy", "ngram"))
    assert human["bleu"] == pytest.approx(100) and human["grammatical"] == 100 and human["perplexity_per_word"] is None
    assert copied["copied"] == 100 and ngram["perplexity_per_word"] > 1
    replies = {row.target_words for row in split_of(talked, "train")}
    for name in ("commonest", "nearest", "chance"):
        row = outputs(talked, f"baselines/talk/{name}")
        assert {*row["text"]} <= replies and row["score"].eq(0).all()
        said = details(talked, f"baselines/talk/{name}")
        assert said["scores"]["grammatical"] == 100 and "grammatical" in said["settings"]["given"]
    commonest = outputs(talked, "baselines/talk/commonest")
    assert commonest.groupby("sample")["text"].nunique().tolist() == [1, 1]
    assert details(talked, "baselines/talk/human")["settings"]["trivial"] is False
    assert details(talked, "baselines/talk/dataset") == read_json(talked / "metrics/details/datasets/talk.json")
