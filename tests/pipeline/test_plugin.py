"""A reader, an encoding, an architecture and a task from outside, through a whole `dvc repro`."""

from __future__ import annotations

import ast
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from espalier.corpora.readers import READERS
from espalier.datasets.registry import ENCODINGS
from espalier.io.files import read_json
from espalier.io.tables import read_table
from espalier.models.registry import ARCHITECTURES
from espalier.tasks.registry import TASKS

PLUGIN = Path(__file__).resolve().parents[1] / "plugin"

#: Words of `tests/plugin/letters.py`, one of which is too long for the dataset.
COUNT = 45

PARAMS: dict[str, Any] = {
    "plugins": ["plugin.letters"],
    "sources": {"published": {}, "local": {}},
    "parsers": {},
    "corpora": {
        "words": {
            "language": "en",
            "reader": "letters",
            "options": {"count": COUNT},
            "shelf": "none",
            "also_1": "none",
            "also_2": "none",
            "parser": "none",
            "filters": {},
            "split": {"kind": "group", "seed": 2, "dev": 12, "test": 12, "sides": False},
        }
    },
    "datasets": {
        "linearize": {
            "words": {
                "encoding": "letters", "corpus": "words", "vocab_from": "none", "pieces_from": "none", "max_letters": 5,
            }
        },
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
                  "train": "none", "parser": "none", "lm": "none", "lexicon": "none", "published": "none",
                  "decoder": {}, "scoring": {}, "samples": 1, "seed": 1},
    },
    "annotations": {},
    "reports": ["letters"],
}  # fmt: skip

#: What the paper of this system prints.
PRINTED: dict[str, Any] = {
    "paper": {
        "key": "letters", "title": "Letters", "authors": "A. Nobody", "venue": "none", "url": "https://example.org",
    },
    "columns": {"kept": {"group": "", "name": "kept", "better": "higher", "ours": [{"metric": "prompt_kept"}]}},
    "tables": [
        {"id": "letters", "title": "Letters", "caption": "Prompts kept, %", "columns": ["kept"],
         "rows": [{"label": "Bigram", "printed": {"kept": 12.5}, "runs": [{"run": "bigram"}]},
                  {"label": "Copy", "runs": [{"run": "words/copy"}]}]}
    ],
}  # fmt: skip


def test_a_system_from_outside_goes_from_its_reader_to_its_report_without_an_edit(
    unbuilt: Path, run: Callable[..., Any]
) -> None:
    registered(unbuilt)
    answer = run(unbuilt, "dvc", "repro")
    assert answer.status == 0, answer.out + answer.err
    assert not run(
        unbuilt, "git", "status", "--porcelain", "src", "pipeline", "dvc.yaml", ":!pipeline/params/versions.yaml"
    ).out

    # The reader and the encoding. Words with one first letter are one group: no first letter of test has trained.
    numbers = read_json(unbuilt / "metrics/datasets/words.json")
    assert numbers["quarantined"] == COUNT // 15 and numbers["letters"] == 26
    assert sum(numbers[name] for name in ("train", "dev", "test", "quarantined")) == COUNT
    letters = {
        name: set(read_table(unbuilt / f"data/corpora/words/{name}.parquet")["group"]) for name in ("train", "test")
    }
    assert not letters["train"] & letters["test"]

    # The architecture and the task.
    losses = [
        step["train_loss"] for step in read_json(unbuilt / "data/models/bigram/training.json")["seed2"]["history"]
    ]
    assert losses[-1] < losses[0]
    outputs = read_table(unbuilt / "data/outputs/letters/bigram.parquet")
    assert outputs["seed"].unique().tolist() == [1, 2] and len(outputs) == 2 * outputs["id"].nunique()
    assert (outputs["tokens"] == outputs["reference"].str.len() + 1).all() and (outputs["nll"] > 0).all()
    assert (outputs["text"].str.len() <= 6).all() and outputs["text"].any()
    details = read_json(unbuilt / "metrics/details/letters/bigram.json")
    kept = (outputs["text"].str[:1] == outputs["prompt"]).mean() * 100
    assert details["scores"]["prompt_kept"] == pytest.approx(kept, abs=1e-3)
    assert read_json(unbuilt / "metrics/letters/bigram.json") == {"kept": pytest.approx(kept, abs=1e-2)}
    # All words with p are test words, and `pebble` is too long.
    assert details["counts"]["records"] == outputs["id"].nunique() == 9 and details["counts"]["unfit"] == 3
    assert details["settings"]["decoder"] == {"max_letters": 6}

    # The baselines and the report.
    assert read_json(unbuilt / "metrics/letters/baselines/words/copy.json") == {"kept": 100.0}
    assert (unbuilt / "metrics/letters/baselines/words/ngram.json").exists()
    table = (unbuilt / "reports/letters/tables.md").read_text(encoding="utf-8")
    assert "12.5" in table and "100.00" in table
    assert "up to date" in run(unbuilt, "dvc", "repro").out


