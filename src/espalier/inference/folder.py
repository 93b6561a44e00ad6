"""The files of a model's folder besides the model: encoding settings, parser, expander and templates.

`system.json`: `settings` of the dataset's encoding; `parser` and `expander`, folders relative to the model's, or null;
`options` (optional): the model's own defaults of its services' options, {"reply": {"beam": 9}}; `default_for`
(optional): the services and languages for which a released model is the default, ["generate.zh"]; `synthetic`
(optional): true for a model that learned from texts of a grammar; `plugins` (optional): modules that must be imported
before the model is loaded.
`templates.json` (optional): the most frequent templates of the training data, [{"template": ..., "count": ...}].
`posts.json` (optional): posts in words, over which p(reply) is averaged (`--mmi`), [["你", "好"]].
`books.zip` (optional): the rhyme books and the tunes of ci, for a model of Chinese verse (`espalier.verse.ci_books`).
`checksums.json` (exported and released models): `format`, and the SHA-256 of every file but the card,
{"vocabulary.json": ...}.
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
from espalier.io.hashing import file_sha256

#: The file that says what a model works with.
SYSTEM = "system.json"
#: The file with the templates of a model that reads trees.
TEMPLATES = "templates.json"
#: The file with the posts over which p(reply) is averaged.
POSTS = "posts.json"
#: The file with the checksums of an exported or released model, and the version of its folder.
CHECKSUMS, CHECKSUMS_FORMAT = "checksums.json", 1
#: The name that model hubs show a card by.
CARD = "README.md"


@dataclass(frozen=True)
class Description:
    """The contents of the files written by `save_system`.

    Attributes:
        settings: settings of the encoding, as in a dataset's entry in params.yaml.
        parser, expander: folders, or None.
        templates: Penn strings, the most frequent first.
        options: the model's own defaults, by service.
        default_for: services and languages, "generate.zh", for which commands take the model if none is named.
        posts: posts in words, over which the probability of a reply is averaged.
        synthetic: whether the model learned from texts of a grammar.
        plugins: modules that register its parts.
    """

    settings: Mapping[str, Any]
    parser: Path | None = None
    expander: Path | None = None
    templates: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    default_for: tuple[str, ...] = ()
    posts: tuple[tuple[str, ...], ...] = ()
    synthetic: bool = False
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Added:
    """What a profile knows of a model and its folder does not say; what is None stays as it is there.

    Attributes:
        default_for: services and languages, "generate.zh", for which the model is the default.
        options: the model's own defaults of the options of its services.
        posts: posts in words, over which the probability of a reply is averaged.
        synthetic: whether the model learned from texts of a grammar.
        books: the folder of the rhyme books and tunes of ci (`espalier.verse.ci_books`) for a model that may need them.
    """

    default_for: Sequence[str] | None = None
    options: Mapping[str, Mapping[str, Any]] | None = None
    posts: Sequence[Sequence[str]] | None = None
    synthetic: bool | None = None
    books: Path | None = None


def save_system(
    folder: Path,
    settings: Mapping[str, Any],
    *,
    parser: Path | None = None,
    expander: Path | None = None,
    templates: Sequence[Mapping[str, Any]] = (),
    options: Mapping[str, Mapping[str, Any]] | None = None,
    default_for: Sequence[str] = (),
    synthetic: bool = False,
    plugins: Sequence[str] = (),
) -> None:
    """Add the files that `espalier.load` needs to a folder written by `save_model`.

    Args:
        settings: settings of the dataset's encoding.
        parser, expander: folders, relative to the working directory; they need not exist yet.
        templates: the templates in the dataset's extras.
        options: the model's own defaults, by service.
        default_for: services and languages, "generate.zh", for which it is the default.
        synthetic: whether it learned from texts of a grammar.
        plugins: modules that register its parts.
    """
    paths = {"parser": parser, "expander": expander}
    relative = {name: None if path is None else Path(os.path.relpath(path, folder)) for name, path in paths.items()}
    named = {name: None if path is None else path.as_posix() for name, path in relative.items()}
    own: dict[str, Any] = {"options": options} if options else {}
    own |= {"default_for": list(default_for)} if default_for else {}
    own |= {"synthetic": True} if synthetic else {}
    own |= {"plugins": list(plugins)} if plugins else {}
    write_json(folder / SYSTEM, {"settings": dict(settings), **named, **own})
    if templates:
        write_json(folder / TEMPLATES, list(templates))


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
        default_for, plugins = (tuple(map(str, value.get(name, ()))) for name in ("default_for", "plugins"))
        synthetic = value.get("synthetic", False) is True
        file = folder / TEMPLATES
        templates = tuple(str(row["template"]) for row in read_json(file)) if file.exists() else ()
        file = folder / POSTS
        posts = tuple(tuple(map(str, words)) for words in read_json(file)) if file.exists() else ()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"not what training writes ({error!r})"
        raise ArtifactError(what, where=file, remedy="train or export the model again") from error
    return Description(settings, parser, expander, templates, options, default_for, posts, synthetic, plugins)


def write_checksums(folder: Path) -> None:
    """Write the checksums of a folder that is whole. The card has none."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name not in (CARD, CHECKSUMS))
    sums = {file.relative_to(folder).as_posix(): file_sha256(file) for file in files}
    write_json(folder / CHECKSUMS, {"format": CHECKSUMS_FORMAT, "files": sums})


def verify_checksums(folder: Path) -> None:
    """Compare the files of a folder with its checksums, if it has any.

    Raises:
        ArtifactError: a file is missing or damaged, or the folder is of another version.
    """
    file = folder / CHECKSUMS
    if not file.is_file():
        return
    value = read_json(file, dict[str, Any])
    if value.get("format") != CHECKSUMS_FORMAT or not isinstance(value.get("files"), dict):
        what = f"a model of version {value.get('format')}; this Espalier reads version {CHECKSUMS_FORMAT}"
        raise ArtifactError(what, where=file, remedy="install the Espalier that it was released with")
    for name, expected in value["files"].items():
        path = folder / name
        if not path.is_file() or file_sha256(path) != expected:
            what, remedy = "no such file", "export or download the model again"
            if path.is_file():  # which somebody may have meant to edit
                what, remedy = "not the file that was exported: damaged or edited", f"{remedy}, or delete {CHECKSUMS}"
            raise ArtifactError(what, where=path, remedy=remedy)


@contextmanager
def restorable(folder: Path) -> Iterator[None]:
    """Let errors about a damaged model say what mends it.

    Git does if it has the folder and finds it changed. A folder with the names of the Hub is no training's.
    """
    try:
        yield
    except ArtifactError as error:
        git = ["git", "-C", str(folder)]
        commands = [*git, "ls-files", "--error-unmatch", SYSTEM], [*git, "diff", "--quiet", "--", "."]
        try:
            tracked, clean = (
                not subprocess.run(each, capture_output=True, check=False).returncode for each in commands
            )
            changed = tracked and not clean
        except OSError:  # no git
            changed = False
        if changed:
            remedy = f"git restore {folder}"
        elif (folder / "config.json").is_file() and (error.remedy or "").startswith(("train ", "delete it and run")):
            remedy = "download or export the model again"
        else:
            raise
        raise ArtifactError(error.what, where=error.where, remedy=remedy) from error
