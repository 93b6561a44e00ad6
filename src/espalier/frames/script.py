"""The script of a text: whether it is that of a frame, and Traditional characters read as Simplified ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from espalier.io.errors import ConfigError
from espalier.text.language import Language, foreign_words, has_words, language_name, mostly
from espalier.text.normalize import simplified

#: What is said once where Traditional characters are read.
NOTE = "Traditional characters are read as Simplified ones"
#: Traditional characters that GB 2312 has beside the Simplified ones, in which they are never written.
_IN_BOTH = {"後": "后", "麽": "么", "菸": "烟"}


def require_script(text: str, language: Language) -> None:
    """Raise a ConfigError if a text has no words, or is in another script than its frame.

    A few foreign letters in a Chinese text are faults of its format. In English, where a format has no characters, they
    would count as syllables.
    """
    require_words(text, f"a text in {language_name(language)}")
    own = mostly(text, language)
    foreign = foreign_words(text, language) if language == "en" and own else []
    if foreign or not own:
        which = f"'{foreign[0][:20]}'" if foreign else "it"
        what = f"{which} is not {language_name(language)}, as the frame is"
        raise ConfigError(what, where="text", remedy=f"give a text in {language_name(language)}, or another frame")


def require_words(text: str, wanted: str) -> None:
    """Raise a ConfigError if a text has no words."""
    if not has_words(text):
        raise ConfigError("no words", where="text", remedy=f"give {wanted}")


def read_as(text: str, known: Callable[[str], bool] = lambda character: False) -> str:
    """A text with Simplified characters, each where it stood.

    Texts are left as they are where the converter (the extra `parse`) is not installed.

    Args:
        known: whether a character is left as it is.
    """
    if _is_plain(text):
        return "".join(character if known(character) else _IN_BOTH.get(character, character) for character in text)
    try:
        return "".join(character if known(character) else _simple(character) for character in text)
    except ConfigError:
        return text


def _is_plain(text: str) -> bool:
    """Whether all characters are in GB 2312, which has Simplified ones alone but for those of `_IN_BOTH`."""
    try:
        text.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=65536)
def _simple(character: str) -> str:
    simple = simplified(character)
    return simple if len(simple) == 1 else character
