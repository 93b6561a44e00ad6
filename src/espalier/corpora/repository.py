"""Files of a git repository at one commit, read with the git command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from espalier.corpora.catalogue import GitFiles
from espalier.corpora.web import LEAST_RATE
from espalier.io.errors import SourceError

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
