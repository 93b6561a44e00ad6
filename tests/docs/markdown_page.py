"""A page of Markdown as its tests read it: blocks, tables, citations; and what the pages are compared with."""

from __future__ import annotations

import ast
import doctest
import io
import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from pipeline import layout
from pipeline.params.entries import Params
from pipeline.params.read import load_params

ROOT = layout.ROOT
CODE = ROOT / "src" / "espalier"
#: Every page, by its path below the root.
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))


@dataclass(frozen=True)
class Page:
    """A page, by its path below the root."""

    name: str

    @property
    def path(self) -> Path:
        return ROOT / self.name

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def prose(self) -> str:
        """The text with every line break a space, so that prose may be filled anew."""
        return " ".join(self.text.split())

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def blocks(self, language: str) -> list[tuple[int, list[str]]]:
        """The fenced blocks of one language, each with the index of its first line."""
        blocks, inside, start = list[tuple[int, list[str]]](), "", 0
        for number, line in enumerate(self.lines):
            if not (fence := re.fullmatch(r"```(\w*)", line)):
                continue
            if inside == language:
                blocks.append((start, self.lines[start:number]))
            inside, start = ("" if inside else fence[1] or "text"), number + 1
        return blocks

    def only(self, language: str) -> str:
        """The page with all but its blocks of one language emptied, so that line numbers stay."""
        kept = [""] * len(self.lines)
        for start, lines in self.blocks(language):
            kept[start : start + len(lines)] = lines
        return "\n".join(kept) + "\n"

    def table(self, *columns: str) -> list[dict[str, str]]:
        """The rows of the table whose header begins with these columns."""
        begin = "| " + " | ".join(columns) + " |"
        start = next(number for number, line in enumerate(self.lines) if line.startswith(begin))
        rows = list[list[str]]()
        for line in self.lines[start:]:
            if not line.startswith("|"):
                break
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]

    def run_examples(self) -> tuple[int, str]:
        """Run the `pycon` blocks from top to bottom: how many examples there are, and what went wrong."""
        test = doctest.DocTestParser().get_doctest(self.only("pycon"), {}, self.name, str(self.path), 0)
        out = io.StringIO()
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, out=out.write)
        return result.attempted, out.getvalue()

    def cited(self) -> list[tuple[str, str]]:
        """Every name in the code that the page cites as `path.py: Name.name`; paths are below src/espalier."""
        return re.findall(r"`([\w/]+\.py):\s([\w.]+)`", self.text)

    def files(self) -> list[str]:
        """Every file of the project that the page names by its path."""
        folders = "src|pipeline|tests|benchmarks|profiles|report|docs"
        paths = re.findall(rf"`((?:{folders})/[\w./]+\.\w+|\w+\.(?:yaml|toml|txt|lock))`", self.text)
        return sorted({*paths} - {"dvc.lock"})

    def folders(self) -> list[str]:
        """Every folder of the project's code that the page names by its path."""
        return re.findall(r"`((?:src|pipeline|tests|benchmarks|profiles|report|docs)/(?:\w+/)*\w*)`", self.text)

    def commands(self) -> list[str]:
        """The commands of its `sh` and `console` blocks, without comments; one that goes on in the next line is one."""
        blocks = ("\n".join(lines) for _, lines in self.blocks("sh"))
        shell = [line for block in blocks for line in re.sub(r" \\\n *", " ", block).splitlines()]
        console = [line[2:] for _, lines in self.blocks("console") for line in lines if line.startswith("$ ")]
        return [line.split("  #")[0].strip() for line in (*shell, *console) if line and not line.startswith("#")]

    def dead_links(self) -> list[str]:
        """Links to files that do not exist, and to headings that no page has."""
        dead = list[str]()
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)", self.text):
            path = self.path.parent / target if target else self.path
            if not path.exists():
                dead.append(target)
            elif anchor:
                titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
                headings = [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles]
                if anchor not in headings:
                    dead.append(f"{target}#{anchor}")
        return dead


def key_of(cell: str) -> str:
    """A cell without its backticks."""
    return cell.strip("`")


@cache
def profile(name: str) -> Params:
    """The params of a profile, presets laid below the entries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(layout.PROFILES[name])
        return load_params()


def details(group: str, key: str) -> Any:
    """The details of a run, corpus, dataset or parser of profile small."""
    path = layout.PROFILES["small"] / layout.details(group, key)
    return json.loads(path.read_text(encoding="utf-8"))


def shown(cell: str, value: float) -> bool:
    """Whether a cell shows this number, rounded to the cell's digits."""
    digits = len(cell.partition(".")[2])
    return cell == f"{value:,.{digits}f}"


def exists(path: str, dotted: str) -> bool:
    """Whether a module below src/espalier has this name at its top, or in a class."""
    if not (CODE / path).is_file():
        return False
    body: list[ast.stmt] = ast.parse((CODE / path).read_text(encoding="utf-8")).body
    for part in dotted.split("."):
        owner = next((node for node in body if part in _names(node)), None)
        if owner is None:
            return False
        body = getattr(owner, "body", [])
    return True


def _names(node: ast.stmt) -> set[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case ast.Assign(targets=targets):
            return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return set()
