"""Languages: their names, their scripts, their tokens, and which tokens are marks."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, get_args

Language = Literal["zh", "en"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

#: Han characters, as a class of a regular expression: "[" + HAN + "]". They are the ideographs of Unicode 15.1, with
#: extensions A to I and those for compatibility. Code points between them have no character.
HAN: Final = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufa6d\ufa70-\ufad9"
    "\U00020000-\U0002a6df\U0002a700-\U0002b739\U0002b740-\U0002b81d\U0002b820-\U0002cea1\U0002ceb0-\U0002ebe0"
    "\U0002ebf0-\U0002ee5d\U0002f800-\U0002fa1d\U00030000-\U0003134a\U00031350-\U000323af"
)

_NAMES: Final[dict[str, str]] = {"zh": "Chinese", "en": "English"}
#: Evidence for a language, and against it. A word of another script counts as much as one Han character.
_OWN: Final = {"zh": re.compile(f"[{HAN}]"), "en": re.compile(r"[A-Za-z]")}
_OTHER: Final = {"zh": re.compile(rf"(?:(?![{HAN}])[^\W\d_])+"), "en": re.compile(r"(?![A-Za-z])[^\W\d_]")}
#: Runs of letters of other scripts.
_FOREIGN: Final = {"zh": _OTHER["zh"], "en": re.compile(r"[^\W\d_\u0000-\u024f]+")}


def language_name(language: str) -> str:
    """The English name of a language: "Chinese", "English"."""
    return _NAMES[language]


def has_words(text: str) -> bool:
    """Whether a text contains a letter or digit."""
    return any(character.isalnum() for character in text)


def mostly(text: str, language: str) -> bool:
    """Whether at least half of a text is in a language. Digits, marks and spaces do not count.

    In English letters are counted. In Chinese each Han character counts as much as a whole word of another script.
    A text without letters is in every language.
    """
    return len(_OWN[language].findall(text)) >= len(_OTHER[language].findall(text))


def language_of(text: str) -> Language | None:
    """The first language in which a text mostly is; None if it is in none, or has no words."""
    return next((language for language in LANGUAGES if has_words(text) and mostly(text, language)), None)


def foreign_words(text: str, language: Language) -> list[str]:
    """The runs of letters in other scripts than the language's. Accented Latin letters count as English."""
    return _FOREIGN[language].findall(text)


def tokens_of(unit: str, language: Language) -> list[str]:
    """The tokens of one unit: characters in Chinese, words between spaces in English."""
    return list(unit) if language == "zh" else unit.split()


def join_tokens(tokens: Iterable[str], language: Language) -> str:
    """One unit from its tokens, the inverse of `tokens_of`."""
    return ("" if language == "zh" else " ").join(tokens)


#: The mark between two lines that form one text (SAT's lyrics).
LINE_JOINT: Final = "，"


@lru_cache(maxsize=65536)
def is_mark(token: str) -> bool:
    """Whether all characters are punctuation ("，", "--"). "'tis", "□" and the blanks "_" and "#" are not marks."""
    return bool(token) and all(
        unicodedata.category(character).startswith("P") and character not in "_#" for character in token
    )
