"""The entries of params.yaml as types. A mistake gives one line: the path of its key, and the allowed values."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FieldSerializationInfo,
    GetPydanticSchema,
    PrivateAttr,
    field_serializer,
    model_validator,
)

from espalier.corpora.catalogue import Inside, Source
from espalier.corpora.filters import Filters
from espalier.corpora.readers import READERS
from espalier.corpora.splits import Split
from espalier.datasets.encoding import Settings
from espalier.io.validation import Strict
from espalier.judging.protocol import Protocol
from espalier.models.contract import NetworkSettings
from espalier.models.registry import ARCHITECTURES
from espalier.tasks.settings import Decoder, Scoring
from espalier.text.language import Language
from espalier.training.config import TrainingConfig
from pipeline import layout
from pipeline.layout import NONE

Kind = TypeVar("Kind", bound=BaseModel)


def _name(value: str) -> str:
    if not re.fullmatch(r"\w[\w-]{0,63}", value):
        raise ValueError(f"'{value[:80]}' cannot be a name, which is 1 to 64 letters, digits, _ or -, and no - first")
    if value == NONE:
        raise ValueError(f"'{NONE}' means no entry and cannot be a name")
    return value


def _each_once(seeds: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(seeds)) < len(seeds):
        raise ValueError("a seed stands twice; give each seed once")
    return seeds


#: A key of a map, or a paper. Stages, folders and files are named after it.
Name = Annotated[str, AfterValidator(_name)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), AfterValidator(_each_once)]
#: A folder below data/raw; shelves may be nested.
Shelf = Annotated[str, Field(pattern=r"^\w+(/\w+)*$")]
#: Raw files or another corpus, below data.
Also = Annotated[str, Field(pattern=r"^(none|raw/\w+(/\w+)*|corpora/\w[\w-]*)$")]
#: Of a setting whose type depends on other keys: params.yaml has a mapping, which `load_params` gives its type.
Untyped = GetPydanticSchema(lambda _, handler: handler(dict[str, Any]))


class Configured(BaseModel, Generic[Kind]):
    """The base of entries with settings of one type, which other keys name."""

    _settings: Kind = PrivateAttr()

    @property
    def settings(self) -> Kind:
        """The settings as their type."""
        return self._settings

    def typed(self, settings: Kind) -> Self:
        """The entry with these settings."""
        typed = self.model_copy()
        typed._settings = settings
        return typed


class Preferring(Strict):
    """The base of entries with a preset, whose values stand below the entry's own.

    It is dumped as it is written, without the defaults of its settings: artifacts record what was asked for.
    """

    _written: dict[str, dict[str, Any]] = PrivateAttr(default_factory=dict)

    @property
    def written(self) -> Mapping[str, dict[str, Any]]:
        """The settings by key, with those of the preset, as params.yaml has them."""
        return self._written

    def typed(self, written: dict[str, dict[str, Any]], settings: Mapping[str, BaseModel]) -> Self:
        """The entry with these settings, as they are written and as their types."""
        typed = self.model_copy(update=settings)
        typed._written = written
        return typed

    @field_serializer("network", "training", "decoder", "scoring", check_fields=False)
    def _as_written(self, value: object, info: FieldSerializationInfo) -> object:
        return self._written.get(info.field_name, value)


class Published(Strict):
    """The place of a source of the catalogue."""

    shelf: Shelf


class LocalFile(Strict):
    """A file or folder of the user, and the place of its copy."""

    shelf: Shelf
    file: str = Field(min_length=1)


class Sources(Strict):
    """The sources of a profile: those of the catalogue, and local files. A key may be in only one of them."""

    published: dict[Name, Published]
    local: dict[Name, LocalFile]

    @property
    def every(self) -> dict[str, Published | LocalFile]:
        """All sources, by key."""
        return {**self.published, **self.local}

    def folders(self, shelf: str) -> dict[str, Path]:
        """The folder of each source on a shelf or on a nested shelf, by key. A source is a shelf of its own too."""
        return {
            key: layout.raw(source.shelf) / key
            for key, source in self.every.items()
            if f"{source.shelf}/{key}/".startswith(f"{shelf}/")
        }


class ParserEntry(Strict, Configured[BaseModel]):
    """A parser or tagger: published (named by `model`), or trained here (on the corpus `treebank`)."""

    language: Language
    backend: str
    model: str
    treebank: str
    seed: Seed
    #: Keywords of the backend's loader, such as {words: jieba}.
    options: dict[str, Any]
    #: `settings` has its type, for a parser that is trained here.
    training: dict[str, Any]


class Annotation(Strict):
    """The parses of the texts of a run."""

    paper: Name
    run: str
    parser: str


class Corpus(Strict):
    """The rows shared by all systems of one task."""

    language: Language
    #: A reader of raw files, or a nursery that grows its rows.
    reader: str
    options: dict[str, Any]
    shelf: Shelf
    also_1: Also
    also_2: Also
    parser: str
    filters: Filters
    split: Split

    @property
    def records(self) -> str:
        """What its rows are, as its reader says: a key of `espalier.corpora.records.RECORDS`."""
        return READERS[self.reader].records

    @property
    def shelves(self) -> tuple[str, ...]:
        """The shelves that the corpus reads."""
        also = [name.removeprefix("raw/") for name in (self.also_1, self.also_2) if name.startswith("raw/")]
        return (*([] if self.shelf == NONE else [self.shelf]), *also)

    @property
    def corpora(self) -> tuple[str, ...]:
        """The other corpora that the corpus reads."""
        also = (self.also_1, self.also_2)
        return tuple(name.removeprefix("corpora/") for name in also if name.startswith("corpora/"))


class Dataset(Configured[Settings]):
    """A corpus in one encoding. All keys except these four are settings of the encoding."""

    model_config = ConfigDict(extra="allow", frozen=True)

    encoding: str
    corpus: str
    #: A dataset whose vocabulary this one shares; it must, to fine-tune a model of that one.
    vocab_from: str
    #: A source of published word pieces, as SHELF/SOURCE; None if pieces are learnt or come from another dataset.
    pieces_from: str = NONE


class Datasets(Strict):
    """Datasets by the way they are made: as sequences, or as canonical trees. A key may be in only one of them."""

    linearize: dict[Name, Dataset]
    canonicalize: dict[Name, Dataset]

    @model_validator(mode="after")
    def _once(self) -> Self:
        if twice := sorted(self.linearize.keys() & self.canonicalize.keys()):
            raise ValueError(f"{', '.join(twice)} stands under linearize and under canonicalize; rename one")
        return self

    @property
    def every(self) -> dict[str, Dataset]:
        """All datasets, by key."""
        return {**self.linearize, **self.canonicalize}


class Preset(Strict):
    """Settings shared by entries: `network` and `training` of models, `decoder` and `scoring` of runs."""

    network: dict[str, Any] | None = None
    training: dict[str, Any] | None = None
    decoder: dict[str, Any] | None = None
    scoring: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _names_no_preset(cls, value: object) -> object:
        if isinstance(value, dict) and "preset" in value:
            raise ValueError(f"a preset names no preset; it names {value['preset']}")
        return value


class Model(Preferring):
    """An architecture with its settings, trained on one dataset."""

    paper: Name
    title: str = ""
    arch: str
    dataset: str
    #: A model whose weights this one starts from.
    init: str
    seeds: Seeds
    #: Commands and languages ("generate.zh") for which this model is taken when none is named.
    default_for: tuple[str, ...] = ()
    #: The same for the model when it is released; if it is empty, for what this profile takes it.
    released_for: tuple[str, ...] = ()
    #: Its own defaults of the options of its services, {reply: {beam: 10}}, where they are not those of its run.
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    #: What a reader of its card must know, as Markdown.
    limits: str = ""
    preset: str
    network: Annotated[NetworkSettings[Any], Untyped]
    training: Annotated[TrainingConfig, Untyped]

    @property
    def encoding(self) -> str:
        """The encoding that its architecture reads."""
        return ARCHITECTURES[self.arch].encoding


class Scored(Preferring):
    """A system that writes texts for the records of one split, and its scoring."""

    paper: Name
    task: str
    preset: str
    dataset: str
    split: Literal["dev", "test"]
    #: The judge model: for a run, not the run's own model; for baselines, the judge of the runs beside them.
    lm: str
    #: A source that the metrics look words up in, as SHELF/SOURCE: WordNet for METEOR, couyun for rhyme and tone.
    lexicon: str
    decoder: Annotated[Decoder[Any, Any], Untyped]
    scoring: Annotated[Scoring, Untyped]
    samples: int = Field(ge=1, le=1000)
    seed: Seed


class Run(Scored):
    """One model decoded in one way, and scored. Its dataset has the vocabulary of the model."""

    title: str = ""
    model: str
    #: A run whose outputs guide this one, as PAPER/RUN.
    guidance: str
    #: The parses of this run's texts.
    annotation: str

    @property
    def guide(self) -> tuple[str, str] | None:
        """The paper and key of the run that guides this one; None if there is none."""
        paper, _, key = self.guidance.partition("/")
        return None if self.guidance == NONE else (paper, key)


class Baseline(Scored):
    """Rows of a paper's tables that need no trained model."""

    #: The dataset whose training split the n-gram model counts; None means `dataset` itself.
    train: str
    #: Parses the texts of the n-gram model, where texts are judged by their parses.
    parser: str
    #: A source with texts that others published for these records, as SHELF/SOURCE, and its files by the names of rows:
    #: one, or one for each sample.
    published: str
    texts: dict[Name, Inside | tuple[Inside, ...]] = Field(default_factory=dict)


