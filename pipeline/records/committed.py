"""Comparison of the metrics in the working tree with those of the last commit."""

import json
import math
import subprocess
from collections.abc import Container, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pipeline import layout

#: On another kind of processor a training rounds otherwise. A perplexity, or a score without an interval, may differ by
#: the first fraction of the committed value, any other score by the second at least (docs/faults.md).
RELATIVE, LEAST = 0.10, 0.02
#: Counts, which do not depend on the processor.
COUNTED: Final = ("metrics/corpora/", "metrics/datasets/", "metrics/parsing/")

#: What else is below `metrics`.
OTHERS: Final = ("metrics/details/", "metrics/measured/", "metrics/provenance/")
#: Where the metrics are, as git's pathspec.
METRICS: Final = ("metrics", *(f":!{other}" for other in OTHERS))
#: What stages write and git has.
WRITTEN: Final = ("metrics", "dvc.lock")


class Difference(NamedTuple):
    """A number that differs from the committed one; None if one of them is missing.

    Attributes:
        tolerance: the largest difference that another kind of processor explains.
    """

    file: str
    key: str
    value: float | None
    committed: float | None
    tolerance: float

    @property
    def tolerable(self) -> bool:
        """Whether another machine can explain the difference."""
        missing = self.value is None or self.committed is None
        return not missing and abs(self.value - self.committed) <= self.tolerance  # type: ignore[operator]

    def __str__(self) -> str:
        """ "metrics/guig/guig_tg.json: bleu 30.1, committed 30.4 (-0.3), within the tolerance"."""
        own, theirs = ("none" if each is None else f"{each:g}" for each in (self.value, self.committed))
        change = "" if self.value is None or self.committed is None else f" ({self.value - self.committed:+.4g})"
        verdict = "within the tolerance" if self.tolerable else "more than the tolerance"
        return f"{self.file}: {self.key} {own}, committed {theirs}{change}, {verdict} of another machine"


def differences(folder: Path) -> list[Difference] | None:
    """The numbers in committed metric files that differ; None without git or a commit.

    Files that are not in the last commit are left out.
    """
    listed = _git(folder, "diff", "--name-only", "--relative", "--diff-filter=MD", "HEAD", "--", *METRICS)
    if listed is None:
        return None
    return [each for name in listed.splitlines() if name.endswith(".json") for each in _of_file(folder, name)]


def rewritten(folder: Path) -> tuple[int, list[str]]:
    """The number of files in git that stages write and that differ from the last commit, and git's names of them.

    Zero without git or a commit.
    """
    names = (_git(folder, "diff", "--name-only", "--relative", "HEAD", "--", *WRITTEN) or "").splitlines()
    below = (_git(folder, "rev-parse", "--show-prefix") or "").strip()  # "profiles/small/" in that profile
    places = sorted({name.partition("/")[0] for name in names})
    return len(names), [f":/{below}{place}" if below else place for place in places]


def _of_file(folder: Path, name: str) -> Iterator[Difference]:
    committed, path = _numbers(_committed(folder, name)), folder / name
    own = _numbers(_json(path.read_text(encoding="utf-8")) if path.exists() else {})
    details = _committed(folder, _details_of(name))
    for key in dict.fromkeys([*committed, *own]):
        value, other = own.get(key), committed.get(key)
        if value is None or other is None or not math.isclose(value, other, rel_tol=1e-12):
            tolerance = 0.0 if name.startswith(COUNTED) or other is None else _tolerance(key, other, details)
            yield Difference(name, key, value, other, tolerance)


def _details_of(name: str) -> str:
    """The file of the details beside a metric file."""
    _, *group, file = Path(name).parts
    return layout.details("/".join(group), Path(file).stem).as_posix()


def _tolerance(key: str, committed: float, details: Mapping[str, Any]) -> float:
    """How much a score may differ: by the width of its 95 % interval or by `LEAST`, a perplexity by `RELATIVE`.

    Args:
        key: the short name of the score.
        details: the committed ones of the run or parser.
    """
    name = score_of(key, details.get("scores", {}))
    interval = details.get("intervals", {}).get(name)
    if interval is None or name.startswith("perplexity"):
        return RELATIVE * abs(committed)
    return max(float(interval[1] - interval[0]), LEAST * abs(committed))


def score_of(key: str, scores: Container[str]) -> str:
    """The score of the details that metrics have under a short name; of a user's own metric the name itself."""
    return next((names[key] for names in _headlines() if names.get(key) in scores), key)


@cache
def _headlines() -> tuple[Mapping[str, str], ...]:
    """The scores by their short names, task by task."""
    from espalier.metrics import dialogue, paraphrase, parsing, structure, verse

    return (verse.HEADLINE, paraphrase.HEADLINE, paraphrase.PROTOCOL_HEADLINE, paraphrase.EXPANSION_HEADLINE,
            dialogue.HEADLINE, structure.HEADLINE, parsing.HEADLINE)  # fmt: skip


def _committed(folder: Path, name: str) -> dict[str, Any]:
    """An object of JSON in the last commit; an empty one of what is no such file."""
    return _json(_git(folder, "show", f"HEAD:./{name}") or "{}")


def _json(text: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(text)
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _numbers(metrics: Mapping[str, Any]) -> Mapping[str, float]:
    """The numbers of a metric file by key."""
    return {key: float(number) for key, number in metrics.items() if isinstance(number, int | float)}


def _git(folder: Path, *arguments: str) -> str | None:
    """The output of git; None if it fails or is not installed."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
