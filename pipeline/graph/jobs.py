"""The commands of stages as jobs of a cluster: of Slurm, PBS or LSF, or on the workers of a Dask scheduler.

DVC stays in the processes of `espalier repro`, which alone read and write dvc.lock. A job runs the command of one
stage, or trains one seed of a model. It is a Dask worker that connects to this process through TLS, is given one
command, and ends.
"""

from __future__ import annotations

import logging
import math
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM
from subprocess import PIPE, STDOUT, Popen, TimeoutExpired
from threading import Event
from typing import Any, Final

import dask
import distributed
from dask_jobqueue.core import JobQueueCluster
from dask_jobqueue.lsf import LSFCluster
from dask_jobqueue.pbs import PBSCluster
from dask_jobqueue.slurm import SLURMCluster
from distributed import Client, KilledWorker, Status, Worker
from dvc.stage import run
from dvc.stage.exceptions import StageCmdFailedError

from espalier.io.errors import ArtifactError, ConfigError
from pipeline import layout
from pipeline.graph.cluster_settings import Cluster, Resources
from pipeline.graph.dask_shards import PATHS, scheduler_client
from pipeline.graph.parent import STARTED_BY, end_when, kill_with_below

#: The cluster of each system, and what asks it for GPUs.
SYSTEMS: Final[Mapping[str, tuple[type[JobQueueCluster], str]]] = {
    "slurm": (SLURMCluster, "--gres=gpu:{gpus}"),
    "pbs": (PBSCluster, ":ngpus={gpus}"),
    "lsf": (LSFCluster, '-gpu "num={gpus}"'),
}
#: The variables of this process that a command needs, besides those of the project and of DVC.
NEEDED: Final = ("LANG", "LC_ALL", "OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE")
#: Seconds between two looks at a job, and to wait for a scheduler or a worker.
LOOK, TIMEOUT = 1.0, 30.0
#: The status of a command that was killed with its job, or for lack of memory: by a signal, or by that of its shell.
KILLED: Final = tuple(status for number in (SIGTERM, SIGKILL) for status in (-number, 128 + number))
#: The most bytes of a command's output that are shown.
SHOWN: Final = 2**20


@dataclass(frozen=True)
class Command:
    """What a job runs: a shell command, its folder, and its environment.

    Attributes:
        name: the name of the job: that of the stage, with the seed if it trains only one.
    """

    name: str
    text: str
    folder: Path
    environment: Mapping[str, str]


@contextmanager
def as_jobs(cluster: Cluster, stage: str, resources: Resources, seeds: Sequence[int]) -> Iterator[None]:
    """In this context, the commands that DVC runs for a stage are jobs.

    Args:
        seeds: the seeds of a training that have jobs of their own, up to their last checkpoints, which leaves little to
            the stage's command.
    """
    whole = run._run

    def submit(executable: str, command: str, *, cwd: str, env: Mapping[str, str], **_: object) -> None:
        environment = {name: env[name] for name in env if name in NEEDED or name.startswith(("ESPALIER_", "DVC_"))}
        alone = {f"{stage}-{seed}": f"{command} --seed {seed}" for seed in seeds}
        for texts in filter(None, (alone, {stage: command})):
            commands = [Command(name, text, Path(cwd), environment) for name, text in texts.items()]
            _run_all(cluster, resources, commands)

    run._run = submit
    try:
        yield
    finally:
        run._run = whole


def _run_all(cluster: Cluster, resources: Resources, commands: Sequence[Command]) -> None:
    """Run commands as jobs side by side, and print their outputs.

    Raises:
        StageCmdFailedError: a command failed.
        ArtifactError: a command was begun as often as the settings allow, and never ended.
    """
    stop = Event()
    with ThreadPoolExecutor(len(commands)) as threads:
        running = {threads.submit(_run, cluster, resources, command, stop): command for command in commands}
        try:
            for future in as_completed(running):
                code, output = future.result()
                print(output, end="", flush=True)
                if code:
                    raise StageCmdFailedError(running[future].text, code)
        finally:
            stop.set()


