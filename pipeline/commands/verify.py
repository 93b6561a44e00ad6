"""The command `verify`: check the workspace and DVC's cache against the hashes in dvc.lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from dvc.exceptions import DvcException

from espalier.cli.progress import followed, say
from espalier.io.errors import ArtifactError
from pipeline import layout
from pipeline.graph.dvc_files import dvc_project
from pipeline.graph.lock_file import Out, file_md5, in_cache, listing_md5, listing_of, read_lock

#: Function from a folder and the names of its folders and files to those that .dvcignore does not exclude.
Ignore = Callable[[str, list[str], list[str]], tuple[list[str], list[str]]]


def verify() -> None:
    """Hash every output in the present profile's dvc.lock again, and print one line per difference.

    Raises:
        ArtifactError: there is no lock, or a hash differs. Missing outputs are counted, but are not errors.
    """
    outs = _outputs(layout.LOCK)
    cache, ignore = _dvc()
    faults: dict[Path, str] = {}
    absent = 0
    for out in followed(outs, "verify"):
        found = dict(_compared(out, cache, ignore))
        absent += not found
        faults |= found
    wrong = {path: fault for path, fault in faults.items() if fault}
    say(f"{len(faults) - len(wrong):,} files as locked, {len(wrong)} corrupt, {absent} outputs not here")
    say(*(f"{path}: {fault}" for path, fault in wrong.items()))
    if wrong:
        path, fault = next(iter(wrong.items()))
        raise ArtifactError(
            f"{fault}, the first of {len(wrong)}" if len(wrong) > 1 else fault,
            where=path,
            remedy="delete it and its copy in the cache, then dvc repro (or dvc pull)",
        )


def _outputs(lock: Path) -> list[Out]:
    try:
        return [out for outs in read_lock(lock).values() for out in outs]
    except FileNotFoundError as error:
        raise ArtifactError("no such file", where=lock.resolve(), remedy="dvc repro makes it") from error


def _dvc() -> tuple[Path, Ignore]:
    """The folder of the cache, and DVC's patterns of ignored files."""
    try:
        repo: Any = dvc_project()
    except DvcException as error:
        raise ArtifactError(str(error), where="dvc") from error
    return Path(repo.cache.local.path), repo.dvcignore


def _compared(out: Out, cache: Path, ignore: Ignore) -> Iterator[tuple[Path, str]]:
    """Every file of an output in the cache and the workspace, and its fault; "" for none."""
    path, md5, is_folder = Path(out.path), out.md5.removesuffix(".dir"), out.md5.endswith(".dir")
    listing = None
    try:
        copy = in_cache(cache, out.md5)
        if copy.exists():
            fault = _fault(copy, md5)
            if is_folder and not fault:
                listing = listing_of(copy)
                fault = "" if listing is not None else "corrupt: no listing of a folder"
            yield copy, fault
        for stored in (listing or {}).values():
            if (copy := in_cache(cache, stored)).exists():
                yield copy, _fault(copy, stored)
        if not path.exists():
            return
        if path.is_dir() != is_folder:
            yield (
                path,
                f"corrupt: a {'file' if is_folder else 'folder'} in place of a {'folder' if is_folder else 'file'}",
            )
        elif is_folder:
            yield from _in_folder(path, md5, listing, _files(path, ignore))
        else:
            yield path, _fault(path, md5)
    except OSError as error:
        yield Path(error.filename or path), _unreadable(error)


def _in_folder(folder: Path, md5: str, listing: dict[str, str] | None, files: set[str]) -> Iterator[tuple[Path, str]]:
    """Like `_compared`, for a folder of the workspace. Without its listing, only the hash of the folder is compared."""
    if listing is not None:
        for name in sorted(listing.keys() | files):
            if name not in files:
                yield folder / name, "missing"
            else:
                yield folder / name, _fault(folder / name, listing[name]) if name in listing else "not of this output"
        return
    hashes = {}
    for name in sorted(files):
        try:
            hashes[name] = file_md5(folder / name)
        except OSError as error:
            yield folder / name, _unreadable(error)
    if listing_md5(hashes) == md5:
        yield from ((folder / name, "") for name in hashes)
    else:
        yield folder, "corrupt, as a whole: the cache has no listing that says in which file"


def _files(folder: Path, ignore: Ignore) -> set[str]:
    """The names of the files in a folder that DVC tracks."""
    files = set[str]()
    top = Path.cwd() / folder
    for root, folders, names in os.walk(top, onerror=_raise):
        folders[:], names = ignore(root, folders, names)
        files |= {(Path(root) / name).relative_to(top).as_posix() for name in names}
    return files


def _raise(error: OSError) -> NoReturn:
    raise error


def _fault(path: Path, md5: str) -> str:
    try:
        return "" if file_md5(path) == md5 else "corrupt"
    except OSError as error:
        return _unreadable(error)


def _unreadable(error: OSError) -> str:
    return f"cannot be read ({error.strerror or error})"
