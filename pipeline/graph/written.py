"""Whether files are those that their stages have written: by dvc.lock, or by the record of a stage run without DVC.

DVC compares hashes before it runs a stage. Without it nobody would see a changed digit of a JSON file, or that a killed
stage has replaced only some of its outputs.
"""

from collections.abc import Collection, Iterator, Mapping
from configparser import ConfigParser, Error
from pathlib import Path
from typing import Final, TypeAlias

from espalier.io.errors import ArtifactError
from espalier.io.files import read_json, write_json
from espalier.io.yaml_files import load_yaml
from pipeline import layout
from pipeline.graph.lock_file import Out, file_md5, in_cache, listing_md5, listing_of, read_lock

#: The MD5 of a file; of a folder that of each of its files, by name, or that of its listing, which ends in `_DIR`.
Hash: TypeAlias = str | Mapping[str, str]
_DIR: Final = ".dir"
#: What DVC does not list (.dvcignore).
_IGNORED: Final = (".gitkeep", ".part")


def record(stage: str, outs: Collection[Path], folder: Path = Path()) -> None:
    """Write the hashes of the outputs that a stage has written without DVC.

    Args:
        stage: its name in dvc.yaml, such as "score@songnet_free".
        folder: folder of the profile.
    """
    hashes = {out.as_posix(): _hash(folder / out) for out in outs if (folder / out).exists()}
    write_json(_records(folder) / f"{stage}.json", hashes)


def require_written(paths: Collection[Path], folder: Path = Path()) -> None:
    """Compare files with the hashes in dvc.lock, or with those in the record of their stage.

    All outputs of a stage must be those of one run: of that which DVC knows, or of the last one without DVC. What
    neither names, and what does not exist, is not compared.

    Args:
        paths: files and folders that will be read, relative to the folder of the profile.
        folder: folder of the profile.

    Raises:
        ArtifactError: one was changed after its stage ended, or its stage was killed while it replaced its outputs.
    """
    read = {path.as_posix() for path in paths}
    locked = _locked(folder)
    made = {file.stem: read_json(file, dict[str, str | dict[str, str]]) for file in _records(folder).glob("*.json")}
    # The last entry counts: dvc.lock keeps those of stages that are no more.
    makers = {out: stage for known in (locked, made) for stage, outs in known.items() for out in outs}
    wanted = [out for out in makers if any(_touch(out, name) for name in read) and (folder / out).exists()]
    for stage in dict.fromkeys(makers[out] for out in wanted):
        runs = [run for run in (locked.get(stage), made.get(stage)) if run]
        present = sorted(out for out in wanted if makers[out] == stage)
        changes = [[name for out in present for name in _changes(folder, out, run.get(out), read)] for run in runs]
        if all(changes):
            raise _changed(min(reversed(changes), key=len)[0], stage, folder)


def _locked(folder: Path) -> dict[str, dict[str, Hash]]:
    try:
        lock = read_lock(folder / layout.LOCK)
    except FileNotFoundError:
        return {}
    cache = _cache(folder)
    return {stage: {out.path: _expected(out, cache) for out in outs} for stage, outs in lock.items()}


def _expected(out: Out, cache: Path) -> Hash:
    """The hash of an output; of a folder those of its files, if DVC's cache has its listing."""
    place = in_cache(cache, out.md5)
    if out.md5.endswith(_DIR) and place.is_file() and file_md5(place) == out.md5.removesuffix(_DIR):
        return listing_of(place) or out.md5
    return out.md5


def _cache(folder: Path) -> Path:
    """DVC's cache of a profile, by the settings of the clone."""
    settings = ConfigParser(interpolation=None, strict=False)
    place = folder / ".dvc"
    for name in ("config", "config.local"):
        try:
            settings.read(place / name, encoding="utf-8")
        except (Error, UnicodeDecodeError):  # DVC says what is wrong there
            continue
    return place / settings.get("cache", "dir", fallback="cache") / "files/md5"


def _records(folder: Path) -> Path:
    return folder / layout.scratch("written")


def _touch(one: str, other: str) -> bool:
    """Whether two paths are equal, or one is below the other."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _hash(path: Path) -> Hash:
    return _files(path) if path.is_dir() else file_md5(path)


def _files(folder: Path) -> dict[str, str]:
    """The hash of each file in a folder that DVC lists."""
    return {name: file_md5(folder / name) for name in _listed(folder)}


def _listed(folder: Path) -> list[str]:
    """The names of the files in a folder that DVC lists, in its order."""
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in files if not any(part.endswith(_IGNORED) for part in name.split("/")))


def _changes(folder: Path, out: str, expected: Hash | None, read: Collection[str]) -> Iterator[str]:
    """The files of an output that are read and differ from what is expected; the output itself if that is unknown."""
    place = folder / out
    try:
        if isinstance(expected, Mapping):
            for name in sorted({*expected, *_listed(place)}):
                path = f"{out}/{name}"
                if any(_touch(path, wanted) for wanted in read) and not (
                    (folder / path).exists() and file_md5(folder / path) == expected.get(name)
                ):
                    yield path
        elif (listing_md5(_files(place)) + _DIR if place.is_dir() else file_md5(place)) != expected:
            yield out
    except OSError:
        yield out


def _changed(path: str, stage: str, folder: Path) -> ArtifactError:
    profile = load_yaml(folder / layout.PARAMS).get("profile", "nursery")
    root, there = ("", "") if profile == "nursery" else (f"profiles/{profile}/", f"--cd profiles/{profile} ")
    # Git has the metrics, and DVC's cache the rest.
    restore = f"git restore {root}{path}" if path.startswith("metrics/") else f"dvc {there}checkout {path}"
    return ArtifactError(
        f"not what {stage} wrote: changed since, or half replaced by a run that was killed",
        where=folder / path,
        remedy=f"{restore}, or dvc {there}repro {stage}",
    )