def _run(cluster: Cluster, resources: Resources, command: Command, stop: Event) -> tuple[int, str]:
    """Run a command as a job, and again if the job ends before it: its status and its output."""
    folder = layout.scratch("jobs", command.name.replace("@", "-")).resolve()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for attempt in range(cluster.attempts):
        ended = folder / f"ended-{os.getpid()}-{attempt}"
        try:
            with _client(cluster, resources, command, folder, ended) as client:
                answer = _answer(client, cluster, resources, command, ended, stop)
        finally:
            ended.unlink(missing_ok=True)
        if answer is not None:
            return answer
    raise ArtifactError(
        f"its job ended {cluster.attempts} times before its command did, perhaps for lack of memory or time",
        where=command.name,
        remedy="see the logs of the workers"
        if cluster.scheduler
        else f"see {folder}, and give the stage more memory or hours in local.yaml",
    )


def _answer(
    client: Client, cluster: Cluster, resources: Resources, command: Command, ended: Path, stop: Event
) -> tuple[int, str] | None:
    """The status and the output of a command, or None if its job ended before it.

    Raises:
        ArtifactError: the job did not start in time, or its machine refuses the command.
    """
    asked = {"GPU": resources.gpus} if resources.gpus and client.cluster is None else None
    token = layout.scratch("jobs").resolve() / "here"
    token.touch()
    future = client.submit(execute, command, str(token), versions(), pure=False, resources=asked)
    latest: float | None = time.monotonic() + 3600 * cluster.wait_hours
    while not stop.is_set():
        try:
            answer: tuple[int, str] = future.result(timeout=LOOK)
        except (KilledWorker, CancelledError):  # CancelledError: the scheduler has ended
            return None
        except ImportError as error:
            paths = os.pathsep.join(PATHS)
            where, remedy = f"the workers of {client.scheduler.address}", f"start them with PYTHONPATH={paths}"
            raise ArtifactError(f"cannot import the project: {error}", where=where, remedy=remedy) from error
        except TimeoutError:
            if client.scheduler_info()["workers"]:
                latest = None
            elif ended.exists():
                return None
            elif latest is not None and time.monotonic() > latest:
                raise ArtifactError(
                    f"no job started in {cluster.wait_hours:g} hours",
                    where=f"{cluster.system}, {command.name}",
                    remedy="see why it waits, and correct the stage or wait_hours in local.yaml",
                ) from None
        else:
            if answer[0] not in KILLED:
                return answer
            print(answer[1], end="", flush=True)
            return None
    raise KeyboardInterrupt


def versions() -> str:
    """What must be equal here and where jobs run."""
    return f"Python {sys.version_info.major}.{sys.version_info.minor}, distributed {distributed.__version__}"


def dask_setup(worker: Worker) -> None:
    """Called by Dask in the worker of a job: the job and its command end with the script or the scheduler.

    A worker waits for its command otherwise, however long it takes.
    """
    parent = os.getppid()
    end_when(lambda: os.getppid() != parent or worker.status in (Status.closing, Status.closed))


def execute(command: Command, token: str, wanted: str) -> tuple[int, str]:
    """Run a command in the job: its status, and its output with its errors.

    Its `python` is that of the job. Programs are otherwise those of the job's prologue, which may load modules.

    Args:
        token: a file of the project's folder, which this machine must see.
        wanted: the `versions` of the process that submits.

    Raises:
        ArtifactError: this machine does not see the folder, or has other versions.
    """
    machine = os.uname().nodename
    if not Path(token).exists():
        raise ArtifactError(f"{machine} does not see {token}: the cluster's machines must share the project's folder")
    if versions() != wanted:
        raise ArtifactError(f"{machine} has {versions()}, and this process {wanted}: use one environment")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, **command.environment, "PATH": path, STARTED_BY: str(os.getpid())}
    waited_for = _waited_for()
    with Popen(command.text, shell=True, cwd=command.folder, env=environment, stdout=PIPE, stderr=STDOUT) as process:
        while True:
            try:
                output, _ = process.communicate(timeout=LOOK)
                return process.returncode, output[-SHOWN:].decode(errors="replace")
            except TimeoutExpired:
                if not waited_for():
                    kill_with_below(process.pid)


