"""The book that words rhyme by, and whether their tones count: one choice for formats, frames and constraints."""

from __future__ import annotations

from dataclasses import dataclass, field

from espalier.io.errors import ConfigError
from espalier.text.language import Language
from espalier.verse.books import Book, Books, Tone, mandarin_books, mandarin_readings, not_passed, part_of
from espalier.verse.rhyme import group_name


@dataclass(frozen=True)
class Sounds:
    """What words rhyme with, and their tones.

    Attributes:
        book: whose rhymes. Its tones are those of Pingshui yun, with the entering tone; Mandarin's are its own.
        tone: whether words must have the tones of their places.
        books: where other books than Mandarin are read from.

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

    def groups(self, word: str, tone: str = "", *, every: bool = False) -> frozenset[str]:
        """The rhyme groups of a word's readings, or of those that can have a tone.

        Every reading counts where tones do, and by the printed books. Otherwise, in Mandarin, the commonest reading
        does, as in the metrics. Where tones count, a group of Mandarin has its tone as those of Cilin do ("ang平"), so
        that a word never has its tone by one reading and its rhyme by another.

        Args:
            tone: 平 or 仄; anything else leaves all groups, and so does a book whose groups have no tone.
            every: whether every reading counts in any case.
        """
        if self.language != "zh" or (self.book == "mandarin" and not self.tone and not every):
            name = group_name(word, self.language)
            return frozenset() if name is None else frozenset([name])
        if self.book == "mandarin" and self.tone:
            groups = mandarin_readings(word)
        else:
            groups = (self.books or mandarin_books()).groups(word, self.book)
        return frozenset(group for group in groups if self.has_tone(group, tone))

    def tones(self, word: str) -> frozenset[Tone]:
        """The tones of a word's readings."""
        books = self.books or mandarin_books()
        return books.tones(word, "mandarin" if self.book == "mandarin" else "book")

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
        """Whether the words of a letter rhyme if they share a part, not a group.

        By Cilin they do where the letter has level and oblique places (`turns`), in Mandarin everywhere.
        """
        return self.has_parts and (turns or self.book == "mandarin")

    def rhyme_key(self, group: str, turns: bool) -> str:
        """What words of a letter must share: their group, or its part (`by_part`)."""
        return part_of(group) if self.by_part(turns) else group
