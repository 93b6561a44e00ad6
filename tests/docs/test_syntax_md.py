"""The page on syntax: its examples are run, and what it says of files, backends and scores is compared with them."""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from espalier.syntax.parsers.registry import BACKENDS
from espalier.syntax.parsers.training_config import BeneparTraining
from pipeline.params.entries import ParserEntry

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import Page, details, key_of, shown

PAGE = Page("docs/syntax.md")

#: The modules whose every public function is a form, or a way from one to another.
FORMS = ("constituency", "levels", "dependency", "conllu", "projective", "ternary")
#: Public for its neighbour's sake; it words an error.
NO_FORM = {"unclosed"}
#: The columns of the table of scores, and where in a parser's file each is, the first that is there.
COLUMNS = {
    "sentences": (("counts", "sentences"),),
    "F1": (("scores", "bracket_f1"),),
    "F1, up to 40 words": (("up_to_40_words", "bracket_f1"),),
    "tags": (("scores", "bracket_all_tag_accuracy"), ("scores", "tag_accuracy")),
    "UAS": (("scores", "uas"),),
    "LAS": (("scores", "las"),),
}


@pytest.mark.parametrize("module", FORMS)
def test_every_public_function_of_the_forms_is_in_a_worked_example(module: str) -> None:
    source = Path(str(import_module(f"espalier.syntax.{module}").__file__)).read_text(encoding="utf-8")
    public = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    examples = PAGE.only("pycon")
    forms = {name for name in public if not name.startswith("_")} - NO_FORM
    assert sorted(name for name in forms if not re.search(rf"\b{name}\b", examples)) == []


def test_every_backend_has_a_row() -> None:
    assert set(BACKENDS) <= {key_of(row["backend"]) for row in PAGE.table("backend")}


def test_the_entry_that_the_page_shows_is_one() -> None:
    for value in yaml.safe_load(PAGE.only("yaml"))["parsers"].values():
        entry = ParserEntry.model_validate(value)
        assert entry.backend == "benepar"
        BeneparTraining.model_validate(entry.training)


@pytest.mark.parametrize("row", PAGE.table("entry"), ids=lambda row: key_of(row["entry"]))
def test_every_score_in_the_table_is_that_of_the_parsers_own_file(row: dict[str, str]) -> None:
    parser, names = details("parsers", key_of(row["entry"])), [name for name in COLUMNS if row[name]]
    assert len(names) > 2
    for name in names:
        part, key = next((part, key) for part, key in COLUMNS[name] if key in parser[part])
        assert shown(row[name], parser[part][key]), name
