"""README: its sizes, readers, registries and order of imports are those of the code. Its scores: test_numbers.py."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

from pipeline.params.plugins import REGISTRIES

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import ROOT, Page, key_of, profile

PAGE = Page("README.md")


def test_the_sizes_of_the_generated_corpora_are_those_of_params() -> None:
    counts = [profile("nursery").corpora[key].options["count"] for key in ("verse_zh", "paraphrase_en", "dialogue_zh")]
    assert "{:,} ci, {:,} paraphrases and {:,} dialogues".format(*counts) in PAGE.prose


def test_the_metrics_that_are_shown_are_the_committed_ones() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ (dvc .*metrics show .*)\n((?:[^`$].*\n)+)", text, re.M)
    assert shown
    for command, output in shown:
        words = [sys.executable, "-m", *shlex.split(command)]
        run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        assert [line.rstrip() for line in run.stdout.splitlines()] == output.splitlines()


def test_the_readers_of_local_files_are_in_the_registry() -> None:
    told = re.search(r"A local file is a source too: the reader (.*?)\.", PAGE.prose)
    assert told
    names = re.findall(r"`(\w+)`", told[1])
    assert len(names) == 3
    assert REGISTRIES["READERS"][0].keys() >= set(names)


def test_every_key_of_params_yaml_and_its_stages_are_in_the_table() -> None:
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    rows = {key_of(row["key"]): set(re.findall(r"\w+", row["stages"])) for row in PAGE.table("key", "an entry is")}
    for stage, definition in stages.items():
        if "foreach" in definition:
            assert stage in rows[definition["foreach"].strip("${}").split(".")[0]]
    assert rows.keys() <= profile("nursery").__class__.model_fields.keys()


def test_every_registry_of_the_table_is_one() -> None:
    rows = {key_of(row["registry"]): key_of(row["in"]) for row in PAGE.table("registry")}
    assert rows.keys() == REGISTRIES.keys()
    for name, path in rows.items():
        assert re.search(rf"^{name}\b", (ROOT / path).read_text(encoding="utf-8"), re.M)


def test_the_order_of_imports_is_the_checked_one() -> None:
    config = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'"([^"]+)"', re.search(r"layers = \[([^]]*)\]", config)[1])  # type: ignore[index]
    names = [name.removeprefix("espalier.") for layer in layers for name in layer.split(" | ")]
    start = PAGE.prose.index("Each imports only from those after it")
    told = re.findall(r"`(\w+)`", PAGE.prose[start : PAGE.prose.index("`metrics` imports only")])
    assert [name for name in told if name in names] == names
