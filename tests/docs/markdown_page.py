"""A page of docs/ as its tests read it: blocks, tables, and what it cites."""

from __future__ import annotations

import ast
import doctest
import io
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "src" / "espalier"


@dataclass(frozen=True)
class Page:
    name: str

    @property
    def path(self) -> Path:
        return ROOT / "docs" / self.name

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def blocks(self, language: str) -> list[tuple[int, list[str]]]:
        """The fenced blocks of one language, each with the place of its first line."""
        found, inside, start = list[tuple[int, list[str]]](), "", 0
        for place, line in enumerate(self.lines):
            if not (fence := re.fullmatch(r"```(\w*)", line)):
                continue
            if inside == language:
                found.append((start, self.lines[start:place]))
            inside, start = ("" if inside else fence[1] or "text"), place + 1
        return found

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
        kept = [""] * len(self.lines)
        for start, lines in self.blocks("pycon"):
            kept[start : start + len(lines)] = lines
        test = doctest.DocTestParser().get_doctest("\n".join(kept) + "\n", {}, self.name, str(self.path), 0)
        out = io.StringIO()
        found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, out=out.write)
        return found.attempted, out.getvalue()

    def cited(self) -> list[tuple[str, str]]:
        """Every name in the code that the page cites as `path.py: Name.name`; paths are below src/espalier."""
        return re.findall(r"`([\w/]+\.py):\s([\w.]+)`", self.text)

    def files(self) -> list[str]:
        """Every file of the project that the page names by its path."""
        return re.findall(r"`((?:src|tests|benchmarks|profiles)/[\w./]+\.\w+)`", self.text)

    def dead_anchors(self) -> list[str]:
        """Links to headings that no page has."""
        dead = list[str]()
        for page, anchor in re.findall(r"\]\((\w*\.?m?d?)(?:#([\w-]+))?\)", self.text):
            text = (self.path.parent / page if page else self.path).read_text(encoding="utf-8")
            titles = re.findall(r"^#+ (.+)$", text, re.M)
            headings = [re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in titles]
            if anchor and anchor not in headings:
                dead.append(f"{page}#{anchor}")
        return dead


def key_of(cell: str) -> str:
    return cell.strip("`")


def is_there(path: str, dotted: str) -> bool:
    """Whether a module below src/espalier has this name at its top, or in a class."""
    body: list[ast.stmt] = ast.parse((CODE / path).read_text(encoding="utf-8")).body
    for part in dotted.split("."):
        found = next((node for node in body if part in _names(node)), None)
        if found is None:
            return False
        body = getattr(found, "body", [])
    return True


def _names(node: ast.stmt) -> set[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case ast.Assign(targets=targets):
            names: set[str] = set()
            for target in targets:
                names |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
            return names
    return set()
