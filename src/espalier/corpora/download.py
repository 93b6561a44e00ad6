"""Verified download from a mirror, the web or a git repository. A source is complete and correct, or absent."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from espalier.corpora.catalogue import GitFiles, Source, SourceFile
from espalier.corpora.web import LEAST_RATE, Report, Transfer, TransferError, is_valid, receive
from espalier.io.archives import unpack
from espalier.io.errors import ArtifactError, SourceError
from espalier.io.files import atomic_folder
from espalier.io.hashing import digest, file_sha256, files_sha256
from espalier.io.locks import exclusive

#: Set by git for its hooks; they would make these commands work on another repository.
_INHERITED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
_FILE_MODES = ("100644", "100755")


def export(source: GitFiles, folder: Path, scratch: Path) -> None:
    """Write the files of `source` into `folder` under their paths in the repository, byte for byte as committed.

    Only the one commit is fetched. Blobs are read directly without a checkout, so no filter or conversion of line ends
    applies.

    Args:
        folder: an existing folder.
        scratch: a folder for the repository, created if missing.

    Raises:
        SourceError: git is not installed; the repository, the commit or a path does not exist; a path is not a regular
            file.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    _git(source, scratch, "init", "--quiet", "--bare")
    _git(source, scratch, "fetch", "--quiet", "--depth=1", "--no-tags", source.url, source.commit)
    listing = _git(source, scratch, "ls-tree", "-r", "-z", source.commit, "--", *source.paths).decode()
    blobs: dict[str, str] = {}
    for line in filter(None, listing.split("\0")):
        fields, path = line.split("\t", 1)
        mode, _, blob = fields.split()
        if mode not in _FILE_MODES or ".." in path.split("/"):
            raise _error(source, f"'{path}' is no plain file", "name other paths in the catalogue")
        blobs[path] = blob
    for path in source.paths:
        if not any(name == path or name.startswith(f"{path}/") for name in blobs):
            raise _error(source, f"commit {source.commit} has no '{path}'", "correct the catalogue's paths")
    content = _git(source, scratch, "cat-file", "--batch", stdin="\n".join(blobs.values()))
    start = 0
    for path in blobs:
        header = content.index(b"\n", start)  # "<blob> blob <size>"
        size = int(content[start:header].split()[2])
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content[header + 1 : header + 1 + size])
        start = header + 1 + size + 1


