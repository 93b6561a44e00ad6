"""Checks of whether a model of a language can read a text."""

from __future__ import annotations

from espalier.io.errors import DataError
from espalier.text.language import Language, has_words, language_name, mostly

#: The longest text, and the longest template.
MAX_CHARACTERS = 10_000


def require_text(text: str, language: Language, name: str) -> None:
    """Raise a DataError if a text is too long, has no words, or is mostly in another language.

    Args:
        name: name of the text in errors.
    """
    if len(text) > MAX_CHARACTERS:
        raise DataError(f"{len(text):,} characters", file=name, remedy=f"at most {MAX_CHARACTERS:,}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError("not UTF-8", file=name) from error
    called = language_name(language)
    if not has_words(text):
        raise DataError("no words", file=name, remedy=f"give {'an' if language == 'en' else 'a'} {called} sentence")
    if not mostly(text, language):
        unit = "words" if language == "zh" else "letters"
        raise DataError(f"most of its {unit} are not {called}", file=name, remedy=f"the model reads {called} alone")
