"""The catalogue: published files with their addresses, hashes and licences."""

from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from espalier.io.validation import Strict, repeated


def _inside(path: str) -> str:
    parts = PurePosixPath(path)
    if not path or "\\" in path or parts.is_absolute() or ".." in parts.parts or str(parts) != path:
        raise ValueError("must be a plain relative path with '/', without '.' and '..'")
    return path


def _web(url: str) -> str:
    if not url.startswith(("https://", "http://")):
        raise ValueError("must begin with https:// or http://")
    return url


def _repository(url: str) -> str:
    if not url.startswith(("https://", "http://", "file://")):
        raise ValueError("must begin with https://, http:// or file://")
    return url


Inside = Annotated[str, AfterValidator(_inside)]
Web = Annotated[str, AfterValidator(_web)]
Repository = Annotated[str, AfterValidator(_repository)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class SourceFile(Strict):
    """One published file, identified by its hash wherever it is downloaded from.

    If `urls` is empty, the file comes from a mirror or is placed by hand as `note` describes.
    """

    name: Inside = Field(description="path inside the source's folder; for an archive to unpack, its name in messages")
    urls: tuple[Web, ...] = Field(description="tried in order")
    sha256: Sha256
    bytes: int = Field(ge=0)
    mirror: Inside = Field(description="path inside the folder that ESPALIER_MIRROR names")
    unpack: bool = Field(default=False, description="unpack this zip, tar, tar.gz or gz, and do not keep it")
    note: str | None = None


class GitFiles(Strict):
    """Files of a git repository at one commit, verified by one digest (`espalier.io.hashing.files_sha256`).

    The files keep their paths in the repository.
    """

    url: Repository
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    paths: tuple[Inside, ...] = Field(min_length=1, description="files, and folders with all that is in them")
    sha256: Sha256 = Field(description="digest of the relative paths and the contents of all files")
    files: int = Field(ge=1)
    bytes: int = Field(ge=0)
    mirror: Inside = Field(description="folder of these files inside the folder that ESPALIER_MIRROR names")


class Source(Strict):
    """One published collection: single files, or files of a git repository."""

    title: str
    licence: str
    citation: str
    homepage: Web | None = None
    files: tuple[SourceFile, ...] = ()
    git: GitFiles | None = None

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return self.git.bytes if self.git else sum(file.bytes for file in self.files)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if bool(self.files) == bool(self.git):
            raise ValueError("both files and git" if self.git else "neither files nor git")
        if twice := sorted(repeated(file.name for file in self.files)):
            raise ValueError(f"two files named {', '.join(twice)}")
        return self
