"""The page on syntax: its examples are run, and what it says of files, backends and scores is compared with them."""

from __future__ import annotations

import ast
import doctest
import io
import json
import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from espalier.syntax.parsers.benepar_config import BeneparTraining
from espalier.syntax.parsers.registry import BACKENDS
from pipeline.params import ParserEntry

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "syntax.md"
TEXT = PAGE.read_text(encoding="utf-8")
SCORES = ROOT / "profiles" / "small" / "metrics" / "parsers"

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


def blocks(language: str) -> str:
    """The page with all but its blocks of one language emptied, so that line numbers stay."""
    kept, inside = list[str](), ""
    for line in TEXT.splitlines():
        fence = re.fullmatch(r"```(\w*)", line)
        if fence:
            inside = "" if inside else fence[1] or "text"
        kept.append(line if inside == language and not fence else "")
    return "\n".join(kept) + "\n"


def table(first: str) -> list[dict[str, str]]:
    """The rows of the table whose first column has this name."""
    lines = TEXT.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = list[list[str]]()
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def test_every_worked_example_of_the_page_gives_what_it_shows() -> None:
    test = doctest.DocTestParser().get_doctest(blocks("python"), {}, PAGE.name, str(PAGE), 0)
    out = io.StringIO()
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, out=out.write)
    assert found.attempted > 100
    assert not found.failed, out.getvalue()


@pytest.mark.parametrize("module", FORMS)
def test_every_public_function_of_the_forms_is_in_a_worked_example(module: str) -> None:
    source = Path(str(import_module(f"espalier.syntax.{module}").__file__)).read_text(encoding="utf-8")
    public = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    examples = blocks("python")
    forms = {name for name in public if not name.startswith("_")} - NO_FORM
    assert sorted(name for name in forms if not re.search(rf"\b{name}\b", examples)) == []


def test_every_backend_has_a_row() -> None:
    assert set(BACKENDS) <= {row["backend"].strip("`") for row in table("backend")}


def test_the_entry_that_the_page_shows_is_one() -> None:
    for value in yaml.safe_load(blocks("yaml"))["parsers"].values():
        entry = ParserEntry.model_validate(value)
        assert entry.backend == "benepar"
        BeneparTraining.model_validate(entry.training)


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`((?:src|pipeline|profiles)/[\w./]+\.\w+)`|\]\((\w+\.md)\)", TEXT)
    assert named
    for path, page in named:
        assert (ROOT / path if path else PAGE.parent / page).is_file(), path or page


@pytest.mark.parametrize("row", table("entry"), ids=lambda row: row["entry"].strip("`"))
def test_every_score_in_the_table_is_that_of_the_parsers_own_file(row: dict[str, str]) -> None:
    printed = {name: row[name] for name in COLUMNS if row[name] not in ("", "–")}
    if not printed:
        return
    found = json.loads((SCORES / f"{row['entry'].strip('`')}.json").read_text(encoding="utf-8"))
    for name, value in printed.items():
        part, key = next((part, key) for part, key in COLUMNS[name] if key in found.get(part, {}))
        assert float(value) == pytest.approx(round(found[part][key], 2)), name
