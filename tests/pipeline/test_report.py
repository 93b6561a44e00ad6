"""What a report shows of its runs: verses with their places, words and tags of texts, ids; runs that are left out."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from espalier.io.errors import ArtifactError
from espalier.io.files import write_json
from espalier.io.tables import write_table
from espalier.report.comparisons import RESAMPLES, SEED
from espalier.report.orderings import Ordering
from espalier.report.printed import Printed
from espalier.report.results import RunResult
from pipeline import layout
from pipeline.records.artifacts import ids_of
from pipeline.records.elsewhere import runs_elsewhere
from pipeline.stages.report import SAMPLES, _claimed_rows, _earlier, _files_of_run, _made, _samples, _with_parses

KEYS = [{"id": f"p{n}", "cluster": "c", "seed": seed, "sample": s} for n in range(8) for seed in (1, 2) for s in (0, 1)]
TABLE = pd.DataFrame(
    {**key, "text": f"{key}", "format": "1。", "rhyme": "A", "tune": "曲", "reference": "山。"} for key in KEYS
)


def test_each_verse_has_the_marks_of_its_own_row_whatever_the_order_of_the_segments() -> None:
    marks = pd.DataFrame(
        {**key, "variant": f"v {key}", "tones": "平", "letters": "A", "kept": ".", "format.0": 1.0} for key in KEYS
    )
    dev = pd.DataFrame([{"id": "d", "cluster": "c", "seed": 1, "sample": 0}])
    samples = _samples(TABLE, pd.concat([marks.iloc[::-1], dev], ignore_index=True))
    assert [sample.id for sample in samples] == ["p0", "p2", "p4", "p6"] and len(samples) == SAMPLES
    assert all(sample.variant == f"v {sample.text}" and sample.tones == "平" for sample in samples)


@pytest.mark.parametrize("books", [True, False])
def test_a_verse_of_dev_whose_perplexity_on_dev_stands_below_is_one_sample(books: bool) -> None:
    marks = {"variant": "v", "tones": "平", "letters": "A", "kept": "."} if books else {}
    own = pd.DataFrame({**key, **marks, "format.0": 1.0} for key in KEYS)
    dev = pd.DataFrame({**key, "perplexity:dev.0": 1.0} for key in KEYS)
    segments = pd.concat([own, dev], ignore_index=True)
    samples = _samples(TABLE, segments)
    assert [sample.id for sample in samples] == ["p0", "p2", "p4", "p6"]
    assert {sample.variant for sample in samples} == ({"v"} if books else {""})


def test_verses_that_were_held_against_no_variant_have_no_marks() -> None:
    samples = _samples(TABLE, pd.DataFrame(KEYS))
    assert len(samples) == SAMPLES and not any(sample.variant or sample.kept for sample in samples)


def test_outputs_that_are_no_verse_give_no_samples() -> None:
    assert _samples(TABLE.drop(columns="format"), pd.DataFrame(KEYS)) == []


def test_each_text_has_its_own_words_and_tags_whatever_the_order_of_the_segments() -> None:
    tags: dict[object, str] = {1: "", 2: "n"}
    parses = pd.DataFrame({**key, "text_words": f"w {key}", "text_tags": tags[key["seed"]]} for key in KEYS)
    dev = pd.DataFrame([{"id": "d", "cluster": "c", "seed": 1, "sample": 0}])
    found = _with_parses(TABLE, pd.concat([parses.iloc[::-1], dev], ignore_index=True))
    assert found["text_words"].tolist() == [f"w {text}" for text in TABLE["text"]]
    assert found["text_tags"].tolist() == [tags[seed] for seed in TABLE["seed"]]
    assert _with_parses(TABLE, pd.DataFrame(KEYS)) is TABLE


def test_ids_of_which_dev_s_likelihood_alone_is_known_are_no_ids_of_a_run() -> None:
    keys = {"id": ["a", "b", "c"], "cluster": ["a", "b", "c"], "seed": 1, "sample": 0}
    nan = float("nan")
    # a is of the test, b of dev, c of both: a run can decode dev.
    run = pd.DataFrame({**keys, "perplexity.0": [1.0, nan, 0.0], "perplexity:dev.0": [nan, 1.0, 2.0]})
    assert ids_of(run) == {"a", "c"}
    assert ids_of(pd.DataFrame({**keys, "format.0": [1.0, 2.0, 3.0]})) == {"a", "b", "c"}


def test_runs_without_details_or_segments_are_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    entries: dict[str, Any] = {name: SimpleNamespace(paper="guig") for name in ("scored", "late")}
    entries["other"] = SimpleNamespace(paper="sat")
    with pytest.raises(ArtifactError, match=r"metrics/details/guig/scored\.json: not scored; run its stage"):
        _made("guig", entries, _files_of_run)
    for name in ("scored", "late"):
        write_json(layout.details("guig", name), {})
    with pytest.raises(ArtifactError, match=r"data/segments/guig/scored\.parquet: not scored; run its stage"):
        _made("guig", entries, _files_of_run)
    layout.segments("guig", "scored").parent.mkdir(parents=True)
    layout.segments("guig", "scored").touch()
    assert list(_made("guig", entries, _files_of_run)) == ["scored"]
    assert "guig: not here, so left out, but for claims: late" in capsys.readouterr().err


def test_rows_that_claims_name_are_read_and_one_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(worse: str) -> list[str]:
        printed: Any = SimpleNamespace(orderings=[SimpleNamespace(better="run", worse=worse)])
        baselines: Any = {"pairs": SimpleNamespace(paper="cdnpg", task="paraphrase")}
        rows = _claimed_rows(printed, baselines)
        assert not any(row.trained for row in rows.values())
        return list(rows)

    monkeypatch.chdir(tmp_path)
    write_table(layout.segments("cdnpg", "baselines/pairs/copy"), TABLE[["id", "cluster", "seed", "sample"]])
    assert read("pairs/copy") == ["pairs/copy"]
    assert read("run") == read("of another profile/copy") == []
    for row in ("none", "no/such"):
        with pytest.raises(ArtifactError, match=rf"segments/cdnpg/baselines/pairs/{row}\.parquet: no such table"):
            read(f"pairs/{row}")


def test_claims_of_the_last_report_are_read_if_their_runs_have_the_same_scores_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sat = SimpleNamespace(paper="sat", dataset="ptb", model="sat", decoder=SimpleNamespace(method="beam"))
    runs: dict[str, Any] = {"sat_a": sat, "guig_a": SimpleNamespace(paper="guig")}
    reads_pos = SimpleNamespace(network=SimpleNamespace(view=SimpleNamespace(reads=("pos",))))
    baselines: Any = {"ptb": SimpleNamespace(paper="sat", texts={}), "pairs": SimpleNamespace(paper="guig")}
    params: Any = SimpleNamespace(runs=runs, models={"sat": reads_pos}, baselines=baselines, profile="small")
    claim = {"better": "sat_a", "worse": "ptb/ngram", "column": "ppl", "claim": "A is better."}
    column = {"group": "", "name": "PPL", "better": "lower", "ours": [{"metric": "perplexity"}]}
    paper = {"key": "sat", "title": "", "authors": "", "venue": "", "url": "https://example.org"}
    printed = Printed.model_validate({"paper": paper, "columns": {"ppl": column}, "tables": [], "orderings": [claim]})

    def found(here: list[RunResult]) -> list[Ordering]:
        return _earlier("sat", printed, [*here, *runs_elsewhere("sat", params, here)])

    assert found([]) == []
    measure = {
        "metric": "perplexity", "direction": "lower", "ours": [2.0, 3.0], "effect": 1.0, "interval": [0.5, 1.5],
        "p": 0.01, "better_than_both": "",
    }  # fmt: skip
    ordering = {
        "better": "sat_a", "worse": "ptb/ngram", "profile": "small", "margin": None, "p": 0.01, "seeds": [3, 3],
        "steps": ["", ""], "clusters": 4, "segments": 5, "segments_left_out": 0, "measures": [measure],
    }  # fmt: skip
    file = {"resamples": RESAMPLES, "resampling_seed": SEED}
    write_json(layout.details("orderings", "sat"), {**file, "orderings": [ordering]})
    assert found([]) == []
    counts = {"records": 2}
    settings = {"dataset": "ptb", "row": "ngram", "title": "trigram", "trivial": True, "given": []}
    kept: dict[str, Any] = {"intervals": {}, "signatures": {}, "undefined": {}, "settings": settings, "counts": counts}
    for place, value in (("sat_a", 2.0), ("baselines/ptb/ngram", 3.0)):
        write_json(layout.details("sat", place), {"scores": {"perplexity": value}, **kept})
        write_json(layout.metrics("sat", place), {"ppl": value})
    assert [(one.better, one.worse, one.p, one.claim) for one in found([])] == [
        ("sat_a", "ptb/ngram", 0.01, "A is better.")
    ]
    # A run that is not here is compared with the rows of its dataset that have as many records.
    (run, ngram) = runs_elsewhere("sat", params, [])
    assert (ngram.key, ngram.row, ngram.trivial, ngram.ids, run.ids) == ("ptb/ngram", "ngram", True, set(), set())
    write_json(layout.details("sat", "baselines/ptb/ngram"), {"scores": {"perplexity": 3.0}, "ids": "abc", **kept})
    (run, ngram) = runs_elsewhere("sat", params, [])
    assert run.ids == ngram.ids == {"abc"}
    for records, ids in ((2, frozenset("ab")), (3, frozenset({"abc"}))):
        row = RunResult(
            key="ptb/copy", model="", profile="small", dataset="ptb", row="copy", ids=frozenset("ab"),
            metrics={"counts": {"records": records}, "settings": {}},
        )  # fmt: skip
        run, *_ = runs_elsewhere("sat", params, [row])
        assert (run.key, run.dataset, run.ids, run.structures, run.method) == ("sat_a", "ptb", ids, {"pos"}, "beam")
    scored_again = RunResult(key="sat_a", model="", profile="small", metrics={"scores": {"perplexity": 2.1}})
    assert found([scored_again]) == []
    write_json(layout.details("orderings", "sat"), {**file, "orderings": [{**ordering, "seeds": 3}]})
    with pytest.raises(
        ArtifactError, match=r"orderings/sat\.json: orderings\.0\.seeds: .*; delete it and run its stage"
    ):
        found([])
