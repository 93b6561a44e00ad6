"""The vocabulary of a verse model: one table for words and for the symbols C, S, P (SongNet, section 3.2) and T (ours).

Ids are ordered as specials, words, symbols. The output layer of a model covers the first `text_size` ids (specials and
words), so it never writes a symbol.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from espalier.datasets.vocabulary import SPECIALS, WordVocabulary, ranked
from espalier.io.errors import ConfigError
from espalier.io.files import write_json
from espalier.text.language import Language, is_mark

#: The most symbols S, and the most symbols P.
MAX_SYMBOLS = 10_000


@dataclass(frozen=True)
class VerseVocabulary(WordVocabulary):
    """Words of verse, and the numbers of segment symbols (`units`) and intra-position symbols (`length`).

    Attributes:
        tones: whether there are the three symbols T for the tone of a place.
    """

    units: int
    length: int
    tones: bool = False

    @classmethod
    def build(
        cls, tokens: Iterable[str], language: Language, *, min_count: int, units: int, length: int, tones: bool = False
    ) -> Self:
        """The words that occur at least `min_count` times, the most frequent first; ties are in code-point order."""
        counts = Counter(tokens)
        words = tuple(word for word in ranked(counts) if counts[word] >= min_count)
        return cls(words, language, units, length, tones)

    @property
    def size(self) -> int:
        """The number of all ids: text, c0 c1 c2, the title's segment, then S, P, and T if there is one."""
        return self.text_size + 4 + self.units + self.length + 3 * self.tones

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """The kind and meaning of each id."""
        symbols = ["c0", "c1", "c2", "s title"]
        symbols += [f"s{unit}" for unit in range(self.units)] + [f"p{place}" for place in range(self.length)]
        symbols += ["t either", "t level", "t oblique"] if self.tones else []
        return [*super().meanings, *(("symbol", name) for name in symbols)]

    @property
    def c_word(self) -> int:
        """c0: a blank (numbered as in the paper; c1 in the released code)."""
        return self.text_size

    @property
    def c_mark(self) -> int:
        """c1: any punctuation mark, for models with one symbol for all marks."""
        return self.text_size + 1

    @property
    def c_rhyme(self) -> int:
        """c2: a blank at a rhyme place."""
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

    @property
    def t_either(self) -> int:
        """T of a place with either tone, followed by T of level and of oblique places. Only with `tones`."""
        return self.text_size + 4 + self.units + self.length

    @cached_property
    def mark_ids(self) -> npt.NDArray[np.int64]:
        """Ids of the punctuation marks."""
        return np.array([i for i, word in enumerate(self.words, start=len(SPECIALS)) if is_mark(word)], dtype=np.int64)

    def save(self, path: Path) -> None:
        """Write as JSON."""
        sizes: dict[str, int | bool] = {"units": self.units, "length": self.length}
        if self.tones:
            sizes["tones"] = True
        write_json(path, {"language": self.language, **sizes, "words": list(self.words)})

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> Self:
        units, length = int(value["units"]), int(value["length"])
        if not 1 <= min(units, length) <= max(units, length) <= MAX_SYMBOLS:
            raise ValueError(f"{units} units of {length} places; 1 to {MAX_SYMBOLS} each")
        # Vocabularies of before there was T have no such key.
        if not isinstance(tones := value.get("tones", False), bool):
            raise ValueError(f"tones: {tones}; true or false")
        return cls(tuple(value["words"]), value["language"], units, length, tones)
