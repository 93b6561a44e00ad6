"""All pages: what they name exists, and every command that they show is one."""

from __future__ import annotations

import re
import shlex
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from espalier.io.yaml_files import load_yaml
from pipeline import layout
from pipeline.shell.app import app

sys.path.insert(0, str(Path(__file__).parent))
from markdown_page import PAGES, ROOT, Page, exists, profile

COMMANDS = [(name, command) for name in PAGES for command in Page(name).commands()]
#: A command that writes texts, or values of a model for a text, in a block that shows its output.
WRITES = r"(?m)^\$ .*\bespalier (generate|polish|paraphrase|granularity|reply|chat|compose|sample)\b"


@cache
def yaml_of(path: Path) -> Any:
    """What a YAML file says."""
    return load_yaml(path)


@cache
def command_line() -> Any:
    """All commands of espalier."""
    return get_command(app)


def of(*programs: str) -> list[tuple[str, str]]:
    """The commands of the pages that run one of these programs, or pipe into it."""
    starts = [(name, command, {part.split()[0] for part in command.split(" | ")}) for name, command in COMMANDS]
    return [(name, command) for name, command, first in starts if first & set(programs)]


@pytest.mark.parametrize("name", PAGES)
def test_every_name_in_the_code_that_a_page_cites_exists(name: str) -> None:
    assert [citation for citation in Page(name).cited() if not exists(*citation)] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_path_that_a_page_names_exists(name: str) -> None:
    page = Page(name)
    assert [path for path in page.files() if not (ROOT / path).is_file()] == []
    assert [path for path in page.folders() if not (ROOT / path).is_dir()] == []


@pytest.mark.parametrize("name", PAGES)
def test_no_link_of_a_page_is_dead(name: str) -> None:
    assert Page(name).dead_links() == []


def test_each_page_with_outputs_of_a_profile_s_models_says_that_they_depend_on_the_processor() -> None:
    """README's are of released models, and compared."""
    said = re.compile(r"depend\s+on the processor\]\((docs/)?faults\.md#determinism\)")
    wanting, found = list[str](), list[str]()
    for page in (Page(name) for name in PAGES if name != "README.md"):
        shown = [start for start, lines in page.blocks("console") if re.search(WRITES, "\n".join(lines))]
        if shown or page.name == "docs/python.md":
            found.append(page.name)
            before = "\n".join(page.lines[: min(shown, default=len(page.lines))])
            wanting += [] if said.search(before) else [page.name]
    assert {"docs/sat.md", "docs/python.md"} <= {*found} and not wanting


@pytest.mark.parametrize(("name", "command"), of("espalier"))
def test_every_command_of_espalier_parses_and_names_entries_that_exist(name: str, command: str) -> None:
    for part in command.split(" | "):
        words = shlex.split(part)
        if words[0] != "espalier" or words[1:] == ["--help"]:
            continue
        program: Any = command_line()
        while hasattr(program, "commands"):  # `espalier new` has commands of its own
            program, words = program.commands[words[1]], words[1:]
        options = program.make_context(words[0], words[1:]).params
        params = profile(options.get("profile") or "nursery")
        added = set(re.findall(r"^espalier new (?:model|corpus) (\w+)", Page(name).text, re.M))
        for kind in ("model", "expander"):
            folder = ROOT / str(options.get(kind)) / "model.json"
            assert options.get(kind) is None or options[kind] in {*params.models, *added} or folder.exists(), kind
        assert options.get("protocol") is None or options["protocol"] in {*params.protocols, "PROTOCOL"}
        if "key" in options:
            _require_target(f"{words[0]}@{options['key']}", options["profile"] or "nursery")


@pytest.mark.parametrize(("name", "command"), of("dvc"))
def test_every_stage_that_a_command_of_dvc_names_exists(name: str, command: str) -> None:
    words = shlex.split(command)
    where = next((key for key in layout.PROFILES if f"profiles/{key}" in words), "nursery")
    for target in filter(re.compile(r"^\w+@\w+$").match, words):
        _require_target(target, where)
    for added, setting in re.findall(r"(?:-S|--set-param) (\+?)(\S+)=", command):
        value: Any = yaml_of(layout.PROFILES[where] / "params.yaml")
        *parts, last = setting.split(".")
        for part in parts:
            value = value[part]
        assert (last in value) != bool(added), setting


@pytest.mark.parametrize(("name", "command"), of("make", "python"))
def test_every_script_and_make_target_exists(name: str, command: str) -> None:
    words = shlex.split(command)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    if words[0] == "python" and words[1].endswith(".py"):
        assert (ROOT / words[1]).is_file()


def _require_target(target: str, where: str) -> None:
    stage, key = target.split("@")
    stages, params = yaml_of(ROOT / "dvc.yaml")["stages"], yaml_of(layout.PROFILES[str(where)] / "params.yaml")
    for part in stages[stage]["foreach"].strip("${}").split("."):
        params = params[part]
    assert key in params, f"{target} in profile {where}"
