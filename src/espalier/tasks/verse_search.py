"""Decoding of verse in two modes, which differ in what the model predicts and what is copied from the frame.

free: words, marks, separators and the end mark are predicted.
frame: words and marks are predicted; separators, the end mark and literals are copied from the frame (released code).
`marks` also copies the punctuation; `rhyme` restricts the words of a rhyme letter to one rhyme group; `tone` restricts
words to the tone of their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from espalier.corpora.keys import key_of
from espalier.corpora.linked import linked
from espalier.datasets.ragged import Ragged
from espalier.datasets.verse.data import VerseBatch, VerseData, View
from espalier.datasets.verse.encode import VerseSettings
from espalier.datasets.verse.frames import frame_of
from espalier.datasets.vocabulary import SEP, UNK
from espalier.decoding.bounds import MAX_BEAM, MAX_LENGTH_POWER, MAX_TEMPERATURE, MAX_TOP_K
from espalier.io.errors import ConfigError
from espalier.io.hashing import seed_from
from espalier.models.contract import ChainModel, NetworkSettings
from espalier.tasks.data import Inputs, Ready, RunOptions
from espalier.tasks.settings import Decoder
from espalier.text.language import is_mark
from espalier.verse.books import Book, Books
from espalier.verse.ci_books import open_books
from espalier.verse.copies import read_copies
from espalier.verse.format import BLANK, RHYME, Format, format_of, with_copies
from espalier.verse.literals import keep_words, template_of, with_literals
from espalier.verse.sounds import Sounds
from espalier.verse.text import pattern_of, verse_of

if TYPE_CHECKING:
    from espalier.corpora.records import Verse
    from espalier.datasets.verse.vocabulary import VerseVocabulary
    from espalier.decoding.beam import Hypothesis
    from espalier.decoding.constraints.constraint import Constraint

    VerseModel: TypeAlias = ChainModel[VerseBatch, VerseVocabulary, View, Any]

#: The settings of `VerseDecoder` that are constraints, all of the mode `frame`.
CONSTRAINTS = ("marks", "rhyme", "tone")


class VerseDecoder(Decoder[NetworkSettings[View], VerseSettings]):
    """Settings of decoding verse: `decoder` of a run in params.yaml."""

    mode: Literal["free", "frame"] = "free"
    #: In `frame`: copy the punctuation as well.
    marks: bool = False
    #: In `frame`: all words of a rhyme letter are of one rhyme group.
    rhyme: bool = False
    #: In `frame`: the book that `rhyme` rhymes by; its tones are those of `tone`.
    book: Book = "mandarin"
    #: In `frame`: words have the tone of their place, where the format says one.
    tone: bool = False
    #: Whether the rare readings of Mandarin count for rhymes and tones.
    rare: bool = False
    #: The probability with which a format keeps a word of its poem; drawn once for each poem (polishing, section 3.3).
    literals: float = Field(0.0, ge=0, lt=1)
    method: Literal["top_k", "beam"] = "top_k"
    top_k: int = Field(32, ge=1, le=MAX_TOP_K)
    temperature: float = Field(1.0, gt=0, le=MAX_TEMPERATURE)
    beam: int = Field(5, ge=1, le=MAX_BEAM)
    length_power: float = Field(0.0, ge=0, le=MAX_LENGTH_POWER)
    #: In `free`: a text is at most this many tokens longer than its frame.
    slack: int = Field(8, ge=0, le=10_000)

    @property
    def needs_lexicon(self) -> bool:
        """Whether the decoder uses the rhymes or tones of a printed book."""
        return self.book != "mandarin"

    @property
    def by_tone(self) -> bool:
        """Whether tones count. In ci, those of the rhyme places always do: level and oblique words never rhyme."""
        return self.tone or (self.needs_lexicon and not self.literals)

    @property
    def extra_tokens(self) -> int:
        """The number of tokens by which a text may be longer than its frame."""
        return self.slack if self.mode == "free" else 0

    @property
    def prefixes(self) -> int:
        """The beam size; 1 for sampling."""
        return self.beam if self.method == "beam" else 1

    def check(self, network: NetworkSettings[View], dataset: VerseSettings, samples: int) -> None:
        """Check that texts fit, that free texts keep nothing of the frame, and that kept words are used."""
        kept = [name for name in CONSTRAINTS if getattr(self, name)]
        if self.mode == "free" and kept:
            raise ConfigError(f"free texts keep no {kept[0]}", where=f"decoder.{kept[0]}", remedy="mode: frame")
        if self.literals and self.tone:
            raise ConfigError("kept words have their own tones", where="decoder.tone", remedy="tone: false")
        if self.literals and self.mode == "free" and "c" not in getattr(network, "symbols", "c"):
            raise ConfigError(
                "the model reads no C symbols, and so no kept words", where="decoder.literals", remedy="mode: frame"
            )
        if (tokens := dataset.max_tokens + self.extra_tokens) > network.positions:
            raise ConfigError(
                f"texts of up to {tokens} tokens, of a model that has {network.positions} positions",
                where="decoder",
                remedy="raise the model's network.positions, or lower the dataset's max_tokens or decoder.slack",
            )

    def shown(self, network: NetworkSettings[View], samples: int, guidance: str | None) -> dict[str, Any]:
        """The settings to show. Settings that the method or mode does not use are None or left out."""
        beam = self.method == "beam"
        never = ["mode", *CONSTRAINTS, "book", "method", "top_k", "temperature" if beam else "length_power"]
        return {
            "protocol": self.mode,
            "decoder": "beam" if beam else "top-k",
            "k": None if beam else self.top_k,
            "beam": self.beam if beam else None,
            "constraints": [name for name in CONSTRAINTS if getattr(self, name)],
            **({} if self.book == "mandarin" else {"book": self.book}),
            **self.changed((), [*never, "beam", *([] if self.mode == "free" else ["slack"])]),
            "samples": samples if samples > 1 else None,
        }


def inputs_of(
    ready: Ready[Verse, VerseData], decoder: VerseDecoder, options: RunOptions
) -> Iterator[Inputs[VerseData, Hypothesis]]:
    """Each format `samples` times. Poems of one tune, and poems of one format, form one cluster."""
    books = None
    if decoder.needs_lexicon and options.lexicon is not None:
        books = open_books(options.lexicon).rhyme_books
    # The whole split decides which poems are in one cluster, and whether any has tones.
    clusters = clusters_of(ready.records)
    if decoder.tone and not any(getattr(record, "tones", "") for record in ready.records):
        remedy = "take a corpus that reads couyun: also_1: raw/forms"
        raise ConfigError("no record has tones", where="decoder.tone", remedy=remedy)
    for places, part in ready.parts(options.at_once):
        yield _inputs_of_part(part, [clusters[place] for place in places.tolist()], decoder, options, books)


def _inputs_of_part(
    ready: Ready[Verse, VerseData],
    clusters: Sequence[str],
    decoder: VerseDecoder,
    options: RunOptions,
    books: Books | None,
) -> Inputs[VerseData, Hypothesis]:
    language = ready.data.vocabulary.language
    data, templates = ready.data, [dict[str, str]() for _ in ready.records]
    if decoder.by_tone or decoder.literals:
        formats = _formats(ready, decoder, options.seed, books)
        data = _reframed(data, formats, ("tone", "copy", "letter") if decoder.by_tone else ("c", "letter"))
        if decoder.literals:
            templates = [{"template": template_of(format_)} for format_ in formats]
    rows = [
        [
            {
                "id": record.id,
                "cluster": cluster,
                "sample": sample,
                "tune": record.tune,
                "format": str(format_of(record.target, language, record.rhyme)),
                **template,
                "rhyme": record.rhyme,
                "reference": record.target,
            }
        ]
        for record, cluster, template in zip(ready.records, clusters, templates, strict=True)
        for sample in range(options.samples)
    ]
    prompts = np.repeat(np.arange(len(ready.records)), options.samples)
    if decoder.mode == "free":
        return Inputs(data, prompts, rows)
    constraint = verse_constraint(decoder, ready.data.vocabulary, books)

    def check() -> None:
        for place, id_ in enumerate(data.ids):
            try:
                constraint.start(data.batch(np.array([place]), View()))
            except ConfigError as error:
                raise ConfigError(error.what, where=f"record {id_}, {error.where}", remedy=error.remedy) from error

    return Inputs(data, prompts, rows, given={"books": books}, check=check)


def _formats(ready: Ready[Verse, VerseData], decoder: VerseDecoder, seed: int, books: Books | None) -> list[Format]:
    """The formats of the records, with their tones and some of their words.

    Unknown words are not kept. With `decoder.rhyme`, a unit loses its letter if its kept word has an unknown sound or
    does not rhyme with earlier ones.

    Raises:
        ConfigError: the numbers of tones (`tones`: one sign per word) and words differ.
    """
    vocabulary, language = ready.data.vocabulary, ready.data.vocabulary.language
    signs = [getattr(record, "tones", "") for record in ready.records]
    formats = [
        format_of(record.target, language, record.rhyme, tones)
        for record, tones in zip(ready.records, signs, strict=True)
    ]
    if decoder.by_tone:
        copies = [read_copies(getattr(record, "copies", "")) for record in ready.records]
        formats = list(map(with_copies, formats, copies))
    if not decoder.literals:
        return formats
    sounds = Sounds(language, decoder.book, books=books)

    def known(word: str) -> bool:
        return vocabulary.id_of(word) != UNK

    for place, record in enumerate(ready.records):
        rng = np.random.default_rng(seed_from(seed, record.id))
        kept = keep_words(formats[place], record.target, decoder.literals, rng, known)
        formats[place] = with_literals(kept, sounds, strict=False) if decoder.rhyme else kept
    return formats


def _reframed(data: VerseData, formats: Sequence[Format], names: Sequence[str]) -> VerseData:
    """The same verse with the given rows (`Frame`) replaced by those of other formats of equal length."""
    frames = [frame_of(format_, data.vocabulary) for format_ in formats]
    columns = {name: Ragged.of([getattr(frame, name) for frame in frames]) for name in names}
    return replace(data, columns=data.columns | columns)


def clusters_of(records: Iterable[Verse]) -> list[str]:
    """For each poem, the id of one poem of its cluster. Poems of one tune, or of one format, are in one cluster.

    A deterministic search writes the same text into all frames of one format, so further poems are not independent
    evidence. If all poems have one tune, as sonnets do, only the format counts.
    """
    ids, tunes, formats = list[str](), list[int](), list[int]()
    for record in records:  # as keys, of which a million have 100 MB
        ids.append(record.id)
        tunes.append(key_of("tune", record.family or record.tune))
        formats.append(key_of("format", pattern_of(record.target, record.language)))
    clusters = linked(len(ids), [*([tunes] if len(set(tunes)) > 1 else []), formats])
    return [ids[place] for place in clusters]


def verse_constraint(
    decoder: VerseDecoder, vocabulary: VerseVocabulary, books: Books | None = None
) -> Constraint[VerseBatch, Any]:
    """The constraint for the settings of a decoder.

    Args:
        books: source of the rhyme books other than Mandarin.

    Raises:
        ConfigError: the decoder's book is missing, or is for another language.
    """
    from espalier.decoding.constraints import frame, rhyme

    if decoder.mode == "free":
        return frame.MaximumLength(vocabulary, decoder.slack)
    sounds = Sounds(vocabulary.language, decoder.book, decoder.by_tone, books, decoder.rare)
    framed = frame.FrameConstraint(vocabulary, decoder.marks, sounds, rhymes_only=not decoder.tone)
    return rhyme.RhymeConstraint(framed) if decoder.rhyme else framed


def text_of(ids: Sequence[int], vocabulary: VerseVocabulary, format_: Format | None = None) -> str:
    """The verse of ids. With `format_`, its literals are written as given, even unknown ones."""
    units: list[list[str]] = [[]]
    for identity in ids:
        if identity == SEP:
            units.append([])
        else:
            units[-1].append(vocabulary.token(identity))
    if not units[-1]:
        units.pop()
    if format_ is not None:
        units = [
            [
                word if slot in (BLANK, RHYME) or (is_mark(slot) and word != vocabulary.token(UNK)) else slot
                for word, slot in zip(unit, slots, strict=False)
            ]
            for unit, slots in zip(units, format_.units, strict=False)
        ]
    return verse_of(units, vocabulary.language)
