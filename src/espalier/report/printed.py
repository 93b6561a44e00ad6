"""What a paper prints, read from `papers/printed/<paper>.yaml` and checked before anything is built from it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.validation import first_mistake, repeated
from espalier.io.yaml_files import load_yaml

#: What the rows of a table are.
About = Literal["runs", "corpora", "trainings"]


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


class OwnMetric(_Strict):
    """One of our metrics beside a printed column. `name` labels it; the closest metric has none."""

    metric: str
    name: str = ""


class Column(_Strict):
    """A printed column: its heading, which direction is better, and our metrics for it, nearest first, if any."""

    group: str
    name: str
    better: Literal["higher", "lower"] | None = None
    digits: int = Field(default=2, ge=0, le=6)
    ours: tuple[OwnMetric, ...] = ()

    @property
    def heading(self) -> str:
        """Group and name in one line, for places where no group stands above it."""
        return " ".join(part for part in (self.group, self.name) if part)

    @property
    def metric(self) -> str:
        """Our metric that is nearest to the printed one. The column must have one."""
        return self.ours[0].metric


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
    """A table of the paper, or one of ours. `about` says what its rows are.

    Of trainings, `benchmark` is the file of `benchmarks/results` with the time of their steps, without its ending.
    `printed_on` is the dataset that has the paper's own test texts: printed values that are worse than copying its
    sources are marked.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: str
    caption: str
    columns: tuple[str, ...] = Field(min_length=1)
    rows: tuple[Row, ...]
    about: About = "runs"
    benchmark: str | None = None
    printed_on: str | None = None
    note: str = ""

    @model_validator(mode="after")
    def _steps_have_a_benchmark(self) -> PrintedTable:
        if (self.about == "trainings") != (self.benchmark is not None):
            raise ValueError("benchmark: a table about trainings names that of their steps, and no other table does")
        return self


class Points(_Strict):
    """A panel whose points are metrics of one run, left to right: {"3": ted_3, ..., full: ted_full}."""

    name: str
    better: Literal["higher", "lower"] | None = None
    metrics: dict[str, str] = Field(min_length=2)


class Measured(_Strict):
    """What corpora say of their own texts: the measure's name, its columns with their labels, a line each.

    `count` is a column that says how many texts a point is the mean of; it stands in the table, and is no line.
    """

    name: str
    lines: dict[str, str] = Field(min_length=1)
    count: str | None = None


class PrintedFigure(_Strict):
    """A figure of the paper, of one of three kinds.

    `panels` are columns against one numeric setting of several runs, a line per profile, with one more run `beside`
    them as a level. `points` are the panels, a line per run, and `setting` says what their places count. `measured` is
    a fact of corpora, no run's: a panel per corpus that has it, and `setting` says what it stands against.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: str
    caption: str
    setting: str
    note: str = ""
    panels: tuple[str, ...] = ()
    points: tuple[Points, ...] = ()
    measured: Measured | None = None
    runs: tuple[str, ...] = ()
    beside: str | None = None

    @model_validator(mode="after")
    def _of_one_kind(self) -> PrintedFigure:
        if sum(map(bool, (self.panels, self.points, self.measured))) != 1:
            raise ValueError("panels, points or measured: give one of the three")
        if bool(self.runs) == bool(self.measured):
            raise ValueError("runs: a figure needs some" if not self.runs else "runs: a measured figure has none")
        if self.beside and not self.panels:
            raise ValueError("beside: only a figure against a setting has a run beside it")
        return self


class PrintedExamples(_Strict):
    """Outputs side by side, a few of each run.

    `given` names the columns of the outputs that are shown once (source, reference), `written` the runs whose texts
    follow, each with its label. `by` is a column of trees: the examples then stand in a group for each tree. Rows with
    the same value in the column `one` are about one thing: one example. `best` is how many texts of each run to show.
    `first` are the ids of rows that are shown before the others, where a profile has them.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: str
    caption: str
    note: str = ""
    given: dict[str, str]
    written: dict[str, str] = Field(min_length=1)
    by: str | None = None
    one: str = "id"
    best: int = Field(default=1, ge=1)
    count: int = Field(default=6, ge=1)
    first: tuple[str, ...] = ()


class PrintedDrawings(_Strict):
    """What runs keep of single texts, drawn for the first `count` of some examples.

    Of granularity: that of each piece in each layer. Of structures: the symbols of `structures`, of the template above
    those of the text. `examples` is the id of the examples, `runs` the runs that are drawn, each with its label.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: str
    caption: str
    of: Literal["granularity", "structures"]
    structures: tuple[str, ...] = ()
    examples: str
    runs: dict[str, str] = Field(min_length=1)
    note: str = ""
    count: int = Field(default=2, ge=1)

    @model_validator(mode="after")
    def _structures_are_named(self) -> PrintedDrawings:
        if (self.of == "structures") != bool(self.structures):
            raise ValueError("structures: a drawing of structures names some, and no other drawing does")
        return self


class PrintedSheet(_Strict):
    """Outputs for people to judge, who are not told whose they are.

    `given` is the column that stands above them, `runs` are those that are judged, with the `best` texts of each.
    `one` is as with examples. `seed` is that of the order in which they stand.
    """

    given: str
    runs: tuple[str, ...] = Field(min_length=1)
    one: str = "id"
    best: int = Field(default=1, ge=1)
    seed: int = 1
    note: str = ""


def _listed(value: object) -> object:
    """Let YAML say bleu, or [bleu, rouge_l]."""
    return [value] if isinstance(value, str) else value


class PrintedOrdering(_Strict):
    """A claim of the paper, or one of `ours`: by every one of these columns one run stands better than another.

    With a `margin` the claim is that it does not stand worse by more than that, in the unit of its only column.
    """

    better: str
    worse: str
    columns: Annotated[tuple[str, ...], BeforeValidator(_listed)] = Field(alias="column", min_length=1)
    claim: str
    margin: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    ours: bool = False

    @property
    def words(self) -> str:
        """The claim, and whose it is if it is not the paper's."""
        return f"Ours: {self.claim}" if self.ours else self.claim

    @model_validator(mode="after")
    def _one_unit(self) -> PrintedOrdering:
        if self.margin is not None and len(self.columns) > 1:
            raise ValueError("margin: it is in the unit of one column; give one, or no margin")
        return self


