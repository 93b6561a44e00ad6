"""English tokens: lower-cased words and marks, uniform over all collections, however they were printed or tokenised."""

from __future__ import annotations

import re
import unicodedata

# fmt: off
#: Words that begin with an apostrophe, so that it opens no quotation.
_CLIPPED_BEFORE = frozenset({
    "tis", "twas", "twere", "twill", "twould", "twixt", "tween", "mid", "midst", "mong", "mongst", "gainst", "neath",
    "bove", "fore", "bout", "round", "cause", "till", "em", "gan", "gin", "scape", "scaped", "bide", "scuse",
    "wildered", "prentice", "larum", "t", "s", "d", "ll", "re", "ve", "m",
})
# fmt: on
#: Words that end with an apostrophe, which then is not a closing quote; besides plurals (lovers') and -in' (singin').
_CLIPPED_AFTER = frozenset(("th", "o", "tho", "thro", "altho", "wi", "t", "an"))

_CHARACTERS = str.maketrans(
    {
        "‘": "'", "’": "'", "‛": "'", "`": "'", "´": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
        "–": "—", "―": "—", "\u00ad": None, "\u200b": None, "\ufeff": None,
    }
)  # fmt: skip

_WORD = r"'?[^\W\d_]+(?:['\-][^\W\d_]+)*'?"
_TOKEN = re.compile(rf"{_WORD}|\d+(?:[.,:]\d+)*|\S")
_SUFFIX = re.compile(r"(?<=\w) '(s|d|ll|ve|re|m|t|st)\b(?!')")
_APOSTROPHE = re.compile(r"(?<![^\W\d_])(?P<before>[^\W\d_]*+)'(?=(?P<after>[^\W\d_]*))")


def tokens_in(text: str) -> list[list[str]]:
    """The tokens of each line that has tokens.

    Words are lower-cased and keep inner apostrophes and hyphens (o'er, well-known), the apostrophe of a clipped word
    ('tis, th') and that of a plural genitive (lovers'). Everything else is a token of its own: a number, a mark, or a
    run of dashes (—) or dots (…). All quotation marks become ". "&" is read as "and".
    """
    text = unicodedata.normalize("NFKC", text.replace("…", "...")).translate(_CHARACTERS).lower()
    text = re.sub(r"-{2,}|(?<!\S)-(?!\S)|—(?:[ \t]*—)+", "—", text).replace("&", " and ").replace("''", '"')
    text = re.sub(r"\.(?: ?\.){2,}", "…", text)
    text = _SUFFIX.sub(r"'\1", re.sub(r"(?<!\w)'t (?=(?:is|was|were|will|would)\b)", "'t", text))
    lines = (_TOKEN.findall(line) for line in _quotes(text).split("\n"))
    return [tokens for tokens in lines if tokens]


def _quotes(text: str) -> str:
    """Replace apostrophes that serve as quotation marks by ", so that the remaining ones belong to words."""
    open_ = False

    def judge(match: re.Match[str]) -> str:
        nonlocal open_
        before, after = match["before"], match["after"]
        if (before and after) or (after and after in _CLIPPED_BEFORE) or before in _CLIPPED_AFTER:
            return match[0]
        if after:
            open_ = True
        elif before and not open_ and (before.endswith(("s", "in"))):
            return match[0]
        else:
            open_ = False
        return f'{before}"'

    return _APOSTROPHE.sub(judge, text)
