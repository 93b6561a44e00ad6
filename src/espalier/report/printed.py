"""What a paper prints, read from `report/printed/<paper>.yaml` and checked before anything is built from it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from espalier.io.errors import ArtifactError, ConfigError


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PrintedValue(_Strict):
    """A printed number, and the spread (±) printed with it."""

    value: float = Field(allow_inf_nan=False)
    spread: float | None = Field(default=None, allow_inf_nan=False)


def _number(value: object) -> object:
    """Let YAML say 2.14, or [2.14, 0.10] for 2.14 ± 0.10."""
    if isinstance(value, bool | str):
        raise ValueError("a printed value is a number, or [number, spread]")
    if isinstance(value, int | float):
        return {"value": value}
    if isinstance(value, list) and len(value) == 2:
        return {"value": value[0], "spread": value[1]}
    return value


class Reading(_Strict):
    """One of our metrics that may be read beside a printed column. `name` tells it apart; the nearest one has none."""

    metric: str
    name: str = ""


class Column(_Strict):
    """A printed column: its heading, which direction is better, and our metrics for it, nearest first."""

    group: str
    name: str
    better: Literal["higher", "lower"] | None = None
    digits: int = Field(default=2, ge=0, le=6)
    ours: tuple[Reading, ...] = Field(min_length=1)


class RunRef(_Strict):
    """A run (or corpus) of ours that belongs beside a row, and what is different about it."""

    run: str
    note: str = ""


class Row(_Strict):
    """A row of a table: the paper's label and numbers by column key, and our runs."""

    label: str
    printed: dict[str, Annotated[PrintedValue, BeforeValidator(_number)]] = {}
    runs: tuple[RunRef, ...] = ()
    note: str = ""


class PrintedTable(_Strict):
    """A table of the paper. `about` says whether its rows are runs or corpora."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: str
    caption: str
    columns: tuple[str, ...] = Field(min_length=1)
    rows: tuple[Row, ...]
    about: Literal["runs", "corpora"] = "runs"
    note: str = ""


class PrintedFigure(_Strict):
    """A figure of the paper: columns against one setting of several runs, with one more run `beside` it as a level."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: str
    caption: str
    setting: str
    note: str = ""
    panels: tuple[str, ...] = Field(min_length=1)
    runs: tuple[str, ...] = Field(min_length=1)
    beside: str | None = None


class Paper(_Strict):
    """What the report is about."""

    key: str
    title: str
    authors: str
    venue: str
    url: str = Field(pattern=r"^https?://")


class Printed(_Strict):
    """A paper's printed results. `profiles` and `protocols` explain the names that the report uses."""

    paper: Paper
    columns: dict[str, Column]
    tables: tuple[PrintedTable, ...]
    figures: tuple[PrintedFigure, ...] = ()
    profiles: dict[str, str] = {}
    protocols: dict[str, str] = {}

    @field_validator("tables", "figures")
    @classmethod
    def _ids_once(cls, value: tuple[PrintedTable, ...] | tuple[PrintedFigure, ...]) -> object:
        ids = [entry.id for entry in value]
        twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
        if twice:
            raise ValueError(f"the id {twice[0]} stands twice")
        return value

    @model_validator(mode="after")
    def _columns_exist(self) -> Printed:
        for table in self.tables:
            _known(table.columns, self.columns, f"tables.{table.id}.columns")
            for row in table.rows:
                _known(row.printed, table.columns, f"tables.{table.id}.rows.{row.label}.printed")
        for figure in self.figures:
            _known(figure.panels, self.columns, f"figures.{figure.id}.panels")
        return self


def load_printed(path: Path) -> Printed:
    """Read and check a paper's printed numbers.

    Raises:
        ArtifactError: there is no such file, or it is not YAML.
        ConfigError: an unknown key, a wrong type or a column that does not exist, with its path in the file.
    """
    try:
        raw = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ArtifactError("no such file", where=path, remedy="it holds the numbers that a paper prints") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ArtifactError(f"not valid YAML ({error})", where=path) from error
    try:
        return Printed.model_validate(raw)
    except ValidationError as error:
        first, others = error.errors()[0], error.error_count() - 1
        place = ".".join(str(part) for part in first["loc"])
        more = f"{others} more like it in this file" if others else None
        message = first["msg"].removeprefix("Value error, ")
        raise ConfigError(message, where=f"{path}: {place}" if place else path, remedy=more) from error


def _known(names: Iterable[str], allowed: Iterable[str], where: str) -> None:
    for name in names:
        if name not in set(allowed):
            raise ValueError(f"{where}: unknown column '{name}'; allowed: {', '.join(allowed)}")
