"""Encodes verse as frames, targets and titles (SongNet, sections 3.1 and 3.2)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from espalier.corpora.records import Quarantined, Verse
from espalier.datasets.encoding import Encoded, Encoding, Settings
from espalier.datasets.verse.data import VerseData
from espalier.datasets.verse.frames import Frame, frame_of, target_of
from espalier.datasets.verse.vocabulary import MAX_SYMBOLS, VerseVocabulary
from espalier.datasets.vocabulary import UNK
from espalier.io.errors import ConfigError
from espalier.text.language import Language, tokens_of
from espalier.verse.format import format_of
from espalier.verse.text import units_of


class VerseSettings(Settings):
    """Settings for a verse corpus as rows of symbols."""

    opposite: ClassVar[Mapping[str, str]] = {"units": "min_units", "max_tokens": "min_tokens"}

    #: Words that occur less often are unknown.
    min_count: int = Field(1, ge=1, le=100_000_000)
    #: The numbers of segment symbols S and of intra-position symbols P; longer poems are quarantined.
    units: int = Field(ge=1, le=MAX_SYMBOLS)
    length: int = Field(ge=1, le=MAX_SYMBOLS)
    #: The longest frame, separators and end mark included.
    max_tokens: int = Field(ge=3, le=65_536)
    #: Whether the vocabulary has symbols for the tone of each place (T; ours).
    tones: bool = False


class VerseEncoding(Encoding[Verse, VerseSettings, VerseVocabulary, VerseData]):
    """Frames, targets and titles of poems."""

    settings, record, vocabulary, split = VerseSettings, Verse, VerseVocabulary, VerseData

    def build_vocabulary(
        self, records: Sequence[Verse], settings: VerseSettings, language: Language
    ) -> VerseVocabulary:
        """The words of the training poems."""
        tokens = (token for row in records for unit in units_of(row.target) for token in tokens_of(unit, language))
        return VerseVocabulary.build(
            tokens,
            language,
            min_count=settings.min_count,
            units=settings.units,
            length=settings.length,
            tones=settings.tones,
        )

    def encode(
        self, records: Sequence[Verse], vocabulary: VerseVocabulary, settings: VerseSettings
    ) -> Encoded[VerseData]:
        """Encode the poems that fit as frames, targets and titles."""
        ids, frames, targets, titles = [], [], [], []
        places, quarantined = list[int](), list[Quarantined]()
        for place, row in enumerate(records):
            frame = _frame(row, vocabulary, settings.max_tokens)
            if isinstance(frame, str):
                quarantined.append(Quarantined(id=row.id, stage="linearize", reason=frame, text=row.target))
                continue
            places.append(place)
            ids.append(row.id)
            frames.append(frame)
            targets.append(target_of(row.target, vocabulary))
            titles.append(title_of(row.tune, vocabulary))
        return Encoded(VerseData.of(ids, frames, vocabulary, targets=targets, titles=titles), places, quarantined)

    def counts(self, split: VerseData) -> Mapping[str, float]:
        """The number of tokens, and of unknown words."""
        return {"tokens": int(split.lengths.sum()), "unknown": split.columns["target"].count(UNK)}

    def numbers(self, vocabulary: VerseVocabulary) -> Mapping[str, int]:
        """The number of words."""
        return {"words": len(vocabulary.words)}


def title_of(tune: str, vocabulary: VerseVocabulary) -> list[int]:
    """The name of a tune as ids, cut to the vocabulary's number of positions."""
    return vocabulary.encode(tokens_of(tune.lower(), vocabulary.language)[: vocabulary.length])


def _frame(row: Verse, vocabulary: VerseVocabulary, max_tokens: int) -> Frame | str:
    """The frame of a poem, or the reason why it has none."""
    try:
        format_ = format_of(row.target, vocabulary.language, row.rhyme, row.tones)
    except ConfigError:
        return "tones that do not fit its words"
    try:
        frame = frame_of(format_, vocabulary)
    except ConfigError:
        return f"over {vocabulary.units} units or {vocabulary.length} tokens a unit"
    return frame if len(frame) <= max_tokens else f"over {max_tokens} tokens"
