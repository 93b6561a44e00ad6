"""`espalier repro --cluster`: the commands of stages as jobs, on a Dask scheduler and on a Slurm of one node."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from distributed import LocalCluster
from dvc.stage.exceptions import StageCmdFailedError

from espalier.io.errors import ArtifactError, ConfigError, MissingError
from pipeline import layout
from pipeline.commands.repro import repro
from pipeline.graph import cluster_settings, jobs
from pipeline.graph.cluster_settings import Cluster, Resources, load_cluster
from pipeline.graph.dask_shards import PATHS
from pipeline.graph.jobs import Command, _run_all, execute, job_cluster, versions

sys.path.insert(0, str(Path(__file__).parent))
from one_node_slurm import missing, slurm

Run = Callable[..., Any]

#: The command of each stage, and the stages that it reads. The machine's name for its process shows where it ran.
STAGES = {
    "first": ("echo first > first.txt; echo job $SLURM_JOB_ID", []),
    "left": ("cat first.txt > left.txt && echo left >> left.txt", ["first"]),
    "last": ("cat left.txt > last.txt && echo last >> last.txt", ["left"]),
}


@pytest.fixture
def project(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes a DVC project in a new folder and enters it; arguments replace commands of its stages."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / "dvc"))

    def make(name: str = "project", **commands: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        stages = {
            stage: {
                "cmd": commands.get(stage, command),
                "deps": [f"{dep}.txt" for dep in deps],
                "outs": [f"{stage}.txt"],
            }
            for stage, (command, deps) in STAGES.items()
        }
        (folder / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}))
        for command in (["git", "init", "-q"], ["dvc", "init", "-q"]):
            assert run(folder, *command).status == 0
        monkeypatch.chdir(folder)
        return folder

    return make


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Writes local.yaml with these settings of the cluster."""
    file = tmp_path / "local.yaml"
    monkeypatch.setattr(cluster_settings, "LOCAL", file)

    def write(**cluster: Any) -> None:
        file.write_text(yaml.safe_dump({"cluster": cluster}))

    return write


@pytest.fixture(scope="module")
def dask() -> Iterator[str]:
    """The address of a Dask scheduler with two workers."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
        env={"PYTHONPATH": os.pathsep.join(PATHS)},
    ) as cluster:  # fmt: skip
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def one_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a Slurm of one node."""
    if without := missing():
        pytest.skip(f"not installed: {', '.join(without)}")
    with slurm(tmp_path_factory.mktemp("s") / "s") as environment:
        yield environment


