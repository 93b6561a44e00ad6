"""Data files of installed packages, compared with the hashes that their installer recorded."""

import base64
import hashlib
from collections.abc import Collection
from importlib.metadata import files
from pathlib import Path

from espalier.io.errors import ArtifactError


def verify_installed(package: str, names: Collection[str] = ()) -> None:
    """Compare files of an installed package with the hashes in its `RECORD`.

    What has no hash there is not compared: packages of other installers than pip's may have none.

    Args:
        package: name of the distribution.
        names: paths of files as `RECORD` has them; none for all.

    Raises:
        ArtifactError: a file is missing or was changed.
        PackageNotFoundError: the package is not installed.
    """
    for file in files(package) or ():
        if file.hash is None or file.hash.mode != "sha256" or (names and file.as_posix() not in names):
            continue
        path = Path(str(file.locate()))
        try:
            with path.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").digest()
        except OSError as error:
            found, why = b"", error.strerror or str(error)
        else:
            why = "not the file that was installed"
        if base64.urlsafe_b64encode(found).rstrip(b"=").decode() != file.hash.value:
            remedy = f"python -m pip install --force-reinstall --no-deps {package}"
            raise ArtifactError(f"{why}, of the package {package}", where=path, remedy=remedy)
