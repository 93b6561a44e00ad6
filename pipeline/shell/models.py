"""Where the commands of a clone find models: in `released/`, and in the present profile, by keys of params.yaml."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from espalier.cli.models import Loader, Models, is_parser, load_model
from espalier.inference.released import is_model, is_named, released_expander, released_for, released_names
from espalier.io.registry import entry
from pipeline import layout
from pipeline.shell import completion
from pipeline.shell.profiles import Profile, enter

if TYPE_CHECKING:
    from espalier.inference.system import System


class ProfileModels(Models):
    """The models of a profile, those in `released/`, and all that `espalier.load` finds by a path or a name."""

    def __init__(self) -> None:
        self._profile_given = False

    def enter(self, profile: str | None) -> None:
        """Work in the folder of a profile: the named one, else the present one, else nursery."""
        self._profile_given = profile is not None or (layout.PARAMS.exists() and Path.cwd() != layout.ROOT)
        enter(None if profile is None else entry("profile", Profile.__members__, profile, where="--profile"))

    def plugins(self) -> None:
        """Import the plugins of the params.yaml of this folder, if there is one."""
        if layout.PARAMS.is_file():
            from pipeline.params.read import with_plugins

            with_plugins()

    def names(self) -> Iterable[str]:
        """The models of params.yaml, and the released ones."""
        return [*completion.keys_of()["train"], *released_names()]

    def books(self) -> Path | None:
        """The rhyme books and the tunes: the source, from this profile or another, else those of a released model."""
        books, roots = layout.raw("forms/couyun"), (Path(), *layout.PROFILES.values())
        root = next((root for root in roots if (root / books).is_dir()), None)
        if root is None:
            return super().books()
        from pipeline.graph.written import require_written

        require_written([books], root)
        return root / books

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
        """The system of a model of the profile, with its parser and expander.

        Without a name, the model is the released one for the method and language, unless a profile is given; else the
        profile's default for them, or its only model that serves them. A trained model of the profile comes before a
        released one of its name.
        """
        if model is None and not self._profile_given:
            default = released_for(method, language, trees=trees)
            if default is None and method == "expand":
                default = released_expander(language)
            model = None if default is None else str(default)
        if model is not None and (is_model(model) or (is_named(model) and not _trained(model))):
            return super().open(method, language, model=model, expander=expander, load=load)
        from espalier.inference.folder import SYSTEM, TEMPLATES
        from espalier.syntax.parsers.registry import DESCRIPTION
        from pipeline.graph.written import require_written
        from pipeline.records.systems import open_system

        system = open_system(method, language, model=model, expander=expander, expands=expands, load=load)
        # What no hash in the weights and in the signature of the parser covers.
        require_written([folder / name for folder in system.folders for name in (SYSTEM, TEMPLATES, DESCRIPTION)])
        return system

    def parser(self, name: str | None, language: str) -> Path:
        """The folder of a parser of the profile; without a key, of that of the default model of trees."""
        if name is not None and is_parser(name):
            return super().parser(name, language)
        from pipeline.records.systems import parser_folder

        return parser_folder(name, language)


def _trained(model: str) -> bool:
    """Whether the profile has a model of this name, and it is trained."""
    from pipeline.params.read import load_params

    return model in load_params().models and layout.model(model).is_dir()
