"""Models by name: those in `released/` of a clone, and those of the Hugging Face Hub. The help imports this module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from espalier.io.errors import ArtifactError
from espalier.io.imports import of_extra

#: The released models of the clone that this package lies in; an installed package has none.
RELEASED = Path(__file__).resolve().parents[3] / "released"

#: Files of which the folder of a model has those of one row: a trained, a released, one of the Hub.
_MODEL = (("model.json",), ("checksums.json",), ("config.json", "system.json"))
#: The archive of the books of rhymes and of tunes in a model's folder (`espalier.verse.ci_books.pack_books`).
BOOKS = "books.zip"
#: The name of a model on the Hugging Face Hub.
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def is_model(folder: str | Path) -> bool:
    """Whether a folder is that of a model."""
    return any(all(Path(folder, name).is_file() for name in names) for names in _MODEL)


def released() -> Iterator[Path]:
    """The folders of the released models, by name."""
    return filter(is_model, sorted(RELEASED.glob("[!.]*")))  # no release that is being written


def released_names() -> list[str]:
    """The names of the released models."""
    return [folder.name for folder in released()]


def released_for(service: str, language: str, *, trees: bool = False) -> Path | None:
    """The released model that is the default for a service and a language; None if there is none.

    Args:
        trees: whether it must read trees. Else one that reads texts alone comes first.

    Raises:
        ArtifactError: the file of a released model that says so is missing or damaged.
    """
    from espalier.inference.folder import TEMPLATES, read_system, restorable

    def serves(folder: Path) -> bool:
        with restorable(folder):
            return f"{service}.{language}" in read_system(folder).default_for

    found = [folder for folder in released() if serves(folder)]
    guided = [folder for folder in found if (folder / TEMPLATES).is_file()]
    plain = [folder for folder in found if folder not in guided]
    return next(iter(guided if trees else [*plain, *guided]), None)


def released_expander(language: str) -> Path | None:
    """The expander inside the released model that paraphrases along trees in a language; None if there is none.

    Raises:
        ArtifactError: the released model is damaged.
    """
    from espalier.inference.folder import read_system, restorable, verify_checksums

    folder = released_for("paraphrase", language, trees=True)
    if folder is None:
        return None
    with restorable(folder):
        verify_checksums(folder)  # a part has no checksums of its own
        return read_system(folder).expander


def released_books() -> Path | None:
    """The books of rhymes and of tunes inside a released model; None if none has them.

    Raises:
        ArtifactError: the released model is damaged.
    """
    from espalier.inference.folder import restorable, verify_checksums

    folder = next((folder for folder in released() if (folder / BOOKS).is_file()), None)
    if folder is None:
        return None
    with restorable(folder):
        verify_checksums(folder)
    return folder / BOOKS


def is_named(name: str) -> bool:
    """Whether `folder_of` knows what a name means: a model's folder, a released model, or one that the Hub may have.

    A path into a folder that exists is no name of the Hub.
    """
    on_hub = HUB_NAME.fullmatch(name) and not Path(name).parent.is_dir()
    return is_model(name) or name in released_names() or bool(on_hub)


def is_downloaded(name: str | Path, folder: Path) -> bool:
    """Whether `folder_of` found the folder of a name on the Hub."""
    return bool(HUB_NAME.fullmatch(str(name))) and folder != Path(name)


def folder_of(name: str | Path) -> Path:
    """The folder of a model: `name` itself, a released model of this name, or a download of "user/name" from the Hub.

    The Hub's client caches downloads, and its variables (`HF_HOME`, `HF_HUB_OFFLINE`) hold.

    Raises:
        ArtifactError: there is no such model, or the Hub cannot be reached.
        ConfigError: the package `huggingface_hub` is not installed.
    """
    folder = Path(name)
    if folder.exists():
        return folder
    if len(folder.parts) == 1:
        if is_model(RELEASED / name):
            return RELEASED / name
        names = ", ".join(released_names()) or "none"
        remedy = f"give the folder of a model, user/name of the Hugging Face Hub, or a released model: {names}"
        raise ArtifactError("no such model", where=str(name), remedy=remedy)
    if folder.parent.is_dir() or not HUB_NAME.fullmatch(str(name)):
        return folder  # whose reader says what it misses
    with of_extra(None):
        from huggingface_hub import snapshot_download
    try:
        return Path(
            snapshot_download(str(name), allow_patterns=["*.json", "*.safetensors", BOOKS, "parsers/**", "models/**"])
        )
    except (OSError, ValueError) as error:  # the Hub's errors are both
        what = f"neither a folder, nor downloaded from the Hugging Face Hub ({type(error).__name__})"
        remedy = "check the name, the network and HF_TOKEN, or give the folder of a model"
        raise ArtifactError(what, where=str(name), remedy=remedy) from error
