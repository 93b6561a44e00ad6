"""A trained model with the parser and the expander that it works with. Importing this module imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.inference.registry import Service, service
from espalier.io.errors import ArtifactError, ConfigError, DataError, EspalierError

if TYPE_CHECKING:
    import torch

    from espalier.corpora.records import Record
    from espalier.datasets.encoding import Split
    from espalier.inference.folder import Description
    from espalier.inference.requests import PairRequest, Post, TemplateRequest, VerseRequest
    from espalier.inference.results import Composition, Expansion, Likelihood, Paraphrase, Poem, Reply, TextGranularity
    from espalier.inference.writer import Writer
    from espalier.syntax.parse import Parse
    from espalier.syntax.parsers.parser import Parser, Refused, Sentence
    from espalier.text.language import Language


def load(
    folder: str | Path,
    *,
    seed: int | None = None,
    parser: str | Path | Parser | None = None,
    expander: str | Path | System | None = None,
    device: str | torch.device | None = None,
) -> System:
    """A trained model, ready to write.

    Args:
        folder: as training wrote it: `model.json`, `vocabulary.json`, `system.json`, `seed*.safetensors`.
        seed: whose weights; None means the lowest.
        parser: a parser or its folder, instead of the one that `system.json` names.
        expander: a system that expands templates, or its folder, instead of the one that `system.json` names.
        device: None means a GPU where there is one.

    Raises:
        ArtifactError: a file is missing, is of another version, or does not fit the others.
    """
    import torch
    from pydantic import ValidationError

    from espalier.datasets.registry import encoding
    from espalier.inference.folder import read_system
    from espalier.io.files import read_json
    from espalier.io.validation import first_mistake
    from espalier.models.registry import architecture
    from espalier.models.serialization import load_model

    folder = Path(folder)
    if not folder.is_dir():
        raise ArtifactError("no such folder", where=folder, remedy="give the folder of a trained model")
    model, _ = load_model(folder, seed)
    kind = architecture(read_json(folder / "model.json")["arch"]).encoding
    description = read_system(folder)
    try:
        settings = encoding(kind).settings.model_validate(description.settings)
    except ValidationError as error:
        place, what = first_mistake(error)
        where = f"{folder / 'system.json'}: settings.{place}"
        raise ArtifactError(what, where=where, remedy="train the model again") from error
    chosen = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    return System(
        folder, model.to(chosen), kind, settings, description, parser=parser, expander=expander, device=chosen
    )


class System:
    """A trained model. `load` makes one; a model cannot serve each of its methods, and says so.

    Attributes:
        name: of the folder.
        model: the network, in evaluation mode.
        encoding: the key of the encoding that it reads.
        settings: of that encoding, as its training data were encoded.
        templates: the most frequent templates of its training data, the most frequent first.
        device: where it computes.
    """

    def __init__(
        self,
        folder: Path,
        model: Any,
        encoding: str,
        settings: Any,
        description: Description,
        *,
        parser: str | Path | Parser | None = None,
        expander: str | Path | System | None = None,
        device: torch.device,
    ) -> None:
        self.name, self.model, self.encoding, self.settings = folder.resolve().name, model, encoding, settings
        self.templates, self.device = description.templates, device
        self._parser = description.parser if parser is None else parser
        self._expander = description.expander if expander is None else expander

    # --- What it can be asked to do ----------------------------------------------------------------------------------

    def generate(self, formats: Sequence[str | VerseRequest], **options: Any) -> list[Poem]:
        """Poems in formats, such as "5,5。7,5。" or "_雨___，____到。"; options are the fields of `VerseWriter`."""
        return self.answer("generate", formats, **options)

    def polish(self, templates: Sequence[str | VerseRequest], **options: Any) -> list[Poem]:
        """As `generate`, for formats that keep some words."""
        return self.answer("polish", templates, **options)

    def paraphrase(self, texts: Sequence[str | PairRequest], **options: Any) -> list[Paraphrase]:
        """Paraphrases of texts; options are the fields of `ParaphraseWriter`, whose templates guide the texts.

        If the model reads texts alone, they are those of `PlainParaphraseWriter`.
        """
        return self.answer("paraphrase", texts, **options)

    def expand(self, texts: Sequence[str | PairRequest], **options: Any) -> list[Expansion]:
        """Whole trees for paraphrases of texts under templates; options are the fields of `ExpansionWriter`."""
        return self.answer("expand", texts, **options)

    def granularities(self, texts: Sequence[str | PairRequest], **options: Any) -> list[TextGranularity]:
        """The granularity of each piece of texts and of their paraphrases, in each layer of a C-DNPG.

        Options are the fields of `GranularityWriter`.
        """
        return self.answer("granularity", texts, **options)

    def compose(self, templates: Sequence[str | TemplateRequest], **options: Any) -> list[Composition]:
        """Texts under the structures of templates (SAT); options are the fields of `ComposeWriter`."""
        return self.answer("compose", templates, **options)

    def reply(self, posts: Sequence[str | Post], **options: Any) -> list[Reply]:
        """Replies to posts, the best first; options are the fields of `ReplyWriter`."""
        return self.answer("reply", posts, **options)

    def likelihood(self, records: Sequence[Record | Mapping[str, str]]) -> list[Likelihood]:
        """How probable the targets of records are.

        Args:
            records: as the encoding reads them, or mappings of their fields. What is missing of a side's grammar is
                parsed.

        Raises:
            DataError: a record lacks a field, or does not fit the encoding.
        """
        from espalier.inference.likelihood import likelihoods

        return likelihoods(self, records)

    def encode(self, records: Sequence[Record | Mapping[str, str]]) -> Split:
        """Records as ids; `system.encode(records).batch(np.arange(len(records)), system.view)` is a batch of the model.

        Args:
            records: as in `likelihood`.

        Raises:
            DataError: a record lacks a field, or does not fit the encoding.
        """
        from espalier.inference.likelihood import encoded

        return encoded(self, records)

    def answer(self, name: str, inputs: Sequence[Any], **options: Any) -> list[Any]:
        """The results of any service of `SERVICES`.

        Raises:
            ConfigError: the model cannot do that, or an option cannot be.
            EspalierError: the first input that cannot be answered.
        """
        return self.writer(name, **options).answers(inputs)

    def writer(self, name: str, **options: Any) -> Writer[Any, Any, Any]:
        """A service under fixed options; it tells which inputs cannot be answered, and answers one batch at a time.

        Raises:
            ConfigError: the model cannot do that, or an option cannot be.
        """
        return self.require(name).open(self, **options)

    def require(self, name: str) -> Service:
        """The service of that name.

        Raises:
            ConfigError: the model cannot do that.
        """
        return service(name, self.name, self.encoding, self.model.config)

    # --- What its services use ---------------------------------------------------------------------------------------

    @property
    def vocabulary(self) -> Any:
        """What its ids stand for."""
        return self.model.vocabulary

    @property
    def view(self) -> Any:
        """What the model reads of a row."""
        return self.model.config.view

    @property
    def positions(self) -> int:
        """The longest row that the model reads or writes, in ids."""
        return int(self.model.config.positions)

    @property
    def language(self) -> Language:
        """Of its texts."""
        language: Language = self.vocabulary.language
        return language

    @property
    def reads_plain_text(self) -> bool:
        """Whether texts are encoded as they are: pairs without trees, of which no parser made words."""
        return self._parser is None and not getattr(self.settings, "trees", True)

    @property
    def parser_name(self) -> str:
        """The parser as messages name it."""
        return Path(self._parser).name if isinstance(self._parser, str | Path) else "given"

    @cached_property
    def parser(self) -> Parser:
        """The parser of its texts.

        Raises:
            ConfigError: there is none.
        """
        if self._parser is None:
            raise ConfigError(f"model {self.name} has no parser", remedy="give one: load(folder, parser=...)")
        if not isinstance(self._parser, str | Path):
            return self._parser
        from espalier.syntax.parsers.registry import load_parser

        return load_parser(Path(self._parser))

    @cached_property
    def expander(self) -> System:
        """The system that expands templates for it.

        Raises:
            ConfigError: there is none.
        """
        if self._expander is None:
            raise ConfigError(f"model {self.name} has no expander", remedy="give one: load(folder, expander=...)")
        return self._expander if isinstance(self._expander, System) else load(self._expander, device=self.device)

    def parse(self, texts: Sequence[Sentence], names: Sequence[str]) -> list[Parse | EspalierError]:
        """The parses of texts, lower-cased where the model knows lower case alone; errors where there are none.

        Args:
            texts: or the words of each.
            names: what errors call each text.
        """
        from espalier.syntax.parsers.parser import Refused

        given = [self._cased(text) if isinstance(text, str) else text for text in texts]
        parses = self.parser.parse(given) if given else []
        return [
            self._refusal(text, name, parse) if isinstance(parse, Refused) else parse
            for name, text, parse in zip(names, texts, parses, strict=True)
        ]

    def words(self, texts: Sequence[str], names: Sequence[str]) -> list[tuple[str, ...] | EspalierError]:
        """The words of texts, in the case of `parse`; the parser is not loaded if it splits texts by rules.

        Args:
            names: what errors call each text.
        """
        from espalier.syntax.parsers.parser import NO_ROUND_TRIP
        from espalier.syntax.parsers.registry import words_by_rules

        split = words_by_rules(Path(self._parser)) if isinstance(self._parser, str | Path) else None
        if split is None:
            parses = self.parse(texts, names)
            return [parse if isinstance(parse, EspalierError) else tuple(parse.words) for parse in parses]
        found = [split(self._cased(text)) for text in texts]
        return [
            self._refusal(text, name, NO_ROUND_TRIP) if each is None else each[0]
            for name, text, each in zip(names, texts, found, strict=True)
        ]

    def _cased(self, text: str) -> str:
        """A text, lower-cased if the model knows lower case alone."""
        return text.lower() if getattr(self.vocabulary, "lower", False) else text

    def _refusal(self, text: Sentence, name: str, refused: Refused) -> DataError:
        what = f"parser {self.parser_name} refuses its {_size_of(text)} ({refused.reason})"
        return DataError(what, file=name, remedy="give one short sentence")


def _size_of(sentence: Sentence) -> str:
    return f"{len(sentence)} {'characters' if isinstance(sentence, str) else 'words'}"
