"""A component without a version is named before any stage runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from espalier.io.errors import ConfigError
from pipeline.params.read import load_params
from pipeline.params.versions import check_versions

sys.path.insert(0, str(Path(__file__).parent))
from small_params import nursery, write

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("group", "name", "line"),
    [
        ("readers", "verse_zh", "readers: no version of verse_zh, which corpora.tiny uses; add the line verse_zh: 1,"),
        ("parsers", "jieba", "parsers: no version of jieba, which parsers.words uses; add the line jieba: 1,"),
        ("encodings", "pairs", "encodings: no version of pairs, which datasets: said uses; add the line pairs: 1,"),
        (
            "models",
            "x2tree",
            "models: no version of x2tree, which models.grower uses; add the line x2tree: {model",
        ),
        ("metrics", "dialogue", "metrics: no version of dialogue, which runs.grown uses; add the line dialogue: 1,"),
        ("baselines", "verse", "baselines: no version of verse, which baselines.tiny uses; add the line verse: 1,"),
    ],
)
def test_the_missing_line_is_named(tmp_path: Path, group: str, name: str, line: str) -> None:
    params = load_params(write(tmp_path, nursery()))
    versions: dict[str, Any] = yaml.safe_load((ROOT / "pipeline/params/versions.yaml").read_text(encoding="utf-8"))
    check_versions(params, versions)
    del versions[group][name]
    with pytest.raises(ConfigError) as caught:
        check_versions(params, versions)
    assert str(caught.value).startswith(f"pipeline/params/versions.yaml: {line}")


def test_repro_says_it_and_runs_nothing(unbuilt: Path, run: Callable[..., Any]) -> None:
    versions = unbuilt / "pipeline/params/versions.yaml"
    versions.write_text(versions.read_text(encoding="utf-8").replace("  verse_zh: 1\n", ""), encoding="utf-8")
    answer = run(unbuilt, "python", "pipeline", "repro", "parse@tiny")
    assert answer.status == 1 and answer.out == ""
    assert (
        answer.err.startswith("espalier: pipeline/params/versions.yaml: readers: no version of verse_zh")
        and answer.err.count("\n") == 1
    )
    assert not (unbuilt / "data/parsed").exists()


def test_repro_names_a_key_that_dvc_needs_rather_than_dvc_s_own_error(unbuilt: Path, run: Callable[..., Any]) -> None:
    params = unbuilt / "params.yaml"
    tree = yaml.safe_load(params.read_text(encoding="utf-8"))
    del tree["datasets"]["linearize"]["tiny"]["pieces_from"]
    params.write_text(yaml.safe_dump(tree), encoding="utf-8")
    answer = run(unbuilt, "python", "pipeline", "repro", "parse@tiny")
    assert answer.status == 1
    assert answer.err.startswith("espalier: datasets.linearize.tiny.pieces_from: Field required; add it: none, or ")
    assert answer.err.count("\n") == 1
