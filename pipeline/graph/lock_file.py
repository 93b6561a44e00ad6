"""dvc.lock, read without DVC: the outputs of each stage, with their hashes."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from espalier.corpora.catalogue import Inside
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.validation import validated
from espalier.io.yaml_files import load_yaml

#: A dvc.lock with only stages: its head, and the indented lines below.
LOCK: Final = re.compile(r"(schema: '2\.0'\nstages:\n)((?: {2}.*\n)+)")
#: Where an entry begins: at the name of a stage, perhaps quoted.
ENTRY: Final = re.compile(r"^(?= {2}\S)", re.M)
#: The last part of an entry, as DVC writes it.
_OUTS: Final = "    outs:\n"


class Out(BaseModel):
    """An output of a stage. The hash of a folder is that of its listing, and ends in ".dir".

    Attributes:
        size: in bytes.
    """

    path: Inside
    size: int = 0
    md5: Annotated[str, Field(pattern=r"^[0-9a-f]{32}(\.dir)?$")]


class _Stage(BaseModel):
    outs: tuple[Out, ...] = ()


class _Lock(BaseModel):
    stages: dict[str, _Stage] = {}


class _Listed(BaseModel):
    relpath: str
    md5: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


_LISTING: Final = TypeAdapter(tuple[_Listed, ...])


def read_lock(path: Path) -> dict[str, tuple[Out, ...]]:
    """The outputs of each stage.

    Raises:
        ArtifactError: the file is no dvc.lock.
        FileNotFoundError: it does not exist.
    """
    try:
        return {name: stage.outs for name, stage in validated(_Lock, _tree(path), path.name).stages.items()}
    except ConfigError as error:
        raise ArtifactError(
            f"not a lock file ({error.where}: {error.what})",
            where=path.resolve(),
            remedy="git restore it, or delete it and dvc repro",
        ) from error


def _tree(path: Path) -> object:
    """The file as YAML; if it is as DVC writes it, without dependencies and parameters, which are nine tenths of it."""
    try:
        found = LOCK.fullmatch(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        found = None
    if found is None:
        return load_yaml(path, names=False)
    parts = [entry.partition(_OUTS) for entry in ENTRY.split(found[2])[1:]]
    outs = (head.splitlines(keepends=True)[0] + mark + listed for head, mark, listed in parts if mark)
    try:
        tree: object = yaml.CSafeLoader(found[1] + "".join(outs)).get_single_data()
        return tree
    except yaml.YAMLError:
        return load_yaml(path, names=False)


def listing_of(path: Path) -> dict[str, str] | None:
    """The hash of each file of a folder, by name, from the listing in DVC's cache; None if it is no listing."""
    try:
        return {file.relpath: file.md5 for file in _LISTING.validate_json(path.read_bytes())}
    except ValidationError:
        return None


def listing_md5(hashes: Mapping[str, str]) -> str:
    """The hash of the listing of a folder, without ".dir", from the hash of each of its files, by name."""
    rows = [{"md5": md5, "relpath": name} for name, md5 in sorted(hashes.items())]
    return hashlib.md5(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def in_cache(cache: Path, md5: str) -> Path:
    """The place of a file or listing in DVC's cache, which the folder `cache` is."""
    return cache / md5[:2] / md5[2:]


def file_md5(path: Path) -> str:
    """Hex MD5 of a file.

    Raises:
        OSError: it cannot be read, or is a pipe or a device.
    """
    if path.exists() and not path.is_file():
        raise OSError(None, "not a plain file", str(path))  # reading a pipe would wait for ever
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "md5").hexdigest()
