"""The models of `released/`: their sizes and scores; with --outputs also ten outputs of each command, and its seconds.

    python benchmarks/released_models.py [--outputs]

The outputs are the first ten of each command, as they came. Each command is a process of its own, as in a shell.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

RELEASED: Final = Path(__file__).parents[1] / "released"
#: A command for each service of a released model; each writes ten results.
COMMANDS: Final = (
    ("generate", "5,5。7,5。5,5。7,5。", "--n", "10"),
    ("generate", "--tune", "卜算子", "--book", "cilin", "--tone", "--n", "10"),
    ("generate", "5,5/5,5/", "--language", "en", "--n", "10"),
    ("polish", "_雨___，____到。", "--n", "10"),
    ("paraphrase", "Anna asked for a camera.", "--templates", "10"),
    ("expand", "Anna asked for a camera.", "--templates", "10"),
    ("granularity", "Can you tell me who found the key?"),
    ("reply", "你喜欢吃什么？", "--n", "10"),
    ("compose", "我喜欢炸薯条", "--n", "10"),
    ("compose", "a dog was running in a room", "--n", "10"),
    ("sample", "--n", "10"),
)


def score_rows(folder: Path) -> Iterator[str]:
    """The rows of a released model: a metric of a run, by the released file, before rounding, and without a model."""
    runs: Mapping[str, Any] = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    for run, facts in runs.items():
        columns = facts["columns"]
        trivial = [name for name in columns if name not in ("released", "in 32 bits")]
        for metric, value in columns["released"]["scores"].items():
            beside = {name: _cell(columns, name, metric) for name in trivial}
            others = ", ".join(f"{name} {cell}" for name, cell in beside.items() if cell != "–")
            before = _cell(columns, "in 32 bits", metric)
            yield f"| {run} | {metric} | {value:.2f} | {before} | {others} |"


def _cell(columns: Mapping[str, Any], name: str, metric: str) -> str:
    value = columns.get(name, {"scores": {}})["scores"].get(metric)
    return "–" if value is None else f"{value:.2f}"


def size_of(folder: Path) -> int:
    """The bytes of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    """Print the tables, and with --outputs what commands write."""
    folders = sorted(path for path in RELEASED.iterdir() if path.is_dir())
    print(f"{sum(map(size_of, folders)) / 1e6:.1f} MB in all\n\n| model | MB |\n| --- | ---: |")
    for folder in folders:
        print(f"| {folder.name} | {size_of(folder) / 1e6:.1f} |")
    print(
        "\n| run | metric | released file | in 32 bits | without a trained model |\n| --- | --- | ---: | ---: | --- |"
    )
    for folder in folders:
        print(*score_rows(folder), sep="\n")
    for command in COMMANDS if "--outputs" in sys.argv[1:] else ():
        started = time.perf_counter()
        done = subprocess.run(["espalier", *command, "--quiet"], capture_output=True, text=True, check=True)
        print(f"\n$ espalier {' '.join(command)}    # {time.perf_counter() - started:.1f} s\n{done.stdout.rstrip()}")


if __name__ == "__main__":
    main()
