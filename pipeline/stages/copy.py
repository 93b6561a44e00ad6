"""copy: copy a local file, or a folder of files, to the place where readers look for it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from espalier.io.errors import SourceError
from espalier.io.files import atomic_folder
from espalier.io.hashing import file_sha256
from espalier.io.registry import entry
from pipeline import layout
from pipeline.params.read import load_params


def run(key: str) -> None:
    """Copy the file or folder of one local source to `data/raw/<shelf>/<key>/`."""
    source = entry("source", load_params().sources.local, key)
    copy_file(Path(source.file), layout.raw(source.shelf) / key, where=f"sources.local.{key}.file")


def copy_file(file: Path, folder: Path, *, where: str) -> None:
    """Replace `folder` by one with a copy of `file`, or of all that is in it if it is a folder.

    Args:
        where: path of the file's key in params.yaml.

    Raises:
        SourceError: the file does not exist, or changed while it was copied.
        ArtifactError: a file cannot be read, or the copy cannot be written; `folder` is unchanged.
    """
    if file.is_dir():
        with atomic_folder(folder) as part:
            for each in sorted(path for path in file.rglob("*") if path.is_file()):
                target = part / each.relative_to(file)
                target.parent.mkdir(parents=True, exist_ok=True)
                with unchanged_file(each):
                    shutil.copyfile(each, target)
        return
    if not file.is_file():
        remedy = "name a file or a folder, relative to the folder of params.yaml"
        raise SourceError(f"{file}: no such file", where=where, remedy=remedy)
    with atomic_folder(folder) as part, unchanged_file(file):
        shutil.copyfile(file, part / file.name)


@contextmanager
def unchanged_file(file: Path) -> Iterator[None]:
    """Fail if a file changes in this context, since DVC would record another hash than that of the copied bytes.

    Raises:
        SourceError: the file changed; the message has both hashes.
    """
    before = file_sha256(file)
    yield
    after = file_sha256(file) if file.is_file() else "none"
    if after != before:
        raise SourceError(
            f"changed while it was read: sha256 {before} before, {after} after",
            where=file,
            remedy="run again when nothing writes to it",
        )
