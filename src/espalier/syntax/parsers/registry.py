"""The backends by name, and parsers as artifacts: folders whose `parser.json` tells how to load them.

To add a backend: `BACKENDS["mine"] = Backend("my.module:load")`. Its module is imported on use.
"""

import pkgutil
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from espalier.io.calls import checked_call
from espalier.io.errors import ArtifactError
from espalier.io.files import read_json, write_json
from espalier.io.imports import of_extra
from espalier.io.registry import Registry
from espalier.io.validation import check_options
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Parser

#: The file that describes a parser, in its folder.
DESCRIPTION: Final = "parser.json"
#: The model that was trained here, in a parser's folder.
MODEL: Final = "model"
#: The beginning of the SHA-256 of a model's weights, and of its other files if it has some, in a signature.
HASH: Final = re.compile(r"\b[0-9a-f]{8}\b")


class _Description(BaseModel):
    """The contents of `parser.json`."""

    backend: str
    model: str | None
    options: dict[str, Any]
    signature: str


@dataclass(frozen=True)
class Backend:
    """A library that parses or tags.

    Attributes:
        load: "module:function". It takes the model, if the backend needs one, and options as keyword arguments.
        needs_model: whether it needs a model, either published or trained on a treebank.
        train: "module:function" that trains on a treebank, with the arguments of `Backend.trained`; None if the backend
            cannot be trained.
        training: "module:class" for the settings of `train`.
        splitter: "module:class" of a parser that only splits texts into words, by rules, without the library; or None.
        extra: the extra of this project that installs the library; None for a plugin.
        baseline: whether it is a trivial baseline, whose parses are only scored.
    """

    load: str
    needs_model: bool = True
    train: str | None = None
    training: str | None = None
    splitter: str | None = None
    extra: str | None = None
    baseline: bool = False

    def open(self, model: str | Path | None, options: Mapping[str, Any], *, where: str) -> Parser:
        """Load a parser.

        Raises:
            ConfigError: the library is not installed, the model cannot be loaded, or an option is unknown or has the
                wrong type; `where` names the backend in messages.
        """
        with of_extra(self.extra):
            load: Callable[..., Parser] = pkgutil.resolve_name(self.load)
            check_options(load, options, f"{where}'s options", given=("model",) if self.needs_model else ())
            return load(model or "", **options) if self.needs_model else load(**options)

    def settings(self) -> type[BaseModel]:
        """The type of the settings of `train`.

        Raises:
            ConfigError: the library is not installed.
        """
        with of_extra(self.extra):
            settings_type: type[BaseModel] = pkgutil.resolve_name(self.training or "")
        return settings_type

    def trained(
        self,
        train: Sequence[Parse],
        dev: Sequence[Parse],
        settings: BaseModel,
        folder: Path,
        scratch: Path,
        *,
        seed: int,
        watch: Callable[[int, int, str], None],
    ) -> None:
        """Train on gold sentences, and write the model to `folder`.

        Args:
            dev: sentences for choosing the epoch.
            settings: settings of type `settings()`.
            scratch: folder of checkpoints, used only with these arguments.
            watch: called with the steps done, the steps in total and a short note.

        Raises:
            ConfigError: the library is not installed.
            DataError: a split has no sentence with a tree.
        """
        with of_extra(self.extra):
            pkgutil.resolve_name(self.train or "")(train, dev, settings, folder, scratch, seed=seed, watch=watch)


_PARSERS = "espalier.syntax.parsers"

