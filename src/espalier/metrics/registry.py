"""The families of metrics by name. Those of a task stand under TASK/NAME, a user's own under NAME, for any task.

To add one, in a module listed under `plugins` in params.yaml: `METRICS["mine"] = Mine`, a class with the base `Family`.
A run names it as `scoring: {own_metrics: {mine: VERSION}}`. A family of a task is not only registered here, but also
listed where the task's families are (CONTRIBUTING.md, "Add a metric to a task").
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from espalier.io.calls import checked_call
from espalier.io.errors import ConfigError, EspalierError, said_by
from espalier.io.registry import Registry
from espalier.metrics.bootstrap import Array
from espalier.metrics.family import PARTS, Family, Part
from espalier.metrics.metric import Metric

if TYPE_CHECKING:
    import pandas as pd

_METRICS: Final = "espalier.metrics"

METRICS: Final[Registry[type[Family[Any]]]] = Registry(
    "METRICS",
    "metric",
    type[Family],
    {
        "verse/perplexity": f"{_METRICS}.perplexity:Perplexity",
        "verse/distinct": f"{_METRICS}.distinct:Distinct",
        "verse/format": f"{_METRICS}.verse_format:FormatAccuracy",
        "verse/rhyme": f"{_METRICS}.rhyme:Rhyme",
        "verse/rhyme_shuffled": f"{_METRICS}.rhyme:ShuffledRhyme",
        "verse/rhyme_units": f"{_METRICS}.rhyme_units:RhymeUnits",
        "verse/prosody": f"{_METRICS}.prosody:Prosody",
        "verse/integrity": f"{_METRICS}.integrity:Integrity",
        "verse/literals": f"{_METRICS}.literals:Literals",
        "paraphrase/bleu": f"{_METRICS}.bleu:Bleu",
        "paraphrase/bleu_source": f"{_METRICS}.bleu:SourceBleu",
        "paraphrase/rouge": f"{_METRICS}.rouge:Rouge",
        "paraphrase/rouge_released": f"{_METRICS}.rouge_released:ReleasedRouge",
        "paraphrase/meteor": f"{_METRICS}.meteor:Meteor",
        "paraphrase/ted": f"{_METRICS}.ted:Ted",
        "paraphrase/ted_guide": f"{_METRICS}.ted:GuideTed",
        "paraphrase/template": f"{_METRICS}.expansion:Template",
        "paraphrase/expansion": f"{_METRICS}.expansion:Expansion",
        "paraphrase/defects": f"{_METRICS}.defects:Defects",
        "paraphrase/perplexity": f"{_METRICS}.perplexity:PairPerplexity",
        "paraphrase/released": f"{_METRICS}.ibleu:Released",
        "paraphrase/paper": f"{_METRICS}.ibleu:Paper",
        "paraphrase/copies": f"{_METRICS}.ibleu:Copies",
        "dialogue/bleu": f"{_METRICS}.dialogue:ReplyBleu",
        "dialogue/bleu_all": f"{_METRICS}.dialogue:AllBleu",
        "dialogue/bleu_list": f"{_METRICS}.dialogue:ListBleu",
        "dialogue/bleu_best": f"{_METRICS}.dialogue:BestBleu",
        "dialogue/distinct": f"{_METRICS}.dialogue:ReplyDistinct",
        "dialogue/perplexity": f"{_METRICS}.dialogue:ReplyPerplexity",
        "dialogue/recall": f"{_METRICS}.dialogue:Recall",
        "dialogue/replies": f"{_METRICS}.dialogue:ReplyShares",
        "compose/likelihood": f"{_METRICS}.structure:Likelihood",
        "compose/bleu": f"{_METRICS}.structure:SequenceBleu",
        "compose/own_weight": f"{_METRICS}.structure:OwnWeight",
        "compose/texts": f"{_METRICS}.structure:LineShares",
        "parsing/brackets": f"{_METRICS}.brackets:Brackets",
        "parsing/attachment": f"{_METRICS}.attachment:Attachment",
        "parsing/tags": f"{_METRICS}.parsing:Tags",
    },
)


def family(key: str, task: str) -> Family[Any]:
    """The family of a task, a user's own family, or a part of a family, by its `key`.

    Raises:
        ConfigError: the family is unknown.
    """
    name, *settings = key.split(":")
    if name == Own.name:
        return Own(":".join(settings))
    base, _, part = key.rpartition(":")
    if part in PARTS:
        return Part(family(base, task), part)
    try:
        return METRICS[f"{task}/{name}"].from_settings(settings)
    except (KeyError, ValueError) as error:
        known = (each.removeprefix(f"{task}/") for each in METRICS if each.startswith(f"{task}/"))
        raise ConfigError.unknown("family", key, known, where=f"metrics of {task}") from error


def families_of(columns: Iterable[Any], task: str) -> dict[Family[Any], list[str]]:
    """The families of a table of segments, each with its columns, which are named KEY.PLACE."""
    by_key: dict[str, list[str]] = {}
    for column in map(str, columns):
        key, dot, _ = column.rpartition(".")
        if dot:
            by_key.setdefault(key, []).append(column)
    return {family(key, task): own for key, own in by_key.items()}


# --- Own metrics -----------------------------------------------------------------------------------------------------


def own_names() -> list[str]:
    """The names of the users' own families."""
    return [name for name in METRICS if "/" not in name]


