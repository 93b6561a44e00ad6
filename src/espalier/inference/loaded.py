"""A trained model with its parser and expander. Importing this module does not import torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from pydantic import ValidationError

from espalier.datasets.encoding import Settings, Vocabulary
from espalier.datasets.registry import ENCODINGS
from espalier.inference.folder import SYSTEM, read_system, restorable, verify_checksums
from espalier.inference.released import BOOKS
from espalier.io.calls import checked_call
from espalier.io.errors import ArgumentError, ArtifactError, ConfigError, DataError, EspalierError
from espalier.io.files import read_json
from espalier.io.validation import first_mistake
from espalier.models.registry import ARCHITECTURES
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.registry import load_parser, load_splitter
from espalier.verse.ci_books import CiBooks, open_books

if TYPE_CHECKING:
    import torch

    from espalier.datasets.batch import Batch
    from espalier.syntax.parse import Parse
    from espalier.syntax.parsers.parser import Parser, Sentence
    from espalier.tasks.settings import Decoder
    from espalier.tasks.task import DecodingTask
    from espalier.text.language import Language

Vocabulary_co = TypeVar("Vocabulary_co", bound=Vocabulary, covariant=True)
View_co = TypeVar("View_co", covariant=True)
Settings_co = TypeVar("Settings_co", bound=Settings, covariant=True)
Batch_ = TypeVar("Batch_", bound="Batch")
Hypothesis_ = TypeVar("Hypothesis_")


class LoadedModel(Generic[Vocabulary_co, View_co, Settings_co]):
    """A trained model, made by `espalier.inference.system.load`, which describes the arguments.

    Attributes:
        name: name of the folder.
        model: the network, in evaluation mode. After a fused optimizer has changed it, it must be saved and loaded.
        encoding: key of the encoding that the model reads.
        settings: settings of that encoding, as used for the training data.
        templates: the most frequent templates of its training data, the most frequent first.
        options: its own defaults of the options of its services, by service.
        described_in: the file with these defaults.
        synthetic: whether it learned from texts of a grammar.
        device: device of the model.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        seed: int | None = None,
        parser: str | Path | Parser | None = None,
        expander: str | Path | Self | None = None,
        device: str | torch.device | None = None,
        bfloat16: bool = False,
    ) -> None:
        from espalier.layers.linear import ConstantWeights
        from espalier.models.serialization import load_model, shape_of, weights_files

        folder, self.device = Path(folder), _device(device)
        if not folder.is_dir():
            raise ArtifactError("no such folder", where=folder, remedy="give the folder of a trained model")
        if not shape_of(folder).is_file() and not weights_files(folder):
            raise ArtifactError("not a trained model", where=folder, remedy="give the folder of a trained model")
        with restorable(folder):
            verify_checksums(folder)
            shape = shape_of(folder)
            _require_plugins(folder, shape)
            model, _ = load_model(folder, seed)
            self.encoding = ARCHITECTURES.find(read_json(shape)["arch"]).encoding
            description = read_system(folder)
            try:
                self.settings: Settings_co = ENCODINGS[self.encoding].settings.model_validate(description.settings)
            except ValidationError as error:
                place, what = first_mistake(error)
                where = f"{folder / SYSTEM}: settings.{place}"
                raise ArtifactError(what, where=where, remedy="train or export the model again") from error
        self.model: Any = model.to(self.device)
        self._weights = ConstantWeights(self.model)
        self._bfloat16 = bfloat16 and self.device.type == "cpu"
        self.name, self.templates = folder.resolve().name, description.templates
        self.options, self.described_in = description.options, folder / SYSTEM
        self.synthetic = description.synthetic
        #: The posts over which p(reply) is averaged, in words; a function, since a profile reads them from its data.
        self.posts: Callable[[], Sequence[Sequence[str]]] = partial(getattr, description, "posts")
        self._parser = description.parser if parser is None else parser
        self._expander = description.expander if expander is None else expander

    @property
    def vocabulary(self) -> Vocabulary_co:
        """The vocabulary of the model."""
        vocabulary: Vocabulary_co = self.model.vocabulary
        return vocabulary

    @property
    def view(self) -> View_co:
        """The view of the model."""
        view: View_co = self.model.config.view
        return view

    @property
    def positions(self) -> int:
        """The length of the longest row that the model reads or writes, in ids."""
        return int(self.model.config.positions)

    @property
    def language(self) -> Language:
        """The language of its texts."""
        return self.vocabulary.language

    def decode(
        self,
        task: DecodingTask[Any, Any, Batch_, Any, Any, Hypothesis_],
        batch: Batch_,
        decoder: Decoder[Any, Any],
        seeds: Sequence[int],
        **given: Any,
    ) -> list[list[Hypothesis_]]:
        """The hypotheses of `task.generate`. Weights are packed once for all calls (`ConstantWeights`)."""
        from espalier.layers.linear import constant_weights

        with constant_weights(self._weights, bfloat16=self._bfloat16):
            return task.generate(self.model, batch, decoder, seeds, **given)

    @property
    def reads_plain_text(self) -> bool:
        """Whether texts are encoded without parsing into words: pairs without trees."""
        return self._parser is None and not getattr(self.settings, "trees", True)

    @property
    def folders(self) -> list[Path]:
        """The folders of the model, of its expander and of their parsers, where folders name them."""
        parts = [self.described_in.parent, self._parser, self._expander]
        if isinstance(self._expander, LoadedModel):
            parts[2:] = self._expander.folders
        return [Path(part) for part in parts if isinstance(part, str | Path)]

    @property
    def parser_name(self) -> str:
        """The name of the parser in messages."""
        return Path(self._parser).name if isinstance(self._parser, str | Path) else "given"

    @cached_property
    def parser(self) -> Parser:
        """The parser for its texts.

        Raises:
            ConfigError: there is no parser.
        """
        if self._parser is None:
            raise ConfigError(f"model {self.name} has no parser", remedy="give one: load(folder, parser=...)")
        if not isinstance(self._parser, str | Path):
            return self._parser
        return load_parser(Path(self._parser))

    @cached_property
    def expander(self) -> Self:
        """The model that expands its templates, of the same type.

        Raises:
            ConfigError: there is no expander.
        """
        if self._expander is None:
            raise ConfigError(f"model {self.name} has no expander", remedy="give one: load(folder, expander=...)")
        if isinstance(self._expander, str | Path):
            return type(self)(self._expander, device=self.device, bfloat16=self._bfloat16)
        return self._expander

    @cached_property
    def books(self) -> CiBooks | None:
        """The books of rhymes and of tunes in its folder; None if there are none."""
        file = self.described_in.parent / BOOKS
        return open_books(file) if file.is_file() else None

    @checked_call
    def parse(self, texts: Sequence[Sentence], names: Sequence[str]) -> list[Parse | EspalierError]:
        """The parses of texts, lower-cased if the model is; errors for texts that cannot be parsed.

        A model without trees needs only words. If its parser splits texts by rules, it is not loaded for them.

        Args:
            texts: texts, or lists of words.
            names: names of the texts in errors.

        Raises:
            ArgumentError: there are more names than texts, or fewer.
        """
        if len(names) != len(texts):
            raise ArgumentError(f"{len(names)} names of {len(texts)} texts", where="names", remedy="give each its own")
        lower = getattr(self.vocabulary, "lower", False)
        given = [text.lower() if lower and isinstance(text, str) else text for text in texts]
        parses = (self._splitter or self.parser).parse(given) if given else []
        return [
            DataError(
                f"parser {self.parser_name} refuses its {len(text)} "
                f"{'characters' if isinstance(text, str) else 'words'} ({parse.reason})",
                file=name,
                remedy="give one short sentence",
            )
            if isinstance(parse, Refused)
            else parse
            for name, text, parse in zip(names, texts, parses, strict=True)
        ]

    @cached_property
    def _splitter(self) -> Parser | None:
        """The rules by which the parser splits texts into words, if the model needs no more; None if there are none."""
        if getattr(self.settings, "trees", True) or not isinstance(self._parser, str | Path):
            return None
        return load_splitter(Path(self._parser))


def _device(given: str | torch.device | None) -> torch.device:
    """A device; None means a GPU if there is one. An ArgumentError if there is no such device."""
    import torch

    try:
        device = torch.device(given or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.zeros(1, device=device).item()  # which a device without memory, "meta", refuses
    except (RuntimeError, AssertionError) as error:  # the latter from a torch without CUDA
        what = f"'{given}': {str(error).splitlines()[0][:60]}"
        raise ArgumentError(what, where="device", remedy="give cpu, or cuda where there is a GPU") from error
    return device


def _require_plugins(folder: Path, shape: Path) -> None:
    """Raise a ConfigError if the architecture that `shape` names is that of modules that are not imported.

    They are not imported here: a model's folder must not decide which code runs.
    """
    try:
        arch = read_json(shape)["arch"]
        plugins = () if arch in ARCHITECTURES else read_system(folder).plugins
    except (ArtifactError, KeyError, TypeError):
        return  # which the next steps say better
    if plugins:
        modules = ", ".join(plugins)
        remedy = f"import {modules} first; in a clone, name it below plugins in params.yaml"
        raise ConfigError(f"its architecture {arch} is of the module {modules}", where=folder, remedy=remedy)
