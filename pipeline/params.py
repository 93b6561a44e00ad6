"""params.yaml as types: what may stand there, and that all references meet. A mistake names its key's path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from espalier.corpora.catalogue import Source
from espalier.corpora.filters import Filters
from espalier.corpora.records import RECORDS
from espalier.corpora.splits import Split
from espalier.io.errors import ConfigError
from espalier.syntax.parsers.registry import BACKENDS, TRAINED
from espalier.training.config import TrainingConfig
from pipeline.layout import NONE, PARAMS
from pipeline.validation import validated

T = TypeVar("T")
Seed = Annotated[int, Field(ge=0)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1)]


class Strict(BaseModel):
    """Unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ParserEntry(Strict):
    """A parser or tagger: off the shelf (`model` names it), or trained here (`treebank` names a corpus)."""

    language: Literal["zh", "en"]
    backend: str
    model: str
    treebank: str
    seed: Seed
    #: Keywords of the backend's loader, such as {words: jieba}.
    options: dict[str, Any]
    training: dict[str, Any]


class Annotation(Strict):
    """A run's texts, parsed again."""

    paper: str
    run: str
    parser: str


class Corpus(Strict):
    """The rows that all systems of one task share."""

    task: Literal["verse", "sentences", "pairs"]
    language: Literal["zh", "en"]
    #: A reader of published files, or a nursery that grows its rows.
    reader: str
    options: dict[str, Any]
    source_1: str
    source_2: str
    source_3: str
    source_4: str
    source_5: str
    source_6: str
    source_7: str
    source_8: str
    source_9: str
    parser: str
    filters: Filters
    split: Split

    @property
    def sources(self) -> dict[str, str]:
        """What stands in each of its slots for a source."""
        return {f"source_{slot}": getattr(self, f"source_{slot}") for slot in range(1, 10)}


class VerseDataset(Strict):
    """A verse corpus as symbol rows."""

    form: Literal["verse"]
    corpus: str
    #: A dataset whose vocabulary this one shares; it must, to fine-tune a model of that one.
    vocab_from: str
    #: Rarer words are unknown.
    min_count: int = Field(1, ge=1)
    #: How many segment symbols S and intra-position symbols P there are; longer poems are put aside.
    units: int = Field(ge=1)
    length: int = Field(ge=1)
    #: Longest frame, separators and end mark counted.
    max_tokens: int = Field(ge=3)


class PairDataset(Strict):
    """A corpus of pairs with trees as rows of word pieces and of tree symbols (GuiG, section 4.1)."""

    form: Literal["paraphrase"]
    corpus: str
    #: A dataset whose vocabulary this one shares.
    vocab_from: str
    #: Word pieces of the vocabulary, specials included.
    pieces: int = Field(16_000, ge=10)
    #: Levels of a tree; what is deeper is cut.
    depth: int = Field(8, ge=1)
    #: A pair is put aside if a side has fewer or more word pieces, or its tree nodes, than these.
    least: int = Field(3, ge=1)
    most: int = Field(50, ge=1)
    lower: bool = True
    #: Whether training reads each pair the other way round as well.
    both_directions: bool = True


class DialogueDataset(Strict):
    """Posts and responses as words, and responses as canonical trees of words (X2Tree)."""

    form: Literal["dialogue"]
    corpus: str
    #: A dataset whose vocabulary this one shares.
    vocab_from: str
    #: The words of the vocabulary: at most so many, and no more than cover this share of all that are said.
    words: int = Field(28_000, ge=1)
    coverage: float = Field(1.0, gt=0, le=1)
    #: A pair is put aside if a side has fewer or more words than these.
    least: int = Field(1, ge=1)
    most: int = Field(50, ge=1)
    #: Or if a larger share of a side is unknown.
    unknown: float = Field(1.0, ge=0, le=1)
    #: Whether trees that are not projective are made so, or put aside.
    lift: bool = True


Dataset = VerseDataset | PairDataset | DialogueDataset
#: The task of the corpora that each form is made of.
TASKS = {"verse": "verse", "paraphrase": "pairs", "dialogue": "pairs"}


class Datasets(Strict):
    """Two ways to make a corpus ready: as sequences, or as canonical trees. A key stands under one of them."""

    linearize: dict[str, Annotated[VerseDataset | PairDataset, Field(discriminator="form")]]
    canonicalize: dict[str, DialogueDataset]

    @model_validator(mode="after")
    def _once(self) -> Self:
        if twice := sorted(self.linearize.keys() & self.canonicalize.keys()):
            raise ValueError(f"{', '.join(twice)} stands under linearize and under canonicalize; rename one")
        return self

    @property
    def every(self) -> dict[str, Dataset]:
        """All of them, by key."""
        return {**self.linearize, **self.canonicalize}


