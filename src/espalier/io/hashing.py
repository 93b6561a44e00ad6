"""Hashes of files for verification, and of values for names and seeds."""

import hashlib
import json
from pathlib import Path
from typing import Any


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file's bytes, read in blocks."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_sha256(folder: Path) -> str:
    """Hex SHA-256 of all files below a folder: of one line "<sha256>  <relative path>" per file, sorted by path.

    The shell gives the same hash: `find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum`.
    """
    paths = sorted(path.relative_to(folder).as_posix().encode() for path in folder.rglob("*") if path.is_file())
    total = hashlib.sha256()
    for path in paths:
        total.update(file_sha256(folder / path.decode()).encode() + b"  " + path + b"\n")
    return total.hexdigest()


def digest(*values: Any) -> str:
    """32 hex digits that identify JSON-able values. They are the same on every machine."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def seed_from(*values: Any) -> int:
    """A 63-bit seed derived from JSON-able values."""
    return int(digest(*values)[:16], 16) >> 1
