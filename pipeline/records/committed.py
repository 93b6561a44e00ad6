"""Comparison of the metrics in the working tree with those of the last commit."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

#: On another kind of processor a training rounds otherwise, and a score of its model may differ by this fraction of the
#: committed value, or by this much if that is more: the second if the score is from 0 to 1 (docs/faults.md).
RELATIVE, ABSOLUTE, SMALL = 0.10, 1.0, 0.10
#: Scores from 0 to 1; the others are percentages, distances or counts.
FRACTIONS: Final = ("bleu2", "pc2", "pos2", "own")
#: Perplexities, which the fraction alone bounds.
PERPLEXITY: Final = "ppl"
#: Counts, which do not depend on the processor.
COUNTED: Final = ("metrics/corpora/", "metrics/datasets/", "metrics/parsing/")

#: What else is below `metrics`.
OTHERS: Final = ("metrics/details/", "metrics/measured/", "metrics/provenance/")
#: Where the metrics are, as git's pathspec.
METRICS: Final = ("metrics", *(f":!{other}" for other in OTHERS))


class Difference(NamedTuple):
    """A number that differs from the committed one; None if one of them is missing."""

    file: str
    key: str
    value: float | None
    committed: float | None

    @property
    def tolerable(self) -> bool:
        """Whether another machine can explain the difference."""
        if self.value is None or self.committed is None or self.file.startswith(COUNTED):
            return False
        least = 0.0 if self.key.startswith(PERPLEXITY) else SMALL if self.key in FRACTIONS else ABSOLUTE
        return abs(self.value - self.committed) <= max(least, RELATIVE * abs(self.committed))

    def __str__(self) -> str:
        """ "metrics/guig/guig_tg.json: bleu 30.1, committed 30.4 (-0.3), within the tolerance"."""
        own, theirs = ("none" if each is None else f"{each:g}" for each in (self.value, self.committed))
        change = "" if self.value is None or self.committed is None else f" ({self.value - self.committed:+.4g})"
        verdict = "within the tolerance" if self.tolerable else "more than the tolerance"
        return f"{self.file}: {self.key} {own}, committed {theirs}{change}, {verdict} of another machine"


def differences(folder: Path) -> list[Difference] | None:
    """The numbers in committed metric files that differ; None without git or a commit.

    Files that are not in the last commit are left out.

    Args:
        folder: folder of a profile.
    """
    listed = _git(folder, "diff", "--name-only", "--relative", "--diff-filter=MD", "HEAD", "--", *METRICS)
    if listed is None:
        return None
    return [each for name in listed.splitlines() if name.endswith(".json") for each in _of_file(folder, name)]


def _of_file(folder: Path, name: str) -> Iterator[Difference]:
    committed, path = _numbers(_git(folder, "show", f"HEAD:./{name}")), folder / name
    own = _numbers(path.read_text(encoding="utf-8")) if path.exists() else {}
    for key in dict.fromkeys([*committed, *own]):
        value, other = own.get(key), committed.get(key)
        if value is None or other is None or not math.isclose(value, other, rel_tol=1e-12):
            yield Difference(name, key, value, other)


def _numbers(text: str | None) -> Mapping[str, float]:
    """The numbers of a metric file by key; empty if it is not a metric file."""
    try:
        value: Any = json.loads(text or "{}")
    except json.JSONDecodeError:
        return {}
    items = value.items() if isinstance(value, dict) else ()
    return {key: float(number) for key, number in items if isinstance(number, int | float)}


def _git(folder: Path, *arguments: str) -> str | None:
    """The output of git; None if it fails or is not installed."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
