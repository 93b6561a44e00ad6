"""Whether a text can be read by a model of a language."""

from __future__ import annotations

import re
from typing import Final

from espalier.io.errors import DataError
from espalier.text.language import Language

#: Names for people.
LANGUAGES: Final = {"zh": "Chinese", "en": "English"}
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: What counts for a language, and what against it. Against Chinese a foreign word counts as one character does.
_OWN: Final = {"zh": re.compile(f"[{_HAN}]"), "en": re.compile(r"[A-Za-z]")}
_OTHER: Final = {"zh": re.compile(rf"(?:(?![{_HAN}])[^\W\d_])+"), "en": re.compile(r"(?![A-Za-z])[^\W\d_]")}


def require_text(text: str, language: Language, name: str) -> None:
    """Raise a DataError unless a text has words, most of them of this language.

    Args:
        name: what errors call the text.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError("not UTF-8", file=name) from error
    if not any(character.isalnum() for character in text):
        article = "an" if language == "en" else "a"
        raise DataError("no words", file=name, remedy=f"give {article} {LANGUAGES[language]} sentence")
    if len(_OTHER[language].findall(text)) > len(_OWN[language].findall(text)):
        unit = "words" if language == "zh" else "letters"
        raise DataError(
            f"most of its {unit} are not {LANGUAGES[language]}",
            file=name,
            remedy=f"the model reads {LANGUAGES[language]} alone",
        )