def _waited_for() -> Callable[[], bool]:
    """Says whether somebody waits for the present task. Dask lets a task go on whose client has ended."""
    try:
        worker = distributed.get_worker()
    except ValueError:  # not in a worker
        return lambda: True
    task = worker.state.tasks[worker.get_current_task()]
    return lambda: bool(task.state == "executing")


@contextmanager
def _client(cluster: Cluster, resources: Resources, command: Command, folder: Path, ended: Path) -> Iterator[Client]:
    """A Dask scheduler with one worker, which is a job; or the scheduler of the settings.

    Raises:
        ConfigError: the system refuses the job, or no scheduler answers.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if cluster.scheduler is not None:
        where, remedy = f"local.yaml: cluster.scheduler {cluster.scheduler}", "start 'dask scheduler' there"
        with scheduler_client(cluster.scheduler, timeout=TIMEOUT, where=where, remedy=remedy) as client:
            yield client
        return
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        job_cluster(cluster, resources, command.name, folder, ended) as jobs,
        Client(jobs, timeout=TIMEOUT) as client,
    ):
        jobs.worker_spec.update(jobs.new_worker_spec())
        try:
            jobs.sync(jobs._correct_state)  # `scale` would lose the error of a job that is refused
        except (OSError, RuntimeError) as error:
            jobs.workers.clear()
            jobs._created.clear()  # of which `close` expects that they have started
            said = next((line for line in reversed(str(error).splitlines()) if line.strip()), "")
            where, remedy = f"{cluster.system}, {command.name}", "correct local.yaml"
            raise ConfigError(f"the job was refused: {said}", where=where, remedy=remedy) from error
        yield client
        for worker in client.scheduler_info()["workers"]:  # `retire_workers` keeps one that has the answer
            jobs.loop.add_callback(jobs.scheduler.close_worker, worker)
        latest = time.monotonic() + TIMEOUT
        while not ended.exists() and time.monotonic() < latest:  # a job that ends by itself need not be killed
            time.sleep(LOOK / 10)


def job_cluster(cluster: Cluster, resources: Resources, name: str, folder: Path, ended: Path) -> JobQueueCluster:
    """A scheduler in this process whose workers are jobs; it has none yet.

    Args:
        folder: the folder for the job's outputs, which the cluster's machines share.
        ended: the file that says that the job has ended.
    """
    kind, gpu = SYSTEMS[cluster.system]
    gpus = (cluster.gpu or gpu).replace("{gpus}", str(resources.gpus)) if resources.gpus else ""
    options: dict[str, Any] = {"host": cluster.host} if cluster.host else {}
    more: dict[str, Any] = {"project" if cluster.system == "lsf" else "account": cluster.account}
    directives = list(cluster.directives)
    if cluster.system == "pbs" and gpus:
        more["resource_spec"] = f"select=1:ncpus={resources.cores}:mem={resources.memory.replace(' ', '')}{gpus}"
    elif gpus:
        directives.append(gpus)
    minutes = math.ceil(60 * (resources.hours or 1))
    return kind(
        cores=resources.cores,
        processes=1,
        memory=resources.memory,
        walltime=f"{minutes // 60:02}:{minutes % 60:02}" + ("" if cluster.system == "lsf" else ":00"),
        queue=cluster.queue,
        job_extra_directives=directives,
        job_script_prologue=[
            f"trap {shlex.quote(f'touch {shlex.quote(str(ended))}')} EXIT",
            f"export PYTHONPATH={shlex.quote(os.pathsep.join(PATHS))}",
            *cluster.prologue,
        ],
        job_name=name.replace("@", "-"),
        log_directory=str(folder),
        local_directory=str(folder),
        nanny=False,
        worker_extra_args=["--no-dashboard", "--preload", __name__],
        death_timeout=TIMEOUT,
        security=True,
        shared_temp_directory=str(folder),
        scheduler_options={"dashboard_address": "127.0.0.1:0", "port": 0, **options},
        **more,
    )
