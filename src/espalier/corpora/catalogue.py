"""The catalogue: what was published where, in which bytes, under which licence."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


def _inside(path: str) -> str:
    parts = PurePosixPath(path)
    if not path or "\\" in path or parts.is_absolute() or ".." in parts.parts or str(parts) != path:
        raise ValueError("must be a plain relative path with '/', without '.' and '..'")
    return path


def _web(url: str) -> str:
    if not url.startswith(("https://", "http://")):
        raise ValueError("must begin with https:// or http://")
    return url


Inside = Annotated[str, AfterValidator(_inside)]
Web = Annotated[str, AfterValidator(_web)]


class SourceFile(BaseModel):
    """One published file, known by its hash wherever it comes from.

    `urls` may be empty: then the bytes are to be had from a mirror or by hand alone, and `note` says how.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Inside = Field(description="path inside data/raw/<source>/; of an archive to unpack: what errors call it")
    urls: tuple[Web, ...] = Field(description="tried in order")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)
    mirror: Inside = Field(description="path inside the folder that ESPALIER_MIRROR names")
    unpack: bool = Field(default=False, description="put the members of this zip, tar, tar.gz or gz there, not itself")
    note: str | None = None


class Source(BaseModel):
    """One published collection."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    licence: str
    citation: str
    homepage: Web | None = None
    files: tuple[SourceFile, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _named_once(self) -> Source:
        names = [file.name for file in self.files]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two files named {', '.join(twice)}")
        return self