class Catalogue(Strict):
    """The contents of sources.yaml."""

    sources: dict[Name, Source]
    #: The sources whose licences let anyone use and pass on models that learned from them, and no one's private texts
    #: are in them. It is no key of a source, since the download stages track those.
    free: tuple[Name, ...] = ()


class Params(Strict):
    """The contents of params.yaml."""

    root: Literal[".", "../.."]
    #: Where versions.yaml and sources.yaml are, as DVC spells it in its lock: never with "./".
    versions: Literal["pipeline/params/versions.yaml", "../../pipeline/params/versions.yaml"]
    catalogue: Literal["pipeline/params/sources.yaml", "../../pipeline/params/sources.yaml"]
    profile: Literal["nursery", "small", "paper"]
    #: Modules that add entries to the registries, as `pipeline/params/plugins.py` lists them.
    plugins: tuple[str, ...]
    sources: Sources
    parsers: dict[Name, ParserEntry]
    corpora: dict[Name, Corpus]
    datasets: Datasets
    presets: dict[Name, Preset]
    models: dict[Name, Model]
    runs: dict[Name, Run]
    baselines: dict[Name, Baseline]
    annotations: dict[Name, Annotation]
    protocols: dict[Name, Protocol] = Field(default_factory=dict)
    reports: tuple[Name, ...]

    def language_of(self, dataset: str) -> Language:
        """The language of a dataset, which is that of its corpus."""
        return self.corpora[self.datasets.every[dataset].corpus].language


def reads_of(view: object) -> tuple[str, ...]:
    """What a view reads of the text to come: structures, and "topic". Only views of SAT read any."""
    return getattr(view, "reads", ())


def vocabulary_of(datasets: Mapping[str, Dataset], key: str) -> str:
    """The dataset whose training split gives the vocabulary of dataset `key`. No `vocab_from` forms a cycle."""
    while (other := datasets[key].vocab_from) != NONE:
        key = other
    return key
