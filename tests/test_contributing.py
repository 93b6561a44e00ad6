"""What contributors read: examples of CONTRIBUTING.md are in the code, and issue forms name pages that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
FORMS = sorted(path.name for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


CONTRIBUTING = read("CONTRIBUTING.md")


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
