"""Running one stage: exclusively, with unchanged code, and with bytes that do not depend on threads."""

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from espalier.io.errors import ArtifactError, ConfigError, EspalierError, MissingError
from espalier.io.hashing import digest, file_sha256
from espalier.io.locks import exclusive
from pipeline import layout
from pipeline.graph.parent import DVC_STAGE, end_with_dvc
from pipeline.layout import ROOT

#: Data files of the library: tables, and the templates and scripts of pages.
DATA = ("*.yaml", "*.jinja", "*.js")
#: For numpy and torch, which read it when they are imported.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
#: The stages that compute with as many threads as `OMP_NUM_THREADS` says, and record it.
TRAININGS = ("train", "train_parser")
#: The stage that several processes of one launch share.
SHARED = "train"


def run_alone(stage: str, *key: str, seed: int | None = None) -> None:
    """Run a stage in the folder of the present profile.

    Args:
        stage: a module of `pipeline.stages`.
        key: key of its entry, if it has entries.
        seed: the only seed to train.

    Raises:
        EspalierError: another process runs the stage, an input is missing, its code changed, or it failed.
    """
    end_with_dvc()
    require_one_process(stage)
    fix_threads(stage)
    module = importlib.import_module(f"pipeline.stages.{stage}")
    part = {} if seed is None else {"seed": seed}
    with (
        unchanged_code(),
        alone(stage, *key, *map(str, part.values())),
        inputs_named("@".join((stage, *key))),
        _compared(stage, *key, whole=seed is None),
    ):
        module.run(*key, **part)


def fix_threads(stage: str) -> None:
    """Use one thread in stages without training, since sums in another order would give other bytes."""
    if stage not in TRAININGS:
        os.environ.update(ONE_THREAD)


def require_one_process(stage: str) -> None:
    """Refuse several processes of a launch in a stage that they do not share, since all would write one folder.

    Raises:
        ConfigError: the stage trains no model, and a launcher has started several processes.
    """
    if stage != SHARED and (number := os.environ.get("WORLD_SIZE", "1")) != "1":
        raise ConfigError(f"{number} processes share a training alone", where=stage, remedy="run it without a launcher")


@contextmanager
def alone(stage: str, *key: str) -> Iterator[None]:
    """Hold the lock of a stage, or of its entry if it has entries; the first process of a shared training holds it.

    Raises:
        ArtifactError: another process runs the stage.
    """
    if stage == SHARED and os.environ.get("RANK", "0") != "0":
        yield
        return
    lock = layout.scratch("locks", f"{digest(stage, *key)}.lock")
    with exclusive(
        lock,
        timeout=0,
        held=ArtifactError("runs in another process", where=" ".join((stage, *key)), remedy="wait for it, or end it"),
    ):
        yield


@contextmanager
def _compared(stage: str, *key: str, whole: bool = True) -> Iterator[None]:
    """Compare the inputs of a stage before it runs without DVC, and record its outputs after it. DVC itself does both.

    Where there is no dvc.lock, as in a rehearsal and on a machine that only trains, nothing can be compared.

    Args:
        whole: whether the stage writes its outputs, as the training of one seed does not.

    Raises:
        ArtifactError: an input is not what its stage wrote.
        ConfigError: params.yaml is invalid.
    """
    if DVC_STAGE in os.environ or os.environ.get("RANK", "0") != "0" or not layout.LOCK.exists():
        yield
        return
    from pipeline.graph.stage_graph import definitions
    from pipeline.graph.written import record, require_written
    from pipeline.params.read import load_params

    try:
        if definition := definitions().get((stage, "".join(key))):
            require_written([path for _, path in definition.deps])
    except Exception:
        load_params()  # says what is wrong there, if anything is; else the stage alone validates it
        raise
    yield
    if definition and whole:
        record("@".join((stage, *key)), definition.outs)


@contextmanager
def inputs_named(target: str) -> Iterator[None]:
    """Add the command that makes all inputs of the stage to the error for a missing input.

    Raises:
        MissingError: an input is missing.
    """
    try:
        yield
    except MissingError as error:
        from pipeline.params.read import load_params
        from pipeline.records.systems import repro_command

        remedy = f"{repro_command(load_params(), target)} first runs the stages that make it"
        raise MissingError(error.what, where=str(error.where), remedy=remedy) from error


@contextmanager
def unchanged_code() -> Iterator[None]:
    """Fail if a module used by the stage, or a data file beside it, is edited while the stage runs.

    DVC computes hashes at the end of a command, so the lock would otherwise record code that did not make the artifact.

    Raises:
        EspalierError: a file changed; the message names the first one.
    """
    before = {path: file_sha256(path) for path in _code()}
    yield
    files = {file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    used = {Path(file) for file in files if file.startswith(str(ROOT))}  # to parse the paths of libraries takes 40 ms
    folders = {path.parent for path in used}
    for path, sha256 in before.items():
        concerned = path in used or (path.suffix != ".py" and bool(folders & {path.parent, path.parent.parent}))
        if concerned and not (path.exists() and file_sha256(path) == sha256):
            raise EspalierError(
                "this stage's code changed while it ran",
                where=path.relative_to(ROOT),
                remedy="its artifact is not to be trusted: run it again, long runs from a second git worktree",
            )


def _code() -> list[Path]:
    """Our modules, and the data files of the library."""
    library, pipeline = ROOT / "src" / "espalier", ROOT / "pipeline"
    return sorted([*pipeline.rglob("*.py"), *(path for kind in ("*.py", *DATA) for path in library.rglob(kind))])
