"""A Slurm of one node: this machine, with processes of its own, on loopback addresses alone.

python tests/pipeline/one_node_slurm.py COMMAND ... runs a command with it. Debian's packages are slurmctld, slurmd and
slurm-client.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

#: Without these there is no Slurm.
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "scancel", "sinfo")
#: Seconds that the node has to become idle.
START = 30


def missing() -> list[str]:
    """The programs that are not installed."""
    return [name for name in PROGRAMS if found(name) is None]


def found(name: str) -> str | None:
    """The path of a program. Daemons are in folders that only root's PATH has."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))


@contextmanager
def slurm(folder: Path, cores: int = 2) -> Iterator[dict[str, str]]:
    """A running Slurm. Yields the environment in which its commands find it.

    Args:
        folder: an empty folder for its state and logs, with a short path.
        cores: how many cores the node says that it has; jobs share those that there are.
    """
    (folder / "state").mkdir(parents=True)
    (folder / "spool").mkdir()
    (folder / "cgroup.conf").touch()
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = one.getsockname()[1], two.getsockname()[1]
    host, user = socket.gethostname().partition(".")[0], getpass.getuser()
    memory = psutil.virtual_memory().total // 2**20
    (folder / "slurm.conf").write_text(
        f"""\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
OverTimeLimit=0
EnforcePartLimits=ALL
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
    )
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    daemons = [
        subprocess.Popen(
            [str(found(name)), "-D"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for name in ("slurmctld", "slurmd")
    ]  # fmt: skip
    try:
        for _ in range(5 * START):
            state = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True)
            if state.stdout.strip() == "idle":
                break
            time.sleep(0.2)
        else:
            raise TimeoutError(f"the node is not idle: {state.stdout}{state.stderr}; see {folder}")
        yield environment
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            daemon.wait(timeout=30)


if __name__ == "__main__":
    if without := missing():
        sys.exit(f"not installed: {', '.join(without)}; Debian: apt install slurmctld slurmd slurm-client")
    with tempfile.TemporaryDirectory() as place, slurm(Path(place) / "slurm") as variables:
        sys.exit(subprocess.run(sys.argv[1:], env=variables).returncode)
