"""What contributors read: examples of CONTRIBUTING.md are in the code, and issue forms name pages that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
FORMS = sorted(path.name for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


CONTRIBUTING = read("CONTRIBUTING.md")
#: Modules with values whose types no type checker can know: of raw files and of libraries without types, options of a
#: command line, and what is looked up by name.
UNTYPED = {
    "pipeline/graph/dvc_files.py", "pipeline/graph/stage_graph.py", "pipeline/params/plugins.py",
    *(f"src/espalier/{path}.py" for path in (
        "__init__", "cli/command", "corpora/readers/chinese_poetry", "corpora/readers/files",
        "io/files", "io/imports", "io/registry", "io/yaml_files", "text/words", "metrics/ted_audit",
        "metrics/texts", "models/songnet", "nursery/data", "report/page_numbers", "text/normalize", "verse/tune_book",
        "frames/frame", "frames/processor", "frames/tokens",
    )),
    *(f"src/espalier/syntax/parsers/{name}.py" for name in (
        "benepar_backend", "benepar_chart", "benepar_compat", "benepar_training", "benepar_words", "jieba_backend",
        "ltp_backend", "ltp_compat", "penn_words",
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_an_issue_form_asks_each_thing_once_and_names_pages_that_exist(name: str) -> None:
    text = read(f".github/ISSUE_TEMPLATE/{name}")
    form = yaml.safe_load(text)
    keys = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert form["name"] and form["description"] and len(keys) == len(set(keys)) >= 3
    assert all(part["attributes"]["label"] for part in form["body"] if part["type"] != "markdown")
    assert all((ROOT / page).is_file() for page in re.findall(r"docs/\w+\.md", text))


def test_the_example_of_a_docstring_is_that_of_the_code() -> None:
    path = re.search(r"A good docstring, from `([^`]+)`", CONTRIBUTING)[1]  # type: ignore[index]
    shown = re.search(r"^```python\n(.+?)^```$", CONTRIBUTING, re.M | re.S)[1]  # type: ignore[index]
    assert shown.startswith("def ") and shown in read(path)


def test_the_example_of_a_test_name_is_a_test() -> None:
    (name,) = set(re.findall(r"`(test_\w+)`", CONTRIBUTING))
    assert any(f"def {name}(" in path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))


def test_the_command_that_records_golden_values_is_that_of_the_golden_tests() -> None:
    command = re.search(r'^RECORDING = "(.+)"$', read("tests/golden/test_golden.py"), re.M)[1]  # type: ignore[index]
    assert f"`{command}`" in CONTRIBUTING


def test_a_bare_any_is_in_no_signature_but_of_values_that_have_no_type() -> None:
    def is_any(node: ast.expr | None) -> bool:
        return isinstance(node, ast.Name) and node.id == "Any"

    found = set()
    for path in (*ROOT.glob("src/**/*.py"), *ROOT.glob("pipeline/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                if is_any(node.returns) or any(is_any(each.annotation) for each in given):
                    found.add(path.relative_to(ROOT).as_posix())
    assert found <= UNTYPED, "give these values a type, a type variable, a protocol, or `object`"


def test_benchmarks_which_no_test_runs_import_names_that_their_modules_have() -> None:
    missing = []
    for file in (ROOT / "benchmarks").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("espalier."):
                module = ROOT / "src" / node.module.replace(".", "/")
                source = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
                known = {
                    *re.findall(r"\w+", source.read_text(encoding="utf-8")),
                    *(each.stem for each in module.glob("*")),
                }
                missing += [(file.name, node.module, each.name) for each in node.names if each.name not in known]
    assert not missing
