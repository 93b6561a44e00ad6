"""The command `repro`: `dvc repro` with several stages at once."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from graphlib import TopologicalSorter
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Any

from dvc.exceptions import DvcException
from dvc.stage import run
from dvc.stage.exceptions import StageCmdFailedError, StageNotFound

from espalier.cli.progress import counted, progress_bar, say
from espalier.io.errors import ArtifactError, EspalierError
from espalier.io.files import write_json
from espalier.io.locks import exclusive
from pipeline import layout
from pipeline.graph import forks, settled
from pipeline.graph.cluster_settings import Cluster, Resources, load_cluster
from pipeline.graph.dvc_files import dvc_project, locked_atomically, parsed_once, written_by_entry
from pipeline.graph.parent import STARTED_BY, end_with_parent, interrupt_below
from pipeline.graph.scheduler import run_all
from pipeline.records.committed import differences, rewritten

#: The products of each kind of stage, for the last line of a run.
MADE = {"train_parser": "parsers", "train": "models", "score": "scored runs", "report": "reports"}
#: The kinds of stages that import torch.
HEAVY = ("baselines", "decode", "train")
#: Largest number of printed differences from the committed numbers.
SHOWN = 12
#: Seconds that a command has to end by itself, or DVC to release its files.
GRACE = 5.0


@dataclass(frozen=True)
class Outcome:
    """The result of a stage, its duration in seconds, and the output of the stage and DVC.

    Attributes:
        ran: whether its command was run. It then prints at least one line; outputs taken from DVC's cache print none.
    """

    stage: str
    ok: bool
    ran: bool
    seconds: float
    output: str


@dataclass(frozen=True)
class Job:
    """The job of a stage on a cluster, and the seeds that have jobs of their own before it."""

    cluster: Cluster
    resources: Resources
    seeds: tuple[int, ...]

    def described(self, stage: str) -> str:
        """One line: the stage, its number of jobs, and what each asks for."""
        asked = self.resources
        if asked.here:
            return f"{stage}: here"
        gpus = f", GPUs {asked.gpus}" if asked.gpus else ""
        needs = f"cores {asked.cores}, memory {asked.memory}{gpus}, hours {asked.hours:g}"
        return f"{stage}: jobs {len(self.seeds) + 1}, {needs}"


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
        # A process that starts inherits the mask: Ctrl-C waits until `_stay` has run there.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        future = pool.submit(_run, stage, place.get(stage))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        started(stage)
        return future

    heavy = sum(stage.partition("@")[0] in HEAVY for stage in graph)
    serve = heavy > jobs and not place  # else it is not worth its own import
    with ProcessPoolExecutor(jobs, get_context("spawn"), _stay, (serve,)) as pool:
        try:
            for outcome in run_all(graph, start, jobs, seconds):
                failed = failed or not outcome.ok
                yield outcome
        except (KeyboardInterrupt, GeneratorExit):
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pool waits for DVC, which writes
            interrupt_below(GRACE)
            raise


class _Interrupt:
    """Handling of Ctrl-C in a process that runs stages: no other command starts, and DVC writes what it has begun.

    The command of a stage receives Ctrl-C too. DVC ignores it meanwhile, so that it can report how the command ended.
    """

    seen, starts_command = False, False
    #: Set while no stage runs here.
    idle = threading.Event()

    @classmethod
    def take(cls, *_: object) -> None:
        """The signal handler."""
        cls.seen = True
        if cls.starts_command:
            raise KeyboardInterrupt

    @classmethod
    def check(cls) -> None:
        """Raise an interrupt that has come before."""
        if cls.seen:
            raise KeyboardInterrupt

    @classmethod
    def finish(cls) -> None:
        """Start no other command, and wait until DVC has released the files of a stage whose command was killed."""
        cls.seen = True
        cls.idle.wait(GRACE)


def _stay(serve: bool) -> None:
    """In processes that run stages, leave Ctrl-C to `_run`, which reports it; and end with the main process.

    Args:
        serve: whether commands shall be forks.
    """
    _Interrupt.idle.set()
    signal.signal(signal.SIGINT, _Interrupt.take)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.environ[STARTED_BY] = str(os.getpid())
    end_with_parent(_Interrupt.finish)
    if serve:
        forks.start_server()


@contextmanager
def _interruptible() -> Iterator[None]:
    """In this context, Ctrl-C stops DVC only where it starts a command, where it writes nothing."""
    whole, command = run.cmd_run, run._run

    def cmd_run(*arguments: Any, **options: Any) -> None:
        _Interrupt.starts_command = True
        try:
            _Interrupt.check()
            whole(*arguments, **options)
        finally:
            _Interrupt.starts_command = False

    def forked(executable: str | None, line: str, **options: Any) -> None:
        status = forks.fork(line, options["cwd"], options["env"])
        if status is None:
            command(executable, line, **options)
        elif status:
            raise StageCmdFailedError(line, status)

    run.cmd_run, run._run = cmd_run, forked
    _Interrupt.idle.clear()
    try:
        _Interrupt.check()
        yield
    finally:
        run.cmd_run, run._run = whole, command
        _Interrupt.idle.set()


def _run(stage: str, job: Job | None) -> Outcome:
    """Let DVC bring one stage up to date, in a separate process."""
    logging.getLogger("dvc").setLevel(logging.WARNING)  # it names each stage and each file for git again
    started = time.monotonic()
    with tempfile.TemporaryFile() as file, _printed_to(file), parsed_once(), written_by_entry(), locked_atomically():
        try:
            with _interruptible(), _on_cluster(stage, job):
                dvc_project(wait_for_lock=True).reproduce([stage], single_item=True)
            ok, reason = True, ""
        except DvcException as error:
            ok, reason = False, f"{error.__cause__ or error}\n"
        except EspalierError as error:
            ok, reason = False, f"{error}\n"
        except KeyboardInterrupt:
            ok, reason = False, "interrupted\n"
        file.seek(0)
        output = file.read().decode(errors="replace") + reason
    return Outcome(stage, ok, bool(output.strip()), time.monotonic() - started, output)


@contextmanager
def _on_cluster(stage: str, job: Job | None) -> Iterator[None]:
    """In this context, the commands of the stage are jobs, if it has one."""
    if job is None or job.resources.here:
        yield
        return
    from pipeline.graph.jobs import as_jobs  # it imports Dask, which takes a second

    with as_jobs(job.cluster, stage, job.resources, job.seeds):
        yield


@contextmanager
def _printed_to(file: IO[bytes]) -> Iterator[None]:
    """Redirect both standard streams of this process and its child processes to a file."""
    kept = {stream: os.dup(stream) for stream in (1, 2)}
    try:
        for stream in kept:
            os.dup2(file.fileno(), stream)
        yield
    finally:
        for stream, copy in kept.items():
            os.dup2(copy, stream)
            os.close(copy)
