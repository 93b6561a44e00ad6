"""The results of a benchmark, as tables of a page: `benchmarks/results/<name>.json`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from espalier.io.errors import ArtifactError
from espalier.io.validation import Strict, first_mistake
from espalier.report.tables import BLANK


class Spread(NamedTuple):
    """A median with the range around it."""

    median: float
    low: float
    high: float


class Column(Strict):
    """The heading of a column, and the number of decimals in it."""

    heading: str
    digits: int = 2


class BenchmarkTable(Strict):
    """Rows measured in one run. Each has one cell per column; a missing number is None."""

    title: str
    columns: tuple[Column, ...]
    rows: Mapping[str, tuple[Spread | float | str | None, ...]]
    #: The heading of the column of names.
    names: str = ""

    def markdown(self) -> str:
        """The title and the table."""
        grid = [[self.names, *(column.heading for column in self.columns)], ["---", *("---:" for _ in self.columns)]]
        for name, cells in self.rows.items():
            shown = (_cell(cell, column.digits) for cell, column in zip(cells, self.columns, strict=True))
            grid.append([name, *shown])
        lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in grid]
        return "\n".join([*([self.title, ""] if self.title else []), *lines])


class BenchmarkResult(Strict):
    """The tables of one run of a benchmark, and the command that printed them."""

    command: str
    #: Processor, number of cores and threads, and versions of the compared libraries.
    machine: Mapping[str, Any]
    tables: tuple[BenchmarkTable, ...]

    def markdown(self, profile: str = "") -> str:
        """All tables, or those of a profile.

        Raises:
            ArtifactError: there is none of the profile.
        """
        tables = [*self._of(profile)]
        if not tables:
            raise ArtifactError(f"no table of {profile}", where=self.command, remedy="record all profiles")
        return "\n\n".join(table.markdown() for table in tables)

    def range(self, row: str, ours: str | None = None, within: str = "") -> str:
        """The range from the smallest to the largest median of a row's spreads, such as "1.4 to 2.7".

        Args:
            row: name of the row.
            ours: the row that the ratios compare with; only tables with this row are read. None means all tables.
            within: what the titles of the tables have that are read.

        Raises:
            ArtifactError: no table has this row with a spread.
        """
        tables = [table for table in self.tables if (ours is None or ours in table.rows) and within in table.title]
        cells = [cell for table in tables for cell in table.rows.get(row, ()) if isinstance(cell, Spread)]
        if not cells:
            raise ArtifactError(f"no row {row} with a ratio", where=self.command, remedy="correct the page's template")
        ends = [_short(choose(cell.median for cell in cells)) for choose in (min, max)]
        return " to ".join(dict.fromkeys(ends))

    def ratios(self, profile: str) -> dict[str, float]:
        """The median in the last column of each row, from the first table of the profile; empty if it has none."""
        rows = next((table.rows for table in self._of(profile)), {})
        return {name: cells[-1].median for name, cells in rows.items() if cells and isinstance(cells[-1], Spread)}

    def _of(self, profile: str) -> Iterator[BenchmarkTable]:
        """The tables whose titles begin with a profile; all if it is ""."""
        return (table for table in self.tables if not profile or table.title.startswith(f"{profile}:"))


def load_benchmark(path: Path) -> BenchmarkResult:
    """Read `benchmarks/results/<name>.json`.

    Raises:
        ArtifactError: the file is damaged.
    """
    try:
        return BenchmarkResult.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ArtifactError(
            f"holds no tables of a benchmark: {first_mistake(error)[1]}",
            where=str(path),
            remedy=f"python benchmarks/{path.stem}.py --record",
        ) from error


def _short(ratio: float) -> str:
    digits = 2 if ratio < 1 else 1 if ratio < 10 else 0
    return f"{ratio:.{digits}f}"


def _cell(cell: Spread | float | str | None, digits: int) -> str:
    if isinstance(cell, Spread):
        median, low, high = (f"{value:,.{digits}f}" for value in cell)
        return f"{median} ({low} to {high})"
    return BLANK if cell is None else cell if isinstance(cell, str) else f"{cell:,.{digits}f}"
