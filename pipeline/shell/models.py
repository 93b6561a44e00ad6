"""Where the commands of a clone find models: in the present profile, by keys of params.yaml."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from espalier.cli.models import Models, is_folder
from espalier.io.registry import entry
from pipeline import layout
from pipeline.shell import completion
from pipeline.shell.profiles import Profile, enter

if TYPE_CHECKING:
    from espalier.inference.system import System


class ProfileModels(Models):
    """The models of a profile. The path of a model folder is also a name."""

    def enter(self, profile: str | None) -> None:
        """Work in the folder of a profile: the named one, else the present one, else nursery."""
        enter(None if profile is None else entry("profile", Profile.__members__, profile, where="--profile"))

    def names(self) -> Iterable[str]:
        """The models of params.yaml."""
        return completion.keys_of()["train"]

    def books(self) -> Path | None:
        """The source with the rhyme books and the variants of tunes, from this profile or another."""
        folders = (root / layout.raw("forms/couyun") for root in (Path(), *layout.PROFILES.values()))
        return next(filter(Path.is_dir, folders), None)

    def open(
        self,
        method: str,
        language: str,
        *,
        model: str | None = None,
        expander: str | None = None,
        expands: bool = False,
    ) -> System:
        """The system of a model of the profile, with its parser and expander.

        Without a name, the model is the default for the method and language, or the only one that serves them.
        """
        if model is not None and is_folder(model):
            return super().open(method, language, model=model, expander=expander, expands=expands)
        from espalier.inference.registry import SERVICES, reads_trees
        from espalier.inference.system import load
        from pipeline.params.read import load_params
        from pipeline.records.machine import device
        from pipeline.records.systems import corpus_of, find_model, find_parser, parser_of, require_folder

        params = load_params()
        key = find_model(params, method, language, model, "--model")
        settings = params.datasets.every[params.models[key].dataset].settings
        corpus = corpus_of(params, key)
        # If a parser segmented the training texts into words, it also segments requests, with or without trees.
        parser = find_parser(params, corpus) if SERVICES[method].parses(settings) or parser_of(params, corpus) else None
        guided = expands and reads_trees(params.models[key].network.view)
        second = find_model(params, "expand", language, expander, "--expander") if guided else None
        for named in filter(None, (key, second)):
            require_folder(params, layout.model(named), f"model {named} is not trained", f"train@{named}")
        return load(
            layout.model(key),
            parser=layout.parser(parser) if parser else None,
            expander=layout.model(second) if second else None,
            device=device(),
        )
