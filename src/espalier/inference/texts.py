"""Checks of whether a model of a language can read a text, and typed texts in the form of training."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable

from espalier.inference.writer import InferenceWarning
from espalier.io.errors import DataError
from espalier.text.language import LINE_JOINT, Language, has_words, is_mark, language_name, mostly
from espalier.text.normalize import ascii_punctuation

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


def with_ascii_marks(text: str, language: Language, name: str) -> str:
    """A text with the quotes, dashes and ellipses of English training texts; a note says so if it had others."""
    return _noted(text, ascii_punctuation(text) if language == "en" else text, name)


def with_known_marks(text: str, known: Callable[[str], bool], name: str) -> str:
    """Chinese text without marks that the training texts do not have; a note says so if it had some.

    Quotes and brackets go. Within the text other marks become the comma that joins lines of lyrics, if training has it.
    """
    marks = {character for character in text if is_mark(character) and not known(character)}
    if not marks or not known(LINE_JOINT):
        return text
    around = {mark for mark in marks if unicodedata.category(mark) in ("Pi", "Pf", "Ps", "Pe")}
    kept = [character for character in text if character not in around and not character.isspace()]
    parts = "".join(" " if character in {*marks, LINE_JOINT} else character for character in kept).split()
    return _noted(text, LINE_JOINT.join(parts), name)


def _noted(text: str, changed: str, name: str) -> str:
    if changed != text:
        warnings.warn(f"{name}: read as {changed}", InferenceWarning, stacklevel=3)
    return changed
