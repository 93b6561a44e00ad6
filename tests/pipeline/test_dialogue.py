"""The stages of dialogue on the small project: trees of the nursery's talk, two models, and their replies."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from espalier.corpora.records import Pair
from espalier.datasets.dialogue.data import ARITY
from espalier.datasets.vocabulary import WordVocabulary
from espalier.io.tables import table_metadata
from espalier.metrics.dialogue import KEYS
from espalier.models.serialization import load_model
from espalier.nursery.dialogue_zh import is_grammatical
from espalier.syntax.ternary import flatten
from pipeline import layout
from pipeline.artifacts import read_split
from pipeline.stages import canonicalize, decode, score, train

Cli = Callable[..., Any]
Refuse = Callable[..., str]
Edit = Callable[..., None]

RESPONDER = {"width": 12, "word": 8, "readout": 8, "scale": 0.1, "positions": 32, "context": "nrm"}


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def added(params: dict[str, Any]) -> None:
    """A dataset of short sides with a model that holds no longer ones, a chain model, and runs of both."""
    models, runs = params["models"], params["runs"]
    datasets = params["datasets"]["canonicalize"]
    datasets["short"] = datasets["talk"] | {"most": 10, "words": 100, "unknown": 0.5}
    models["rnn_seq2seq"] = models["grower"] | {"arch": "rnn_seq2seq", "network": RESPONDER, "default_for": []}
    network = models["grower"]["network"] | {"positions": 11}
    models["short"] = models["grower"] | {"dataset": "short", "network": network, "default_for": []}
    models["twice"] = models["rnn_seq2seq"] | {"seeds": [1, 2]}
    decoder = {"beam": 4, "words": 12}
    runs["replied"] = runs["grown"] | {"model": "twice", "decoder": decoder, "samples": 3}
    runs["skipped"] = runs["replied"] | {"model": "rnn_seq2seq", "decoder": decoder | {"skip": 1, "posts": 2}}
    runs["short"] = runs["grown"] | {"model": "short"}
    runs["foreign"] = runs["grown"] | {"corpus": "said"}


@pytest.fixture(scope="module")
def talked(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small project in which all of this has run; tests leave it as they found it."""
    folder = tmp_path_factory.mktemp("talked") / "project"
    shutil.copytree(built, folder, symlinks=True, ignore=shutil.ignore_patterns(".git", ".dvc"))
    params = json.loads(json.dumps(yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))))
    added(params)
    (folder / "params.yaml").write_text(yaml.safe_dump(params, allow_unicode=True), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("ESPALIER_DEVICE", "cpu")
        canonicalize.run("short")
        for model in ("rnn_seq2seq", "twice", "short"):
            train.run(model)
        for run in ("replied", "skipped", "short"):
            decode.run(run)
            score.run(run)
    return folder


def outputs(folder: Path, run: str) -> pd.DataFrame:
    return pd.read_parquet(folder / f"outputs/x2tree/{run}.parquet")


def split_of(folder: Path, split: str = "test") -> list[Pair]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return read_split("talk", split, Pair)


# --- canonicalize -----------------------------------------------------------------------------------------------------


def test_every_pair_is_ready_and_its_tree_gives_its_words_back(talked: Path) -> None:
    found = json_of(talked / "metrics/datasets/talk.json")
    assert sum(found["rows"].values()) == 60 and found["rows"]["quarantined"] == 0 == len(found["quarantined"])
    vocabulary = WordVocabulary.load(talked / "data/ready/talk/vocabulary.json")
    for split in ("train", "dev", "test"):
        table = pd.read_parquet(talked / f"data/ready/talk/{split}.parquet")
        rows = split_of(talked, split)
        assert table["id"].tolist() == [row.id for row in rows] and len(table) == found["rows"][split]
        assert found["words"][split] == sum(len(row.target_words.split()) for row in rows)
        for row, order, children in zip(rows, table["order"], table["children"], strict=True):
            assert order[flatten(children.reshape(-1, ARITY))].tolist() == list(range(len(order)))
            assert len(order) == len(row.target_words.split())
    words = {word for row in split_of(talked, "train") for word in f"{row.source_words} {row.target_words}".split()}
    assert {*vocabulary.words} <= words and len(vocabulary.words) == min(250, len(words))
    assert found["vocabulary"]["words"] == len(vocabulary.words)


def test_the_steps_of_figure_6_are_those_of_the_training_responses(talked: Path) -> None:
    steps = json_of(talked / "metrics/datasets/talk.json")["steps"]
    lengths = [len(row.target_words.split()) for row in split_of(talked, "train")]
    assert {int(length): row["sentences"] for length, row in steps.items()} == {
        length: lengths.count(length) for length in sorted({*lengths})
    }
    long = [row for length, row in steps.items() if int(length) > 8]
    assert long and all(row["chain"] > row["ternary"] for row in long)


def test_what_does_not_fit_is_put_aside_with_its_reason(talked: Path) -> None:
    found = json_of(talked / "metrics/datasets/short.json")
    aside = pd.read_parquet(talked / "data/ready/short/quarantine.parquet")
    assert found["rows"]["quarantined"] == len(aside) > 0
    assert found["quarantined"] == aside["reason"].value_counts().sort_index().to_dict()
    assert {"over 10 words", "too many unknown words"} <= {*found["quarantined"]}
    assert found["vocabulary"]["words"] == 100 and found["unknown"]["train"]["target"] > 0


def test_a_shared_vocabulary_is_the_other_dataset_s(talked: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (talked / "params.yaml").read_bytes()
    shared = {"form": "dialogue", "corpus": "talk", "vocab_from": "short", "words": 10}
    edit(talked / "params.yaml", "datasets.canonicalize.shared", shared)
    monkeypatch.chdir(talked)
    canonicalize.run("shared")
    (talked / "params.yaml").write_bytes(before)
    own, other = (talked / f"data/ready/{key}/vocabulary.json" for key in ("shared", "short"))
    assert own.read_bytes() == other.read_bytes()


# --- decode -----------------------------------------------------------------------------------------------------------

COLUMNS = ["id", "cluster", "seed", "sample", "source", "reference", "text", "heads", "cut", "score", "nll", "words"]


@pytest.mark.parametrize(("run", "samples", "seeds"), [("grown", 2, [1]), ("replied", 3, [1, 2])])
def test_each_pair_has_its_replies_the_best_first(talked: Path, run: str, samples: int, seeds: list[int]) -> None:
    table, rows = outputs(talked, run), split_of(talked)
    assert list(table) == COLUMNS
    assert table["id"].tolist() == [row.id for _ in seeds for row in rows for _ in range(samples)]
    assert table["seed"].tolist() == [seed for seed in seeds for _ in range(len(rows) * samples)]
    assert table["sample"].tolist() == list(range(samples)) * len(rows) * len(seeds)
    wanted = {row.id: (row.source_words, row.target_words) for row in rows}
    assert [wanted[each] for each in table["id"]] == list(zip(table["source"], table["reference"], strict=True))
    for _, scores in table.groupby(["seed", "id"])["score"]:
        assert scores.is_monotonic_decreasing and (scores < 0).all()


@pytest.mark.parametrize("run", ["grown", "replied"])
def test_pairs_of_one_post_share_its_replies_and_its_cluster(talked: Path, run: str) -> None:
    table = outputs(talked, run)
    assert table["source"].nunique() < table["id"].nunique()
    for _, rows in table.groupby(["seed", "source"], sort=False):
        assert rows["cluster"].unique().tolist() == [rows["id"].iloc[0]]
        for _, ranked in rows.groupby("sample"):
            assert len(ranked[["text", "heads", "cut", "score"]].drop_duplicates()) == 1


def test_only_whole_trees_have_heads_and_chains_have_none(talked: Path) -> None:
    grown = outputs(talked, "grown")
    for text, heads in zip(grown["text"], grown["heads"], strict=True):
        assert heads == "" or (len(heads.split()) == len(text.split()) and heads.split().count("0") == 1)
    assert (outputs(talked, "replied")["heads"] == "").all()


@pytest.mark.parametrize("run", ["grown", "replied"])
def test_the_likelihood_is_that_of_each_reference_under_its_seed(talked: Path, run: str) -> None:
    import torch

    from espalier.datasets.dialogue.encode import canonicalize as ready

    table = outputs(talked, run).query("sample == 0").reset_index(drop=True)
    seed = int(table["seed"].max())
    key = {"grown": "grower", "replied": "twice"}[run]
    loaded, vocabulary = load_model(talked / f"models/{key}", seed)
    model: Any = loaded
    data, _, _ = ready(split_of(talked), vocabulary)
    for place in (0, 3):
        with torch.inference_mode():
            nats = float(model.loss(data.batch(np.array([place]), model.config.view)).total)
        row = table[table["seed"] == seed].iloc[place]
        assert row["nll"] == pytest.approx(nats, rel=1e-4) and row["words"] == len(row["reference"].split())


def test_posts_are_taken_in_order_after_those_that_are_skipped(talked: Path) -> None:
    posts = list(dict.fromkeys(row.source_words for row in split_of(talked)))
    table = outputs(talked, "skipped")
    assert list(dict.fromkeys(table["source"])) == posts[1:3]
    assert {*table["id"]} == {row.id for row in split_of(talked) if row.source_words in posts[1:3]}
    # A post is answered as it is among others: the first seed of the other run is the same model.
    whole = outputs(talked, "replied").query("seed == 1 and id in @table.id")
    assert whole["text"].tolist() == table["text"].tolist()
    assert whole["score"].tolist() == pytest.approx(table["score"].tolist(), abs=1e-4)


def test_pairs_that_a_model_cannot_hold_are_counted(talked: Path) -> None:
    rows = [row for row in split_of(talked) if max(len(row.source_words.split()), len(row.target_words.split())) <= 10]
    kept = {*outputs(talked, "short")["id"]}
    assert kept <= {row.id for row in rows} and kept
    unfit = len(split_of(talked)) - len(kept)
    assert table_metadata(talked / "outputs/x2tree/short.parquet")["unfit"] == str(unfit)
    assert json_of(talked / "metrics/x2tree/short.json")["counts"]["unfit"] == unfit > 0


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("runs.skipped.samples", 5, "runs.skipped.samples: 5 replies of 4 beams; at most 4"),
        ("runs.skipped.decoder.skip", 99, "decoder.skip: 99 posts are skipped of "),
        ("runs.skipped.corpus", "said", "said/test.parquet: model rnn_seq2seq fits none of "),
    ],
)
def test_a_run_that_cannot_be_is_one_line(
    talked: Path, refused: Refuse, edit: Edit, key: str, value: Any, message: str
) -> None:
    before = (talked / "params.yaml").read_bytes()
    edit(talked / "params.yaml", key, value)
    try:
        assert message in refused(talked, "decode", "skipped")
    finally:
        (talked / "params.yaml").write_bytes(before)