@pytest.fixture
def in_slurm(one_node: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Lets this process submit to the Slurm of one node, whose environment it is."""
    monkeypatch.setenv("SLURM_CONF", one_node["SLURM_CONF"])
    return one_node


@pytest.fixture
def fails(capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """Runs the first stage, which must fail, and returns what is printed."""

    def failure() -> str:
        with pytest.raises(ArtifactError):
            repro(["first"], jobs=1, cluster=True)
        return capfd.readouterr().err

    return failure


def lock_of(folder: Path) -> str:
    return (folder / "dvc.lock").read_text(encoding="utf-8")


def test_the_workers_of_a_dask_scheduler_make_the_lock_of_dvc_repro(
    project: Any, local: Any, dask: str, run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    theirs = project("theirs")
    assert run(theirs, "dvc", "repro").status == 0
    ours = project("ours")
    local(system="dask", scheduler=dask)
    repro([], jobs=2, cluster=True)
    assert lock_of(ours) == lock_of(theirs)
    assert "[3/3] last, " in capfd.readouterr().err
    assert run(ours, "dvc", "status").out.strip() == "Data and pipelines are up to date."


def test_a_command_that_fails_in_a_job_prints_its_reason(
    project: Any, local: Any, dask: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = project(left="echo the reason is here >&2; exit 7")
    local(system="dask", scheduler=dask)
    with pytest.raises(ArtifactError, match=r"^left: failed, as its output above says$"):
        repro([], jobs=2, cluster=True)
    said = capfd.readouterr().err
    assert "the reason is here" in said and "exited with 7" in said and not (folder / "last.txt").exists()


def test_each_seed_is_a_job_before_the_command_of_the_stage(
    project: Any, local: Any, dask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(first="python train.py")
    (folder / "train.py").write_text(
        "import sys\nfrom pathlib import Path\n"
        "if len(sys.argv) > 1:\n    Path('seed' + sys.argv[2]).touch()\n"
        "else:\n    Path('first.txt').write_text(str(sorted(map(str, Path().glob('seed*')))))\n"
    )
    local(system="dask", scheduler=dask)
    monkeypatch.setattr("pipeline.commands.repro._seeds", lambda: {"first": (1, 2)})
    repro(["first"], jobs=1, cluster=True)
    assert (folder / "first.txt").read_text() == "['seed1', 'seed2']"


def test_a_dry_run_prints_the_jobs_and_runs_nothing(
    project: Any, local: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = project()
    stages = {"first": {"cores": 4, "gpus": 1, "hours": 2.5}, "left": {"here": True}}
    local(system="slurm", stages=stages)
    repro([], jobs=2, cluster=True, dry_run=True)
    first, left, last = capfd.readouterr().err.splitlines()
    assert first == "first: jobs 1, cores 4, memory 4 GiB, GPUs 1, hours 2.5"
    assert left == "left: here" and last == "last: jobs 1, cores 1, memory 4 GiB, hours 1"
    assert not (folder / "first.txt").exists()


def test_the_entry_of_a_stage_goes_before_that_of_its_kind_and_hours_follow_from_its_expected_time() -> None:
    cluster = Cluster(system="slurm", stages={"train": {"cores": 4}, "train@songnet": {"memory": "64 GiB"}})
    usual, one = cluster.resources("train@other", 60), cluster.resources("train@songnet", 9000)
    assert (usual.cores, usual.memory, usual.hours) == (4, "16 GiB", 1)
    assert (one.cores, one.memory, one.hours) == (4, "64 GiB", 8)  # three times two and a half, up to a whole hour


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"system": "slurm", "quue": "gpu"}, "unknown key 'quue'"),
        ({"system": "torque"}, "cluster.system"),
        ({"system": "dask"}, "is the address of a Dask scheduler"),
        ({"system": "slurm", "scheduler": "tcp://127.0.0.1:1"}, "is the address of a Dask scheduler"),
        ({"system": "slurm", "attempts": 0}, "cluster.attempts"),
        ({"system": "slurm", "host": "no.such.host.invalid"}, "cluster.host: 'no.such.host.invalid' is no address"),
        ({"system": "slurm", "host": "192.0.2.1"}, "cluster.host: '192.0.2.1' is no address of this machine"),
        ({"system": "slurm", "stages": {"last": {"memory": "much"}}}, "cluster.stages.last: memory"),
        ({"system": "slurm", "stages": {"last": {"core": 2}}}, "unknown key 'core'"),
        ({"system": "slurm", "stages": {"lst@x": {}}}, "cluster.stages: unknown stage 'lst@x'; allowed: first, last"),
    ],
)
def test_a_mistake_in_local_yaml_is_one_line_before_anything_runs(
    project: Any, local: Any, settings: dict[str, Any], said: str
) -> None:
    folder = project()
    local(**settings)
    with pytest.raises(ConfigError) as error:
        repro([], jobs=2, cluster=True)
    assert said in str(error.value) and "local.yaml" in str(error.value) and "\n" not in str(error.value)
    assert not (folder / "first.txt").exists()


def test_a_folder_that_no_script_can_name_is_refused_before_anything_runs(project: Any, local: Any) -> None:
    project("two words")
    local(system="slurm")
    with pytest.raises(ConfigError, match=r"two words: ' ' in the path"):
        repro([], jobs=2, cluster=True)


@pytest.mark.usefixtures("local")
def test_without_local_yaml_it_says_which_page_has_one() -> None:
    with pytest.raises(MissingError, match=r"local\.yaml: is missing.*docs/scale\.md"):
        load_cluster()


def test_a_scheduler_that_does_not_answer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jobs, "TIMEOUT", 1.0)
    cluster = Cluster(system="dask", scheduler="tcp://127.0.0.1:9")
    line = (
        r"^local\.yaml: cluster\.scheduler tcp://127\.0\.0\.1:9: no Dask scheduler answers there; "
        r"start 'dask scheduler' there$"
    )
    with pytest.raises(ConfigError, match=line):
        _run_all(cluster, Resources(), [Command("first", "touch made", tmp_path, {})])
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("system", "lines"),
    [
        (
            "slurm",
            ["#SBATCH -p main", "#SBATCH -A we", "#SBATCH --mem=16G", "#SBATCH -t 02:30:00", "#SBATCH --gres=gpu:2"],
        ),
        (
            "pbs",
            ["#PBS -q main", "#PBS -A we", "#PBS -l select=1:ncpus=4:mem=16GiB:ngpus=2", "#PBS -l walltime=02:30:00"],
        ),
        ("lsf", ["#BSUB -q main", '#BSUB -P "we"', "#BSUB -n 4", "#BSUB -W 02:30", '#BSUB -gpu "num=2"']),
    ],
)
def test_the_script_of_a_job_asks_for_what_its_stage_needs(system: str, lines: list[str], tmp_path: Path) -> None:
    stages = {"train": {"cores": 4, "gpus": 2, "hours": 2.5}}
    cluster = Cluster(
        system=system, queue="main", account="we", host="127.0.0.1", prologue=("module load x",), stages=stages
    )
    with job_cluster(cluster, cluster.resources("train@a", 1), "train@a", tmp_path, tmp_path / "ended") as job:
        script = job.job_script().splitlines()
    assert set(lines) <= set(script)
    assert script.index("module load x") < next(n for n, line in enumerate(script) if "dask_worker" in line)
    assert "--tls-key" in script[-1] or any("--tls-key" in line for line in script)


def test_a_machine_without_the_folder_or_with_other_versions_does_not_run_the_command(tmp_path: Path) -> None:
    command = Command("first", "touch made", tmp_path, {})
    with pytest.raises(ArtifactError, match="must share the project's folder"):
        execute(command, str(tmp_path / "here"), versions())
    (tmp_path / "here").touch()
    with pytest.raises(ArtifactError, match="use one environment"):
        execute(command, str(tmp_path / "here"), "Python 2.7, distributed 1")
    assert not (tmp_path / "made").exists()
    assert execute(command, str(tmp_path / "here"), versions()) == (0, "") and (tmp_path / "made").exists()


def test_the_directive_for_gpus_may_have_other_braces_and_a_job_has_at_least_a_minute(tmp_path: Path) -> None:
    stages = {"train": {"gpus": 2, "hours": 0.001}}
    cluster = Cluster(system="slurm", host="127.0.0.1", gpu="--gpus={gpus} --comment={x}", stages=stages)
    with job_cluster(cluster, cluster.resources("train@a", 1), "train@a", tmp_path, tmp_path / "ended") as job:
        script = job.job_script().splitlines()
    assert "#SBATCH --gpus=2 --comment={x}" in script and "#SBATCH -t 00:01:00" in script


def test_the_page_of_the_scheduler_of_jobs_is_open_to_this_machine_alone(tmp_path: Path) -> None:
    cluster = Cluster(system="slurm", host="127.0.0.1")
    before = _open_ports()
    with job_cluster(cluster, cluster.resources("a", 1), "a", tmp_path, tmp_path / "ended"):
        opened = _open_ports() - before
    assert opened and {host for host, _ in opened} == {"127.0.0.1"}


def _open_ports() -> set[tuple[str, int]]:
    """The addresses at which this process listens."""
    return {tuple(each.laddr) for each in psutil.Process().net_connections() if each.status == psutil.CONN_LISTEN}


def test_a_command_has_the_python_of_its_job_and_the_programs_of_the_prologue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").touch()
    (tmp_path / "nvcc").write_text("#!/bin/sh\necho loaded\n")
    (tmp_path / "nvcc").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    command = Command("first", "nvcc; python -c 'import sys; print(sys.executable)'", tmp_path, {})
    status, output = execute(command, str(tmp_path / "here"), versions())
    assert status == 0 and output.splitlines()[0] == "loaded"
    assert Path(output.splitlines()[1]).parent == Path(sys.executable).parent


def test_a_seed_that_fails_is_said_while_another_trains(
    tmp_path: Path, dask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cluster = Cluster(system="dask", scheduler=dask)
    texts = ("sleep 60; touch late", "echo no >&2; exit 7")
    started = time.monotonic()
    with pytest.raises(StageCmdFailedError, match="exit 7"):
        _run_all(cluster, Resources(), [Command(f"train-{n}", text, tmp_path, {}) for n, text in enumerate(texts)])
    assert time.monotonic() - started < 30 and not (tmp_path / "late").exists()


def test_the_command_of_a_worker_ends_when_nobody_waits_for_it(
    tmp_path: Path, dask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cluster, texts = (
        Cluster(system="dask", scheduler=dask),
        ("echo $$ > begun; sleep 301; touch late", "sleep 2; exit 7"),
    )
    with pytest.raises(StageCmdFailedError):
        _run_all(cluster, Resources(), [Command(f"a-{n}", text, tmp_path, {}) for n, text in enumerate(texts)])
    begun = int((tmp_path / "begun").read_text())
    _until(lambda: not psutil.pid_exists(begun), 20)
    assert not [each for each in psutil.process_iter() if _line(each) == ["sleep", "301"]]


def _line(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def test_a_command_that_is_killed_at_each_attempt_shows_what_it_said(
    tmp_path: Path, dask: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cluster = Cluster(system="dask", scheduler=dask, attempts=2)
    with pytest.raises(ArtifactError, match=r"ended 2 times before its command did.*see the logs of the workers"):
        _run_all(cluster, Resources(), [Command("first", "echo no memory; kill -9 $$", tmp_path, {})])
    assert capfd.readouterr().out == "no memory\n" * 2


def test_a_scheduler_that_ends_while_its_command_runs_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jobs, "TIMEOUT", 2.0)
    script = (
        "import time\nfrom distributed import LocalCluster\n"
        "cluster = LocalCluster(n_workers=1, processes=False, host='127.0.0.1', dashboard_address='127.0.0.1:0')\n"
        "print(cluster.scheduler_address, flush=True)\ntime.sleep(300)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment) as there:
        assert there.stdout is not None
        cluster = Cluster(system="dask", scheduler=there.stdout.readline().strip())
        with pytest.raises(ConfigError, match="no Dask scheduler answers there"):
            _run_all(cluster, Resources(), [Command("first", f"kill -9 {there.pid}; sleep 1", tmp_path, {})])


def test_two_runs_on_the_cluster_at_once_are_refused(project: Any, local: Any, tmp_path: Path) -> None:
    from espalier.io.locks import exclusive

    project()
    local(system="slurm")
    with (
        exclusive(layout.scratch("locks", "cluster.lock")),
        pytest.raises(ArtifactError, match="repro --cluster runs from this folder"),
    ):
        repro([], jobs=1, cluster=True)


def test_slurm_runs_each_stage_as_a_job_and_the_lock_is_that_of_dvc_repro(
    project: Any,
    local: Any,
    in_slurm: dict[str, str],
    run: Run,
    capfd: pytest.CaptureFixture[str],
) -> None:
    theirs = project("theirs")
    assert run(theirs, "dvc", "repro").status == 0
    ours = project("ours")
    local(system="slurm", host="127.0.0.1")
    repro([], jobs=2, cluster=True)
    said = capfd.readouterr().err
    assert lock_of(ours) == lock_of(theirs) and "job 1\n" in said
    _until(lambda: not _workers())
    # A job ends with its command; it is not waited for in vain, and then cancelled.
    assert "CANCELLED" not in run(ours, "scontrol", "show", "jobs").out


def test_a_job_that_is_killed_is_begun_again(project: Any, local: Any, in_slurm: dict[str, str]) -> None:
    once = "echo begun >> begun; if [ $(wc -l < begun) = 1 ]; then scancel $SLURM_JOB_ID; sleep 60; fi; "
    folder = project(first=once + "echo first > first.txt")
    local(system="slurm", host="127.0.0.1")
    repro(["first"], jobs=1, cluster=True)
    assert (folder / "begun").read_text() == "begun\n" * 2 and (folder / "first.txt").exists()
    _until(lambda: not _workers())


def test_a_job_that_always_ends_before_its_command_is_an_error_that_names_its_log(
    project: Any, local: Any, in_slurm: dict[str, str], fails: Callable[[], str]
) -> None:
    folder = project(first="echo begun >> begun; scancel $SLURM_JOB_ID; sleep 60")
    local(system="slurm", host="127.0.0.1", attempts=2)
    said = fails()
    assert "first: its job ended 2 times before its command did" in said and "jobs/first" in said
    assert (folder / "begun").read_text() == "begun\n" * 2


def test_a_stage_that_no_node_can_hold_is_refused_in_a_line(
    project: Any, local: Any, in_slurm: dict[str, str], fails: Callable[[], str]
) -> None:
    project()
    local(system="slurm", host="127.0.0.1", stages={"first": {"cores": 999}})
    said = fails()
    assert "slurm, first: the job was refused: " in said and "Traceback" not in said


def test_a_job_that_does_not_start_in_time_is_a_line(
    project: Any, local: Any, in_slurm: dict[str, str], fails: Callable[[], str]
) -> None:
    project()
    local(system="slurm", host="127.0.0.1", wait_hours=0.001)
    _node(in_slurm, "drain")
    try:
        said = fails()
    finally:
        _node(in_slurm, "resume")
    assert "slurm, first: no job started in 0.001 hours" in said


def test_jobs_end_with_the_process_that_submitted_them(
    project: Any, local: Any, one_node: dict[str, str], tmp_path: Path
) -> None:
    folder = project(first="echo $$ > begun; sleep 300")
    local(system="slurm", host="127.0.0.1")
    script = tmp_path / "submit.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\n"
        f"sys.path[:0] = {list(PATHS)!r}\n"
        "from pipeline.graph import cluster_settings\n"
        "from pipeline.commands.repro import repro\n"
        "if __name__ == '__main__':\n"
        f"    cluster_settings.LOCAL = Path({str(tmp_path / 'local.yaml')!r})\n"
        "    repro(['first'], 1, cluster=True)\n"
    )
    process = subprocess.Popen([sys.executable, str(script)], cwd=folder, env=one_node, start_new_session=True)
    begun = folder / "begun"
    _until(begun.exists)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _until(lambda: not subprocess.run(["squeue", "-h"], env=one_node, capture_output=True, text=True).stdout.strip())
    _until(lambda: not _workers())


def _workers() -> list[psutil.Process]:
    """The workers of jobs that run on this machine."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            found += [process] * ("SLURM_JOB_ID" in process.environ())
    return found


def _node(environment: dict[str, str], state: str) -> None:
    host = os.uname().nodename.partition(".")[0]
    command = ["scontrol", "update", f"nodename={host}", f"state={state}", "reason=test"]
    subprocess.run(command, env=environment, check=True)


def _until(holds: Callable[[], bool], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)
