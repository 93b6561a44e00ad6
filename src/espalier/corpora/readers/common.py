"""What the readers share: finding and opening raw files, and putting a row aside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from espalier.corpora.records import Quarantined
from espalier.io.errors import ArtifactError, ConfigError, DataError


def sole(folders: Mapping[str, Path], reader: str) -> tuple[str, Path]:
    """The one source of a reader that reads one.

    Raises:
        ConfigError: there are none or several.
    """
    if len(folders) != 1:
        raise ConfigError(f"{len(folders)} sources", where=f"reader {reader}", remedy="it reads exactly one")
    return next(iter(folders.items()))


def text_of(file: Path) -> str:
    """A raw file as UTF-8, line ends as line feeds, a byte order mark dropped.

    Raises:
        ArtifactError: it is not there.
        DataError: it is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ArtifactError("no such file", where=file, remedy="run the download stage of its source") from error
    except UnicodeDecodeError as error:
        row = file.read_bytes()[: error.start].count(b"\n") + 1
        raise DataError(f"not UTF-8 ({error.reason})", file=file, row=row) from error


def json_of(file: Path) -> Any:
    """A raw file as JSON.

    Raises:
        DataError: it is not JSON.
    """
    try:
        return json.loads(text_of(file))
    except json.JSONDecodeError as error:
        raise DataError(f"not valid JSON ({error.msg})", file=file, row=error.lineno) from error


def aside(id: str, reason: str, text: str) -> Quarantined:
    """A raw row put aside by its reader."""
    return Quarantined(id=id, stage="read", reason=reason, text=text)
