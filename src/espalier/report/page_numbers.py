"""The numbers and tables that page templates can use.

A place is PROFILE/GROUP/KEY, as "small/guig/guig_tg": `metrics/details/GROUP/KEY.json` of that profile. A missing place
is an error, so that no page shows outdated numbers; an undefined score is shown as a dash.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from espalier.io.errors import ArtifactError
from espalier.report.benchmarks import BenchmarkResult
from espalier.report.markdown import grid_of
from espalier.report.page_judged import Scores, judged_table
from espalier.report.printed import Column, Printed, PrintedOrdering, Row
from espalier.report.results import RunResult
from espalier.report.tables import BLANK
from espalier.report.trivial import MARK, comparable_rows, is_below, rows_of
from espalier.report.verdicts import Verdict, probability


class Training(NamedTuple):
    """The cost of training a model, over its seeds.

    Attributes:
        core_hours: hours times threads of trainings on a CPU.
        gpu_hours: hours of trainings on a GPU, which may have run several at once.
    """

    paper: str
    seeds: int
    core_hours: float = 0.0
    gpu_hours: float = 0.0


@dataclass(frozen=True)
class PageNumbers:
    """The data behind the numbers, and the functions that templates call (`functions`).

    Attributes:
        details: details of a place, by profile, group and key.
        params: params.yaml of a profile.
        printed: printed numbers by paper.
        tried: settings that were tried: rows of `papers/tried.yaml`.
        on_test: by paper, the number of scored runs of a profile on test, and of those among them whose model has no
            scored run on dev.
        reads: structures of the text to come that a model reads, by profile and model.
        baselines: keys of the rows without a trained model, by profile and group, such as "baselines/guig/copy".
        trainings: measured trainings of a profile, by model.
        benchmarks: results of benchmarks, by name.
        judged: scores that people gave to the runs of a paper.
    """

    details: Callable[[str, str, str], Mapping[str, Any]]
    params: Callable[[str], Mapping[str, Any]]
    printed: Mapping[str, Printed]
    tried: Sequence[Mapping[str, Any]] = ()
    on_test: Callable[[str], Mapping[str, tuple[int, int]]] = lambda profile: {}
    reads: Callable[[str, str], Sequence[str]] = lambda profile, model: ()
    baselines: Callable[[str, str], Sequence[str]] = lambda profile, group: ()
    trainings: Callable[[str], Mapping[str, Training]] = lambda profile: {}
    benchmarks: Mapping[str, BenchmarkResult] = field(default_factory=dict)
    judged: Callable[[str], Scores] = lambda paper: {}

    # --- Numbers -----------------------------------------------------------------------------------------------------

    def score(self, place: str, metric: str, digits: int = 2) -> str:
        """A score; a metric that begins with "counts." is a count."""
        return _number(self._value(place, metric), digits)

    def count(self, place: str, path: str, digits: int = 0) -> str:
        """A number of the details by its path, such as "rows.train" or "curve.dev_loss.3"."""
        return _number(_path(self._at(place), path, place), digits)

    def param(self, profile: str, path: str) -> str:
        """A value of params.yaml, such as "presets.guig.training.steps"."""
        found = _path(self.params(profile), path, f"{profile}/params.yaml")
        return f"{found:,}" if isinstance(found, int) and not isinstance(found, bool) else str(found)

    def printed_value(self, paper: str, run: str, column: str) -> str:
        """The printed number in the row of this run; `printed` in templates."""
        if value := self.printed[paper].value_of(run, column):
            return str(value.value)
        raise ArtifactError(f"no printed {column} of {run}", where=f"papers/printed/{paper}.yaml")

    def best(self, paper: str, table: str, column: str) -> str:
        """The highest printed number in a column of a table."""
        rows = [row for part in self.printed[paper].tables if part.id == table for row in part.rows]
        if not (values := [row.printed[column].value for row in rows if column in row.printed]):
            raise ArtifactError(f"no printed {column} in {table}", where=f"papers/printed/{paper}.yaml")
        return f"{max(values):.2f}"

    def gpu_hours(self, profile: str, *models: str) -> str:
        """Hours of GPU training for the models of a profile."""
        known = self.trainings(profile)
        if absent := set(models) - known.keys():
            raise ArtifactError(f"no measured training of {', '.join(sorted(absent))}", where=f"profile {profile}")
        return f"{sum(known[model].gpu_hours for model in models):.1f}"

    def ratios(self, name: str, row: str, ours: str | None = None, within: str = "") -> str:
        """The range of the ratios of a benchmark's row, over its tables (`BenchmarkResult.range`)."""
        return self._measured(name).range(row, ours, within)

    def judged_rows(self, paper: str) -> str:
        """The printed scores of people with ours beside them; `judged` in templates."""
        return judged_table(self.printed[paper], self.judged(paper))

    # --- Tables ------------------------------------------------------------------------------------------------------

    def table(
        self, place: str, rows: Mapping[str, str], columns: Mapping[str, str], heading: str = "run", mixed: bool = False
    ) -> str:
        """A table with one row for each run of `rows` {run: label}.

        The mark ▾ precedes a score that is worse than a baseline's on the same texts, if the baseline is given no
        structure that the run lacks and names no other method of decoding. The table need not show the baseline.

        Args:
            place: PROFILE/GROUP.
            columns: {heading: "metric" or "metric:digits"}. A metric that the row lacks is shown as a dash.
            mixed: whether rows may be scored on different texts; the page must then say so.

        Raises:
            ArtifactError: rows are scored on different texts, and `mixed` is false.
        """
        profile, group = place.split("/")
        baselines = self.baselines(profile, group)
        every = [self._texts(profile, group, key) for key in (*baselines, *rows)]
        older = {texts for texts, ids in every if not ids}
        trivial = [self._result(profile, group, key, older) for key in baselines]
        results = [self._result(profile, group, run, older) for run in rows]
        if not mixed and (other := next((each for each in results if each.dataset != results[0].dataset), None)):
            raise ArtifactError(
                f"{results[0].key} and {other.key} are scored on different texts",
                where=f"a table of {place}",
                remedy="make two tables of it, or pass mixed=True and say so on the page",
            )
        known = {name for result in results for name in result.scores}
        grid = [[heading, "", *columns], ["---", "---", *("---:" for _ in columns)]]
        for result, label in zip(results, rows.values(), strict=True):
            beside = comparable_rows(rows_of(result, trivial), result)
            grid.append([f"`{result.key}`", label, *self._cells(place, result, columns, known, beside)])
        return grid_of(grid)

    def claims(self, profile: str, paper: str) -> str:
        """A table with one row for each claim of the paper, with the effect on each measure, or why there is none."""
        return claims_table(self._claims(profile, paper), profile, self.printed[paper])

    def verdicts(self, profile: str) -> str:
        """A table with one row per paper: the number of its claims by verdict.

        Our own claims on its system have another row.
        """
        every = get_args(Verdict)
        grid = [["claims of", "claims", *every], ["---", *["---:"] * (1 + len(every))]]
        for paper, each in self.printed.items():
            found: dict[bool, list[str]] = {False: [], True: []}  # by whether a claim is ours
            for claim in self._claims(profile, paper):
                found[_claim_of(claim, profile, each).ours].append(claim["verdict"])
            rows = {f"{each.paper.name}'s paper": found[False]}
            rows |= {f"ours on {each.paper.name}": found[True]} if found[True] else {}
            for name, own in rows.items():
                grid.append([name, str(len(own)), *(str(own.count(verdict)) for verdict in every)])
        return grid_of(grid)

    def without_dev(self, profile: str) -> str:
        """A table with one row per paper: its scored runs on test, and those whose model has no scored run on dev."""
        grid = [["paper", "runs on test", "of a model without a run on dev"], ["---", "---:", "---:"]]
        for paper, counts in self.on_test(profile).items():
            grid.append([self.printed[paper].paper.name, *map(str, counts)])
        return grid_of(grid)

    def unscored(self, profile: str) -> str:
        """The names of the runs of a profile that have no scores; "none" if all have."""
        runs = self.params(profile)["runs"].items()
        return ", ".join(f"`{name}`" for name, run in runs if not self._scored(profile, run["paper"], name)) or "none"

    def printed_alone(self, profile: str) -> str:
        """A table of the printed rows that have no scored run in a profile, with the reason."""
        grid = [["paper", "table", "row", "why it has no score"], ["---"] * 4]
        for name, paper in self.printed.items():
            for table in paper.tables:
                if table.about != "runs":
                    continue
                alone = dict[str, list[str]]()  # the labels of rows by the reason
                for row in table.rows:
                    if row.printed and (table.judged or not any(self._scored(profile, name, r.run) for r in row.runs)):
                        why = "no ratings" if table.judged else _entries(row)
                        alone.setdefault(why, []).append(row.label)
                for why, labels in alone.items():
                    grid.append([paper.paper.name, table.title, ", ".join(labels), why])
        return grid_of(grid)

    def training_costs(self, profile: str) -> str:
        """A table with one row per paper: its models, trainings over seeds, core-hours and GPU hours."""
        grid = [["paper", "models", "trainings", "core-hours", "hours on a GPU"], ["---", *["---:"] * 4]]
        for paper, each in self.printed.items():
            if own := [training for training in self.trainings(profile).values() if training.paper == paper]:
                seeds = sum(training.seeds for training in own)
                hours = sum(training.core_hours for training in own), sum(training.gpu_hours for training in own)
                grid.append([each.paper.name, str(len(own)), str(seeds), *(f"{kind:.1f}" for kind in hours)])
        return grid_of(grid)

    def benchmark(self, name: str) -> str:
        """The command of a benchmark and its tables."""
        result = self._measured(name)
        return f"`{result.command}`\n\n{result.markdown()}"

    def tables(self, name: str, profile: str = "") -> str:
        """Only the tables of a benchmark; of a profile, those whose titles begin with it."""
        return self._measured(name).markdown(profile)

    def _scored(self, profile: str, group: str, key: str) -> bool:
        """Whether a run, or a row without a model, has scores."""
        try:
            self.details(profile, group, f"baselines/{key}" if "/" in key else key)
        except ArtifactError:
            return False
        return True

    # --- Their parts -------------------------------------------------------------------------------------------------

    @cached_property
    def functions(self) -> dict[str, Any]:
        """The functions available in templates, by name."""
        names = ("score", "count", "param", "best", "gpu_hours", "ratios", "table", "claims", "verdicts", "without_dev",
                 "unscored", "printed_alone", "training_costs", "benchmark", "tables")  # fmt: skip
        others = {"printed": self.printed_value, "judged": self.judged_rows, "tried": self.tried}
        return {name: getattr(self, name) for name in names} | others

    @cached_property
    def _better(self) -> dict[str, Literal["higher", "lower"] | None]:
        columns = [column for paper in self.printed.values() for column in paper.columns.values()]
        return {ours.metric: column.better for column in columns for ours in column.ours}

    def _cells(
        self, place: str, result: RunResult, columns: Mapping[str, str], known: set[str], beside: list[RunResult]
    ) -> Iterator[str]:
        for column in columns.values():
            metric, _, digits = column.partition(":")
            if metric in known and metric not in result.scores:
                yield BLANK
                continue
            below = is_below(metric, self._better.get(metric), result, beside)
            yield (f"{MARK} " if below else "") + self.score(f"{place}/{result.key}", metric, int(digits or 2))

    def _claims(self, profile: str, paper: str) -> list[Mapping[str, Any]]:
        orderings = self._at(f"{profile}/orderings/{paper}")["orderings"]
        return [claim for claim in orderings if claim["profile"] in (profile, "")]

    def _at(self, place: str) -> Mapping[str, Any]:
        profile, group, key = place.split("/", 2)
        return self.details(profile, group, key)

    def _value(self, place: str, metric: str) -> Any:
        if metric.startswith("counts."):
            return _path(self._at(place), metric, place)
        scores = self._at(place).get("scores", {})
        if metric not in scores:
            raise ArtifactError(f"has no {metric}", where=place, remedy="correct the page's template")
        return scores[metric]

    def _texts(self, profile: str, group: str, key: str) -> tuple[str, str]:
        """The dataset, split and number of the texts of a run or row, and the hash of their ids; "" without one."""
        details = self.details(profile, group, key)
        settings, number = details.get("settings", {}), details.get("counts", {}).get("records")
        return f"{settings.get('dataset')}/{settings.get('split')}/{number}", details.get("ids", "")

    def _result(self, profile: str, group: str, key: str, older: Container[str]) -> RunResult:
        """The values and the texts of a run, or of a row without a model, from its details.

        Args:
            older: texts of which details of an earlier version have no hash of ids. They are taken to be equal if their
                number is.
        """
        details = self.details(profile, group, key)
        settings = details.get("settings", {})
        texts, ids = self._texts(profile, group, key)
        model = settings.get("model", "")
        structures = self.reads(profile, model) if model else settings.get("structures", ())
        return RunResult(
            key=key,
            model=model,
            profile=profile,
            dataset=texts if texts in older else f"{texts}/{ids}",
            row=settings.get("row", ""),
            trivial=settings.get("trivial", False),
            given=frozenset(settings.get("given", ())),
            structures=frozenset(structures),
            method=settings.get("method", settings.get("decoder", {}).get("method", "")),
            metrics=details,
        )

    def _measured(self, name: str) -> BenchmarkResult:
        if name not in self.benchmarks:
            raise ArtifactError(
                "the benchmark has no results",
                where=f"benchmarks/results/{name}.json",
                remedy=f"python benchmarks/{name}.py --record",
            )
        return self.benchmarks[name]


