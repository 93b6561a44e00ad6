"""BERT's word pieces, and conversion between ids and text."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tokenizers import BertWordPieceTokenizer

from espalier.io.errors import DataError
from espalier.io.text_files import lines_of

#: The file of BERT's pieces, in the folder of the source `bert_vocab`.
VOCABULARY: Final = "bert-base-uncased-vocab.txt"
_CLS, _SEP = "[CLS]", "[SEP]"
#: Pieces without text.
SPECIALS: Final = ("[PAD]", "[UNK]", _CLS, _SEP, "[MASK]")

# Parts that BERT's tokeniser splits but print joins: marks after or before a word, contractions, compounds.
_GLUE = (
    (re.compile(r"(?<=\d) ([.,:]) (?=\d)"), r"\1"),
    (re.compile(r" ([.,!?;:%)\]])"), r"\1"),
    (re.compile(r"([(\[$#]) "), r"\1"),
    (re.compile(r"(?<=\w) ' (?=(?:s|t|re|ve|ll|d|m)\b)"), "'"),
    (re.compile(r"(?<=\w) - (?=\w)"), "-"),
)


class WordPieces:
    """The pieces of an uncased BERT vocabulary by id.

    Args:
        file: the vocabulary, one piece per line.

    Raises:
        ArtifactError: the file does not exist.
        DataError: the file is not such a vocabulary.
    """

    def __init__(self, file: Path) -> None:
        self.pieces = lines_of(file)
        if missing := [piece for piece in (_CLS, _SEP, "[UNK]") if piece not in self.pieces]:
            raise DataError(f"no BERT vocabulary: no {', '.join(missing)}", file=file, remedy="one piece a line")
        ids = {piece: number for number, piece in enumerate(self.pieces)}
        self._tokenizer = BertWordPieceTokenizer(ids, lowercase=True)
        #: The ids of [CLS] and [SEP].
        self.marks = ids[_CLS], ids[_SEP]
        self._outer = {*self.marks}

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, without [CLS] and [SEP]."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def as_json(self) -> str:
        """The tokenizer as JSON of the library `tokenizers`."""
        return str(self._tokenizer.to_str())

    def bare(self, ids: Iterable[int]) -> str:
        """The text of these ids without spaces. Texts that differ only in case, accents and spaces give the same."""
        return "".join(self.pieces[number].removeprefix("##") for number in ids if number not in self._outer)

    def text(self, ids: Iterable[int]) -> str:
        """The text of these ids, close to its printed form: lower-cased, with marks attached to words.

        `encode` restores the ids, unless the ids contain pieces that the tokeniser would not choose. All 96,000
        questions in C-DNPG's files are restored.
        """
        pieces = (self.pieces[number] for number in ids if number not in self._outer)
        text = " ".join(pieces).replace(" ##", "")
        for pattern, glued in _GLUE:
            text = pattern.sub(glued, text)
        return text
