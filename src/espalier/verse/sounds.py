"""The rhyme book, and whether tones count: one setting for formats, frames and constraints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from espalier.io.errors import ConfigError
from espalier.text.language import Language
from espalier.verse.books import Book, Books, not_passed, part_of
from espalier.verse.mandarin import Tone, mandarin_characters, mandarin_groups, mandarin_readings, mandarin_tones
from espalier.verse.rhyme import group_name


@dataclass(frozen=True)
class Sounds:
    """The rhymes and tones of words by a book.

    Attributes:
        book: the rhyme book. Tones are those of Pingshui yun, with the entering tone; "mandarin" has its own tones.
        tone: whether words must have the tones of their places.
        books: source of the books other than Mandarin.
        rare: whether the rare readings of Mandarin count as well.

    Raises:
        ConfigError: the book is unknown, or the language has no books.
    """

    language: Language
    book: Book = "mandarin"
    tone: bool = False
    books: Books | None = field(default=None, hash=False)
    rare: bool = False

    def __post_init__(self) -> None:
        if self.language != "zh" and (self.book != "mandarin" or self.tone):
            what = "tones" if self.book == "mandarin" else f"the rhyme book {self.book}"
            raise ConfigError(f"{what} for another language than Chinese", where="tone" if self.tone else "book")
        if self.books is None and self.book != "mandarin":
            raise not_passed(f"the rhyme book {self.book} is")

    def groups(self, word: str, tone: str = "", *, every: bool = False) -> frozenset[str]:
        """The rhyme groups of a word's readings; with `tone`, of the readings that can have it.

        In printed books, and if tones count, every reading counts. In Mandarin without tones, only the commonest
        reading counts, as in the metrics. If tones count, Mandarin groups include the tone like those of Cilin
        ("ang平"), so that tone and rhyme come from the same reading.

        Args:
            tone: 平 or 仄. Any other value selects all groups, and so does a book whose groups have no tone.
            every: whether every reading always counts.
        """
        if self.language != "zh" or (self.book == "mandarin" and not self.tone and not every):
            name = group_name(word, self.language)
            return frozenset() if name is None else frozenset([name])
        if self.books is not None and self.book != "mandarin":
            groups = self.books.groups(word, self.book)
        else:
            groups = (mandarin_readings if self.tone else mandarin_groups)(word, rare=self.rare)
        return frozenset(group for group in groups if self.has_tone(group, tone))

    def tones(self, word: str) -> frozenset[Tone]:
        """The tones of a word's readings."""
        if self.books is not None and self.book != "mandarin":
            return self.books.tones(word)
        return mandarin_tones(word, rare=self.rare)

    def words(self) -> Iterable[str]:
        """All Chinese words that the book has."""
        if self.books is not None and self.book != "mandarin":
            return self.books.characters(self.book)
        return mandarin_characters()

    def has_tone(self, group: str, tone: str) -> bool:
        """Whether the words of a group have a tone."""
        if tone not in ("平", "仄") or (self.book == "mandarin" and not self.tone):
            return True
        return ("平" in group) == (tone == "平")

    @property
    def has_parts(self) -> bool:
        """Whether a level and an oblique group can rhyme with each other."""
        return self.book == "cilin" or (self.book == "mandarin" and self.tone)

    def by_part(self, turns: bool) -> bool:
        """Whether the words of a letter rhyme if they share a part instead of a group.

        In Cilin this holds if the letter has level and oblique places (`turns`), in Mandarin always.
        """
        return self.has_parts and (turns or self.book == "mandarin")

    def rhyme_key(self, group: str, turns: bool) -> str:
        """The sound that words of a letter must share: their group, or its part (`by_part`)."""
        return part_of(group) if self.by_part(turns) else group
