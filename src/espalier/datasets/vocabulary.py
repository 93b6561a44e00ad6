"""The vocabulary of a verse model: one table for words and for the symbols C, P and S (SongNet, section 3.2).

Ids are laid out so that what can be written stands first: the four specials, the separator, the words; then the
symbols. A model's output layer covers only the first `text_size` ids, so no symbol is ever generated as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import read_json, write_json
from espalier.text.language import Language, is_mark

PAD, UNK, BOS, EOS, SEP = range(5)
SPECIALS = ("<pad>", "<unk>", "<bos>", "<eos>", "</s>")


@dataclass(frozen=True)
class WordVocabulary:
    """The words that a corpus has most often.

    Attributes:
        words: the most frequent first, ties in code-point order; their ids follow on the specials.
    """

    words: tuple[str, ...]
    language: Language

    @classmethod
    def most_frequent(
        cls, tokens: Iterable[str], language: Language, *, most: int, coverage: float = 1.0
    ) -> WordVocabulary:
        """The `most` most frequent words, or as many as cover the share `coverage` of the tokens, if they are fewer."""
        counts = Counter(tokens)
        ranked = _ranked(counts)
        covered = np.cumsum([counts[word] for word in ranked])
        needed = int(np.searchsorted(covered, coverage * covered[-1])) + 1 if ranked else 0
        return cls(tuple(ranked[: min(most, needed)]), language)

    @property
    def text_size(self) -> int:
        """How many ids can be written: specials, separator and words."""
        return len(SPECIALS) + len(self.words)

    def id_of(self, token: str) -> int:
        """The id of a word or mark, `UNK` where it has none."""
        return self._ids.get(token, UNK)

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Ids of words and marks."""
        return [self._ids.get(token, UNK) for token in tokens]

    def token(self, identity: int) -> str:
        """The word, mark or special with this id."""
        first = len(SPECIALS)
        return self.words[identity - first] if identity >= first else SPECIALS[identity]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: index for index, word in enumerate(self.words, start=len(SPECIALS))}

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_json(path, {"language": self.language, "words": list(self.words)})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ArtifactError: it is no vocabulary of this kind.
        """
        try:
            return cls._of(read_json(path))
        except (KeyError, TypeError, ValueError) as error:
            raise ArtifactError(f"not a vocabulary ({error!r})", where=path) from error

    @classmethod
    def _of(cls, value: Any) -> Self:
        return cls(tuple(value["words"]), value["language"])


@dataclass(frozen=True)
class Vocabulary(WordVocabulary):
    """Words of verse, and how many segment (`units`) and intra-position (`length`) symbols there are."""

    units: int
    length: int

    @classmethod
    def build(cls, tokens: Iterable[str], language: Language, *, min_count: int, units: int, length: int) -> Vocabulary:
        """Words that occur `min_count` times or more, the most frequent first, ties in code-point order."""
        counts = Counter(tokens)
        return cls(tuple(word for word in _ranked(counts) if counts[word] >= min_count), language, units, length)

    @property
    def size(self) -> int:
        """All ids: text, c0 c1 c2 and the title's segment, then S, then P."""
        return self.text_size + 4 + self.units + self.length

    @property
    def c_word(self) -> int:
        """c0: a word to find (paper's numbering; the released code calls it c1)."""
        return self.text_size

    @property
    def c_mark(self) -> int:
        """c1: any punctuation mark, where the model does not tell marks apart."""
        return self.text_size + 1

    @property
    def c_rhyme(self) -> int:
        """c2: a word to find at a rhyme place."""
        return self.text_size + 2

    @property
    def s_title(self) -> int:
        """The segment symbol of a title."""
        return self.text_size + 3

    def segment(self, unit: int) -> int:
        """s_unit, equation 5."""
        if unit >= self.units:
            raise ConfigError(f"{unit + 1} units", where="format", remedy=f"this model knows at most {self.units}")
        return self.text_size + 4 + unit

    def position(self, place: int) -> int:
        """p_place, equation 4."""
        if place >= self.length:
            raise ConfigError(
                f"a unit of {place + 1} words and marks",
                where="format",
                remedy=f"this model knows at most {self.length}",
            )
        return self.text_size + 4 + self.units + place

    @cached_property
    def mark_ids(self) -> npt.NDArray[np.int64]:
        """Ids of the punctuation marks."""
        return np.array([i for i, word in enumerate(self.words, start=len(SPECIALS)) if is_mark(word)], dtype=np.int64)

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_json(
            path,
            {"language": self.language, "units": self.units, "length": self.length, "words": list(self.words)},
        )

    @classmethod
    def _of(cls, value: Any) -> Self:
        return cls(tuple(value["words"]), value["language"], int(value["units"]), int(value["length"]))


def _ranked(counts: Counter[str]) -> list[str]:
    """Words, the most frequent first, ties in code-point order."""
    return sorted(counts, key=lambda word: (-counts[word], word))
