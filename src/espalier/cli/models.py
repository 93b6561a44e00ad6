"""Where the commands find models: in folders; a clone of the project finds them in its profiles too."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from espalier.io.errors import ConfigError

if TYPE_CHECKING:
    from espalier.inference.system import System


class Models:
    """Models by the paths of their folders, which `espalier export` writes."""

    def enter(self, profile: str | None) -> None:
        """Work with the models of a profile.

        Raises:
            ConfigError: there is no such profile.
        """
        if profile is not None:
            raise ConfigError("no profiles here", where="--profile", remedy="run in a clone, or give --model FOLDER")

    def names(self) -> Iterable[str]:
        """What a shell completes after `--model`."""
        return ()

    def books(self) -> Path | None:
        """The folder of the rhyme books of ci; None where it is not here."""
        return None

    def open(
        self,
        method: str,
        language: str,
        *,
        model: str | None = None,
        expander: str | None = None,
        expands: bool = False,
    ) -> System:
        """A system that serves a method in a language, loaded.

        Args:
            model: its name; None means the default for the method and language.
            expander: a model's name; None means the one that belongs to the model.
            expands: whether a model that a tree guides needs an expander.

        Raises:
            ConfigError: there is none, it cannot do that, or one of its parts is missing.
        """
        from espalier.inference.system import load

        if model is None:
            raise ConfigError("no model", where="--model", remedy="give the folder of an exported model")
        for option, name in (("--model", model), ("--expander", expander)):
            if name is not None and not is_folder(name):
                raise ConfigError(f"no model in '{name}'", where=option, remedy="give the folder of an exported model")
        return load(Path(model), expander=None if expander is None else Path(expander))


_found = Models()


def models() -> Models:
    """Where the commands find models."""
    return _found


def find_in(found: Models) -> None:
    """Let the commands find models elsewhere."""
    global _found
    _found = found


def is_folder(name: str) -> bool:
    """Whether a name is the path of a model's folder."""
    return Path(name, "model.json").is_file()


def absolute(name: str | None) -> str | None:
    """A model's name; the path of a folder from the root, since the commands work in the folder of a profile."""
    return name if name is None or not is_folder(name) else str(Path(name).resolve())
