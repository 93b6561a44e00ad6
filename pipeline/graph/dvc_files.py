"""Opens the DVC project of the present folder, and improves how DVC reads and writes its files.

DVC reads params.yaml for each stage, walks over all of it for each key, and reads and writes all of dvc.lock for each.
With 80 stages this takes half a minute of processor time, with 750 much more. Values read and bytes written do not
change.

DVC writes in place which files its processes use. Interrupted, it leaves half a file, which no later run can read.
"""

import json
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, Final

import psutil
from dvc import dvcfile, rwlock
from dvc.dependency import param
from dvc.env import DVC_ROOT
from dvc.repo import Repo, lock_repo
from dvc.scm import SCMError
from dvc.utils import serialize, strictyaml

from espalier.cli.progress import say
from espalier.io.errors import ArtifactError
from espalier.io.files import atomic_file
from pipeline.graph.lock_file import ENTRY, LOCK
from pipeline.graph.parent import runs

#: The library by which DVC finds values.
_DPATH: Final = param.dpath
#: What `dpath` reads as a pattern, or as the place in a list or a number among the keys.
_SPECIAL: Final = re.compile(r"[*?\[\]]|^-?\d+$")
#: The entries of dvc.lock that this process has read, each by its text.
_ENTRIES: Final[dict[str, Any]] = {}


def dvc_project(*, wait_for_lock: bool = False) -> Repo:
    """The DVC project of the present folder.

    Args:
        wait_for_lock: whether to wait until another process of DVC releases its lock, instead of failing.

    Raises:
        ArtifactError: the folder is not in a git repository, which DVC needs.
        DvcException: DVC cannot read the project.
    """
    try:
        return Repo(_wait_for_lock=wait_for_lock)
    except SCMError as error:
        raise ArtifactError(
            "not in a git repository, which DVC needs",
            where=Path.cwd(),
            remedy="clone the project, or run in its root: git init && git add . && git commit -m start",
        ) from error


@contextmanager
def parsed_once() -> Iterator[None]:
    """In this context, DVC parses a YAML file of parameters only once, and again only if it has changed.

    It finds a value by the names on its path, not by comparing the paths of all values: with 7,000 lines 10 ms a key.
    """
    known: dict[Path, tuple[tuple[int, int], Any]] = {}

    def load(path: str, fs: Any = None, **options: Any) -> Any:
        if getattr(fs, "protocol", "") != "local" or options:
            return serialize.load_yaml(path, fs=fs, **options)
        file = Path(path).resolve()  # DVC names it in several ways
        stat = file.stat()
        state = stat.st_mtime_ns, stat.st_size
        if file not in known or known[file][0] != state:
            known[file] = state, serialize.load_yaml(path, fs=fs)
        return known[file][1]

    serialize.LOADERS[".yaml"] = load
    param.dpath = SimpleNamespace(get=dpath_get, search=_DPATH.search)
    try:
        yield
    finally:
        param.dpath = _DPATH
        del serialize.LOADERS[".yaml"]  # which has a default


def dpath_get(config: Any, key: str, separator: str = ".") -> Any:
    """The value at a key: what `dpath.get` finds, which also knows patterns and places of lists."""
    value = config
    for name in key.split(separator):
        if not isinstance(value, dict) or name not in value or _SPECIAL.search(name):
            return _DPATH.get(config, key, separator=separator)
        value = value[name]
    return value


@contextmanager
def written_by_entry() -> Iterator[None]:
    """In this context, DVC reads and writes only changed entries of dvc.lock, with the same bytes as DVC itself."""
    whole, parse = dvcfile.modify_yaml, strictyaml.parse_yaml

    @contextmanager
    def modify(path: str, fs: Any = None) -> Iterator[dict[str, Any]]:
        text = Path(path).read_text(encoding="utf-8") if Path(path).exists() else ""
        if not (dvcfile.is_lock_file(path) and LOCK.fullmatch(text)):
            with whole(path, fs=fs) as data:
                yield data
            return
        data = parsed_by_entry(text, path)
        before = dict(data["stages"])
        yield data
        if changed := {name: entry for name, entry in data["stages"].items() if before.get(name) != entry}:
            with atomic_file(Path(path)) as part:
                part.write_text(with_entries(text, changed), encoding="utf-8")

    dvcfile.modify_yaml, strictyaml.parse_yaml = modify, parsed_by_entry
    try:
        yield
    finally:
        dvcfile.modify_yaml, strictyaml.parse_yaml = whole, parse


