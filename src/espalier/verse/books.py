"""Rhyme books and tones: what a Han character rhymes with, and whether its tone is level or oblique, by book.

Ci rhymes by the book Cilin zhengyun, and its tones are those of Pingshui yun, which has the entering tone. Modern
readers hear Mandarin. A character may have several readings; each counts.
"""

from __future__ import annotations

from typing import Literal, Protocol

#: Whose rhymes: the thirteen groups of Mandarin (`rhyme.GROUPS`), Cilin zhengyun, or Pingshui yun.
Book = Literal["mandarin", "cilin", "pingshui"]
#: Whose tones: those of Pingshui yun, where the entering tone is oblique, or Mandarin's four.
ToneBook = Literal["book", "mandarin"]
#: A level (平) or an oblique (仄) tone.
Tone = Literal["平", "仄"]


class Books(Protocol):
    """What books say of characters."""

    def groups(self, character: str, book: Book) -> frozenset[str]:
        """The rhyme groups of all readings of a character; empty where the book does not know it."""
        ...

    def tones(self, character: str, by: ToneBook = "book") -> frozenset[Tone]:
        """The tones of all readings; empty where the book does not know the character."""
        ...
