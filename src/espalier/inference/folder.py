"""The files of a model's folder besides the model: encoding settings, parser, expander and templates.

`system.json`: `settings` of the dataset's encoding; `parser` and `expander`, folders relative to the model's, or null;
`options` (optional): the model's own defaults of its services' options, {"reply": {"beam": 9}}; `default_for`
(optional): the services and languages for which a released model is the default, ["generate.zh"].
`templates.json` (optional): the most frequent templates of the training data, [{"template": ..., "count": ...}].
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from espalier.io.errors import ArtifactError
from espalier.io.files import read_json, write_json

#: The file that says what a model works with.
SYSTEM = "system.json"


@dataclass(frozen=True)
class Description:
    """The contents of the files written by `save_system`.

    Attributes:
        settings: settings of the encoding, as in a dataset's entry in params.yaml.
        parser, expander: folders, or None.
        templates: Penn strings, the most frequent first.
        options: the model's own defaults, by service.
        default_for: services and languages, "generate.zh", for which commands take the model if none is named.
    """

    settings: Mapping[str, Any]
    parser: Path | None = None
    expander: Path | None = None
    templates: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    default_for: tuple[str, ...] = ()


def save_system(
    folder: Path,
    settings: Mapping[str, Any],
    *,
    parser: Path | None = None,
    expander: Path | None = None,
    templates: Sequence[Mapping[str, Any]] = (),
    options: Mapping[str, Mapping[str, Any]] | None = None,
    default_for: Sequence[str] = (),
) -> None:
    """Add the files that `espalier.load` needs to a folder written by `save_model`.

    Args:
        settings: settings of the dataset's encoding.
        parser, expander: folders, relative to the working directory; they need not exist yet.
        templates: the templates in the dataset's extras.
        options: the model's own defaults, by service.
        default_for: services and languages, "generate.zh", for which it is the default.
    """
    paths = {"parser": parser, "expander": expander}
    relative = {name: None if path is None else Path(os.path.relpath(path, folder)) for name, path in paths.items()}
    named = {name: None if path is None else path.as_posix() for name, path in relative.items()}
    own: dict[str, Any] = {"options": options} if options else {}
    own |= {"default_for": list(default_for)} if default_for else {}
    write_json(folder / SYSTEM, {"settings": dict(settings), **named, **own})
    if templates:
        write_json(folder / "templates.json", list(templates))


def read_system(folder: Path) -> Description:
    """Read the files written by `save_system`.

    Raises:
        ArtifactError: `system.json` is missing, or a file has the wrong content.
    """
    file = folder / SYSTEM
    value = read_json(file)
    try:
        parser, expander = (
            None if name is None else Path(os.path.normpath(folder / name))
            for name in (value["parser"], value["expander"])
        )
        settings = dict(value["settings"])
        options = {service: dict(own) for service, own in value.get("options", {}).items()}
        default_for = tuple(map(str, value.get("default_for", ())))
        file = folder / "templates.json"
        templates = tuple(str(row["template"]) for row in read_json(file)) if file.exists() else ()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"not what training writes ({error!r})"
        raise ArtifactError(what, where=file, remedy="train or export the model again") from error
    return Description(settings, parser, expander, templates, options, default_for)


@contextmanager
def restorable(folder: Path) -> Iterator[None]:
    """Let errors about a damaged model say that git restores it, if git has the folder and finds it changed."""
    try:
        yield
    except ArtifactError as error:
        git = ["git", "-C", str(folder)]
        commands = [*git, "ls-files", "--error-unmatch", "model.json"], [*git, "diff", "--quiet", "--", "."]
        try:
            tracked, clean = (
                not subprocess.run(each, capture_output=True, check=False).returncode for each in commands
            )
            changed = tracked and not clean
        except OSError:  # no git
            changed = False
        if not changed:
            raise
        raise ArtifactError(error.what, where=error.where, remedy=f"git restore {folder}") from error