BACKENDS: Final = Registry[Backend](
    "BACKENDS",
    "backend",
    Backend,
    {
        "benepar": Backend(
            f"{_PARSERS}.benepar_backend:load",
            train=f"{_PARSERS}.benepar_training:train_benepar",
            training=f"{_PARSERS}.training_config:BeneparTraining",
            splitter=f"{_PARSERS}.penn_words:PennWords",
            extra="parse",
        ),
        "jieba": Backend(f"{_PARSERS}.jieba_backend:load", needs_model=False, extra="parse"),
        "ltp": Backend(f"{_PARSERS}.ltp_backend:load", extra="parse"),
        "spacy": Backend(
            f"{_PARSERS}.spacy_backend:load",
            train=f"{_PARSERS}.spacy_training:train_spacy",
            training=f"{_PARSERS}.training_config:SpacyTraining",
            extra="parse",
        ),
        "trivial": Backend(
            f"{_PARSERS}.trivial_backend:load",
            train=f"{_PARSERS}.trivial_backend:train_trivial",
            training=f"{_PARSERS}.trivial_backend:TrivialTraining",
            baseline=True,
        ),
    },
)


@checked_call
def open_parser(backend: str, model: str | Path | None, options: Mapping[str, Any]) -> Parser:
    """Load a parser of the given backend.

    Args:
        model: the name of a published model, or a path; None if the backend needs none.
        options: keyword arguments of the backend's `load`.

    Raises:
        ConfigError: the backend, model or option does not exist.
    """
    return BACKENDS.find(backend).open(model, options, where=backend)


def save_parser(folder: Path, backend: str, model: str | None, options: Mapping[str, Any]) -> Parser:
    """Write the `parser.json` of a folder, and check that the parser loads.

    Args:
        model: the name of a published model, or a path; None for the model in `folder`/model, or for no model.
    """
    parser = open_parser(backend, _model(folder, backend, model), options)
    value = {"backend": backend, "model": model, "options": dict(options), "signature": parser.signature}
    write_json(folder / DESCRIPTION, value)
    return parser


@checked_call
def load_parser(folder: str | Path) -> Parser:
    """Load the parser of a folder, and check its model by the hash in the signature of `parser.json`.

    Raises:
        ArtifactError: the folder is not a parser's, or its model has changed.
        ConfigError: its published model is not available.
    """
    folder = Path(folder)
    value = read_json(folder / DESCRIPTION, _Description)
    parser = open_parser(value["backend"], _model(folder, value["backend"], value["model"]), value["options"])
    found, written = HASH.findall(parser.signature), HASH.findall(value["signature"])
    # Another version of a library may load it. Earlier ones of Espalier wrote the hash of the weights alone.
    if found[: max(1, len(written))] != written:
        raise ArtifactError(
            f"changed after it was written: it is {parser.signature}, and parser.json names {value['signature']}",
            where=value["model"] or folder / MODEL,
            remedy="replace it by the original: dvc checkout in a clone, else export or fetch it again",
        )
    return parser


def load_splitter(folder: Path) -> Parser | None:
    """The rules by which the parser of a folder splits texts into words, as a parser; None if it has no such rules.

    Raises:
        ArtifactError: the folder does not contain a parser.
    """
    backend = BACKENDS.get(read_json(folder / DESCRIPTION, _Description)["backend"])
    if backend is None or backend.splitter is None:
        return None
    splitter: Callable[[], Parser] = pkgutil.resolve_name(backend.splitter)
    return splitter()


def export_parser(folder: Path, out: Path) -> None:
    """Copy the folder of a parser, with a model that `parser.json` names by path; a published model stays a name.

    Raises:
        ArtifactError: the folder is not a parser's.
    """
    value = read_json(folder / DESCRIPTION, _Description)
    shutil.copytree(folder, out, copy_function=shutil.copyfile)
    if value["model"] is not None and (model := Path(value["model"])).exists():
        (shutil.copytree if model.is_dir() else shutil.copyfile)(model, out / MODEL)
        write_json(out / DESCRIPTION, {**value, "model": None})


def parser_signature(folder: Path) -> str:
    """The string that identifies the parser of a folder. The parser is not loaded.

    Raises:
        ArtifactError: the folder is not a parser's.
    """
    return str(read_json(folder / DESCRIPTION, _Description)["signature"])


def _model(folder: Path, backend: str, model: str | None) -> str | Path | None:
    if model is not None or (backend in BACKENDS and not BACKENDS[backend].needs_model):
        return model
    return folder / MODEL
