"""Bytes that are parts of characters."""

from __future__ import annotations

#: Bytes that begin a character of several bytes, and those that go on. With them and ASCII any text can be spelled.
LEADS, FOLLOWS, ASCII = range(0xC2, 0xF1), range(0x80, 0xC0), (0x0A, *range(0x20, 0x7F))


def is_part(spelled: bytes) -> bool:
    """Whether bytes begin or end inside a character."""
    return spelled[0] in FOLLOWS or bool(split(spelled)[1])


def split(spelled: bytes) -> tuple[bytes, bytes]:
    """Bytes without, and the bytes of, a last character that is not whole."""
    size = len(spelled) - len(spelled.rstrip(bytes(FOLLOWS))) + 1
    if size > min(3, len(spelled)) or length(spelled[-size:]) <= size:
        return spelled, b""
    return spelled[:-size], spelled[-size:]


def length(spelled: bytes) -> int:
    """The number of bytes of the character that begins so."""
    lead = spelled[0]
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def code_points(lead: bytes) -> tuple[int, int]:
    """The first code point whose character begins with these bytes, and the one after the last."""
    value, shift = bits(lead), 6 * (length(lead) - len(lead))
    return max(value << shift, least(lead)), value + 1 << shift


def least(lead: bytes) -> int:
    """The first code point with so many bytes as a character that begins so."""
    return (0, 0x80, 0x800, 0x10000)[length(lead) - 1]


def bits(part: bytes) -> int:
    """The bits of the code point that bytes of a character give, from its first byte on or not."""
    value = 0
    for byte in part:
        value = value << 6 | byte & (
            0x3F if byte in FOLLOWS else 0x7F if byte < 0x80 else 0x1F if byte < 0xE0 else 0x0F
        )
    return value