def parsed_by_entry(text: str, path: str, typ: str = "safe") -> Any:
    """What DVC's `parse_yaml` gives. Of a dvc.lock as DVC writes it, only entries that this process has not yet read
    are parsed; the values of entries are shared, and DVC replaces them whole.
    """
    found = LOCK.fullmatch(text) if typ == "safe" and dvcfile.is_lock_file(path) else None
    entries = ENTRY.split(found[2])[1:] if found else []
    new = [entry for entry in entries if entry not in _ENTRIES]
    if found and new:
        try:
            parsed = serialize.parse_yaml(found[1] + "".join(new), path)["stages"]
            _ENTRIES.update(zip(new, parsed.items(), strict=True))
        except (serialize.YAMLFileCorruptedError, ValueError):  # an alias of another entry, or a name twice
            found = None
    stages = dict(_ENTRIES[entry] for entry in entries) if found else {}
    if found is None or len(stages) < len(entries):
        return serialize.parse_yaml(text, path, typ)
    return {"schema": "2.0", "stages": stages}


def commit_stages(names: Sequence[str]) -> None:
    """Record in dvc.lock and in the cache that the present files are those of the stages, as `dvc commit -f` does.

    `dvc commit` takes one target, and reads all of dvc.lock and params.yaml again for each: 20 s a stage in a project
    of 750 stages. Here they are read once, and dvc.lock is written once.

    Raises:
        ArtifactError: there is no such stage, or a file that one reads is missing.
        DvcException: DVC cannot read the project.
    """
    logging.getLogger("dvc").setLevel(logging.WARNING)
    with parsed_once(), written_by_entry(), locked_atomically():
        repo = dvc_project(wait_for_lock=True)
        with lock_repo(repo):
            known = {stage.addressing: stage for stage in repo.index.stages}
            if unknown := [name for name in names if name not in known]:
                raise ArtifactError(f"no stage {unknown[0]}", where="dvc.yaml", remedy="dvc stage list names all")
            stages = [known[name] for name in names]
            for stage in stages:
                if lacking := [dep for dep in stage.deps if not dep.exists]:
                    raise ArtifactError("no such file", where=str(lacking[0]), remedy=f"{stage.addressing} reads it")
                stage.save(allow_missing=True)
                stage.commit(allow_missing=True)
            for _, group in groupby(stages, key=lambda stage: stage.dvcfile):
                own = list(group)
                own[0].dvcfile.dump_stages(own, update_pipeline=False)


@contextmanager
def locked_atomically() -> Iterator[None]:
    """In this context, DVC writes the file of the files in use (`rwlock`) whole or not at all.

    A file that cannot be read is ignored and replaced if no command of DVC runs in the project. A process that was
    killed holds nothing any more, even where nobody has read its status yet, as in a container without an init.
    """
    edit, processes = rwlock._edit_rwlock, rwlock.psutil

    def edit_whole(folder: str, fs: Any, hardlink: bool) -> Any:
        @contextmanager
        def opened(path: str, mode: str = "r", **options: Any) -> Iterator[IO[Any]]:
            if mode == "r":
                with fs.open(path, mode, **options) as file:
                    _take_away_unread(Path(path), file.read())
                    file.seek(0)
                    yield file
            else:
                with atomic_file(Path(path)) as part, part.open(mode, **options) as file:
                    yield file

        return edit(folder, SimpleNamespace(join=fs.join, open=opened), hardlink)

    rwlock._edit_rwlock, rwlock.psutil = edit_whole, SimpleNamespace(pid_exists=runs)
    try:
        yield
    finally:
        rwlock._edit_rwlock, rwlock.psutil = edit, processes


def _take_away_unread(path: Path, text: str) -> None:
    """Raise what DVC takes for an empty file of the files in use, if this one has no meaning and nobody holds it.

    Called while DVC holds the lock for editing the file, so that nobody is writing it.

    Raises:
        FileNotFoundError: as if the file were not there.
    """
    try:
        rwlock.SCHEMA(json.loads(text))
    except (ValueError, rwlock.Invalid):
        if not _runs_command(path.parents[2]):
            say(f"{path}: cannot be read, and nobody holds it: DVC starts a new one")
            raise FileNotFoundError(path) from None


def _runs_command(root: Path) -> bool:
    """Whether DVC runs a command of the project, other than this process or one that has started it."""
    own = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid not in own and process.environ().get(DVC_ROOT) == str(root):
                return True
    return False


def with_entries(text: str, changed: Mapping[str, Any]) -> str:
    """The text of a dvc.lock with new entries for some stages; entries of new stages are appended.

    Args:
        text: text written by DVC, of the form `LOCK`.
        changed: {name of a stage: its entry}.
    """
    head, body = LOCK.fullmatch(text).groups()  # type: ignore[union-attr]
    written = [
        serialize.dumps_yaml({"stages": {name: entry}}).removeprefix("stages:\n") for name, entry in changed.items()
    ]
    entries = {entry.partition("\n")[0]: entry for entry in [*ENTRY.split(body), *written]}
    return head + "".join(entries.values())
