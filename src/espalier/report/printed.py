"""The printed numbers of a paper, read from `papers/printed/<paper>.yaml` and validated."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.validation import Strict, first_mistake, listed, repeated, require_known
from espalier.io.yaml_files import load_yaml

#: The subject of the rows of a table.
About = Literal["runs", "corpora", "trainings"]


class PrintedValue(Strict):
    """A printed number and its printed spread (±)."""

    value: float = Field(allow_inf_nan=False)
    spread: float | None = Field(default=None, allow_inf_nan=False)


def _number(value: object) -> object:
    """Allow 2.14, or [2.14, 0.10] for 2.14 ± 0.10, in YAML."""
    if isinstance(value, bool | str):
        raise ValueError("a printed value is a number, or [number, spread]")
    if isinstance(value, int | float):
        return {"value": value}
    if isinstance(value, list) and len(value) == 2:
        return {"value": value[0], "spread": value[1]}
    return value


class OwnMetric(Strict):
    """One of our metrics beside a printed column. `name` is its label; the closest metric has none."""

    metric: str
    name: str = ""


class Column(Strict):
    """A printed column: its heading, the better direction, and our metrics for it, if any.

    The first metric decides claims. `printed_as` names the one that is computed as the printed values are, if that is
    another; only this one is compared with printed effects.
    """

    group: str
    name: str
    better: Literal["higher", "lower"] | None = None
    digits: int = Field(default=2, ge=0, le=6)
    ours: tuple[OwnMetric, ...] = ()
    printed_as: str = ""

    @model_validator(mode="after")
    def _is_ours(self) -> Self:
        if self.printed_as and self.printed_as not in {own.metric for own in self.ours[1:]}:
            raise ValueError(f"printed_as {self.printed_as} is not among the other metrics of ours")
        return self

    @property
    def heading(self) -> str:
        """Group and name in one line, for places without a line of groups above."""
        return " ".join(part for part in (self.group, self.name) if part)

    @property
    def metric(self) -> str:
        """Our metric that decides claims. The column must have one."""
        return self.ours[0].metric

    @property
    def compared(self) -> tuple[str, ...]:
        """The metrics by which the runs of a claim are compared: that of the claim, and that of the printed effect."""
        return tuple(name for name in (self.metric, self.printed_as) if name)


class RunRef(Strict):
    """One of our runs (or corpora) that belongs to a row, with a note on its differences."""

    run: str
    note: str = ""


class Row(Strict):
    """A row of a table: the printed label, numbers by column key, and our runs."""

    label: str
    printed: dict[str, Annotated[PrintedValue, BeforeValidator(_number)]] = Field(default_factory=dict)
    runs: tuple[RunRef, ...] = ()
    note: str = ""


class PrintedTable(Strict):
    """A table of the paper, or one of our own. `about` names the subject of its rows.

    For tables about trainings, `benchmark` is the file in `benchmarks/results`, without extension, with the time per
    step. `printed_on` is the dataset with the test texts of the paper: printed values worse than copying its sources
    are marked. `judged` tables show what people said of the runs, without rows that nobody judged.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: str
    caption: str
    columns: tuple[str, ...] = Field(min_length=1)
    rows: tuple[Row, ...]
    about: About = "runs"
    benchmark: str | None = None
    printed_on: str | None = None
    judged: bool = False
    note: str = ""

    @model_validator(mode="after")
    def _steps_have_a_benchmark(self) -> Self:
        if (self.about == "trainings") != (self.benchmark is not None):
            raise ValueError("benchmark: a table about trainings names that of their steps, and no other table does")
        return self


class Points(Strict):
    """A panel whose points are metrics of one run, left to right: {"3": ted_3, ..., full: ted_full}."""

    name: str
    better: Literal["higher", "lower"] | None = None
    metrics: dict[str, str] = Field(min_length=2)


class Measured(Strict):
    """Measurements of corpora: the name of the measure, and its columns with labels, one line per column.

    `count` is the column with the number of texts behind each point. It is shown in the table, not as a line.
    """

    name: str
    lines: dict[str, str] = Field(min_length=1)
    count: str | None = None


class PrintedFigure(Strict):
    """A figure of the paper, of one of three kinds.

    `panels`: columns plotted against a numeric setting of several runs, one line per profile; the run `beside` is a
    horizontal line. `points`: panels with one line per run; `setting` labels their x axis. `measured`: a measurement of
    corpora, with one panel per corpus; `setting` labels its x axis.
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
    def _of_one_kind(self) -> Self:
        if sum(map(bool, (self.panels, self.points, self.measured))) != 1:
            raise ValueError("panels, points or measured: give one of the three")
        if bool(self.runs) == bool(self.measured):
            raise ValueError("runs: a figure needs some" if not self.runs else "runs: a measured figure has none")
        if self.beside and not self.panels:
            raise ValueError("beside: only a figure against a setting has a run beside it")
        return self


class PrintedExamples(Strict):
    """A few outputs of each run, side by side.

    `given` names the output columns to show once (source, reference), and `written` the runs with their labels. `by` is
    a column of trees, by which examples are grouped. Rows with the same value in the column `one` form one example.
    `best` is the number of texts to show per run. `first` are ids of rows to show first, if a profile has them.
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