class Tabled(Protocol):
    """A run's outputs (`espalier.tasks.data.Outputs`)."""

    @property
    def table(self) -> pd.DataFrame:
        """One row per text."""


@checked_call
@dataclass(frozen=True)
class Own(Family[Tabled]):
    """A user's own family.

    Attributes:
        metric: its name in `METRICS`.
    """

    name = "own"
    metric: str

    def family(self, where: str | None = None) -> Family[Any]:
        """The user's family.

        Raises:
            ConfigError: it is not registered. `where` is the key of params.yaml with the name.
        """
        if self.metric not in (known := own_names()):
            raise ConfigError.unknown("metric", self.metric, known, where=where)
        return METRICS[self.metric]()

    def statistics(self, outputs: Tabled, /) -> Array:
        """(texts, k), one row per row of `outputs.table`.

        Raises:
            ConfigError: the family is not registered, fails, or returns another number of rows or values that are not
                finite numbers, or a metric fails on their sum.
        """
        own, texts = self.family("scoring.own_metrics"), len(outputs.table)
        try:
            given = copy.copy(outputs)
            object.__setattr__(given, "table", outputs.table.copy())  # which a user's code may change
            rows = np.asarray(own.statistics(given))
        except EspalierError:
            raise
        except Exception as error:  # whatever a user's code raises is the user's to correct
            raise ConfigError(
                f"its statistics fail ({said_by(error, __file__)})",
                where=f"METRICS['{self.metric}']",
                remedy=f"correct the module; outputs.table has the columns {', '.join(map(str, outputs.table))}",
            ) from error
        if rows.ndim != 2 or len(rows) != texts or rows.dtype.kind not in "bif" or not np.isfinite(rows).all():
            raise ConfigError(
                f"its statistics are {rows.dtype} of shape {rows.shape}, for {texts} texts",
                where=f"METRICS['{self.metric}']",
                remedy="return (texts, k) finite numbers; see Family in espalier/metrics/family.py",
            )
        rows = rows.astype(float)
        total, count = rows.sum(axis=0), rows.shape[1] + 1
        for metric in own.metrics:
            try:
                value, values = metric.aggregate(total), np.asarray(metric.aggregate(np.tile(total, (count, 1))))
                if values.shape != (count,) or not np.array_equal(values, [value] * count, equal_nan=True):
                    raise ValueError("sums of several resamples give other values than each alone; index the last axis")
            except Exception as error:
                raise ConfigError(
                    f"{metric.name} fails on the sum of {rows.shape[1]} columns ({type(error).__name__}: {error})",
                    where=f"METRICS['{self.metric}']",
                    remedy="name columns that the statistics have, counted from 0",
                ) from error
        return rows

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return self.family().metrics


def require_own_names(families: Iterable[Family[Any]]) -> None:
    """Raise a ConfigError if a user-defined metric has the name of a metric of the task."""
    named: dict[bool, set[str]] = {True: set(), False: set()}
    for each in families:
        named[isinstance(each, Own)] |= {metric.name for metric in each.metrics}
    if taken := sorted(named[True] & named[False]):
        raise ConfigError(
            f"an own metric has the name {taken[0]}, which one of the task has",
            where="scoring.own_metrics",
            remedy="choose another name",
        )
