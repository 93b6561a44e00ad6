"""Where commands find models: in folders, in `released/`, and in the profiles of a clone of the project."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from espalier.inference.released import folder_of, is_model, is_named, released_books
from espalier.io.errors import ConfigError, EspalierError

if TYPE_CHECKING:
    from espalier.inference.system import System

#: Loads a model from a folder or a name, with the parts that are given (`espalier.inference.system.load`).
Loader = Callable[..., "System"]

_REMEDY: Final = "give the folder of an exported model, or user/name of the Hugging Face Hub"


def load_model(folder: str | Path, **parts: Any) -> System:
    """`espalier.inference.system.load`, which is imported when it is called."""
    from espalier.inference.system import load

    return load(folder, **parts)


class Models:
    """Models named as `espalier.load` names them: by a folder, as a released model, or as "user/name" of the Hub."""

    def enter(self, profile: str | None) -> None:
        """Use the models of a profile.

        Raises:
            ConfigError: the profile does not exist.
        """
        if profile is not None:
            raise ConfigError("no profiles here", where="--profile", remedy="run in a clone, or give --model FOLDER")

    def plugins(self) -> None:
        """Import modules that may add commands."""

    def names(self) -> Iterable[str]:
        """Candidates for shell completion of `--model`."""
        return ()

    def books(self) -> Path | None:
        """The rhyme books of ci and its tunes, `espalier.verse.ci_books.open_books`; None if there are none."""
        return released_books()

    def open(
        self,
        method: str,
        language: str,
        *,
        model: str | None = None,
        expander: str | None = None,
        expands: bool = False,
        trees: bool = False,
        load: Loader = load_model,
    ) -> System:
        """Load a system that serves a method in a language.

        Args:
            model: name of the model; None selects the default for the method and language.
            expander: name of the expander; None selects the one that belongs to the model.
            expands: whether a tree-guided model needs an expander.
            trees: whether the default must be a model that reads trees.
            load: what loads the model; a page that keeps models has its own.

        Raises:
            ConfigError: no such model exists, it does not serve the method, or one of its parts is missing.
            ArtifactError: a model of the Hugging Face Hub cannot be downloaded.
        """
        if model is None:
            raise ConfigError("no model", where="--model", remedy=_REMEDY)
        for option, name in (("--model", model), ("--expander", expander)):
            if name is not None and not is_named(name):
                raise ConfigError(f"no model in '{name}'", where=option, remedy=_REMEDY)
        return load(model, expander=None if expander is None else folder_of(expander))

    def parser(self, name: str | None, language: str) -> Path:
        """The folder of a parser.

        Args:
            name: its name; None selects that of the models that read trees of a language.

        Raises:
            ConfigError: no such parser exists, or it is not made.
        """
        if name is None or not is_parser(name):
            what = "no parser is at hand" if name is None else f"no parser in '{name}'"
            raise ConfigError(what, where="--parser", remedy="give the folder of a parser")
        return Path(name)


_found = Models()


def models() -> Models:
    """The place where commands look for models."""
    return _found


def find_in(found: Models) -> None:
    """Replace the place where commands look for models."""
    global _found
    _found = found


def is_parser(name: str) -> bool:
    """Whether a name is the path of a parser's folder."""
    return Path(name, "parser.json").is_file()


def absolute(name: str | None) -> str | None:
    """A name; the path of a model or a parser is made absolute, since commands run in the folder of a profile."""
    return str(Path(name).resolve()) if name is not None and (is_model(name) or is_parser(name)) else name


def model_names(context: typer.Context, incomplete: str) -> list[str]:
    """Names of models that begin with `incomplete`; empty if a file cannot be read."""
    try:
        models().enter(context.params.get("profile"))
        return [name for name in models().names() if name.startswith(incomplete)]
    except (EspalierError, OSError, ValueError, KeyError, TypeError):
        return []
