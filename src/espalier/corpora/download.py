"""Verified download: from a mirror or from the web, whole and right or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import requests

from espalier.corpora.catalogue import Source, SourceFile
from espalier.io.archives import unpack
from espalier.io.errors import ArtifactError, SourceError
from espalier.io.files import atomic_folder
from espalier.io.hashing import digest, file_sha256
from espalier.io.locks import exclusive

Report = Callable[[str, int, int], None]

#: Tries of one URL that bring nothing new, before the next; each goes on where the last one broke off.
TRIES = 3
#: Small, for what of a block has come when the connection breaks is lost.
_BLOCK = 1 << 14


class _TryError(Exception):
    """One try of one URL failed; the text says how, in a few words. Only what `broke` off is worth another try."""

    def __init__(self, how: str, *, broke: bool = False) -> None:
        super().__init__(how)
        self.broke = broke


@dataclass(frozen=True, slots=True)
class _Want:
    """One file on its way: what it should be, where it goes and how patient to be."""

    file: SourceFile
    folder: Path
    place: Path
    timeout: tuple[float, float]
    report: Report

    @property
    def part(self) -> Path:
        return self.place.with_name(self.place.name + ".part")


def fetch(
    source: Source,
    folder: Path,
    *,
    mirror: Path | None,
    scratch: Path,
    report: Report | None = None,
    timeout: tuple[float, float] = (20, 60),
) -> None:
    """Bring every file of `source` into `folder`, which appears when all of them are there and right.

    Each file is taken from `mirror` if it is there, else from its URLs in order. A broken download is gone on with, in
    this run or the next: its beginning waits in `scratch`. A folder that already holds the right files is left alone;
    of an archive that is unpacked nothing stays to compare, so it is fetched again.

    Args:
        source: its catalogue entry.
        folder: data/raw/<source>; replaced whole.
        mirror: a folder of the same bytes under their `mirror` paths; None for the web alone.
        scratch: for partial files and the lock; on the same disk as `folder`, if possible.
        report: called with (file name, bytes here, bytes in all) as they come.
        timeout: seconds to wait for a connection, and for the next bytes of one that stalls.

    Raises:
        SourceError: a file cannot be had, or a mirror's copy is not what it should be. The message says which file,
            from where it was tried, its hash and size, and where to put it by hand.
        ArtifactError: an archive cannot be unpacked safely; the disk is full; the lock is held for an hour.
    """
    work = scratch / digest([file.sha256 for file in source.files])
    with exclusive(work.with_suffix(".lock")):
        if _complete(source, folder):
            return
        try:
            work.mkdir(parents=True, exist_ok=True)
            places = {}
            for file in source.files:
                want = _Want(file, folder, work / file.sha256, timeout, report or (lambda name, done, total: None))
                _obtain(want, mirror)
                places[file.name] = want.place
        except OSError as error:
            raise ArtifactError(
                f"cannot write: {error.strerror or error}", where=work, remedy="make room and run again; it will go on"
            ) from error
        with atomic_folder(folder) as part:
            for file in source.files:
                if file.unpack:
                    unpack(places[file.name], part)
                else:
                    target = part / file.name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    # A copy, not a move: should another file fail now, this one need not be fetched again.
                    shutil.copyfile(places[file.name], target)
        shutil.rmtree(work, ignore_errors=True)


def _complete(source: Source, folder: Path) -> bool:
    """Whether `folder` holds just these files, byte for byte. Never so with archives to unpack."""
    if any(file.unpack for file in source.files):
        return False
    here = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return here == {file.name for file in source.files} and all(_right(folder / f.name, f) for f in source.files)


def _right(path: Path, file: SourceFile) -> bool:
    return path.is_file() and path.stat().st_size == file.bytes and file_sha256(path) == file.sha256


def _obtain(want: _Want, mirror: Path | None) -> None:
    """Leave the file, verified, at `want.place`."""
    if _right(want.place, want.file):
        return
    tried = []
    if mirror is not None:
        copy = mirror / want.file.mirror
        if copy.is_file():
            _from_mirror(copy, want)
            return
        tried.append(f"{copy} is not there")
    for url in want.file.urls:
        try:
            _from_url(url, want)
            return
        except _TryError as failure:
            tried.append(f"{url}: {failure}")
    raise _unobtainable(want, tried)


def _from_mirror(copy: Path, want: _Want) -> None:
    shutil.copyfile(copy, want.part)
    # The copy is what is checked: the original could change meanwhile.
    if not _right(want.part, want.file):
        found = f"{want.part.stat().st_size:,} bytes with sha256 {file_sha256(want.part)}"
        want.part.unlink()
        raise SourceError(
            f"is not the published file: it has {found}",
            where=copy,
            remedy=f"expected {want.file.bytes:,} bytes with sha256 {want.file.sha256}; replace it, or delete it to "
            "use the web",
        )
    want.part.replace(want.place)
    want.report(want.file.name, want.file.bytes, want.file.bytes)


def _from_url(url: str, want: _Want) -> None:
    """Try one URL, going on from the part that is there; bytes that turn out wrong are fetched anew once."""
    idle, anew = 0, 0
    while True:
        before = _size(want.part)
        try:
            _stream(url, want)
        except _TryError as error:
            idle += _size(want.part) <= before
            if idle == TRIES or not error.broke:
                raise
            continue
        if _right(want.part, want.file):
            want.part.replace(want.place)
            return
        failure = _TryError(f"sent {_size(want.part):,} bytes with sha256 {file_sha256(want.part)}")
        want.part.unlink()
        anew += 1
        if anew == 2:
            raise failure


def _stream(url: str, want: _Want) -> None:
    """Append to the part what it still lacks, or begin it again where the server does not know of ranges."""
    have = _size(want.part)
    if have >= want.file.bytes > 0:
        return
    # "identity": a compressed transfer would count, and range over, other bytes than the file's.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with requests.get(url, headers=headers, stream=True, timeout=want.timeout) as reply:
            if reply.status_code == 416:
                want.part.unlink()
            if reply.status_code not in (200, 206):
                raise _TryError(f"HTTP {reply.status_code} {reply.reason or ''}".strip())
            begins = reply.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            if reply.status_code == 206 and not begins:
                want.part.unlink(missing_ok=True)
                raise _TryError("sent another range than asked for", broke=True)
            resumed = reply.status_code == 206
            done = have if resumed else 0
            with want.part.open("ab" if resumed else "wb") as part:
                for block in reply.iter_content(_BLOCK):
                    done += len(block)
                    part.write(block)
                    want.report(want.file.name, done, want.file.bytes)
                    if done > want.file.bytes:
                        return  # too long: the hash check says so and begins anew
    except requests.RequestException as error:
        why = _why(error)
        raise _TryError(why, broke=why in ("broke off", "stalled")) from error
    if done < want.file.bytes:
        raise _TryError(f"ended after {done:,} bytes", broke=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _why(error: requests.RequestException) -> str:
    """A few words for what requests says in four lines."""
    match error:
        case requests.ConnectTimeout():
            return "no answer in time"
        case requests.ReadTimeout():
            return "stalled"
        case requests.exceptions.SSLError():
            return "no secure connection"
        case requests.exceptions.ProxyError():
            return "the proxy refuses"
        case requests.TooManyRedirects():
            return "redirects without end"
        case requests.exceptions.ChunkedEncodingError():
            return "broke off"
        case requests.ConnectionError():
            return "stalled" if "timed out" in str(error) else "no connection"
        case _:
            return type(error).__name__


def _unobtainable(want: _Want, tried: list[str]) -> SourceError:
    file = want.file
    where = "; ".join(tried) or "it has no public URL"
    unpacked = " (its archive is unpacked from there)" if file.unpack else ""
    note = f" ({file.note})" if file.note else ""
    return SourceError(
        f"cannot be had: {where}",
        where=want.folder / file.name,
        remedy=f"put the file of {file.bytes:,} bytes with sha256 {file.sha256} at $ESPALIER_MIRROR/{file.mirror}"
        f"{unpacked}{note}, set ESPALIER_MIRROR to that folder and run again",
    )