class Model(Strict):
    """An architecture with its numbers, trained on one dataset."""

    paper: str
    title: str = ""
    arch: str
    dataset: str
    #: A model whose weights this one starts from.
    init: str
    seeds: Seeds
    #: Commands and languages ("generate.zh") for which this model is taken when none is named.
    default_for: tuple[str, ...] = ()
    network: dict[str, Any]
    training: dict[str, Any]


class Run(Strict):
    """One model decoded one way and scored against its corpus."""

    paper: str
    title: str = ""
    #: What is decoded and scored: `pipeline/<form>/`.
    form: Literal["verse", "paraphrase", "dialogue"]
    model: str
    corpus: str
    split: Literal["dev", "test"]
    guidance: str
    annotation: str
    lm: str
    decoder: dict[str, Any]
    samples: int = Field(ge=1)
    seed: Seed
    #: Which rules judge the format of verse (SongNet, section 4.3).
    rules: Literal["none", "songci", "sonnet"]
    #: A source with WordNet, for METEOR's synonyms.
    lexicon: str


class Catalogue(Strict):
    """All of sources.yaml."""

    sources: dict[str, Source]


class Params(Strict):
    """All of params.yaml."""

    root: Literal[".", "../.."]
    #: Where versions.yaml is, as DVC spells it in its lock: never with "./".
    versions: Literal["versions.yaml", "../../versions.yaml"] = "versions.yaml"
    profile: Literal["nursery", "small", "paper"]
    sources: dict[str, Source]
    parsers: dict[str, ParserEntry]
    corpora: dict[str, Corpus]
    datasets: Datasets
    models: dict[str, Model]
    runs: dict[str, Run]
    annotations: dict[str, Annotation]
    reports: tuple[str, ...]

    @model_validator(mode="before")
    @classmethod
    def _without_shared_blocks(cls, value: Any) -> Any:
        """Keys that start with a dot hold YAML anchors; they configure nothing themselves."""
        return (
            {key: item for key, item in value.items() if not key.startswith(".")} if isinstance(value, dict) else value
        )

    def check(self) -> Params:
        """Every reference meets something, and every training is one that can be run.

        Networks and decoders are for the stages that build them: their types need torch, and this needs no second.

        Raises:
            ConfigError: naming the key's path and what is allowed there.
        """
        for key, parser in self.parsers.items():
            _meets(f"parsers.{key}.treebank", parser.treebank, self.corpora)
            _check_parser(f"parsers.{key}", parser, self.corpora)
        for key, corpus in self.corpora.items():
            for slot, source in corpus.sources.items():
                _meets(f"corpora.{key}.{slot}", source, self.sources)
            _meets(f"corpora.{key}.parser", corpus.parser, self.parsers)
            corpus.filters.check(RECORDS[corpus.task], where=f"corpora.{key}.filters")
        for way, datasets in (("linearize", self.datasets.linearize), ("canonicalize", self.datasets.canonicalize)):
            for key, dataset in datasets.items():
                _check_dataset(f"datasets.{way}.{key}", dataset, self.corpora, datasets)
        for key, model in self.models.items():
            _meets(f"models.{key}.dataset", model.dataset, self.datasets.every, optional=False)
            _meets(f"models.{key}.init", model.init, self.models)
            validated(TrainingConfig, model.training, f"models.{key}.training")
        for key, run in self.runs.items():
            _meets(f"runs.{key}.model", run.model, self.models, optional=False)
            _meets(f"runs.{key}.corpus", run.corpus, self.corpora, optional=False)
            _check_form(f"runs.{key}", run, self)
            _check_guidance(f"runs.{key}.guidance", run, self.runs)
            _meets(f"runs.{key}.annotation", run.annotation, self.annotations)
            _meets(f"runs.{key}.lm", run.lm, self.models)
            _meets(f"runs.{key}.lexicon", run.lexicon, self.sources)
        for key, annotation in self.annotations.items():
            _meets(f"annotations.{key}.run", annotation.run, self.runs, optional=False)
            _meets(f"annotations.{key}.parser", annotation.parser, self.parsers, optional=False)
            if annotation.paper != (paper := self.runs[annotation.run].paper):
                raise ConfigError(
                    f"run {annotation.run} is of paper {paper}", where=f"annotations.{key}.paper", remedy=paper
                )
        return self


