"""The book that words rhyme by, and whether their tones count: one choice for formats, frames and constraints."""

from __future__ import annotations

from dataclasses import dataclass, field

from espalier.io.errors import ConfigError
from espalier.text.language import Language
from espalier.verse.books import Book, Books, Tone, mandarin_books, not_passed, part_of
from espalier.verse.rhyme import group_name


@dataclass(frozen=True)
class Sounds:
    """What words rhyme with, and their tones.

    Attributes:
        book: whose rhymes. Its tones are those of Pingshui yun, with the entering tone; Mandarin's are its own.
        tone: whether words must have the tones of their places.
        books: where other books than Mandarin are read from. Without them a character rhymes by its commonest reading,
            with them by any.

    Raises:
        ConfigError: there is no such book, or a language without books is given one.
    """

    language: Language
    book: Book = "mandarin"
    tone: bool = False
    books: Books | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.language != "zh" and (self.book != "mandarin" or self.tone):
            what = "tones" if self.book == "mandarin" else f"the rhyme book {self.book}"
            raise ConfigError(f"{what} for another language than Chinese", where="tone" if self.tone else "book")
        if self.books is None and self.book != "mandarin":
            raise not_passed(f"the rhyme book {self.book} is")

    def groups(self, word: str, tone: str = "") -> frozenset[str]:
        """The rhyme groups of a word's readings, or of those that can have a tone.

        Args:
            tone: 平 or 仄; anything else leaves all groups, and so does a book whose groups have no tone.
        """
        if self.books is None or self.language != "zh":
            name = group_name(word, self.language)
            return frozenset() if name is None else frozenset([name])
        return frozenset(group for group in self.books.groups(word, self.book) if self.has_tone(group, tone))

    def tones(self, word: str) -> frozenset[Tone]:
        """The tones of a word's readings."""
        books = self.books or mandarin_books()
        return books.tones(word, "mandarin" if self.book == "mandarin" else "book")

    def has_tone(self, group: str, tone: str) -> bool:
        """Whether the words of a group have a tone."""
        if tone not in ("平", "仄") or self.book == "mandarin":
            return True
        return ("平" in group) == (tone == "平")

    @property
    def has_parts(self) -> bool:
        """Whether level and oblique groups can rhyme with each other: in Cilin alone."""
        return self.book == "cilin"

    def rhyme_key(self, group: str, mixed: bool) -> str:
        """What words of a letter must share: their group, or the part of Cilin.

        Args:
            mixed: whether the letter has level and oblique places (平仄通叶).
        """
        return part_of(group) if mixed and self.has_parts else group
