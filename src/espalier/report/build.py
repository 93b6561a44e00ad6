"""A report as data: all content of a web page or a Markdown file, decided once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from espalier.report.drawings import Drawings, drawings_of
from espalier.report.examples import ExampleTable, examples_of
from espalier.report.hyperparameters import Hyperparameters
from espalier.report.judged import Judging
from espalier.report.orderings import Ordering, orderings_of
from espalier.report.poems import Poem, mark
from espalier.report.printed import Paper, Printed
from espalier.report.results import Comparison, CorpusResult, Curve, RunResult, TrainingResult
from espalier.report.studies import Study, study_of
from espalier.report.tables import Table, by_profile, other_metrics, other_runs, table_of, tags_of

#: The explanation of the rows without a trained model in reports.
BASELINE = "no model is trained: what the training texts, the source or the reference answer by themselves"
#: Samples of verse that are shown for each run.
POEMS = 3


@dataclass(frozen=True, slots=True)
class PoemGroup:
    """Verses of one run. The first run of each profile and language is `featured`: the page shows it open."""

    key: str
    title: str
    tags: tuple[str, ...]
    language: str
    poems: tuple[Poem, ...]
    featured: bool


@dataclass(frozen=True, slots=True)
class Computation:
    """The signature of a metric. `runs` names the runs with it; it is empty if all runs have it."""

    metric: str
    signature: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The parts of a report, in order. `missing` are keys of runs that are named in tables but have no results."""

    paper: Paper
    profiles: tuple[tuple[str, str], ...]
    protocols: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    orderings: tuple[Ordering, ...]
    studies: tuple[Study, ...]
    examples: tuple[ExampleTable, ...]
    curves: tuple[Curve, ...]
    poems: tuple[PoemGroup, ...]
    runs: tuple[RunResult, ...]
    corpora: tuple[CorpusResult, ...]
    computations: tuple[Computation, ...]
    missing: tuple[str, ...]
    hyperparameters: tuple[Hyperparameters, ...] = ()
    drawings: tuple[Drawings, ...] = ()
    judged: tuple[Judging, ...] = ()

    @property
    def poems_by_the_book(self) -> bool:
        """Whether any verse is compared with a variant of its tune."""
        return any(poem.variant for group in self.poems for poem in group.poems)


def build(
    printed: Printed,
    results: Sequence[RunResult],
    curves: Sequence[Curve] = (),
    corpora: Sequence[CorpusResult] = (),
    comparisons: Sequence[Comparison] = (),
    *,
    earlier: Sequence[Ordering] = (),
    elsewhere: Sequence[RunResult] = (),
    hyperparameters: Sequence[Hyperparameters] = (),
    trainings: Sequence[TrainingResult] = (),
    judged: Sequence[Judging] = (),
) -> Report:
    """Put runs beside a paper's printed numbers.

    Args:
        printed: the numbers of the paper, and the runs that belong to each row.
        results: runs of one or several profiles. Runs and metrics that no table of the paper names get their own
            tables.
        corpora: the counts of corpora, for tables about corpora.
        comparisons: comparisons of the runs in the paper's orderings.
        earlier: orderings of an earlier report, for claims about runs that are not among the results.
        elsewhere: the scores of these runs, for claims alone.
        hyperparameters: those of the runs' models, beside the paper's.
        trainings: training costs of the models, for tables about trainings.
        judged: studies in which people judged the runs.
    """
    runs = by_profile(results)
    tables = tuple(
        table
        for table in (
            *(table_of(table, printed, runs, by_profile(corpora), by_profile(trainings)) for table in printed.tables),
            other_runs(printed, runs),
            other_metrics(printed, runs),
        )
        if table is not None
    )
    examples = tuple(examples_of(each, runs) for each in printed.examples)
    return Report(
        paper=printed.paper,
        profiles=_explained(
            printed.profiles, [*(run.profile for run in runs), *(corpus.profile for corpus in corpora)]
        ),
        protocols=_explained({"baseline": BASELINE, **printed.protocols}, _protocols(runs, tables)),
        tables=tables,
        orderings=orderings_of(printed, runs, comparisons, earlier, elsewhere),
        studies=tuple(study_of(figure, printed, runs, by_profile(corpora)) for figure in printed.figures),
        examples=examples,
        curves=tuple(curve for curve in by_profile(curves) if curve.points),
        poems=_poems(runs),
        runs=tuple(runs),
        corpora=tuple(by_profile(corpora)),
        computations=_computations(runs),
        missing=_missing(printed, runs),
        hyperparameters=tuple(hyperparameters),
        drawings=tuple(drawings_of(each, examples, runs) for each in printed.drawings),
        judged=tuple(judged),
    )


def _poems(runs: Sequence[RunResult]) -> tuple[PoemGroup, ...]:
    groups: list[PoemGroup] = []
    featured_keys: set[tuple[str, str]] = set()
    for run in runs:
        poems = tuple(mark(sample, run.language) for sample in run.samples[:POEMS])
        if poems:
            featured = (run.profile, run.language) not in featured_keys
            featured_keys.add((run.profile, run.language))
            groups.append(PoemGroup(run.key, run.title, tags_of(run), run.language, poems, featured))
    return tuple(groups)


def _explained(texts: dict[str, str], used: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, texts.get(name, "")) for name in dict.fromkeys(used) if name)


def _protocols(runs: Sequence[RunResult], tables: Sequence[Table]) -> list[str]:
    decoding = [str(run.settings.get("protocol") or "") for run in runs]
    readings = [line.label for table in tables for line in table.lines if line.kind == "also"]
    return [*decoding, *readings]


def _computations(runs: Sequence[RunResult]) -> tuple[Computation, ...]:
    by_metric: dict[str, dict[str, list[str]]] = {}
    for run in runs:
        for metric, signature in run.signatures.items():
            by_metric.setdefault(metric, {}).setdefault(signature, []).append(f"{run.key} ({run.profile})")
    return tuple(
        Computation(metric, signature, tuple(keys) if len(signatures) > 1 else ())
        for metric, signatures in sorted(by_metric.items())
        for signature, keys in signatures.items()
    )


def _missing(printed: Printed, runs: Sequence[RunResult]) -> tuple[str, ...]:
    present = {run.key for run in runs}
    named = (ref.run for table in printed.tables if table.about == "runs" for row in table.rows for ref in row.runs)
    return tuple(dict.fromkeys(key for key in named if key not in present))
