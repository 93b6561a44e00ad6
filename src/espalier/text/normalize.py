"""Normal forms of texts: case and width folded, marks in ASCII, characters Simplified."""

import unicodedata
from functools import cache
from typing import Any, Literal

from espalier.io.imports import of_extra

#: ASCII punctuation and the characters that `ascii_punctuation` replaces by it.
ASCII = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u00b4",  # single quotes, the apostrophe, the prime, the acute accent
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",  # double quotes, the double prime, guillemets
    "-": "\u2010\u2011\u2012\u2013\u2212",  # hyphens, the figure dash, the en dash, the minus sign
    "--": "\u2014\u2015",  # the em dash, the horizontal bar
    "...": "\u2026",
    # Invisible characters: soft hyphen, zero-width spaces and joiners, marks of direction, byte order mark.
    "": "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff",
}
_ASCII = str.maketrans({mark: plain for plain, marks in ASCII.items() for mark in marks})


class _LeftOut(dict[int, int | None]):
    """The table of `str.translate` that leaves out spaces, punctuation and control characters."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code))[0] in "PZC" else code
        return self[code]


_LEFT_OUT = _LeftOut()


def folded(text: str) -> str:
    """A text without spaces, punctuation and control characters, case-folded, in Unicode's form NFKC.

    Texts that differ only in these fold to the same string. A text that consists only of these is returned unchanged.
    """
    return unicodedata.normalize("NFKC", text).casefold().translate(_LEFT_OUT) or text


def ascii_punctuation(text: str) -> str:
    """A text with ASCII quotes, dashes and ellipses, without invisible characters; see `ASCII`."""
    return text.translate(_ASCII)


def visible(text: str) -> str:
    """A text without Unicode formatting characters, such as zero-width spaces and direction marks."""
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


def is_traditional(text: str) -> bool:
    """Whether OpenCC's conversion from Traditional to Simplified characters (t2s) would change a text."""
    return simplified(text) != text


def simplified(text: str, standard: Literal["t2s", "tw2s"] = "t2s") -> str:
    """A text with its Traditional characters converted to Simplified ones (OpenCC).

    Args:
        standard: OpenCC's name of the conversion; "tw2s" is for texts of Taiwan, where 着 is written 著.
    """
    return str(_converter(standard).convert(text))


@cache
def _converter(standard: str) -> Any:
    with of_extra("parse"):
        from opencc import OpenCC

    return OpenCC(standard)