class PrintedDrawings(Strict):
    """Drawings of single texts of runs, for the first `count` of some examples.

    Drawings of granularity show each piece in each layer. Drawings of structures show the symbols of `structures`, with
    the template above the text. `examples` is the id of the examples, and `runs` are the runs to draw, with labels.
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
    def _structures_are_named(self) -> Self:
        if (self.of == "structures") != bool(self.structures):
            raise ValueError("structures: a drawing of structures names some, and no other drawing does")
        return self


class PrintedOrdering(Strict):
    """A claim of the paper, or one of `ours`: one run is better than another by every one of these columns.

    `worse` may be a row without a trained model, as ENTRY/ROW: a key of `baselines` and its row, `quora_pairs/copy`.

    With a `margin`, the claim is that the run is worse by at most the margin, in the unit of the only column.
    """

    better: str
    worse: str
    columns: Annotated[tuple[str, ...], BeforeValidator(listed)] = Field(alias="column", min_length=1)
    claim: str
    margin: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    ours: bool = False

    @property
    def words(self) -> str:
        """The claim in words, with its author if it is not the paper's."""
        return f"Ours: {self.claim}" if self.ours else self.claim

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        if self.margin is not None and len(self.columns) > 1:
            raise ValueError("margin: it is in the unit of one column; give one, or no margin")
        return self


class Hyperparameter(Strict):
    """A hyperparameter of the paper, and the path of our setting.

    `source` tells whether the value comes from the text or from the released code. If both `source` and value are null,
    neither states it. `ours` is a path such as `network.layers`, `training.rate`, `dataset.pieces` or `decoder.beam`.
    """

    name: str
    paper: bool | int | float | str | tuple[float, ...] | None
    source: Literal["text", "code"] | None = None
    ours: str = ""
    note: str = ""

    @model_validator(mode="after")
    def _found_somewhere(self) -> Self:
        if (self.paper is None) != (self.source is None):
            raise ValueError(f"{self.name}: a value has a source, and null has none")
        return self


class PrintedHyperparameters(Strict):
    """The hyperparameters of one system: our models, each with a run that decodes it, and the printed values."""

    system: str
    models: dict[str, str] = Field(min_length=1)
    values: tuple[Hyperparameter, ...] = Field(min_length=1)


class Paper(Strict):
    """The subject of the report.

    `name` is that of the system, `docs` its page in the folder of this name, "" for none. The page over all papers
    shows texts of the first run of `shown` that there is.
    """

    key: str
    name: str = ""
    docs: str = ""
    shown: tuple[str, ...] = ()
    title: str
    authors: str
    venue: str
    url: str = Field(pattern=r"^https?://")


class Printed(Strict):
    """The printed results of a paper. `profiles` and `protocols` explain names used in the report."""

    paper: Paper
    columns: dict[str, Column]
    tables: tuple[PrintedTable, ...]
    orderings: tuple[PrintedOrdering, ...] = ()
    figures: tuple[PrintedFigure, ...] = ()
    examples: tuple[PrintedExamples, ...] = ()
    drawings: tuple[PrintedDrawings, ...] = ()
    hyperparameters: tuple[PrintedHyperparameters, ...] = ()
    profiles: dict[str, str] = Field(default_factory=dict)
    protocols: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ids_once(self) -> Self:
        entries: tuple[PrintedTable | PrintedFigure | PrintedExamples | PrintedDrawings, ...]
        entries = (*self.tables, *self.figures, *self.examples, *self.drawings)
        if twice := sorted(repeated(entry.id for entry in entries)):
            raise ValueError(f"the id {twice[0]} stands twice")
        return self

    @model_validator(mode="after")
    def _columns_exist(self) -> Self:
        for table in self.tables:
            require_known(f"tables.{table.id}.columns", table.columns, self.columns, kind="column")
            for row in table.rows:
                require_known(f"tables.{table.id}.rows.{row.label}.printed", row.printed, table.columns, kind="column")
        for figure in self.figures:
            require_known(f"figures.{figure.id}.panels", figure.panels, self.columns, kind="column")
        for drawings in self.drawings:
            if drawings.examples not in (ids := [examples.id for examples in self.examples]):
                where = f"drawings.{drawings.id}.examples"
                raise ValueError(f"{where}: no examples '{drawings.examples}'; allowed: {', '.join(ids)}")
        for index, ordering in enumerate(self.orderings):
            where = f"orderings.{index}.column"
            require_known(where, ordering.columns, self.columns, kind="column")
            for name in ordering.columns:
                if self.columns[name].better is None or not self.columns[name].ours:
                    raise ValueError(f"{where}: column '{name}' does not say what is better, or has no metric")
        return self

    def value_of(self, run: str, column: str) -> PrintedValue | None:
        """The printed value in the first row of a run that has this column; None if there is none."""
        rows = (row for table in self.tables for row in table.rows if any(ref.run == run for ref in row.runs))
        return next((row.printed[column] for row in rows if column in row.printed), None)

    def claim_of(
        self, better: str, worse: str, metrics: tuple[str, ...], margin: float | None
    ) -> PrintedOrdering | None:
        """The claim about two runs by these metrics; None if there is none."""
        wanted = (better, worse, metrics, margin)
        for claim in self.orderings:
            names = tuple(self.columns[column].metric for column in claim.columns)
            if (claim.better, claim.worse, names, claim.margin) == wanted:
                return claim
        return None


def load_printed(path: Path) -> Printed:
    """Read and validate the printed numbers of a paper.

    Raises:
        ArtifactError: the file does not exist.
        ConfigError: the file is not YAML, or has an unknown key, a wrong type or an undefined column.
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