def _git(source: GitFiles, scratch: Path, *command: str, stdin: str = "") -> bytes:
    """The output of a git command on the bare repository `scratch`."""
    environment = {name: value for name, value in os.environ.items() if name not in _INHERITED}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    rate, seconds = map(int, LEAST_RATE)
    limits = ("-c", f"http.lowSpeedLimit={rate}", "-c", f"http.lowSpeedTime={seconds}")
    try:
        done = subprocess.run(
            ["git", *limits, "--git-dir", str(scratch), *command],
            input=stdin.encode(), capture_output=True, check=False, env=environment,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise _error(source, "the command git is not installed", "install git") from error
    if done.returncode == 0:
        return done.stdout
    message = done.stderr.decode(errors="replace")
    if "not our ref" in message or "unadvertised object" in message:
        raise _error(source, f"commit {source.commit} is not in the repository", "name another commit and its digest")
    lines = message.strip().splitlines() or [f"exit status {done.returncode}"]
    reason = next((line for line in lines if line.startswith("fatal: ")), lines[-1]).removeprefix("fatal: ")
    raise _error(source, f"git {command[0]} failed ({reason})", "check the URL and the connection")


def _error(source: GitFiles, problem: str, remedy: str) -> SourceError:
    return SourceError(
        problem,
        where=source.url,
        remedy=f"{remedy}, or put the {source.files:,} files with digest {source.sha256} at "
        f"$ESPALIER_MIRROR/{source.mirror}",
    )


def fetch(
    source: Source,
    folder: Path,
    *,
    mirror: Path | None,
    scratch: Path,
    report: Report | None = None,
    timeout: tuple[float, float] = (20, 60),
    least_rate: tuple[float, float] = LEAST_RATE,
) -> None:
    """Put the files of `source` into `folder`, which is replaced once all of them are there and verified.

    Each file comes from `mirror` if it is there, else from its URLs in order, or from its git repository. The next
    attempt or call resumes a broken download. A folder that already holds the files is left unchanged, except that
    unpacked archives cannot be compared and are fetched again.

    Args:
        source: a catalogue entry.
        folder: the source's folder.
        mirror: a folder with the same bytes under their `mirror` paths; None for no mirror.
        scratch: folder for partial files and the lock, preferably on the same disk as `folder`.
        report: called with (name, bytes received, bytes in total).
        timeout: seconds to wait for a connection, and for the next bytes.
        least_rate: smallest average rate in bytes per second; a slower URL is given up for the next one.

    Raises:
        SourceError: a file cannot be fetched, or the mirror's copy differs. The message names the file, what was
            tried, its hash and size, and where to place it by hand.
        ArtifactError: an archive cannot be unpacked safely; the disk is full; the lock is held for an hour.
    """
    work = scratch / digest(source.git.sha256 if source.git else [file.sha256 for file in source.files])
    report = report or (lambda name, received, total: None)
    with exclusive(work.with_suffix(".lock")):
        if _is_complete(source, folder):
            return
        try:
            work.mkdir(parents=True, exist_ok=True)
            for file in source.files:
                _fetch_file(Transfer(file, work / file.sha256, timeout, least_rate, report), mirror, folder)
        except OSError as error:
            raise ArtifactError(
                f"cannot write: {error.strerror or error}",
                where=work,
                remedy="free space and run again; the download continues",
            ) from error
        with atomic_folder(folder) as part:
            for file in source.files:
                if file.unpack:
                    unpack(work / file.sha256, part, name=file.name.removesuffix(".gz"))
                else:
                    # Copied, not moved: if a later file fails, this one need not be fetched again.
                    _copy(work / file.sha256, part / file.name)
            if source.git:
                _fetch_git(source.git, part, mirror, work / "repository")
                report(source.git.mirror, source.git.bytes, source.git.bytes)
        shutil.rmtree(work, ignore_errors=True)


def _is_complete(source: Source, folder: Path) -> bool:
    """Whether `folder` holds exactly the files of `source`. Always False for archives that are unpacked."""
    if source.git:
        return folder.is_dir() and files_sha256(folder) == source.git.sha256
    if any(file.unpack for file in source.files):
        return False
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return present == {file.name for file in source.files} and all(is_valid(folder / f.name, f) for f in source.files)


def _fetch_file(transfer: Transfer, mirror: Path | None, folder: Path) -> None:
    """Write the verified file at `transfer.path`."""
    if is_valid(transfer.path, transfer.file):
        return
    failures = []
    if mirror is not None:
        copy = mirror / transfer.file.mirror
        if copy.is_file():
            _copy_file(copy, transfer)
            return
        failures.append(f"{copy} is not there")
    for url in transfer.file.urls:
        try:
            receive(url, transfer)
            return
        except TransferError as error:
            failures.append(f"{url}: {error}")
    raise _not_fetched(transfer.file, folder, failures)


def _copy_file(copy: Path, transfer: Transfer) -> None:
    """Copy a file from the mirror. The copy is verified, since the original could change meanwhile."""
    file = transfer.file
    _copy(copy, transfer.part)
    if not is_valid(transfer.part, file):
        actual = f"{transfer.part.stat().st_size:,} bytes with sha256 {file_sha256(transfer.part)}"
        transfer.part.unlink()
        raise SourceError(
            f"is not the published file: it has {actual}",
            where=copy,
            remedy=f"expected {file.bytes:,} bytes with sha256 {file.sha256}; replace it, or delete it to use the web",
        )
    transfer.part.replace(transfer.path)
    transfer.report(file.name, file.bytes, file.bytes)


def _fetch_git(git: GitFiles, folder: Path, mirror: Path | None, scratch: Path) -> None:
    """Write the verified files of a git repository into `folder`: from the mirror if it has them, else from git."""
    copy = mirror / git.mirror if mirror is not None else None
    if copy is not None and copy.is_dir():
        _copy_git(git, copy, folder)
        where, remedy = str(copy), "replace the folder, or delete it to use git"
    else:
        shutil.rmtree(scratch, ignore_errors=True)
        export(git, folder, scratch)
        where, remedy = (
            f"{git.url}, commit {git.commit}",
            "correct the catalogue",
        )
    if (actual := files_sha256(folder)) != git.sha256:
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        raise SourceError(
            f"not the published files: {len(files):,} files, {size:,} bytes, digest {actual}",
            where=where,
            remedy=f"expected {git.files:,} files, {git.bytes:,} bytes, digest {git.sha256}; {remedy}",
        )


def _copy_git(git: GitFiles, copy: Path, folder: Path) -> None:
    for name in git.paths:
        path = copy / name
        if not path.exists():
            raise SourceError(
                "no such file or folder",
                where=path,
                remedy=f"the mirror's {git.mirror} must hold {', '.join(git.paths)}; or delete it to use git",
            )
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file():
                _copy(file, folder / file.relative_to(copy))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _not_fetched(file: SourceFile, folder: Path, failures: list[str]) -> SourceError:
    reasons = "; ".join(failures) or "it has no public URL"
    unpacked = " (its archive is unpacked from there)" if file.unpack else ""
    note = f" ({file.note})" if file.note else ""
    return SourceError(
        f"cannot be fetched: {reasons}",
        where=folder / file.name,
        remedy=f"put the file of {file.bytes:,} bytes with sha256 {file.sha256} at $ESPALIER_MIRROR/{file.mirror}"
        f"{unpacked}{note}, set ESPALIER_MIRROR to that folder and run again",
    )
