"""What records of a reader are good for: services of models of them, and parsers that are trained on their trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from espalier.corpora.readers import READERS
from espalier.corpora.records import Pair, Sentence, Verse

#: The readers whose records have gold trees, and the backend of the parser that is trained on such trees.
TREEBANKS: Final[Mapping[str, str]] = {"mrg": "benepar", "conllu": "spacy"}
#: The option of a parser that cuts texts as people write them, and its value that takes spaces for borders of words.
CUTS, SPACES, WORDS = "words", "spaces", "penn"


def service_of(reader: str, language: str) -> str | None:
    """The service of a model of such records; None for records of another type.

    Chinese pairs are posts and replies, as no system of this project paraphrases Chinese.
    """
    record = READERS[reader].record
    if issubclass(record, Pair):
        return "reply" if reader == "dialogues" or language == "zh" else "paraphrase"
    return next((name for name, kind in (("generate", Verse), ("compose", Sentence)) if issubclass(record, kind)), None)
