"""Whether a profile is as it was when DVC last found it up to date: told without DVC, whose answer takes seconds.

DVC takes a file for unchanged if its inode, size and time of change are. If these are the same for all that DVC's
answer depends on, the answer is the same. It depends on the dependencies and outputs of all stages, with all that is in
their folders; the objects of the cache; each dvc.yaml with its lock and parameters; DVC's settings; and DVC. If
anything differs, DVC is asked.
"""

import json
import os
import stat
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from espalier.io.hashing import digest
from pipeline import layout

if TYPE_CHECKING:
    from dvc.repo import Repo

#: What DVC and `espalier repro` say then.
UP_TO_DATE: Final = "Data and pipelines are up to date."
#: What the last answer depended on: its `paths`, and their `state` before DVC looked.
KEPT: Final = layout.scratch("repro", "settled.json")


def is_settled() -> bool:
    """Whether DVC last found everything up to date in this folder, and nothing has changed since."""
    try:
        kept = json.loads(KEPT.read_bytes())
        return bool(kept["state"] == _state(kept["paths"]))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def paths_of(repo: "Repo") -> list[str]:
    """The files and folders that DVC's answer for a project depends on."""
    found = {*map(str, repo.config.files.values()), str(Path(repo.root_dir, ".git"))}
    for stage in repo.index.stages:
        found |= {stage.path, str(Path(stage.path).with_suffix(".lock"))}
        found |= {part.fs_path for part in (*stage.deps, *stage.outs)}
        for out in stage.outs:
            tree = out.get_obj() if out.use_cache else None
            if tree is not None:
                hashes = [tree.hash_info, *(each for _, _, each in tree)] if out.is_dir_checksum else [tree.hash_info]
                found |= {out.cache.oid_to_path(each.value) for each in hashes}
    return sorted(found)


def state_of(paths: list[str]) -> str | None:
    """The state of what DVC's answer depends on; None if it has links to folders, into which
    nobody looks here, or something that cannot be read.
    """
    try:
        return _state(paths)
    except (OSError, ValueError):
        return None


def _state(paths: Iterable[str]) -> str:
    dvc = find_spec("dvc")
    settings = {name: value for name, value in os.environ.items() if name.startswith("DVC_")}
    entries = [[path, *_entries(path)] for path in (*paths, str(dvc and dvc.origin), *sorted(_definitions(".")))]
    return digest(str(Path.cwd()), entries, settings)


def _entries(path: str) -> Iterator[list[object]]:
    """What DVC compares of a file, or of a folder and all in it."""
    try:
        own, of_link = Path(path).stat(), Path(path).lstat()
    except FileNotFoundError:
        return
    yield [path, *((each.st_ino, each.st_size, each.st_mtime_ns, each.st_mode) for each in (own, of_link))]
    if stat.S_ISDIR(own.st_mode) and not path.endswith("/.git"):
        if stat.S_ISLNK(of_link.st_mode):
            raise ValueError(path)
        for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
            yield from _entries(entry.path)


def _definitions(folder: str) -> Iterator[str]:
    """The files below a folder, hidden folders apart, that define stages, or say what DVC ignores."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                yield from _definitions(entry.path)
        elif entry.name in ("dvc.yaml", ".dvcignore") or entry.name.endswith(".dvc"):
            yield entry.path