def claims_table(claims: Sequence[Mapping[str, Any]], profile: str, printed: Printed) -> str:
    """A table of the claims of a profile, from `metrics/details/orderings/<paper>.json`, in the words of `printed`.

    Raises:
        ArtifactError: `printed` lacks a claim.
    """
    grid = [["claim", "effect: printed; ours, 95 % interval", "p, corrected", "seeds", "verdict"], ["---"] * 5]
    for claim in claims:
        named = _claim_of(claim, profile, printed)
        columns = [printed.columns[column] for column in named.columns]
        effects = [_effect(column, measure) for column, measure in zip(columns, claim["measures"], strict=True)]
        if named.margin is not None:
            effects.append(f"margin {named.margin:g}")
        seeds = " and ".join(dict.fromkeys(map(str, claim["seeds"])))
        verdict = claim["verdict"]
        if claim["why"]:
            verdict += f": {claim['why']}" if claim["p"] is None else f" ({claim['why']})"
        grid.append([named.words, "<br>".join(effects), probability(claim["p_holm"]), seeds, verdict])
    return grid_of(grid)


def _claim_of(claim: Mapping[str, Any], profile: str, printed: Printed) -> PrintedOrdering:
    """The printed claim for an entry of `metrics/details/orderings/<paper>.json`."""
    metrics = tuple(measure["metric"] for measure in claim["measures"])
    found = printed.claim_of(claim["better"], claim["worse"], metrics, claim["margin"])
    if found is None:
        raise ArtifactError(
            f"no claim that {claim['better']} is better than {claim['worse']} by {', '.join(metrics)}",
            where=f"papers/printed/{printed.paper.key}.yaml",
            remedy=f"dvc repro report@{printed.paper.key} in profile {profile}",
        )
    return found