def _check_dataset(path: str, dataset: Dataset, corpora: Mapping[str, Corpus], others: Mapping[str, Dataset]) -> None:
    """A corpus of its task, and a vocabulary of its kind."""
    _meets(f"{path}.corpus", dataset.corpus, corpora, optional=False)
    _of_task(f"{path}.corpus", dataset.corpus, corpora, dataset.form)
    _meets(f"{path}.vocab_from", dataset.vocab_from, others)


def _of_task(path: str, key: str, corpora: Mapping[str, Corpus], form: str) -> None:
    if (task := corpora[key].task) != TASKS[form]:
        raise ConfigError(f"corpus {key} is of task {task}", where=path, remedy=f"a corpus of task {TASKS[form]}")


def _check_form(path: str, run: Run, params: Params) -> None:
    """A model that writes this form, and a corpus of its task."""
    if (form := params.datasets.every[params.models[run.model].dataset].form) != run.form:
        what = f"model {run.model} writes the form {form}"
        raise ConfigError(what, where=f"{path}.model", remedy=f"one that writes {run.form}")
    _of_task(f"{path}.corpus", run.corpus, params.corpora, run.form)


def _check_guidance(path: str, run: Run, runs: Mapping[str, Run]) -> None:
    """Another run of its corpus and split, as PAPER/RUN: that is where its outputs lie."""
    _meets(path, run.guidance, {f"{each.paper}/{key}": each for key, each in runs.items()})
    if run.guidance == NONE:
        return
    other = runs[run.guidance.split("/")[1]]
    if (other.corpus, other.split, other.samples) != (run.corpus, run.split, run.samples):
        raise ConfigError(
            f"run {run.guidance} has another corpus, split or number of samples",
            where=path,
            remedy="give both the same",
        )


def _check_parser(path: str, parser: ParserEntry, corpora: Mapping[str, Corpus]) -> None:
    """One model, from one place; and a treebank that no parser has to make first."""
    if parser.backend not in BACKENDS:
        raise ConfigError.unknown("backend", parser.backend, BACKENDS, where=f"{path}.backend")
    named, trained = parser.model != NONE, parser.treebank != NONE
    if BACKENDS[parser.backend] and named == trained:
        raise ConfigError(
            "both a model and a treebank" if named else "neither a model nor a treebank",
            where=path,
            remedy="model: a name or a path, off the shelf; or treebank: a corpus to train on; the other is none",
        )
    if not BACKENDS[parser.backend] and (named or trained):
        raise ConfigError(f"{parser.backend} takes no model", where=path, remedy="model and treebank: none")
    if trained and parser.backend not in TRAINED:
        raise ConfigError(
            f"{parser.backend} is not trained here", where=f"{path}.treebank", remedy=f"one of {', '.join(TRAINED)}"
        )
    if trained and (task := corpora[parser.treebank].task) == "verse":
        raise ConfigError(
            f"corpus {parser.treebank} is of task {task}", where=f"{path}.treebank", remedy="one of sentences or pairs"
        )
    if trained and corpora[parser.treebank].parser != NONE:
        raise ConfigError(
            f"the trees of corpus {parser.treebank} are a parser's own", where=f"{path}.treebank", remedy="gold trees"
        )


def load_params(path: Path = PARAMS) -> Params:
    """Read and check a params.yaml.

    Raises:
        ConfigError: it is missing, is not YAML, or anything in it cannot be.
    """
    value = _mapping(path)
    catalogue = path.with_name("sources.yaml")
    if catalogue.exists():
        listed = _mapping(catalogue)
        validated(Catalogue, listed, str(catalogue))  # for its own file's name in the message
        value |= listed
    return validated(Params, value, str(path)).check()


def _mapping(path: Path) -> dict[str, Any]:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            "no such file", where=path, remedy="run in the project's root or a profile's folder"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"not YAML ({error})", where=path) from error
    if not isinstance(value, dict):
        raise ConfigError("not a mapping of keys to values", where=path, remedy="write KEY: VALUE lines")
    return value


def _meets(path: str, name: str, allowed: Mapping[str, Any], *, optional: bool = True) -> None:
    if name in allowed or (optional and name == NONE):
        return
    raise ConfigError.unknown("reference", name, [*allowed, NONE] if optional else allowed, where=path)


def entry(kind: str, entries: Mapping[str, T], key: str) -> T:
    """The entry of that key.

    Raises:
        ConfigError: there is none; says which there are.
    """
    if key not in entries:
        raise ConfigError.unknown(kind, key, entries)
    return entries[key]
