"""The cluster of `espalier repro --cluster`, as the untracked local.yaml of the project's root describes it."""

from __future__ import annotations

import math
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from espalier.io.errors import ConfigError, MissingError
from espalier.io.validation import Strict, validated
from espalier.io.yaml_files import load_yaml
from pipeline.layout import ROOT

#: Settings of this machine.
LOCAL: Final = ROOT / "local.yaml"
#: The hours of a job are its stage's expected ones times this, since other machines may be slower.
MARGIN: Final = 3.0

Amount = Annotated[str, Field(pattern=r"^[1-9]\d*(\.\d+)? ?[KMGT]i?B$")]
Positive = Annotated[float, Field(gt=0)]


class Resources(Strict):
    """What the job of a stage asks for.

    Attributes:
        memory: such as "16 GiB".
        hours: the time limit; default: `MARGIN` times the last duration or the rehearsal's, at least one.
        here: whether the stage runs in `espalier repro` itself, as downloads do where jobs have no network.
    """

    cores: Annotated[int, Field(ge=1)] = 1
    memory: Amount = "4 GiB"
    gpus: Annotated[int, Field(ge=0)] = 0
    hours: Positive | None = None
    here: bool = False


#: What stages ask for if local.yaml does not say more.
USUAL: Final[Mapping[str, Mapping[str, Any]]] = {
    "download": {"here": True},
    "copy": {"here": True},
    "train": {"memory": "16 GiB"},
}


class Cluster(Strict):
    """A cluster, whose machines have the project's folder at the same path as this one.

    Attributes:
        system: the system that starts jobs, or "dask" for a Dask scheduler whose workers come and go by themselves.
        scheduler: address of that scheduler, tcp://HOST:PORT.
        host: name or address of this machine as the jobs reach it; default: the one that Dask finds.
        queue: the queue or partition.
        gpu: the directive for GPUs, in which {gpus} is their number; default: the one of the system.
        directives: other directives of each job, without the system's prefix such as #SBATCH.
        prologue: shell commands of a job before its worker starts.
        attempts: how often a command is begun, as its job may be killed or exceed its time.
        wait_hours: how long a job may wait to start before the stage fails.
        stages: what stages ask for, by kind (`train`) or name (`train@songnet`); the name goes first.
    """

    system: Literal["slurm", "pbs", "lsf", "dask"]
    scheduler: str | None = None
    host: str | None = None
    queue: str | None = None
    account: str | None = None
    gpu: str | None = None
    directives: tuple[str, ...] = ()
    prologue: tuple[str, ...] = ()
    attempts: Annotated[int, Field(ge=1)] = 3
    wait_hours: Positive = 72
    stages: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)

    def resources(self, stage: str, seconds: float) -> Resources:
        """What the job of a stage asks for.

        Args:
            seconds: expected duration of the stage.

        Raises:
            ConfigError: local.yaml has an unknown key or a wrong value for the stage.
        """
        kind = stage.partition("@")[0]
        value: dict[str, Any] = {}
        for name, asked in ((kind, USUAL), (kind, self.stages), (stage, self.stages)):
            value |= asked.get(name, {})
        asked_for = validated(Resources, value, f"{LOCAL.name}: cluster.stages.{stage}")
        return asked_for.model_copy(
            update={"hours": asked_for.hours or float(max(1, math.ceil(MARGIN * seconds / 3600)))}
        )


class Local(Strict):
    """The contents of local.yaml."""

    cluster: Cluster


def load_cluster() -> Cluster:
    """Read the cluster's settings in `LOCAL`.

    Raises:
        MissingError: there is no local.yaml.
        ConfigError: it is not YAML, has an unknown key or stage or a wrong value, or its scheduler is missing or not
            used; or scripts of jobs cannot name the present folder.
    """
    if not LOCAL.exists():
        raise MissingError("is missing, so that the cluster is not known", where=LOCAL, remedy="docs/scale.md has one")
    cluster = validated(Local, load_yaml(LOCAL), LOCAL.name).cluster
    if (cluster.system == "dask") != (cluster.scheduler is not None):
        raise ConfigError(
            "is the address of a Dask scheduler: needed with system: dask, and with no other",
            where=f"{LOCAL.name}: cluster.scheduler",
        )
    kinds = load_yaml(Path("dvc.yaml"))["stages"]
    if unknown := next((name for name in cluster.stages if name.partition("@")[0] not in kinds), None):
        raise ConfigError.unknown("stage", unknown, kinds, where=f"{LOCAL.name}: cluster.stages")
    if cluster.host is not None:
        _require_own(cluster.host, f"{LOCAL.name}: cluster.host")
    if cluster.scheduler is None and (odd := re.search(r"[^\w@%+=:,./-]", str(Path.cwd()))):
        what, remedy = f"{odd[0]!r} in the path, which scripts of jobs cannot name", "move the project"
        raise ConfigError(what, where=str(Path.cwd()), remedy=remedy)
    return cluster


def _require_own(host: str, where: str) -> None:
    """Refuse a name or address at which this machine cannot be reached."""
    try:
        family, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as one:
            one.bind(address)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"'{host}' is no address of this machine: {error}", where=where) from error
