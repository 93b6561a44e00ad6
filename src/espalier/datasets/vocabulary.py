"""Words and their ids. Specials come first (padding, unknown, begin, end, separator), then words."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from espalier.io.errors import ArtifactError
from espalier.io.files import read_json, write_json
from espalier.text.language import Language

PAD, UNK, BOS, EOS, SEP = range(5)
SPECIALS = ("<pad>", "<unk>", "<bos>", "<eos>", "</s>")


@dataclass(frozen=True)
class WordVocabulary:
    """The most frequent words of a corpus.

    Attributes:
        words: words, the most frequent first, ties in code-point order; ids begin after the specials.
    """

    words: tuple[str, ...]
    language: Language

    @classmethod
    def most_frequent(cls, tokens: Iterable[str], language: Language, *, max_words: int, coverage: float = 1.0) -> Self:
        """The most frequent words that together cover the share `coverage` of the tokens; at most `max_words`."""
        counts = Counter(tokens)
        words = ranked(counts)
        covered = np.cumsum([counts[word] for word in words])
        needed = int(np.searchsorted(covered, coverage * covered[-1])) + 1 if words else 0
        return cls(tuple(words[: min(max_words, needed)]), language)

    @property
    def text_size(self) -> int:
        """The number of ids of specials and words."""
        return len(SPECIALS) + len(self.words)

    @property
    def size(self) -> int:
        """The number of all ids. It exceeds `text_size` if the vocabulary also has symbols."""
        return self.text_size

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """The kind and meaning of each id. Two vocabularies may give the same meaning different ids."""
        return [*(("special", name) for name in SPECIALS), *(("word", word) for word in self.words)]

    def id_of(self, token: str) -> int:
        """The id of a word or mark; `UNK` if it has none."""
        return self._ids.get(token, UNK)

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """The ids of words and marks."""
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
        """Read a vocabulary written by `save`.

        Raises:
            ArtifactError: the file is not a vocabulary of this type.
        """
        try:
            return cls._of(read_json(path))
        except (KeyError, TypeError, ValueError) as error:
            raise ArtifactError(f"not a vocabulary ({error!r})", where=path) from error

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> Self:
        return cls(tuple(value["words"]), value["language"])


def ranked(counts: Counter[str]) -> list[str]:
    """Words sorted by decreasing frequency; ties are in code-point order."""
    return sorted(counts, key=lambda word: (-counts[word], word))
