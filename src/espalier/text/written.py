"""English verse as people write it, from verse as models write it: in small letters, with spaces before its marks."""

import re
from typing import Final

#: A space that is not written: before a mark, or before the end of a contraction. Blanks are tried once, all together.
_SPACE: Final = re.compile(r"(?<![ \t])[ \t]++(?=[,.;:!?](?:[\s'\"’”)]|$)|(?:n['’]t|['’](?:s|d|m|ll|re|ve))\b)")
_I: Final = re.compile(r"(?<![\w'’-])i(?![\w-])")
#: The first letter of a line, or after the end of a sentence; quotes and brackets may stand before it. Without
#: a letter, it matches too: what stands there is not tried again.
_FIRST: Final = re.compile(r"(?m)((?:^|[.!?]['\"’”)]*[ \t])[^\w\n]*+)([^\W\d_]?)")
_MARKS: Final = ",.;:!?…—-"


def as_written(verse: str) -> str:
    """English verse with a capital at the beginning of each line and sentence, "I", and a mark at its end.

    No line, word or mark is lost, so that syllables, meter and rhymes stay. A verse that ends without a mark gets a
    full stop. Marks and the ends of contractions stand at their words: "day ?" becomes "day?".
    """
    text = _I.sub("I", _SPACE.sub("", verse))
    text = _FIRST.sub(lambda match: match[1] + match[2].upper(), text)
    body = text.rstrip()
    last = body.rstrip("'\"’”)")[-1:]
    return text if not last or last in _MARKS else f"{body}.{text[len(body) :]}"
