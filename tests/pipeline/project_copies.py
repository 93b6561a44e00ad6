"""Copies of a built project that tests change one after the other.

A file system takes up to two seconds for the thousands of files of a copy, and some milliseconds to say which of them a
test has changed.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

#: What a change of a file changes: its mode, inode, size and times. Of a folder its mode alone.
Stamp = tuple[int, ...]
INDEX = ".git/index"


@dataclass
class Copy:
    """A copy in its own place.

    Attributes:
        stamps: of each file and folder, by its path in the copy; a folder comes before what is in it.
        index: git's index with the stamps of this copy's files. With those of other files each command of git would
            read all files anew.
    """

    place: Path
    stamps: dict[str, Stamp]
    index: bytes


@dataclass
class Copies:
    """Copies of the project `built`, which have their places in `folder`."""

    built: Path
    folder: Path
    _free: list[Copy] = field(default_factory=list)
    _made: int = 0

    @contextmanager
    def at(self, place: Path, failed: Callable[[], bool] = lambda: False) -> Iterator[Path]:
        """A copy to change at `place`, on the file system of `folder`; what was changed is undone at the end.

        Args:
            failed: whether the test has failed; then its copy stays where it is, to be looked at.
        """
        copy = self._free.pop() if self._free else self._new()
        copy.place.rename(place)
        yield place
        if place.is_dir() and not failed():  # else the next test gets a new copy
            place.rename(copy.place)
            self._restore(copy)
            self._free.append(copy)

    def _new(self) -> Copy:
        self._made += 1
        place = self.folder / f"copy{self._made}"
        shutil.copytree(self.built, place, symlinks=True)
        git(place, "update-index", "-q", "--refresh")
        return Copy(place, {path: stamp(entry) for path, entry in entries(place)}, (place / INDEX).read_bytes())

    def _restore(self, copy: Copy) -> None:
        """Undo all changes of a copy."""
        shutil.copymode(self.built, copy.place)
        found = list[tuple[str, os.DirEntry[str]]]()
        for path, entry in entries(copy.place):
            found.append((path, entry))
            if entry.is_dir(follow_symlinks=False):  # it must be readable for what is in it to be listed and removed
                [before, *_] = copy.stamps.get(path, (0,))
                Path(entry.path).chmod(stat.S_IMODE(before) if stat.S_ISDIR(before) else 0o700)
        for path, entry in found:
            if os.path.lexists(entry.path) and copy.stamps.get(path) != stamp(entry):  # else its folder was removed
                remove = shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink
                remove(entry.path)
        for path in copy.stamps:
            source, target = self.built / path, copy.place / path
            if os.path.lexists(target):
                continue
            if source.is_dir() and not source.is_symlink():
                target.mkdir()
                shutil.copymode(source, target)
                continue
            if path == INDEX:
                target.write_bytes(copy.index)
            else:
                shutil.copy2(source, target, follow_symlinks=False)
            copy.stamps[path] = stamp(target)


def git(folder: Path, *words: str) -> bytes:
    """The output of a command of git in a folder."""
    return subprocess.check_output(["git", *words], cwd=folder, env=environment_without_git())


def environment_without_git() -> dict[str, str]:
    """The environment without what a hook of git sets, by which git would work in the repository of the hook."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def entries(folder: Path, above: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Each file and folder, with its path in the folder. A folder is read after it was given."""
    with os.scandir(folder) as found:
        for entry in found:
            path = f"{above}{entry.name}"
            yield path, entry
            if entry.is_dir(follow_symlinks=False):
                yield from entries(Path(entry.path), f"{path}/")


def stamp(file: os.DirEntry[str] | Path) -> Stamp:
    """The stamp of a file, or of a folder."""
    found = os.lstat(file)
    if stat.S_ISDIR(found.st_mode):
        return (found.st_mode,)
    return found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
