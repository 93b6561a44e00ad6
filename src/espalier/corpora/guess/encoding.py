"""The encoding of a file, by what its bytes would say in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from espalier.corpora.readers.framing import Encoding

#: So many bytes are looked at.
LOOKED_AT: Final = 1 << 20
#: The first bytes of the characters that nearly all text consists of, marks and the first level of each standard.
_USUAL: Final[dict[Encoding, Sequence[range]]] = {
    "gb18030": (range(0xA1, 0xA4), range(0xB0, 0xD8)),
    "big5": (range(0xA1, 0xA4), range(0xA4, 0xC7)),
}
#: The least part of the characters that must be usual.
_LEAST: Final = 0.85


def encoding_of(data: bytes) -> Encoding:
    """UTF-8 if the bytes are UTF-8, UTF-16 with its mark; else the encoding in which most characters are usual ones.

    Windows-1252 if neither GB18030 nor Big5 has Chinese for the bytes. UTF-8 too if a few bytes of it are damaged.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    part = data[:LOOKED_AT]
    if len(part) < len(data):  # not within a character
        part = part[: part.rfind(b"\n") + 1] or part
    if _reads(part, "utf-8") or _is_damaged(part):
        return "utf-8"
    shares = {name: _usual(part, name, firsts) for name, firsts in _USUAL.items() if _reads(part, name)}
    best = max(shares, key=lambda name: shares[name], default=None)
    if best is not None and shares[best] >= _LEAST:
        return best
    return "cp1252" if _reads(part, "cp1252") else "utf-8"


def _reads(data: bytes, encoding: Encoding) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return encoding == "utf-8" and error.end == len(data) and error.reason == "unexpected end of data"
    return True


def _is_damaged(data: bytes) -> bool:
    """Whether bytes are UTF-8 in most places that are not ASCII."""
    wide = [each for each in data.decode("utf-8", "replace") if not each.isascii()]
    return wide.count("\ufffd") < len(wide) / 4


def _usual(data: bytes, encoding: Encoding, firsts: Sequence[range]) -> float:
    """The part of the characters of several bytes that are usual; such pairs of bytes have no break between them."""
    wide = [each.encode(encoding) for each in data.decode(encoding) if not each.isascii()]
    usual = sum(len(each) == 2 and any(each[0] in part for part in firsts) for each in wide)
    return usual / len(wide) if wide else 0.0
