"""User-defined metrics, for runs of any task. A run names them as `scoring: {own_metrics: {NAME: VERSION}}`.

To add one, in a module listed under `plugins` in params.yaml: `METRICS["mine"] = Family(statistics, (Metric(...),))`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from espalier.io.errors import ConfigError
from espalier.io.registry import Registry
from espalier.metrics.bootstrap import Array
from espalier.metrics.metric import Metric

#: Prefix of the names of these families, which tasks do not use.
PREFIX: Final = "own:"


@dataclass(frozen=True)
class Family:
    """A family of metrics.

    Attributes:
        statistics: function from the outputs of a run (`espalier.tasks.task.Outputs`) to (texts, k) floats, one row per
            row of `outputs.table`.
        metrics: metrics computed from sums of these rows.
    """

    statistics: Callable[[Any], Array]
    metrics: tuple[Metric, ...]


METRICS: Final = Registry[Family]("METRICS", "metric", Family)


def own_statistics(outputs: Any, versions: Mapping[str, int]) -> dict[str, Array]:
    """The statistics of the families that a run names.

    Raises:
        ConfigError: a family is not registered, or returns another number of rows or values that are not finite
            numbers.
    """
    found = {}
    for name in versions:
        rows = np.asarray(METRICS.find(name, where="scoring.own_metrics").statistics(outputs))
        texts = len(outputs.table)
        if rows.ndim != 2 or len(rows) != texts or rows.dtype.kind not in "bif" or not np.isfinite(rows).all():
            raise ConfigError(
                f"its statistics are {rows.dtype} of shape {rows.shape}, for {texts} texts",
                where=f"METRICS['{name}']",
                remedy="return (texts, k) finite numbers; see espalier/metrics/registry.py",
            )
        found[PREFIX + name] = rows.astype(float)
    return found


def own_or(metrics: Callable[[str], tuple[Metric, ...]]) -> Callable[[str], tuple[Metric, ...]]:
    """A function that returns the metrics of a user-defined family, or `metrics(family)` for any other family."""

    def of(family: str) -> tuple[Metric, ...]:
        own = family.startswith(PREFIX)
        return METRICS.find(family.removeprefix(PREFIX)).metrics if own else metrics(family)

    return of


def own_names(families: Iterable[str]) -> list[str]:
    """The names of the metrics of user-defined families."""
    return [metric.name for family in families for metric in METRICS.find(family).metrics]


def require_own_names(families: Iterable[str], metrics_of: Callable[[str], tuple[Metric, ...]]) -> None:
    """Raise a ConfigError if a user-defined metric has the name of a metric of the task."""
    named: dict[bool, set[str]] = {True: set(), False: set()}
    for family in families:
        named[family.startswith(PREFIX)] |= {metric.name for metric in metrics_of(family)}
    if taken := sorted(named[True] & named[False]):
        raise ConfigError(
            f"an own metric has the name {taken[0]}, which one of the task has",
            where="scoring.own_metrics",
            remedy="choose another name",
        )
