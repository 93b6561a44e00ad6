"""Write anew what the examples of pages print: `python tests/docs/refresh.py README.md` runs them with today's models.

It runs `console` blocks in a shell and `pycon` blocks in one Python session, and keeps all other lines. A command that
fails keeps its output, and its error is printed.
"""

from __future__ import annotations

import doctest
import io
import os
import subprocess
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def main(names: list[str]) -> None:
    """Write each page with the outputs of its examples."""
    os.chdir(ROOT)
    for name in names:
        path, session = ROOT / name, dict[str, Any]()
        lines, block, fence = list[str](), list[str](), ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("```"):
                lines += {"console": _console, "pycon": partial(_pycon, session=session)}.get(fence, list)(block)
                lines.append(line)
                block, fence = [], line[3:] if not fence else ""
            else:
                (block if fence else lines).append(line)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _console(lines: list[str]) -> list[str]:
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    shown = list[str]()
    for start, end in pairwise([*starts, len(lines)]):
        run = subprocess.run(lines[start][2:], shell=True, capture_output=True, text=True)
        if run.returncode:
            print(f"{lines[start]}\n{run.stderr}", file=sys.stderr)
        shown += lines[start:end] if run.returncode else [lines[start], *run.stdout.rstrip().splitlines()]
    return shown


def _pycon(lines: list[str], session: dict[str, Any]) -> list[str]:
    shown = list[str]()
    for example in doctest.DocTestParser().get_examples("\n".join(lines) + "\n"):
        source = example.source.splitlines()
        shown += [f">>> {source[0]}", *(f"... {line}".rstrip() for line in source[1:])]
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            try:
                exec(compile(example.source, "<example>", "single"), session)
            except Exception as error:
                print("Traceback (most recent call last):")
                print(traceback.format_exception_only(error)[-1].strip())
        shown += out.getvalue().splitlines()
    return shown


if __name__ == "__main__":
    main(sys.argv[1:])
