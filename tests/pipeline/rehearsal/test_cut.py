"""Cut params and sampled rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from espalier.corpora.readers import READERS, Reader
from espalier.corpora.records import Pair, Sentence
from espalier.syntax.parsers.registry import BACKENDS
from pipeline.graph.rehearsal.cut import CPU_TOKENS, cut_params, replace_parser, shape_of, with_shape
from pipeline.layout import PARAMS, PROFILES
from pipeline.params.read import load_params, read_yaml


def cut_of(profile: str, max_tokens: int | None = CPU_TOKENS) -> Any:
    file = PROFILES[profile] / PARAMS
    return cut_params(read_yaml(file), load_params(file), max_tokens=max_tokens)


def test_networks_stay_and_numbers_of_steps_rows_and_records_do_not() -> None:
    whole, cut = read_yaml(PROFILES["paper"] / PARAMS), cut_of("paper")
    assert cut["presets"] == whole["presets"]
    assert [model["network"] for model in cut["models"].values()] == [m["network"] for m in whole["models"].values()]
    assert {model["training"]["steps"] for model in cut["models"].values()} == {3}
    assert cut["models"]["guig_tg"]["training"]["batch_tokens"] == 1024
    assert cut["runs"]["x2tree"]["decoder"] == {"skip": 0, "posts": 2}
    assert cut["runs"]["guig_frequent"]["decoder"]["rows"] == 2
    assert cut["corpora"]["guig"]["filters"]["min_label_count"] == 1
    assert cut["corpora"]["guig"]["split"] | {"dev": 0, "test": 0} == whole["corpora"]["guig"]["split"] | {
        "dev": 0,
        "test": 0,
    }


@pytest.mark.parametrize("profile", ["small", "paper"])
def test_parsers_are_trained_for_one_epoch_where_their_backend_counts_epochs(profile: str) -> None:
    parsers = {key: parser for key, parser in cut_of(profile)["parsers"].items() if parser["treebank"] != "none"}
    assert {"penn", "penn_trivial"} <= parsers.keys()
    for parser in parsers.values():
        settings = BACKENDS[parser["backend"]].settings()
        given = {"language": parser["language"]} if "language" in settings.model_fields else {}
        trained: Any = settings.model_validate({**given, **parser["training"]})
        assert getattr(trained, "epochs", 1) == 1


def test_words_of_few_rows_are_known_so_that_n_grams_have_targets() -> None:
    whole, cut = read_yaml(PROFILES["paper"] / PARAMS), cut_of("paper")
    for kind, datasets in cut["datasets"].items():
        for key, dataset in datasets.items():
            assert ("min_count" in dataset) == ("min_count" in whole["datasets"][kind][key])
            assert dataset.get("min_count", 1) == 1
    assert whole["datasets"]["linearize"]["lyrics"]["min_count"] == 3
    # The words of tweets are few of those of questions, whose vocabulary they have.
    assert (whole["baselines"]["twitter_pairs"]["train"], cut["baselines"]["twitter_pairs"]["train"]) == (
        "none", "quora_pairs"
    )  # fmt: skip
    assert (cut["baselines"]["guig_released"]["train"], cut["baselines"]["guig"]["train"]) == ("guig", "none")


def test_on_a_gpu_batches_are_whole() -> None:
    assert cut_of("paper", None)["models"]["guig_tg"]["training"]["batch_tokens"] == 20480


def test_a_trained_parser_of_the_language_does_the_work_of_one_out_of_reach() -> None:
    cut = cut_of("paper")
    assert cut["corpora"]["weibo"]["parser"] == "ltp"
    assert replace_parser(cut, "ltp") == "gsd"
    assert cut["corpora"]["weibo"]["parser"] == "gsd"
    assert "ltp" not in cut["parsers"]


def test_trees_of_a_corpus_have_labels_that_the_vocabulary_of_its_dataset_can_have() -> None:
    whole, cut = read_yaml(PROFILES["paper"] / PARAMS), cut_of("paper")
    assert whole["corpora"]["guig_released"]["parser"] == "none"
    assert cut["corpora"]["guig_released"]["parser"] == cut["corpora"]["guig"]["parser"] == "penn"


def test_without_another_parser_none_is_replaced() -> None:
    cut = cut_of("paper")
    del cut["parsers"]["gsd"]
    assert replace_parser(cut, "ltp") is None


def test_the_shape_of_a_training_is_its_batch_and_of_a_run_its_beam() -> None:
    cut = cut_of("paper")
    assert shape_of(cut, "train", "songnet") == 1024
    assert shape_of(cut, "decode", "x2tree_nrm") == 20
    assert shape_of(cut, "score", "x2tree_nrm") is None
    assert shape_of(cut, "decode", "songnet_free") is None  # it samples
    assert shape_of(cut, "decode", "songnet_beam") == 5
    with_shape(cut, "train", "songnet", 64)
    with_shape(cut, "decode", "x2tree_nrm", 12)
    assert (shape_of(cut, "train", "songnet"), shape_of(cut, "decode", "x2tree_nrm")) == (64, 12)


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The plugin's module, whose import changes the registry for this test alone."""
    import importlib
    import sys

    for name, reader in list(READERS.items()):
        monkeypatch.setitem(READERS, name, reader)
    monkeypatch.delitem(sys.modules, "pipeline.graph.rehearsal.readers", raising=False)
    return importlib.import_module("pipeline.graph.rehearsal.readers")


