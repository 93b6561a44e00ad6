"""Which backends there are, and a parser as an artifact: a folder with a `parser.json` that says how to load it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import read_json, write_json
from espalier.syntax.parsers.parser import Parser

#: Each backend, and whether it needs a model: off the shelf, or trained on a treebank.
BACKENDS: Final[dict[str, bool]] = {"benepar": True, "jieba": False, "ltp": True, "spacy": True}
#: Those that can be trained here.
TRAINED: Final = ("benepar", "spacy")
#: Where a trained model stands in its parser's folder.
MODEL: Final = "model"


def open_parser(backend: str, model: str | Path | None, options: Mapping[str, Any]) -> Parser:
    """A parser of that backend.

    Args:
        model: an off-the-shelf name, or a path; None where the backend needs none.
        options: keywords of the backend's `load`.

    Raises:
        ConfigError: there is no such backend, model or option.
    """
    try:
        match backend:
            case "benepar":
                from espalier.syntax.parsers.benepar_backend import load as load_benepar

                return load_benepar(model or "", **options)
            case "jieba":
                from espalier.syntax.parsers.jieba_backend import load as load_jieba

                return load_jieba(**options)
            case "ltp":
                from espalier.syntax.parsers.ltp_backend import load as load_ltp

                return load_ltp(model or "", **options)
            case "spacy":
                from espalier.syntax.parsers.spacy_backend import load as load_spacy

                return load_spacy(model or "", **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise ConfigError(str(error), where=f"{backend}'s options") from error
    raise ConfigError.unknown("backend", backend, BACKENDS)


def save_parser(folder: Path, backend: str, model: str | None, options: Mapping[str, Any]) -> Parser:
    """Write the `parser.json` of a folder, and prove that it loads.

    Args:
        model: an off-the-shelf name or path; None for the one in `folder`/model, or for no model at all.
    """
    parser = open_parser(backend, _model(folder, backend, model), options)
    value = {"backend": backend, "model": model, "options": dict(options), "signature": parser.signature}
    write_json(folder / "parser.json", value)
    return parser


def load_parser(folder: Path) -> Parser:
    """The parser of a folder.

    Raises:
        ArtifactError: the folder is none of a parser.
        ConfigError: its off-the-shelf model cannot be had.
    """
    value = read_json(folder / "parser.json")
    try:
        backend, model, options = value["backend"], value["model"], value["options"]
    except (KeyError, TypeError) as error:
        raise ArtifactError(
            "does not describe a parser", where=folder / "parser.json", remedy="make it again"
        ) from error
    return open_parser(backend, _model(folder, backend, model), options)


def _model(folder: Path, backend: str, model: str | None) -> str | Path | None:
    if model is not None or not BACKENDS.get(backend):
        return model
    return folder / MODEL
