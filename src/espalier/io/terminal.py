"""Text that is safe to print: control characters of terminals are escaped."""

from __future__ import annotations

import json
import re
from typing import Final

#: The longest error message, in characters. Of a longer one the middle is left out.
LONGEST: Final = 4000

#: Control characters except tab and line feed (C0, DEL, C1), bidirectional overrides and isolates, and surrogates,
#: which stand for bytes that are not UTF-8.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: object) -> str:
    r"""The text with terminal control characters shown as escapes, such as "\x1b[2J"."""
    return _UNSAFE.sub(
        lambda match: f"\\x{ord(match[0]):02x}" if match[0] < "\u0100" else f"\\u{ord(match[0]):04x}", str(text)
    )


def printable_line(text: object) -> str:
    """Like `printable`, but on one line and shortened to a readable length."""
    line = printable(" ".join(str(text).split()))
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]} ... {line[-half:]}"


def json_line(value: object) -> str:
    """JSON on one line, safe to print. JSON readers get the value unchanged."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))
