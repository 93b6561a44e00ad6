"""What a model's folder holds besides the model: how its data were encoded, and the parser and expander it works with.

`system.json`: `settings` of the dataset's encoding; `parser` and `expander`, folders relative to the model's, or null.
`templates.json`, where there is one: the training data's most frequent templates, [{"template": ..., "count": ...}].
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from espalier.io.errors import ArtifactError
from espalier.io.files import read_json, write_json

#: The file that says what a model works with.
SYSTEM = "system.json"


@dataclass(frozen=True)
class Description:
    """What `save_system` wrote.

    Attributes:
        settings: of the encoding, as a dataset's entry in params.yaml gives them.
        parser, expander: folders, or None.
        templates: Penn strings, the most frequent first.
    """

    settings: Mapping[str, Any]
    parser: Path | None = None
    expander: Path | None = None
    templates: tuple[str, ...] = ()


def save_system(
    folder: Path,
    settings: Mapping[str, Any],
    *,
    parser: Path | None = None,
    expander: Path | None = None,
    templates: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Complete a folder that `save_model` wrote, so that `espalier.load` can read it.

    Args:
        settings: of the dataset's encoding.
        parser, expander: folders, as seen from the working directory; they need not exist yet.
        templates: those of the dataset's extras.
    """
    paths = {"parser": parser, "expander": expander}
    relative = {name: None if path is None else Path(os.path.relpath(path, folder)) for name, path in paths.items()}
    named = {name: None if path is None else path.as_posix() for name, path in relative.items()}
    write_json(folder / SYSTEM, {"settings": dict(settings), **named})
    if templates:
        write_json(folder / "templates.json", list(templates))


def read_system(folder: Path) -> Description:
    """Read what `save_system` wrote.

    Raises:
        ArtifactError: `system.json` is missing, or one of the files is not what it should be.
    """
    file = folder / SYSTEM
    value = read_json(file)
    try:
        parser, expander = (_folder(folder, value[name]) for name in ("parser", "expander"))
        settings = dict(value["settings"])
        file = folder / "templates.json"
        templates = tuple(str(row["template"]) for row in read_json(file)) if file.exists() else ()
    except (KeyError, TypeError, ValueError) as error:
        what = f"not what training writes ({error!r})"
        raise ArtifactError(what, where=file, remedy="train the model again") from error
    return Description(settings, parser, expander, templates)


def _folder(beside: Path, name: str | None) -> Path | None:
    return None if name is None else Path(os.path.normpath(beside / name))
