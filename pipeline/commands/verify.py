"""verify: whether the bytes in the workspace and in DVC's cache are those that dvc.lock names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import yaml

from espalier.io.errors import ArtifactError
from pipeline.progress import followed, say


def verify() -> None:
    """Hash every output of the present profile's dvc.lock again.

    Raises:
        ArtifactError: naming what is corrupt, and how to make it anew. What is merely absent is counted, not wrong.
    """
    lock = Path("dvc.lock")
    if not lock.exists():
        raise ArtifactError("no such file", where=lock.resolve(), remedy="dvc repro makes it")
    outs = list(_outputs(lock))
    cache = _cache()
    wrong, absent, right = [], 0, 0
    for path, md5 in followed(outs, len(outs), "verify"):
        copies = [*_objects(cache, md5, path), *_files(path, md5, cache)]
        if not copies:
            absent += 1
        for copy, expected in copies:
            if _md5(copy) == expected:
                right += 1
            else:
                wrong.append(copy)
    say(f"{right:,} files as locked, {len(wrong)} corrupt, {absent} outputs not here")
    if wrong:
        raise ArtifactError(
            f"corrupt, as {len(wrong) - 1} others" if len(wrong) > 1 else "corrupt",
            where=wrong[0],
            remedy="delete it and its copy in the cache, then dvc repro (or dvc pull)",
        )


def _outputs(lock: Path) -> Iterator[tuple[Path, str]]:
    try:
        stages = yaml.safe_load(lock.read_text(encoding="utf-8")).get("stages", {})
        for stage in stages.values():
            for out in stage.get("outs", []):
                yield Path(out["path"]), out["md5"]
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise ArtifactError(
            "not a lock file", where=lock.resolve(), remedy="git restore it, or delete it and dvc repro"
        ) from error


def _cache() -> Path:
    from dvc.repo import Repo

    return Path(Repo().cache.local.path)


def _object(cache: Path, md5: str) -> Path:
    return cache / md5[:2] / md5[2:]


def _listing(cache: Path, md5: str) -> list[dict[str, str]]:
    """The files of a cached folder: names and hashes; none where its listing is absent or itself corrupt."""
    path = _object(cache, md5)
    if not path.exists() or f"{_md5(path)}.dir" != md5:
        return []
    files: list[dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return files


def _objects(cache: Path, md5: str, path: Path) -> Iterator[tuple[Path, str]]:
    """What the cache holds of an output, and the hash that each object's name promises."""
    if _object(cache, md5).exists():
        yield _object(cache, md5), md5.removesuffix(".dir")
    for file in _listing(cache, md5) if md5.endswith(".dir") else []:
        if _object(cache, file["md5"]).exists():
            yield _object(cache, file["md5"]), file["md5"]


def _files(path: Path, md5: str, cache: Path) -> Iterator[tuple[Path, str]]:
    """What the workspace holds of it. A folder whose listing is not cached, such as metrics, is hashed as a whole."""
    if path.is_file():
        yield path, md5
    if not path.is_dir():
        return
    listing = _listing(cache, md5)
    if not listing:
        yield path, md5.removesuffix(".dir")
    for file in listing:
        if (path / file["relpath"]).exists():
            yield path / file["relpath"], file["md5"]


def _md5(path: Path) -> str:
    """The hash of a file, or, as DVC forms it, of a folder: that of its listing."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        listing = [{"md5": _md5(file), "relpath": file.relative_to(path).as_posix()} for file in files]
        return hashlib.md5(json.dumps(listing, sort_keys=True).encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "md5").hexdigest()