def rows(count: int, split: str, origin: str = "one") -> list[Sentence]:
    return [Sentence(id=f"{origin}-{split}-{n:04d}", origin=origin, language="en", target=f"{n}") for n in range(count)]


def test_every_part_of_a_corpus_is_in_the_sample_in_order(sampled: Any) -> None:
    everything = [*rows(1000, "train"), *rows(3, "dev"), *rows(100, "test"), *rows(50, "train", "two")]
    chosen = sampled.sample(everything, 64)
    parts = [row.id.rpartition("-")[0] for row in chosen]
    assert len(chosen) == 64
    assert {part: parts.count(part) for part in parts} == {
        "one-train": pytest.approx(26, abs=12),
        "one-dev": 3,
        "one-test": pytest.approx(18, abs=6),
        "two-train": pytest.approx(17, abs=5),
    }
    places = [everything.index(row) for row in chosen]
    assert places == sorted(places)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65])
def test_no_row_is_taken_twice_and_none_is_invented(sampled: Any, count: int) -> None:
    chosen = sampled.sample(rows(count, "train"), 64)
    assert len(chosen) == len({row.id for row in chosen}) == min(64, count)


def test_more_parts_than_rows(sampled: Any) -> None:
    everything = [row for n in range(100) for row in rows(2, "train", f"o{n}")]
    assert len({row.origin for row in sampled.sample(everything, 64)}) == 64


def test_a_reader_gives_rows_that_pass_the_filters_and_counts_all_of_them(
    sampled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from espalier.io.files import read_json

    monkeypatch.chdir(tmp_path)

    def grow(length: int) -> list[Pair]:
        text = ["same", *(f"text {n}" for n in range(length))]
        return [
            Pair(id=f"p-{'dev' if n < 9 else 'train'}-{n}", origin="o", language="en", source="same", target=target)
            for n, target in enumerate(text)
        ]

    reader = sampled.SampledReader(Pair, grow, reads_sources=False)
    options = {"length": 200, "rehearsal": {"rows": 64, "filters": {"without_identical": True, "min_label_count": 1}}}
    given = list(reader.rows({}, options, language="en", where="corpora.mine"))
    assert len(given) == 64
    assert all(row.source != row.target for row in given)
    assert read_json(sampled.counts_file("mine")) == {"rows": 200, "parts": {"dev": 8, "train": 192}}
    assert isinstance(READERS["songci"], sampled.SampledReader)
    assert isinstance(READERS["songci"], Reader)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"foo": 1}, "got an unexpected keyword argument 'foo'; its arguments: folders, options, language, where"),
        ({"options": "aa"}, "str 'aa' instead of a mapping of str"),
    ],
)
def test_a_wrong_call_of_a_reader_is_one_line_in_a_rehearsal_too(sampled: Any, given: Any, line: str) -> None:
    from espalier.io.errors import CallError

    reader = sampled.SampledReader(Pair, list, reads_sources=False)
    with pytest.raises(CallError, match=line):
        reader.rows(**({"folders": {}, "options": {}, "language": "en", "where": "corpora.mine"} | given))
