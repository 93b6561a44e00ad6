"""Likelihoods of the targets of records, as measured by the task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.corpora.records import Record
from espalier.datasets.encoding import Split
from espalier.datasets.registry import ENCODINGS
from espalier.inference.results import Likelihood
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.syntax.parse import columns_of
from espalier.tasks.likelihood import measured
from espalier.tasks.registry import TASKS
from espalier.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

    from espalier.datasets.batch import Batch
    from espalier.inference.loaded import LoadedModel
    from espalier.models.contract import Model


def likelihoods(system: LoadedModel[Any, Any, Any], records: Sequence[Record | Mapping[str, str]]) -> list[Likelihood]:
    """The likelihood of each record's target.

    Raises:
        DataError: a record lacks a field, cannot be parsed, or does not fit the encoding.
        ConfigError: no task reads the encoding.
    """
    if not records:
        return []
    task, data = _task(system), encoded(system, records)

    def measure(model: Model[Any, Any, Any], batch: Batch) -> dict[str, Tensor]:
        return {**task.likelihood(model, batch), "tokens": batch.real.sum(1)}

    found = measured(measure, system.model, data, np.arange(len(records)), system.device)
    columns = {name: values.tolist() for name, values in found.items()}
    nll, tokens = columns.pop("nll"), columns.pop("tokens")
    counts = ({name: values[row] for name, values in columns.items()} for row in range(len(records)))
    return [*map(Likelihood, nll, tokens, counts)]


def encoded(system: LoadedModel[Any, Any, Any], records: Sequence[Record | Mapping[str, str]]) -> Split[Any, Any, Any]:
    """Encode records for the model.

    Raises:
        DataError: a record lacks a field, cannot be parsed, or does not fit the encoding.
    """
    kind = ENCODINGS[system.encoding]
    rows = [_record(kind.record, value, f"records[{place}]", system) for place, value in enumerate(records)]
    try:
        found = kind.encode(_parsed(rows, system), system.vocabulary, system.settings)
    except ValueError as error:  # such as rhyme letters that are too few
        remedy = "correct the fields of the record, such as one rhyme letter for each unit"
        raise DataError(
            f"the fields of a record do not fit together: {error}", file="records", remedy=remedy
        ) from error
    for row in found.quarantined:
        raise DataError(row.reason, file=row.id, remedy="the model was not trained on such records")
    if (longest := found.split.longest(system.view)) > system.positions:
        raise DataError(
            f"a record of {longest} ids", file="records", remedy=f"give records of at most {system.positions}"
        )
    return found.split


def _task(system: LoadedModel[Any, Any, Any]) -> Task:
    for task in TASKS.values():
        if system.encoding in task.encodings:
            return task
    raise ConfigError(f"no task reads the encoding {system.encoding}", where="TASKS", remedy="register one")


def _record(
    kind: type[Record], value: Record | Mapping[str, str], name: str, system: LoadedModel[Any, Any, Any]
) -> Record:
    """A record under its own name. A mapping needs all fields without a default."""
    if isinstance(value, Record):
        if not isinstance(value, kind):
            raise DataError(f"a {type(value).__name__}", file=name, remedy=f"the model reads a {kind.__name__}")
        return replace(value, id=name)
    given: dict[str, Any] = {"origin": "given", "language": system.language, **value, "id": name}
    known = {field.name: field.default is MISSING for field in fields(kind)}
    if lacking := [field for field, needed in known.items() if needed and field not in given]:
        raise DataError(f"no {', '.join(lacking)}", file=name, remedy="add it to the record, as a string")
    if unknown := sorted({*given} - {*known}):
        raise DataError(f"unknown field {', '.join(unknown)}", file=name, remedy=f"known: {', '.join(known)}")
    if wrong := [field for field, text in given.items() if not isinstance(text, str)]:
        raise DataError(f"{wrong[0]} is no text", file=name, remedy="give it as text")
    return kind(**given)


def _parsed(records: Sequence[Record], system: LoadedModel[Any, Any, Any]) -> list[Record]:
    """The records, with sides parsed whose words are a column but are missing."""
    rows = list(records)
    if system.reads_plain_text or not rows:
        return rows
    for side in type(rows[0]).sides:
        lacking = [place for place, row in enumerate(rows) if getattr(row, f"{side}_words", None) == ""]
        texts = [getattr(rows[place], side) for place in lacking]
        for place, parse in zip(lacking, system.parse(texts, [rows[place].id for place in lacking]), strict=True):
            if isinstance(parse, EspalierError):
                raise parse
            rows[place] = replace(rows[place], **columns_of(parse, side))
    return rows