# --- score ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", ["grown", "replied", "skipped", "short"])
def test_every_run_has_all_scores_and_counts_that_add_up(talked: Path, run: str) -> None:
    found, table = json_of(talked / f"metrics/x2tree/{run}.json"), outputs(talked, run)
    assert list(found) == ["scores", "intervals", "signatures", "undefined", "counts"]
    assert list(found["scores"]) == list(KEYS)
    undefined = {name for name, value in found["scores"].items() if value is None}
    trees = run in ("grown", "short")
    assert undefined == {*found["undefined"]} == (set() if trees else {"tree_whole"})
    counts = found["counts"]
    assert counts["pairs"] == table["id"].nunique() and counts["posts"] == table["source"].nunique()
    assert counts["replies"] == len(table) and counts["cut"] == (table["cut"] != "").sum()
    segments = pd.read_parquet(talked / f"segments/x2tree/{run}.parquet")
    assert segments["id"].tolist() == table.query("sample == 0")["id"].tolist()


def test_the_replies_of_every_seed_count(talked: Path) -> None:
    first = outputs(talked, "replied").query("sample == 0").drop_duplicates(["seed", "source"])
    texts = [own["text"].tolist() for _, own in first.groupby("seed")]
    assert len(texts) == 2 and texts[0] != texts[1]
    found = json_of(talked / "metrics/x2tree/replied.json")["scores"]
    assert found["words"] == pytest.approx(first["text"].str.split().map(len).mean(), abs=1e-3)


