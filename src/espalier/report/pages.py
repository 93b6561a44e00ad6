"""Pages of Markdown whose numbers come from files: a template has the prose, and asks for each number and table.

A template is Jinja. A place is PROFILE/GROUP/KEY, as "small/guig/guig_tg", whose details are
`details/GROUP/KEY.json` of that profile. What is not there is an error, so that no page shows a number that is gone; a
score that is undefined is shown as a dash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from jinja2 import Environment, StrictUndefined, TemplateError

from espalier.io.errors import ArtifactError
from espalier.report.benchmarks import BenchmarkResult
from espalier.report.markdown import grid_of
from espalier.report.printed import Printed
from espalier.report.results import RunResult
from espalier.report.tables import BLANK
from espalier.report.trivial import MARK, given_as_much, is_below, rows_of
from espalier.report.verdicts import probability

#: The details of a place, by profile, group and key.
Details = Callable[[str, str, str], Mapping[str, Any]]
#: The params.yaml of a profile.
Params = Callable[[str], Mapping[str, Any]]
#: The structures of the text to come that a model reads, by profile and model.
Reads = Callable[[str, str], Sequence[str]]
#: The keys of the rows without a trained model of a profile and group, such as "baselines/guig/copy".
Baselines = Callable[[str, str], Sequence[str]]
#: By paper, the number of a profile's scored runs on test, and of those whose model has no scored run on dev.
OnTest = Callable[[str], Mapping[str, tuple[int, int]]]


class Training(NamedTuple):
    """What the training of a model took, over its seeds."""

    paper: str
    seeds: int
    core_hours: float


#: The measured trainings of a profile, by model.
Trainings = Callable[[str], Mapping[str, Training]]

#: A generated part of a page lies between these lines.
BEGIN: Final = "<!-- numbers: written by `espalier pages` -->"
END: Final = "<!-- end of numbers -->"
#: The line between two parts in the template of a page.
NEXT: Final = "<!-- next part -->"


def render_page(
    template: str,
    where: str,
    *,
    details: Details,
    params: Params,
    printed: Mapping[str, Printed],
    tried: Sequence[Mapping[str, Any]] = (),
    on_test: OnTest | None = None,
    reads: Reads | None = None,
    baselines: Baselines = lambda profile, group: (),
    trainings: Trainings = lambda profile: {},
    benchmarks: Mapping[str, BenchmarkResult] | None = None,
) -> str:
    """The text of a template.

    A template calls:
        score(place, metric, digits=2): a score; `interval(...)` the same with its interval.
        count(place, path, digits=0): a number of the details by its path, such as "rows.train" or "curve.dev_loss.3".
        difference(place, run, other, metric, digits=2): the score of `run` less that of `other`; `place` is
            PROFILE/GROUP.
        table(place, rows, columns, heading): one row for each run of `rows` {run: label}; `columns` is {heading:
            "metric" or "metric:digits"}. A metric that begins with "counts." is a count. A metric that only other rows
            of the table have is a dash. The mark ▾ stands before a score that is worse than that of one of `baselines`,
            on the same texts and given no structure that the run is not given, whether the table shows this row or not.
        claims(profile, paper): one row for each claim of the paper that both its runs can decide, with the effect on
            each of its measures, and a line with the number of the others.
        without_dev(profile): one row for each paper: the number of its scored runs on test, and of those whose model
            has no scored run on dev.
        core_hours(profile, *models): the hours that the training of these models took, times its threads.
        training_costs(profile): one row for each paper: its models, the trainings of their seeds, and their core-hours.
        param(profile, path): a value of its params.yaml, such as "presets.guig.training.steps".
        printed(paper, run, column): the number that the paper prints in the row of this run.
        best(paper, table, column): the highest number that the paper prints in a column of a table.
        benchmark(name): the command of a benchmark and its tables.
        tables(name): its tables alone.
        ratios(name, row, ours): from the least to the largest ratio of a row, over its tables, or over those with row
            `ours` if it is given.
    `tried` are the rows of `report/tried.yaml`.

    Args:
        template: the source.
        where: the template's name, for errors.
        details: reads a place.
        params: reads a profile's params.yaml.
        printed: the papers' printed numbers, by paper.
        tried: which settings were tried.
        on_test: counts a profile's scored runs on test.
        reads: what a model reads of the text to come; nothing by default.
        baselines: the rows without a model that scores are compared with; none by default.
        trainings: what the trainings of a profile took; none by default.
        benchmarks: what benchmarks measured, by name.

    Raises:
        ArtifactError: the template asks for a place, score or number that is not there, or is no template.
    """

    shown = [column for paper in printed.values() for column in paper.columns.values()]
    better = {ours.metric: column.better for column in shown for ours in column.ours}

    def at(place: str) -> Mapping[str, Any]:
        profile, group, key = place.split("/", 2)
        return details(profile, group, key)

    def value(place: str, metric: str) -> Any:
        if metric.startswith("counts."):
            return _path(at(place), metric, place)
        scores = at(place).get("scores", {})
        if metric not in scores:
            raise ArtifactError(f"has no {metric}", where=place, remedy="correct the page's template")
        return scores[metric]

    def score(place: str, metric: str, digits: int = 2) -> str:
        return _number(value(place, metric), digits)

    def interval(place: str, metric: str, digits: int = 2) -> str:
        around = (at(place).get("intervals") or {}).get(metric)
        text = score(place, metric, digits)
        return f"{text} [{_number(around[0], digits)}, {_number(around[1], digits)}]" if around else text

    def difference(place: str, run: str, other: str, metric: str, digits: int = 2) -> str:
        return _number(value(f"{place}/{run}", metric) - value(f"{place}/{other}", metric), digits)

    def table(place: str, rows: Mapping[str, str], columns: Mapping[str, str], heading: str = "run") -> str:
        grid = [[heading, "", *columns], ["---", "---", *("---:" for _ in columns)]]
        profile, group = place.split("/")
        trivial = [_result(key, profile, details(profile, group, key), reads) for key in baselines(profile, group)]
        known = {name for run in rows for name in at(f"{place}/{run}").get("scores", {})}
        for run, label in rows.items():
            result = _result(run, profile, at(f"{place}/{run}"), reads)
            cells, beside = [], given_as_much(rows_of(result, trivial), result)
            for column in columns.values():
                metric, _, digits = column.partition(":")
                if metric in known and metric not in result.scores:
                    cells.append(BLANK)
                    continue
                text = score(f"{place}/{run}", metric, int(digits or 2))
                below = is_below(metric, better.get(metric), result, beside)
                cells.append(f"{MARK} {text}" if below else text)
            grid.append([f"`{run}`", label, *cells])
        return grid_of(grid)

    def paper_prints(paper: str, run: str, column: str) -> str:
        if value := printed[paper].value_of(run, column):
            return str(value.value)
        raise ArtifactError(f"no printed {column} of {run}", where=f"report/printed/{paper}.yaml")

    def best(paper: str, table: str, column: str) -> str:
        rows = [row for part in printed[paper].tables if part.id == table for row in part.rows]
        if not (values := [row.printed[column].value for row in rows if column in row.printed]):
            raise ArtifactError(f"no printed {column} in {table}", where=f"report/printed/{paper}.yaml")
        return f"{max(values):.2f}"

    def claims(profile: str, paper: str) -> str:
        return claims_table(at(f"{profile}/orderings/{paper}")["orderings"], profile, printed[paper])

    def count(place: str, path: str, digits: int = 0) -> str:
        return _number(_path(at(place), path, place), digits)

    def core_hours(profile: str, *models: str) -> str:
        if absent := set(models) - trainings(profile).keys():
            raise ArtifactError(f"no measured training of {', '.join(sorted(absent))}", where=f"profile {profile}")
        return f"{sum(trainings(profile)[model].core_hours for model in models):.1f}"

    def training_costs(profile: str) -> str:
        grid = [["paper", "models", "trainings", "core-hours"], ["---", "---:", "---:", "---:"]]
        for paper, each in printed.items():
            if own := [training for training in trainings(profile).values() if training.paper == paper]:
                seeds, hours = sum(training.seeds for training in own), sum(training.core_hours for training in own)
                grid.append([each.paper.name, str(len(own)), str(seeds), f"{hours:.1f}"])
        return grid_of(grid)

    def param(profile: str, path: str) -> str:
        found = _path(params(profile), path, f"{profile}/params.yaml")
        return f"{found:,}" if isinstance(found, int) else str(found)

    def without_dev(profile: str) -> str:
        grid = [["paper", "runs on test", "of a model without a run on dev"], ["---", "---:", "---:"]]
        for paper, counts in (on_test(profile) if on_test else {}).items():
            grid.append([printed[paper].paper.name, *map(str, counts)])
        return grid_of(grid)

    def measured(name: str) -> BenchmarkResult:
        if name not in (benchmarks or {}):
            raise ArtifactError(
                "the benchmark has no results",
                where=f"benchmarks/results/{name}.json",
                remedy=f"python benchmarks/{name}.py --record",
            )
        return (benchmarks or {})[name]

    def benchmark(name: str) -> str:
        result = measured(name)
        return f"`{result.command}`\n\n{result.markdown()}"

    def ratios(name: str, row: str, ours: str | None = None) -> str:
        return measured(name).range(row, ours)

    def tables(name: str) -> str:
        return measured(name).markdown()

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True, autoescape=False)
    functions = {"score": score, "interval": interval, "count": count, "difference": difference, "table": table,
                 "claims": claims, "without_dev": without_dev, "core_hours": core_hours,
                 "training_costs": training_costs, "param": param, "printed": paper_prints, "best": best,
                 "tried": tried, "benchmark": benchmark, "tables": tables, "ratios": ratios}  # fmt: skip
    try:
        return environment.from_string(template).render(functions)
    except TemplateError as error:
        raise ArtifactError(str(error), where=where, remedy="correct the template") from error


def _result(key: str, profile: str, details: Mapping[str, Any], reads: Reads | None) -> RunResult:
    """What the details of a run, or of a row without a model, say of its values and of the texts that have them.

    Details do not name the texts. Those of one dataset and split are the same if they are as many.
    """
    settings = details.get("settings", {})
    model = settings.get("model", "")
    structures = reads(profile, model) if reads and model else settings.get("structures", ())
    return RunResult(
        key=key,
        model=model,
        profile=profile,
        dataset=f"{settings.get('dataset')}/{settings.get('split')}/{details.get('counts', {}).get('records')}",
        row=settings.get("row", ""),
        trivial=settings.get("trivial", False),
        given=frozenset(settings.get("given", ())),
        structures=frozenset(structures),
        metrics=details,
    )


def with_numbers(page: str, text: str, where: str) -> str:
    """A page whose lines between `BEGIN` and `END` are replaced, part by part, by those of a text between `NEXT`.

    Raises:
        ArtifactError: the page has not as many such parts as the text.
    """
    parts = text.split(f"{NEXT}\n")
    before, *rest = page.split(f"{BEGIN}\n")
    if len(rest) != len(parts) or END in before or any(each.count(f"{END}\n") != 1 for each in rest):
        raise ArtifactError(
            f"the parts between {BEGIN} and {END} are not {len(parts)}", where=where, remedy="put the lines back"
        )
    after = (each.partition(f"{END}\n")[2] for each in rest)
    pairs = zip(parts, after, strict=True)
    return before + "".join(f"{BEGIN}\n{part.strip()}\n{END}\n{kept}" for part, kept in pairs)


def claims_table(orderings: Sequence[Mapping[str, Any]], profile: str, printed: Printed) -> str:
    """The claims of a profile in `details/orderings/<paper>.json`, as a table, in the words of `printed`.

    Raises:
        ArtifactError: `printed` does not have a claim.
    """
    own = [claim for claim in orderings if claim["profile"] in (profile, "")]
    known = [claim for claim in own if claim["p"] is not None]
    grid = [["claim", "effect: printed; ours, 95 % interval", "p, corrected", "seeds", "verdict"], ["---"] * 5]
    for claim in known:
        effects = "<br>".join(_effect(measure) for measure in claim["measures"])
        seeds = " and ".join(dict.fromkeys(map(str, claim["seeds"])))
        metrics = tuple(measure["metric"] for measure in claim["measures"])
        words = printed.claim_of(claim["better"], claim["worse"], metrics, claim["margin"])
        if words is None:
            raise ArtifactError(
                f"no claim that {claim['better']} is better than {claim['worse']} by {', '.join(metrics)}",
                where=f"report/printed/{printed.paper.key}.yaml",
                remedy=f"dvc repro report@{printed.paper.key} in profile {profile}",
            )
        grid.append([words, effects, probability(claim["p_holm"]), seeds, claim["verdict"]])
    rest = len(own) - len(known)
    return grid_of(grid) + (f"\n\nNot computed: {rest} of {len(own)} claims." if rest else "")


def _effect(measure: Mapping[str, Any]) -> str:
    """How much better the one is by a measure: the paper's number, ours, and its interval."""
    printed, effect, interval = measure["printed_effect"], measure["effect"], measure["interval"]
    around = f" [{interval[0]:.3g}, {interval[1]:.3g}]" if interval else ""
    excluded = ", printed effect excluded" if measure["printed_effect_excluded"] else ""
    ours = BLANK if effect is None else f"{effect:.3g}"
    return f"{measure['metric']}: {BLANK if printed is None else f'{printed:.3g}'}; {ours}{around}{excluded}"


def _number(value: Any, digits: int) -> str:
    return BLANK if value is None else f"{value:,.{digits}f}"


def _path(tree: Mapping[str, Any], path: str, place: str) -> Any:
    found: Any = tree
    for name in path.split("."):
        try:
            found = found[int(name) if isinstance(found, list) else name]
        except (LookupError, TypeError, ValueError) as error:
            raise ArtifactError(f"has no {path}", where=place, remedy="correct the page's template") from error
    return found
