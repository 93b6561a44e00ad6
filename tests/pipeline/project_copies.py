"""Copies of a built project that tests change one after the other.

A file system takes up to two seconds for the thousands of files of a copy, and some milliseconds to say which of them a
test has changed.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

#: What changes with every change of a file: its kind, inode, size and times. A folder's is its kind alone.
Stamp = tuple[int, ...]


@dataclass
class Copy:
    """A copy in its own place, and the stamp of each of its files and folders by the path in it, folders first."""

    place: Path
    stamps: dict[str, Stamp]


@dataclass
class Copies:
    """Copies of the project `built`, which have their places in `folder`."""

    built: Path
    folder: Path
    _free: list[Copy] = field(default_factory=list)
    _made: int = 0

    @contextmanager
    def at(self, place: Path) -> Iterator[Path]:
        """A copy to change at `place`, on the file system of `folder`; what was changed is undone at the end."""
        copy = self._free.pop() if self._free else self._new()
        copy.place.rename(place)
        yield place
        if place.is_dir():
            place.rename(copy.place)
            restore(copy, self.built)
            self._free.append(copy)

    def _new(self) -> Copy:
        self._made += 1
        place = self.folder / f"copy{self._made}"
        shutil.copytree(self.built, place, symlinks=True)
        # Else each git command of a test reads all files anew.
        subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=place, check=True)
        return Copy(place, {path: stamp(entry) for path, entry in entries(place)})


def restore(copy: Copy, built: Path) -> None:
    """Undo all changes of a copy."""
    for path, entry in list(entries(copy.place)):
        within_removed = not os.path.lexists(entry.path)
        if not within_removed and copy.stamps.get(path) != stamp(entry):
            remove = shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink
            remove(entry.path)
    for path in copy.stamps:
        target = copy.place / path
        if os.path.lexists(target):
            continue
        source = built / path
        if source.is_dir() and not source.is_symlink():
            target.mkdir()
            shutil.copystat(source, target)
        else:
            shutil.copy2(source, target, follow_symlinks=False)
            copy.stamps[path] = stamp(target)


def entries(folder: Path, above: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Each file and folder, with its path in the folder; a folder comes before what is in it."""
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