def test_the_grammar_of_the_nursery_judges_each_post_s_first_reply(talked: Path) -> None:
    table = outputs(talked, "grown").query("sample == 0").drop_duplicates("source")
    judged = [is_grammatical(text.split()) for text in table["text"]]
    assert json_of(talked / "metrics/x2tree/grown.json")["scores"]["grammatical"] == pytest.approx(
        100 * np.mean(judged), abs=1e-3
    )


def test_references_would_all_be_grammatical_and_perplexity_is_per_word(
    talked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outputs with each reply replaced by its reference, scored again."""
    table = outputs(talked, "grown")
    heads = {row.id: row.target_heads for row in split_of(talked)}
    path = talked / layout.output("x2tree", "grown")
    kept = [talked / "metrics/x2tree/grown.json", talked / "segments/x2tree/grown.parquet", path]
    before = [(file, file.read_bytes()) for file in kept]
    from espalier.io.tables import write_table

    try:
        write_table(
            path,
            table.assign(text=table["reference"], heads=[heads[each] for each in table["id"]], cut=""),
            {"unfit": "0", "writes": "tree"},
        )
        monkeypatch.chdir(talked)
        score.run("grown")
        found = json_of(kept[0])["scores"]
    finally:
        for file, data in before:
            file.write_bytes(data)
    assert found["grammatical"] == found["tree_whole"] == 100 and found["bleu"] == pytest.approx(100)
    first = table[table["sample"] == 0]
    assert found["perplexity_per_word"] == pytest.approx(math.exp(first["nll"].sum() / first["words"].sum()), rel=1e-3)


def test_a_corpus_that_did_not_grow_is_judged_by_no_grammar(
    talked: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [talked / name for name in ("params.yaml", "metrics/x2tree/grown.json", "segments/x2tree/grown.parquet")]
    before = [(file, file.read_bytes()) for file in files]
    try:
        edit(talked / "params.yaml", "corpora.talk.reader", "weibo")
        monkeypatch.chdir(talked)
        score.run("grown")
        assert "grammatical" in json_of(files[1])["undefined"]
    finally:
        for file, data in before:
            file.write_bytes(data)
