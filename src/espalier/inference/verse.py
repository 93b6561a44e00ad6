"""Verse in given formats (SongNet)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from espalier.datasets.verse.data import VerseData, View
from espalier.datasets.verse.encode import title_of
from espalier.datasets.verse.frames import Frame, frame_of
from espalier.datasets.vocabulary import UNK
from espalier.frames.forms import no_format
from espalier.frames.script import NOTE, read_as
from espalier.frames.tune_names import is_tune, tune_name
from espalier.inference.requests import VerseOptions, VerseRequest
from espalier.inference.results import Poem
from espalier.inference.sampling import SamplingWriter
from espalier.inference.writer import InferenceWarning, argument, attempt, note_unknown
from espalier.io.errors import ConfigError, EspalierError
from espalier.tasks.verse import VerseTask
from espalier.tasks.verse_search import VerseDecoder, text_of, verse_constraint
from espalier.text.language import is_mark
from espalier.verse.books import Books, not_passed
from espalier.verse.format import Format
from espalier.verse.grammar import parse_format
from espalier.verse.rhyme_groups import rhyme_groups
from espalier.verse.slots import BLANKS, RHYME
from espalier.verse.sounds import Sounds
from espalier.verse.text import rhyme_place
from espalier.verse.tones import blanks_of
from espalier.verse.tune_book import TuneBook
from espalier.verse.tunes import Tune, tune, tunes
from espalier.verse.variants import Variant

if TYPE_CHECKING:
    from espalier.datasets.verse.encode import VerseSettings
    from espalier.datasets.verse.vocabulary import VerseVocabulary
    from espalier.inference.loaded import LoadedModel


@dataclass(frozen=True)
class VerseJob:
    """A request that can be answered.

    Attributes:
        row: its index among all requests, on which random draws depend.
    """

    request: VerseRequest
    row: int
    format: Format
    frame: Frame


@dataclass(frozen=True)
class VerseWriter(VerseOptions, SamplingWriter[VerseRequest, VerseJob, Poem]):
    """Fills formats with words.

    Attributes:
        books: source of the books other than Mandarin (`espalier.verse.books.read_books`); None for the model's own.
        tunes: the variants of tunes, for a tune with a variant, tones or another book; None for the model's own.
    """

    system: LoadedModel[VerseVocabulary, View, VerseSettings]
    books: Books | None = None
    tunes: TuneBook | None = None

    inputs: ClassVar[str] = "formats"
    request_type = VerseRequest

    def __post_init__(self) -> None:
        super().__post_init__()
        with argument("tone" if self.system.language != "zh" and self.tone else "book"):
            self.sounds  # noqa: B018  # raises where the book is not given

    @property
    def decoder(self) -> VerseDecoder:
        """The settings of the task for these options."""
        return VerseDecoder(
            mode="free" if self.free else "frame",
            marks=not self.free,
            rhyme=not self.free,
            book=self.book,
            tone=self.tone,
            rare=self.rare,
            **self.search_settings,
        )

    @property
    def sounds(self) -> Sounds:
        """The rhymes of words by the book."""
        return Sounds(self.system.language, self.book, self.tone, self._rhyme_books, self.rare)

    @property
    def _rhyme_books(self) -> Books | None:
        """`books`, else those of the model; None for Mandarin, which needs none."""
        if self.books is None and self.book != "mandarin" and self.system.books:
            return self.system.books.rhyme_books
        return self.books

    @property
    def _tune_book(self) -> TuneBook | None:
        """`tunes`, else those of the model."""
        return self.tunes or (self.system.books.tunes if self.system.books else None)

    def read(self, requests: Sequence[VerseRequest]) -> list[VerseJob | EspalierError]:
        """Formats as frames for which the model has symbols and positions."""
        simple = [self._simple(request) for request in requests]
        rows = attempt(enumerate(simple), self._job)
        if any(isinstance(row, VerseJob) and row.request != requests[row.row] for row in rows):
            warnings.warn(NOTE, InferenceWarning, stacklevel=2)
        if not self.system.view.title and any(isinstance(row, VerseJob) and row.request.tune for row in rows):
            what = f"model {self.system.name} does not read the names of tunes; a tune gives its format alone"
            warnings.warn(what, InferenceWarning, stacklevel=2)
        return rows

    def _simple(self, request: VerseRequest) -> VerseRequest:
        """A request in Simplified characters, but for those that the model knows."""
        if self.system.language != "zh":
            return request
        vocabulary = self.system.vocabulary

        def simple(text: str | None) -> str | None:
            return read_as(text, lambda character: vocabulary.id_of(character) != UNK) if text else text

        tune = simple(request.tune)
        known = tune is None or is_tune(tune, self._tune_book)
        return replace(
            request,
            format=simple(request.format),
            acrostic=simple(request.acrostic),
            tune=tune if known else request.tune,
        )

    def _job(self, numbered: tuple[int, VerseRequest]) -> VerseJob:
        row, request = numbered
        try:
            format_ = self.format_of(request)
            frame = frame_of(format_, self.system.vocabulary, self.sounds)
            if (tokens := len(frame) + self.decoder.extra_tokens) > self.system.positions:
                remedy = f"this model writes at most {self.system.positions}"
                raise ConfigError(f"a format of {tokens} tokens", where="format", remedy=remedy)
            data = VerseData.of([""], [frame], self.system.vocabulary)
            verse_constraint(self.decoder, self.system.vocabulary, self._rhyme_books).start(
                data.batch(np.array([0]), View())
            )
        except ConfigError as error:
            if not request.name:
                raise
            raise ConfigError(error.what, where=f"{request.name}, {error.where}", remedy=error.remedy) from error
        return VerseJob(request, row, format_, frame)

    def format_of(self, request: VerseRequest) -> Format:
        """The format of a request; the tune's format if none is given.

        Raises:
            ConfigError: the string is not a format.
        """
        if empty := next((name for name in ("acrostic", "tones") if getattr(request, name) == ""), None):
            raise ConfigError("is empty", where=empty, remedy="leave it out")
        text, rhyme, tones = request.format, request.rhyme, request.tones or ""
        copies: tuple[tuple[int, int], ...] = ()
        if request.variant is not None and request.tune is None:
            raise ConfigError("a variant is given, but no tune", where="variant", remedy="give its tune")
        if request.variant is not None and text is not None:
            raise ConfigError("a variant beside a format", where="variant", remedy="leave out one of them")
        if request.acrostic and self.free:
            raise ConfigError("free texts keep no acrostic", where="acrostic", remedy="leave it out")
        if request.tune is not None and self.system.language != "zh":
            raise ConfigError("tunes are of Chinese verse", where="tune", remedy="give a format")
        if text is None and request.tune is not None:
            named = self._variant(request.tune, request.variant)
            text, rhyme, copies = named.pattern, rhyme or named.rhyme, named.copies
            if isinstance(named, Variant):
                tones = tones or named.tones
        elif text is None and tones:
            text = blanks_of(tones)
        if text is None:
            raise ConfigError("no format is given", where="format", remedy="give one, or a tune or tones")
        if error := no_format(text):
            raise error
        if request.tones and not self.tone:
            raise ConfigError("tones are given, but tone is off", where="tones", remedy="set tone as well")
        if self.tone and not tones:
            remedy = "give them: 仄仄平平仄; or give a tune and no format, since a tune has its own"
            raise ConfigError("the format has no tones", where="tone", remedy=remedy)
        return parse_format(
            text, self.system.language, rhyme,
            tones=tones, acrostic=request.acrostic or "", copies=copies, sounds=self.sounds,
        )  # fmt: skip

    def _variant(self, name: str, number: int | None) -> Variant | Tune:
        """A variant of a tune; the form in the catalogue unless a variant, tones or a book is requested.

        Raises:
            ConfigError: no tune has this name, the tune has no such variant, or the book of tunes is not given.
        """
        name = tune_name(name)
        catalogued = number is None and not self.tone and self.book == "mandarin"
        if catalogued and name in tunes():
            return tune(name)
        if (book := self._tune_book) is None:
            if catalogued:
                return tune(name)  # raises, and says which names there are
            raise not_passed("the variants of tunes are", where="tune")
        return book.variant(name, number)

    def write(self, jobs: Sequence[VerseJob]) -> Iterator[tuple[VerseRequest, Poem]]:
        """`n` texts for each format."""
        system = self.system
        slots = {
            slot for job in jobs for unit in job.format.units for slot in unit if not (slot in BLANKS or is_mark(slot))
        }
        unknown = {slot for slot in slots if system.vocabulary.id_of(slot) == UNK}
        heard = dict(pair for job in jobs for pair in _heard(job, system.vocabulary))
        readings = [f"{word} as {heard[word]}, which rhymes with it" for word in sorted(heard)]
        if others := sorted(unknown - heard.keys()):
            readings.append(f"{' '.join(others)} as unknown" if heard else "as unknown")
        kept = "" if self.free else "kept as written, "
        note_unknown(sorted(unknown), system.name, read=f"; {kept}read {' and '.join(readings)}")
        sounds = self.sounds
        if without := sorted({word for job in jobs for word in _without_group(job, sounds)}):
            what = f"{self.book} has no rhyme group of {' '.join(without)}; its unit rhymes with none"
            warnings.warn(what, InferenceWarning, stacklevel=2)
        titles = [title_of(job.request.tune or "", system.vocabulary) for job in jobs]
        formats, frames = [str(job.format) for job in jobs], [job.frame for job in jobs]
        data = VerseData.of(formats, frames, system.vocabulary, titles=titles)
        for part in self.hypotheses(jobs, data, VerseTask(), books=self._rhyme_books):
            for job, sample, hypotheses in part:
                for rank, ids in enumerate([hypothesis.tokens for hypothesis in hypotheses] or [[]]):
                    yield job.request, self._poem(job, ids, sample + rank)

    def _poem(self, job: VerseJob, ids: Sequence[int], sample: int) -> Poem:
        text = text_of(ids, self.system.vocabulary, None if self.free else job.format)
        format_, groups = job.format, rhyme_groups(text, job.format, self.sounds)
        return Poem(
            text,
            str(format_),
            format_.rhyme,
            job.request.tune or "",
            self.seed,
            sample,
            format_.tones,
            groups,
            self._stanza(job.request),
            self._rules(job),
        )

    def _rules(self, job: VerseJob) -> dict[str, str | int]:
        """What the texts of a job are to keep; of free texts, what they are compared with."""
        request, format_ = job.request, job.format
        rules: dict[str, str | int | None]
        if request.tune and not (self.free or request.format or request.rhyme or request.tones):
            rules = {"tune": request.tune, "variant": request.variant, "tone": self.tone, "book": self.book}
            rules["acrostic"] = request.acrostic
        else:
            rules = {"format": str(format_), "rhyme": format_.rhyme.strip(".") and format_.rhyme}
            rules |= {"tones": format_.tones} if self.tone else {}
            if self.system.language == "zh" and (rules["rhyme"] or self.tone):
                rules["book"] = self.book
        if "book" in rules:
            rules["rare"] = self.rare
        return {name: value for name, value in rules.items() if value}

    def _stanza(self, request: VerseRequest) -> int:
        """The units of the first of two stanzas, of a request that has the format of its tune; else 0."""
        if self.free or request.tune is None or request.format is not None:
            return 0
        named = self._variant(request.tune, request.variant)
        return named.stanza if isinstance(named, Tune) else book.stanza(named) if (book := self._tune_book) else 0


def _heard(job: VerseJob, vocabulary: VerseVocabulary) -> Iterator[tuple[str, str]]:
    """Unknown literals at rhyme places, each with the word of the same sound that the model reads instead."""
    start = 0
    for unit, places in zip(job.format.units, job.format.rhyme_places, strict=True):
        for place in places:
            word, identity = unit[place], int(job.frame.c[start + place])
            if word not in BLANKS and vocabulary.id_of(word) == UNK != identity:
                yield word, vocabulary.token(identity)
        start += len(unit) + 1  # the separator


def _without_group(job: VerseJob, sounds: Sounds) -> Iterator[str]:
    """Literals at ends of units that lose their default rhyme letter, since the book does not have them."""
    if job.request.rhyme is not None or job.request.format is None or RHYME in job.request.format:
        return
    for unit, letter in zip(job.format.units, job.format.rhyme, strict=True):
        place = rhyme_place(unit)
        if letter == "." and place is not None and unit[place] not in BLANKS and not sounds.groups(unit[place]):
            yield unit[place]


class PolishWriter(VerseWriter):
    """Fills the blanks of formats that keep some words (SongNet, table 6)."""

    inputs: ClassVar[str] = "templates"

    def format_of(self, request: VerseRequest) -> Format:
        """The format of a request, which must have blanks.

        Raises:
            ConfigError: the string is not a format, or has no blanks.
        """
        text = request.format
        if text and not set("_#＿＃") & set(text):
            raise ConfigError(
                f"'{text[:40]}' has no blanks", where="template", remedy="write _ for each word to find, # for a rhyme"
            )
        return super().format_of(request)