def _effect(column: Column, measure: Mapping[str, Any]) -> str:
    """How much better the first run is by a measure: the paper's number, our number, and its interval.

    Claims that were tested before the column named another metric for the printed effect exclude none by it.
    """
    printed, effect, interval = measure["printed_effect"], measure["effect"], measure["interval"]
    around = f" [{interval[0]:.3g}, {interval[1]:.3g}]" if interval else ""
    comparable = measure.get("printed_as", "") == column.printed_as
    excluded = ", printed effect excluded" if measure["printed_effect_excluded"] and comparable else ""
    ours = BLANK if effect is None else f"{effect:.3g}"
    return f"{column.heading}: {BLANK if printed is None else f'{printed:.3g}'}; {ours}{around}{excluded}"


def _entries(row: Row) -> str:
    """Why a printed row has no scores: it has entries that were not run, or none."""
    if not row.runs:
        return row.note or "not rebuilt"
    return f"entries without scores: {', '.join(f'`{each.run}`' for each in row.runs)}"


def _number(value: float | None, digits: int) -> str:
    return BLANK if value is None else f"{value:,.{digits}f}"


def _path(tree: Mapping[str, Any], path: str, place: str) -> Any:
    found: Any = tree
    for name in path.split("."):
        try:
            found = found[int(name) if isinstance(found, list) else name]
        except (LookupError, TypeError, ValueError) as error:
            raise ArtifactError(f"has no {path}", where=place, remedy="correct the page's template") from error
    return found
