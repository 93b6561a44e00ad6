"""The command `repro`: `dvc repro` with several stages at once."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from graphlib import TopologicalSorter
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from dvc.exceptions import DvcException
from dvc.stage.exceptions import StageNotFound

from espalier.cli.progress import counted, progress_bar, say
from espalier.io.errors import ArtifactError
from espalier.io.files import write_json
from espalier.io.locks import exclusive
from pipeline import layout
from pipeline.graph import settled
from pipeline.graph.cluster_settings import Cluster, load_cluster
from pipeline.graph.dvc_files import dvc_project, locked_atomically, parsed_once
from pipeline.graph.parent import interrupt_below
from pipeline.graph.scheduler import run_all
from pipeline.graph.stage_worker import GRACE, Job, Outcome, bring_up_to_date, stay
from pipeline.records.committed import differences, rewritten

#: The products of each kind of stage, for the last line of a run.
MADE = {"train_parser": "parsers", "train": "models", "score": "scored runs", "report": "reports"}
#: The kinds of stages that import torch.
HEAVY = ("baselines", "decode", "train")
#: Largest number of printed differences from the committed numbers.
SHOWN = 12


def repro(targets: list[str], jobs: int, *, cluster: bool = False, dry_run: bool = False) -> None:
    """Bring stages up to date like `dvc repro`, with `jobs` stages at once.

    DVC runs every stage, and releases its lock while the command of a stage runs. A stage starts when the
    stages that it depends on are up to date.

    Args:
        targets: names of stages; empty for all stages of the present profile.
        jobs: number of stages at once.
        cluster: whether the commands of the stages are jobs of the cluster that local.yaml describes.
        dry_run: whether to print the stages, or their jobs, and run nothing.

    Raises:
        ArtifactError: a stage failed. Running stages finish; no other stage is started.
        MissingError, ConfigError: local.yaml is missing or wrong, or the cluster refuses a job.
    """
    started = time.monotonic()
    settings = load_cluster() if cluster else None
    graph = out_of_date(targets)
    if not graph:
        say(settled.UP_TO_DATE)
        return
    from pipeline.records.stage_times import StageTimes, spoken  # what a run without work need not import

    seeds = _seeds()
    times = StageTimes()
    place = {} if settings is None else _jobs_of(settings, graph, seeds, times.expected)
    if dry_run:
        say(*(place[stage].described(stage) if stage in place else stage for stage in graph))
        return
    say(f"stages {len(graph)}, at once {jobs}; {spoken(times.left(graph, jobs))}")
    failed, left, running = [], dict(graph), list[str]()
    with progress_bar() as bar:
        task = bar.add_task("stages", total=len(graph))

        def show(stage: str) -> None:
            running.append(stage)
            bar.update(task, note=f"{', '.join(running)}; {spoken(times.left(left, jobs))} left")

        with _only_one(cluster), closing(_outcomes(graph, place, jobs, times.expected, show)) as outcomes:
            for number, outcome in enumerate(outcomes, 1):
                running.remove(outcome.stage)
                left.pop(outcome.stage)
                if outcome.ok and outcome.ran:
                    times.record(outcome.stage, outcome.seconds)
                rest = f"; {spoken(times.left(left, jobs))} left" if left else ""
                say(
                    f"[{number}/{len(graph)}] {outcome.stage}, {outcome.seconds:.0f} s{rest}",
                    *outcome.output.splitlines(),
                )
                bar.advance(task)
                if not outcome.ok:
                    failed.append(outcome.stage)
    times.save()
    if failed:
        raise ArtifactError("failed, as its output above says", where=", ".join(failed))
    say(*_summary(list(graph), time.monotonic() - started))


def _seeds() -> dict[str, tuple[int, ...]]:
    """The seeds of each training with several. Mistakes in params.yaml and missing versions are reported first."""
    from pipeline.params import read, versions

    if not layout.PARAMS.exists():
        return {}
    params = read.load_params()
    versions.check_versions(params, versions.read_versions())
    return {f"train@{key}": tuple(model.seeds) for key, model in params.models.items() if len(model.seeds) > 1}


def _jobs_of(
    cluster: Cluster, graph: Mapping[str, object], seeds: Mapping[str, tuple[int, ...]], seconds: Callable[[str], float]
) -> dict[str, Job]:
    """The job of each stage."""
    return {stage: Job(cluster, cluster.resources(stage, seconds(stage)), seeds.get(stage, ())) for stage in graph}


@contextmanager
def _only_one(cluster: bool) -> Iterator[None]:
    """Refuse a second run on the cluster from this project: two would submit the same jobs."""
    held = ArtifactError("repro --cluster runs from this folder", where=Path.cwd(), remedy="wait for it, or end it")
    with exclusive(layout.scratch("locks", "cluster.lock"), timeout=0, held=held) if cluster else nullcontext():
        yield


def out_of_date(targets: list[str]) -> dict[str, set[str]]:
    """The stages to run, each with those among them that it depends on.

    These are the changed stages and all stages that depend on them. DVC later skips a stage whose dependencies turn out
    unchanged.
    """
    stale: dict[str, set[str]] = {}
    try:
        repo = dvc_project(wait_for_lock=True)
        with repo.lock, parsed_once(), locked_atomically():
            paths = [] if targets else settled.paths_of(repo)
            state = settled.state_of(paths)
            graph = repo.index.graph
            needs = {stage: set(graph.successors(stage)) for stage in graph}
            named = [stage for target in targets for stage in repo.stage.collect(target)]
            wanted, queue = set[Any](), named if targets else list(needs)
            while queue:
                stage = queue.pop()
                queue += needs[stage] - wanted
                wanted.add(stage)
            for stage in TopologicalSorter(needs).static_order():
                before = {other.addressing for other in needs[stage]} & stale.keys()
                if stage in wanted and (before or stage.changed()):
                    stale[stage.addressing] = before
            if not targets and not stale and state is not None:
                write_json(settled.KEPT, {"paths": paths, "state": state})
    except StageNotFound as error:
        what, remedy = f"no stage {error.name} in {error.file}", "dvc stage list --name-only names all"
        raise ArtifactError(what, remedy=remedy) from error
    except DvcException as error:
        _seeds()  # it says what is wrong in params.yaml in its own terms
        raise ArtifactError(str(error), where="dvc", remedy="dvc repro says more") from error
    return stale


def _summary(stages: list[str], seconds: float) -> Iterator[str]:
    """What was made, whether metrics equal the committed ones, where the reports are, and what to do with changes."""
    counts = Counter(stage.partition("@")[0] for stage in stages)
    made = counted([(name, counts[stage]) for stage, name in MADE.items() if counts[stage]])
    yield f"stages {len(stages)}, in {seconds:.0f} s{': ' if made else ''}{made}"
    changed = differences(Path())
    if changed:
        beyond = sum(not each.tolerable for each in changed)
        yield from map(str, sorted(changed, key=lambda each: each.tolerable)[:SHOWN])
        more = f", of which {SHOWN} are shown" if len(changed) > SHOWN else ""
        yield f"metrics that differ from the committed ones: {len(changed)}{more}; by more than the tolerance: {beyond}"
    elif changed is not None:
        yield "metrics that differ from the committed ones: none"
    pages = [Path("reports/index.html"), *sorted(Path("reports").glob("*/index.html"))]
    if found := next((page for page in pages if page.exists()), None):
        yield f"reports: {found.resolve()}"
    count, paths = rewritten(Path())
    if count:
        names = " ".join(paths)
        keep, drop = f"git commit -m base {names}", f"git restore {names}"
        yield f"files changed in git: {count}; to compare later runs with this one: {keep}; to drop the changes: {drop}"


def _outcomes(
    graph: dict[str, set[str]],
    place: Mapping[str, Job],
    jobs: int,
    seconds: Callable[[str], float],
    started: Callable[[str], None],
) -> Generator[Outcome, None, None]:
    """Run the stages, and yield their outcomes as they end. No stage is started after a failure.

    Args:
        place: the jobs of the stages that run on a cluster.
        seconds: function from a stage to its expected duration in seconds.
        started: called with each stage when it starts.
    """
    failed = False

    def start(stage: str) -> Future[Outcome] | None:
        if failed:
            return None
        # A process that starts inherits the mask: Ctrl-C waits until `stay` has run there.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        future = pool.submit(bring_up_to_date, stage, place.get(stage))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        started(stage)
        return future

    heavy = sum(stage.partition("@")[0] in HEAVY for stage in graph)
    serve = heavy > jobs and not place  # else it is not worth its own import
    with ProcessPoolExecutor(jobs, get_context("spawn"), stay, (serve,)) as pool:
        try:
            for outcome in run_all(graph, start, jobs, seconds):
                failed = failed or not outcome.ok
                yield outcome
        except (KeyboardInterrupt, GeneratorExit):
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool waits for DVC, which writes
            interrupt_below(GRACE)
            raise
