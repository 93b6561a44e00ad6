"""README: every score is that of profile small, every printed number is in the printed tables, and its entries work."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from espalier.corpora.readers import READERS
from espalier.datasets.registry import ENCODINGS
from espalier.models.registry import ARCHITECTURES
from espalier.syntax.parsers.registry import BACKENDS
from espalier.tasks.registry import TASKS
from pipeline.params import load_params

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import ROOT, Page, details, key_of, profile, shown

PAGE = Page("README.md")
SCORES = {
    "songnet": {
        "perplexity": "perplexity", "PPL as released": "ppl_released", "Format Ma-F1": "format_macro_f1",
        "Rhyme Ma-F1": "rhyme_macro_f1", "the same, ends shuffled": "rhyme_shuffled_macro_f1",
        "poems that rhyme throughout, %": "rhyme_accuracy",
    },
    "guig": {
        "BLEU": "bleu", "ROUGE-1": "rouge_1", "ROUGE-2": "rouge_2", "ROUGE-L": "rouge_l", "METEOR": "meteor",
        "TED-f": "ted_full", "N-TED-f": "n_ted_full",
    },
    "x2tree": {
        "BLEU": "bleu", "Distinct-2": "distinct_2", "commonest, %": "commonest", "words": "words",
        "perplexity": "perplexity_per_word",
    },
}  # fmt: skip
ROWS = [(paper, row) for paper in SCORES for row in PAGE.table(f"run of {paper}")]


@pytest.mark.parametrize(("paper", "row"), ROWS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_score_is_that_of_the_run(paper: str, row: dict[str, str]) -> None:
    run = details(paper, key_of(row[f"run of {paper}"]))
    for column, name in SCORES[paper].items():
        assert shown(row[column], run["scores"][name]), column
    if "posts" in row:
        assert shown(row["posts"], run["counts"]["posts"])


def test_the_table_of_parsers_is_that_of_the_page_on_syntax() -> None:
    rows = [list(row.values()) for row in PAGE.table("parser")]
    assert rows == [list(row.values()) for row in Page("docs/syntax.md").table("entry")]


def test_the_sizes_of_the_corpora_are_what_was_counted() -> None:
    songci, guig, weibo = (details("corpora", key) for key in ("songci", "guig", "weibo"))
    assert f"{songci['rows']['train']:,} poems train, and {songci['rows']['test']:,} in" in PAGE.prose
    assert f"in {songci['distinct']['tune']['test']} formats that" in PAGE.prose
    assert f"on {guig['rows']['train']:,} pairs" in PAGE.prose and f"{guig['rows']['test']:,} test pairs" in PAGE.prose
    assert f"{weibo['rows']['train']:,} pairs train" in PAGE.prose
    counts = [profile("nursery").corpora[key].options["count"] for key in ("verse_zh", "paraphrase_en", "dialogue_zh")]
    assert "{:,} ci, {:,} paraphrases and {:,} dialogues".format(*counts) in PAGE.prose


def test_the_numbers_that_the_papers_print_are_those_of_the_reports() -> None:
    told = re.findall(r"[Tt]he paper prints ([^.]+(?:\.\d+[^.]*)*)\.", PAGE.prose)
    assert len(told) == 3
    for paper, text in zip(SCORES, told, strict=True):
        printed = _numbers(yaml.safe_load((ROOT / "report" / "printed" / f"{paper}.yaml").read_text(encoding="utf-8")))
        numbers = re.findall(r"\d+\.\d+", text)
        assert numbers and {float(number) for number in numbers} <= printed


def _numbers(value: Any) -> set[float]:
    if isinstance(value, dict):
        return set().union(*(_numbers(part) for part in value.values()))
    if isinstance(value, list):
        return set().union(*(_numbers(part) for part in value))
    return {float(value)} if isinstance(value, int | float) else set()


def test_the_entries_of_a_local_file_fit_into_params_yaml(tmp_path: Path) -> None:
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    entries = yaml.safe_load(PAGE.only("yaml"))
    params["sources"] = entries["sources"]
    params["corpora"] |= entries["corpora"]
    params["datasets"]["linearize"] |= entries["datasets"]["linearize"]
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(params), encoding="utf-8")
    assert load_params(path).corpora["mypairs"].reader == "tsv"


def test_every_key_of_params_yaml_and_its_stages_are_in_the_table() -> None:
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    rows = {key_of(row["key"]): set(re.findall(r"\w+", row["stages"])) for row in PAGE.table("key", "an entry is")}
    for stage, definition in stages.items():
        assert stage in rows[definition["foreach"].strip("${}").split(".")[0]]
    assert rows.keys() <= profile("nursery").__class__.model_fields.keys()


def test_every_registry_of_the_table_is_one() -> None:
    registries = {
        "READERS": READERS,
        "ENCODINGS": ENCODINGS,
        "ARCHITECTURES": ARCHITECTURES,
        "TASKS": TASKS,
        "BACKENDS": BACKENDS,
    }
    rows = {key_of(row["registry"]): key_of(row["in"]) for row in PAGE.table("registry")}
    assert rows.keys() == registries.keys()
    for name, path in rows.items():
        assert registries[name] and re.search(rf"^{name}\b", (ROOT / path).read_text(encoding="utf-8"), re.M)


def test_the_order_of_imports_is_the_checked_one() -> None:
    config = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'"([^"]+)"', re.search(r"layers = \[([^]]*)\]", config)[1])  # type: ignore[index]
    names = [name.removeprefix("espalier.") for layer in layers for name in layer.split(" | ")]
    start = PAGE.prose.index("import only those below them")
    told = re.findall(r"`(\w+)`", PAGE.prose[start : PAGE.prose.index("`make check`")])
    assert [name for name in told if name in names] == names