class Hyperparameter(_Strict):
    """A number of the paper's, and where ours stands.

    `source` says where the paper's was found: in its text, or in its released code; null with a value of null says that
    neither states it. `ours` is a path such as `network.layers`, `training.rate`, `dataset.pieces` or `decoder.beam`.
    """

    name: str
    paper: bool | int | float | str | tuple[float, ...] | None
    source: Literal["text", "code"] | None = None
    ours: str = ""
    note: str = ""

    @model_validator(mode="after")
    def _found_somewhere(self) -> Hyperparameter:
        if (self.paper is None) != (self.source is None):
            raise ValueError(f"{self.name}: a value has a source, and null has none")
        return self


class PrintedHyperparameters(_Strict):
    """The hyperparameters of one system: our models of it, each with a run that decodes it, and the paper's values."""

    system: str
    models: dict[str, str] = Field(min_length=1)
    values: tuple[Hyperparameter, ...] = Field(min_length=1)


class Paper(_Strict):
    """What the report is about: the `name` of the system, and its page in `docs`; "" for none."""

    key: str
    name: str = ""
    docs: str = ""
    title: str
    authors: str
    venue: str
    url: str = Field(pattern=r"^https?://")


class Printed(_Strict):
    """A paper's printed results. `profiles` and `protocols` explain the names that the report uses."""

    paper: Paper
    columns: dict[str, Column]
    tables: tuple[PrintedTable, ...]
    orderings: tuple[PrintedOrdering, ...] = ()
    figures: tuple[PrintedFigure, ...] = ()
    examples: tuple[PrintedExamples, ...] = ()
    drawings: tuple[PrintedDrawings, ...] = ()
    sheet: PrintedSheet | None = None
    hyperparameters: tuple[PrintedHyperparameters, ...] = ()
    profiles: dict[str, str] = {}
    protocols: dict[str, str] = {}

    @model_validator(mode="after")
    def _ids_once(self) -> Printed:
        entries: tuple[PrintedTable | PrintedFigure | PrintedExamples | PrintedDrawings, ...]
        entries = (*self.tables, *self.figures, *self.examples, *self.drawings)
        if twice := sorted(repeated(entry.id for entry in entries)):
            raise ValueError(f"the id {twice[0]} stands twice")
        return self

    @model_validator(mode="after")
    def _columns_exist(self) -> Printed:
        for table in self.tables:
            _known(table.columns, self.columns, f"tables.{table.id}.columns")
            for row in table.rows:
                _known(row.printed, table.columns, f"tables.{table.id}.rows.{row.label}.printed")
        for figure in self.figures:
            _known(figure.panels, self.columns, f"figures.{figure.id}.panels")
        for drawings in self.drawings:
            if drawings.examples not in (ids := [examples.id for examples in self.examples]):
                where = f"drawings.{drawings.id}.examples"
                raise ValueError(f"{where}: no examples '{drawings.examples}'; allowed: {', '.join(ids)}")
        for index, ordering in enumerate(self.orderings):
            where = f"orderings.{index}.column"
            _known(ordering.columns, self.columns, where)
            for name in ordering.columns:
                if self.columns[name].better is None or not self.columns[name].ours:
                    raise ValueError(f"{where}: column '{name}' does not say what is better, or has no metric")
        return self

    def value_of(self, run: str, column: str) -> PrintedValue | None:
        """What the paper prints in the first row of a run that has such a column; None if it prints nothing."""
        rows = (row for table in self.tables for row in table.rows if any(ref.run == run for ref in row.runs))
        return next((row.printed[column] for row in rows if column in row.printed), None)

    def claim_of(
        self, better: str, worse: str, metrics: tuple[str, ...], margin: float | None
    ) -> PrintedOrdering | None:
        """The claim on two runs by these metrics; None without such a claim."""
        wanted = (better, worse, metrics, margin)
        for claim in self.orderings:
            names = tuple(self.columns[column].metric for column in claim.columns)
            if (claim.better, claim.worse, names, claim.margin) == wanted:
                return claim
        return None


def load_printed(path: Path) -> Printed:
    """Read and check a paper's printed numbers.

    Raises:
        ArtifactError: there is no such file.
        ConfigError: it is not YAML, or has an unknown key, a wrong type or a column that does not exist.
    """
    try:
        raw = load_yaml(path)
    except FileNotFoundError as error:
        raise ArtifactError("no such file", where=path, remedy="it holds the numbers that a paper prints") from error
    try:
        return Printed.model_validate(raw)
    except ValidationError as error:
        (place, what), others = first_mistake(error), error.error_count() - 1
        more = f"{others} more like it in this file" if others else None
        raise ConfigError(what, where=f"{path}: {place}" if place else path, remedy=more) from error


def _known(names: Iterable[str], allowed: Iterable[str], where: str) -> None:
    for name in names:
        if name not in set(allowed):
            raise ValueError(f"{where}: unknown column '{name}'; allowed: {', '.join(allowed)}")
