"""Data files of installed packages, compared with the hashes that their installer recorded."""

import base64
import hashlib
from collections.abc import Collection
from csv import reader
from importlib.metadata import distribution
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
    installed = distribution(package)
    # Not `files`, which leaves out those that are gone, in Python 3.12 and wherever importlib_metadata is imported.
    for name, recorded, *_ in reader((installed.read_text("RECORD") or "").splitlines()):
        mode, _, value = recorded.partition("=")
        if mode != "sha256" or (names and name not in names):
            continue
        path = Path(str(installed.locate_file(name)))
        try:
            with path.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").digest()
        except OSError as error:
            found, why = b"", error.strerror or str(error)
        else:
            why = "not the file that was installed"
        if base64.urlsafe_b64encode(found).rstrip(b"=").decode() != value:
            remedy = f"python -m pip install --force-reinstall --no-deps {package}"
            raise ArtifactError(f"{why}, of the package {package}", where=path, remedy=remedy)
