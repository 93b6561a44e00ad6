"""Encodes tagged texts as tokens and structures (SAT, sections 3.2 and 4.3)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy.typing as npt
from pydantic import Field, field_validator

from espalier.corpora.records import Quarantined, Sentence
from espalier.datasets.encoding import Encoded, Encoding, Settings
from espalier.datasets.structure.data import StructureData
from espalier.datasets.structure.structures import STRUCTURES
from espalier.datasets.structure.vocabulary import TOPIC, UNKNOWN, StructureVocabulary
from espalier.datasets.vocabulary import UNK
from espalier.io.errors import ConfigError
from espalier.io.hashing import seed_from
from espalier.syntax.parsers.jieba_backend import keywords
from espalier.text.language import Language, tokens_of


class StructureSettings(Settings):
    """Settings for a tagged corpus as rows of tokens and symbols."""

    opposite: ClassVar[Mapping[str, str]] = {"max_length": "min_words"}

    #: The structures that models of the dataset can be given.
    structures: tuple[str, ...] = ("pc", "pos")
    #: Tokens that occur less often in training are unknown.
    min_count: int = Field(1, ge=1, le=100_000_000)
    #: The most tokens of a text; longer ones are quarantined.
    max_length: int = Field(ge=1, le=65_536)
    #: Largest number of topic words of a text, by jieba's TF-IDF; only for Chinese.
    topics: int = Field(0, ge=0, le=100)

    @property
    def needs(self) -> tuple[str, ...]:
        """The words and their tags."""
        return ("target_words", "target_tags")

    @field_validator("structures")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            try:
                STRUCTURES.find(name)
            except ConfigError as error:
                raise ValueError(str(error)) from error
        if len({*names}) < len(names):
            raise ValueError("a structure stands twice")
        return names


class StructureEncoding(Encoding[Sentence, StructureSettings, StructureVocabulary, StructureData]):
    """Tokens, symbols of their structures, topic words, and the length of the prompt."""

    settings, record, vocabulary, split = StructureSettings, Sentence, StructureVocabulary, StructureData

    def build_vocabulary(
        self, records: Sequence[Sentence], settings: StructureSettings, language: Language
    ) -> StructureVocabulary:
        """The tokens and symbols of the training texts.

        Raises:
            ConfigError: the language has no such structure, or no topic words.
        """
        for name in settings.structures:
            if language not in STRUCTURES[name].languages:
                raise ConfigError(f"{name} is not defined for {language}", where="structures", remedy="leave it out")
        if settings.topics and language != "zh":
            raise ConfigError("topic words are found in Chinese alone", where="topics", remedy="0")
        tokens = Counter[str]()
        symbols = {name: Counter[str]() for name in settings.structures}
        for words, tags in map(words_and_tags, records):
            tokens.update(token for word in words for token in word)
            for name, counts in symbols.items():
                counts.update(STRUCTURES[name].symbols(words, tags))
        return StructureVocabulary.build(tokens, symbols, language, min_count=settings.min_count)

    def encode(
        self, records: Sequence[Sentence], vocabulary: StructureVocabulary, settings: StructureSettings
    ) -> Encoded[StructureData]:
        """Encode the texts that fit. `facts["unknown_symbols"]` counts symbols that do not occur in training."""
        columns: dict[str, list[npt.ArrayLike]] = {name: [] for name in StructureData.names(vocabulary)}
        ids, places, quarantined = list[str](), list[int](), list[Quarantined]()
        unknown = 0
        for place, row in enumerate(records):
            words, tags = words_and_tags(row)
            tokens = [token for word in words for token in word]
            if not tags:
                reason = "no tag for each word"
            elif len(tokens) > settings.max_length:
                reason = f"over {settings.max_length} tokens"
            else:
                reason = ""
            if reason:
                quarantined.append(Quarantined(id=row.id, stage="linearize", reason=reason, text=row.target))
                continue
            places.append(place)
            ids.append(row.id)
            columns["target"].append(vocabulary.encode(tokens))
            columns["topic"].append(topic_of(row.target, settings.topics, vocabulary))
            columns["prompt"].append([prompt_length(row.id, len(tokens))])
            for name in vocabulary.structures:
                symbols = vocabulary.encode_symbols(name, STRUCTURES[name].symbols(words, tags))
                unknown += symbols.count(UNKNOWN)
                columns[name].append(symbols)
        data = StructureData.of(ids, columns, vocabulary)
        return Encoded(data, places, quarantined, {"unknown_symbols": unknown})

    def counts(self, split: StructureData) -> Mapping[str, float]:
        """The number of tokens, without end marks, and of unknown tokens."""
        target = split.columns["target"]
        return {"tokens": len(target.flat), "unknown": target.count(UNK)}

    def numbers(self, vocabulary: StructureVocabulary) -> Mapping[str, int]:
        """The number of tokens, and of symbols of each structure."""
        return {"words": len(vocabulary.words), **{name: len(table) for name, table in vocabulary.symbols.items()}}


def words_and_tags(row: Sentence) -> tuple[list[list[str]], list[str]]:
    """The tokens of each word of a text, and the tags of its words; both empty if their numbers differ."""
    words, tags = row.target_words.split(), row.target_tags.split()
    if not words or len(words) != len(tags):
        return [], []
    return [tokens_of(word, row.language) for word in words], tags


def prompt_length(id: str, tokens: int) -> int:
    """The prompt length of a text, uniform from 0 to half of its tokens (section 4.5), seeded by its id."""
    return seed_from("prompt", id) % (tokens // 2 + 1)


def topic_of(text: str, count: int, vocabulary: StructureVocabulary) -> list[int]:
    """The tokens of at most `count` topic words of a text, and `TOPIC`; empty if `count` is 0."""
    if not count:
        return []

    return topic_ids(keywords(text, count), vocabulary)


def topic_ids(words: Sequence[str], vocabulary: StructureVocabulary) -> list[int]:
    """The tokens of topic words, followed by `TOPIC`."""
    return [*vocabulary.encode([token for word in words for token in word]), TOPIC]
