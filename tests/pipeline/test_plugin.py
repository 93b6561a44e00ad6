"""A reader, an encoding, an architecture and a task from outside, through a whole `dvc repro`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from espalier.io.files import read_json
from espalier.io.tables import read_table

PARAMS: dict[str, Any] = {
    "plugins": ["tests.plugin.letters"],
    "sources": {"published": {}, "local": {}},
    "parsers": {},
    "corpora": {
        "words": {
            "records": "sentences",
            "language": "en",
            "reader": "letters",
            "options": {"count": 42},
            "shelf": "none",
            "also_1": "none",
            "also_2": "none",
            "parser": "none",
            "filters": {},
            "split": {"kind": "group", "seed": 2, "dev": 3, "test": 3, "sides": False},
        }
    },
    "datasets": {
        "linearize": {"words": {"encoding": "letters", "corpus": "words", "vocab_from": "none", "max_letters": 8}},
        "canonicalize": {},
    },
    "presets": {
        "letters": {
            "network": {"width": 16},
            "training": {"steps": 60, "batch_tokens": 64, "schedule": "linear", "rate": 0.05, "warmup": 5,
                         "evaluate_every": 20, "precision": "fp32"},
            "decoder": {},
            "scoring": {},
        }
    },
    "models": {
        "bigram": {"paper": "letters", "arch": "bigram", "dataset": "words", "init": "none", "seeds": [1, 2],
                   "preset": "letters", "network": {}, "training": {}},
    },
    "runs": {
        "bigram": {"paper": "letters", "task": "letters", "preset": "letters", "model": "bigram", "dataset": "words",
                   "split": "test", "guidance": "none", "annotation": "none", "lm": "none", "lexicon": "none",
                   "decoder": {"max_letters": 6}, "scoring": {}, "samples": 1, "seed": 1},
    },
    "baselines": {
        "words": {"paper": "letters", "task": "letters", "preset": "letters", "dataset": "words", "split": "test",
                  "parser": "none", "lexicon": "none", "decoder": {}, "scoring": {}, "samples": 1, "seed": 1},
    },
    "annotations": {},
    "reports": [],
}  # fmt: skip


def test_a_system_from_outside_is_trained_decoded_and_scored_without_an_edit(
    project: Path, run: Callable[..., Any], pytestconfig: Any
) -> None:
    head = {key: value for key, value in yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8")).items()
            if isinstance(value, str)}  # fmt: skip
    (project / "params.yaml").write_text(yaml.safe_dump({**head, **PARAMS}, sort_keys=False), encoding="utf-8")
    versions = yaml.safe_load((project / "versions.yaml").read_text(encoding="utf-8"))
    versions["readers"]["letters"] = versions["encodings"]["letters"] = versions["models"]["bigram"] = 1
    versions["decoding"]["letters"] = versions["metrics"]["letters"] = 1
    (project / "versions.yaml").write_text(yaml.safe_dump(versions), encoding="utf-8")
    for folder in ("src", "pipeline"):
        assert not run(project, "git", "status", "--porcelain", folder).out

    answer = run(project, "dvc", "repro")
    assert answer.status == 0, answer.out + answer.err

    outputs = read_table(project / "outputs/letters/bigram.parquet")
    assert outputs["seed"].unique().tolist() == [1, 2] and len(outputs) == 2 * outputs["id"].nunique()
    details = read_json(project / "details/letters/bigram.json")
    assert read_json(project / "metrics/letters/bigram.json") == {"kept": details["scores"]["prompt_kept"]}
    assert details["counts"]["records"] == outputs["id"].nunique() and details["settings"]["decoder"] == {
        "max_letters": 6
    }
    # Words with one first letter are one group: no first letter of the test split has trained.
    letters = {
        name: set(read_table(project / f"data/corpora/words/{name}.parquet")["group"]) for name in ("train", "test")
    }
    assert not letters["train"] & letters["test"]
    assert read_json(project / "metrics/letters/baselines/words/copy.json") == {"kept": 100.0}
    assert (project / "metrics/letters/baselines/words/ngram.json").exists()
    assert "up to date" in run(project, "dvc", "repro").out

    shutil.rmtree(project / "tests/plugin")
    missing = run(project, "dvc", "repro", "-f", "-s", "score@bigram")
    assert "cannot import tests.plugin.letters" in missing.err and "Traceback" not in missing.err