def test_a_plugin_that_cannot_be_imported_is_one_line(unbuilt: Path, run: Callable[..., Any]) -> None:
    registered(unbuilt)
    shutil.rmtree(unbuilt / "plugin")
    missing = run(unbuilt, "dvc", "repro", "-s", "parse@words")
    assert missing.status != 0
    assert "cannot import plugin.letters" in missing.err and "Traceback" not in missing.err


def test_the_package_of_the_plugins_wheel_builds_its_model(tmp_path: Path, run: Callable[..., Any]) -> None:
    settings = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    (name,) = settings["packages"]
    (tmp_path / name).symlink_to(PLUGIN / settings["package-dir"][name])
    program = (
        f"from {name}.letters import ARCHITECTURES, BigramConfig, LetterEncoding\n"
        "vocabulary = LetterEncoding().build_vocabulary((), None, 'en')\n"
        "print(type(ARCHITECTURES['bigram'].build(BigramConfig(width=4), vocabulary)).__module__)"
    )
    answer = run(tmp_path, "python", "-c", program, PYTHONPATH=f"{PLUGIN.parents[1] / 'src'}:{tmp_path}")
    assert answer.out == f"{name}.bigram\n", answer.err


def registered(project: Path) -> None:
    """Put the plugin into the project, its modules into params.yaml, its components into versions.yaml."""
    shutil.copytree(project / "tests/plugin", project / "plugin")
    path, versions = project / "params.yaml", project / "pipeline/params/versions.yaml"
    head = {
        key: value for key, value in yaml.safe_load(path.read_text(encoding="utf-8")).items() if isinstance(value, str)
    }
    path.write_text(yaml.safe_dump({**head, **PARAMS}, sort_keys=False), encoding="utf-8")
    components = yaml.safe_load(versions.read_text(encoding="utf-8"))
    for kind, name in (
        ("readers", "letters"), ("encodings", "letters"), ("models", "bigram"), ("decoding", "letters"),
        ("baselines", "letters"), ("metrics", "letters"),
    ):  # fmt: skip
        components[kind][name] = 1
    versions.write_text(yaml.safe_dump(components), encoding="utf-8")
    (project / "papers/printed/letters.yaml").write_text(yaml.safe_dump(PRINTED), encoding="utf-8")


# --- Names ------------------------------------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[2]
#: Names of registered components that are also names of something else: the command and the service `paraphrase`, the
#: design `pairs` of a study. Only an exported model of Chinese verse takes the books along.
COMMANDS = {
    ("pipeline/commands/judge_power.py", "pairs"),
    ("pipeline/commands/list_entries.py", "paraphrase"),
    ("pipeline/commands/model_card.py", "compose"), ("pipeline/commands/model_card.py", "paraphrase"),
    ("pipeline/records/systems.py", "verse"),
}  # fmt: skip
#: Packages with a module for each component. Shared modules of theirs are no component's own.
COMPONENTS = ("espalier.datasets", "espalier.tasks", "espalier.models", "espalier.corpora.readers")
SHARED = {
    "espalier.corpora.readers", "espalier.datasets.batch", "espalier.datasets.encoding",
    "espalier.datasets.ragged", "espalier.datasets.registry", "espalier.datasets.structure.structures",
    "espalier.models.contract",
    "espalier.models.ngram", "espalier.models.ngram_tree", "espalier.models.output_check", "espalier.models.registry",
    "espalier.models.serialization", "espalier.tasks.candidates", "espalier.tasks.data", "espalier.tasks.decode",
    "espalier.tasks.registry", "espalier.tasks.scoring", "espalier.tasks.settings", "espalier.tasks.task",
}  # fmt: skip


def modules() -> Iterator[tuple[str, ast.Module]]:
    """The modules that must serve every component: those of the pipeline and of reports.

    All but one: a rehearsal imitates published files source by source.
    """
    for folder in ("pipeline", "src/espalier/report"):
        for path in sorted({*(ROOT / folder).rglob("*.py")} - {ROOT / "pipeline/graph/rehearsal/synthetic_sources.py"}):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def strings(module: ast.Module) -> set[str]:
    return {node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def imports(module: ast.Module) -> set[str]:
    nodes = list(ast.walk(module))
    whole = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return whole | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


def test_no_stage_command_or_report_asks_for_a_component_by_its_name() -> None:
    names = {*ENCODINGS, *TASKS, *ARCHITECTURES, *READERS}
    assert {"songnet", "x2tree", "guig", "paraphrase", "dialogue", "dialogue_zh", "verse", "pairs"} <= names
    assert {(path, name) for path, module in modules() for name in strings(module) & names} == COMMANDS


def test_no_stage_command_or_report_imports_a_component() -> None:
    own = {
        (path, name)
        for path, module in modules()
        for name in imports(module)
        if name.startswith(COMPONENTS) and name not in SHARED
    }
    assert own == set()
