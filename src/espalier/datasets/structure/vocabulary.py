"""The vocabulary of structured texts: tokens, and a symbol table for each structure (SAT, section 3.2)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from espalier.datasets.vocabulary import SEP, WordVocabulary, ranked
from espalier.io.errors import ConfigError
from espalier.io.files import write_json
from espalier.text.language import Language

#: The id of [TOPIC], which ends the topic words before a text.
TOPIC = SEP
#: Ids in each table of symbols: P, the symbol of special tokens and padding, and any symbol that training has not.
SPECIAL, UNKNOWN = range(2)
SYMBOL_SPECIALS = ("P", "<unk>")


@dataclass(frozen=True)
class StructureVocabulary(WordVocabulary):
    """Tokens (characters in Chinese, words in English) and the symbols of each structure.

    Attributes:
        symbols: symbols of each structure, the most frequent first; ids begin after the specials.
    """

    symbols: Mapping[str, tuple[str, ...]]

    @classmethod
    def build(
        cls, tokens: Iterable[str], symbols: Mapping[str, Iterable[str]], language: Language, *, min_count: int
    ) -> Self:
        """The tokens that occur at least `min_count` times, and all symbols; the most frequent first.

        Each argument may be a `Counter` as well.
        """
        counts = Counter(tokens)
        words = tuple(word for word in ranked(counts) if counts[word] >= min_count)
        return cls(words, language, {name: tuple(ranked(Counter(seen))) for name, seen in symbols.items()})

    @property
    def structures(self) -> tuple[str, ...]:
        """The names of the structures."""
        return tuple(self.symbols)

    def symbol_count(self, structure: str) -> int:
        """The number of symbol ids of a structure, including specials.

        Raises:
            ConfigError: the vocabulary has no such structure.
        """
        return len(SYMBOL_SPECIALS) + len(self._table(structure))

    def encode_symbols(self, structure: str, symbols: Sequence[str]) -> list[int]:
        """The ids of symbols of a structure; `UNKNOWN` for unknown symbols."""
        ids = self._symbol_ids[structure]
        return [ids.get(symbol, UNKNOWN) for symbol in symbols]

    def symbol(self, structure: str, identity: int) -> str:
        """The symbol with this id; "P" for specials."""
        return (*SYMBOL_SPECIALS, *self._table(structure))[identity]

    def symbol_meanings(self, structure: str) -> list[tuple[str, str]]:
        """The meaning of each symbol id of a structure, as `meanings` gives it for tokens."""
        specials = [("special", name) for name in SYMBOL_SPECIALS]
        return [*specials, *(("symbol", name) for name in self._table(structure))]

    def _table(self, structure: str) -> tuple[str, ...]:
        if structure not in self.symbols:
            raise ConfigError(
                f"the vocabulary has no structure {structure}",
                where="structures",
                remedy=f"choose of {', '.join(self.symbols) or 'none'}, or add it to the dataset's structures",
            )
        return self.symbols[structure]

    @cached_property
    def _symbol_ids(self) -> dict[str, dict[str, int]]:
        first = len(SYMBOL_SPECIALS)
        return {name: {symbol: id for id, symbol in enumerate(table, first)} for name, table in self.symbols.items()}

    def save(self, path: Path) -> None:
        """Write as JSON."""
        symbols = {name: list(table) for name, table in self.symbols.items()}
        write_json(path, {"language": self.language, "symbols": symbols, "words": list(self.words)})

    @classmethod
    def _of(cls, value: Mapping[str, Any]) -> Self:
        symbols = {name: tuple(table) for name, table in value["symbols"].items()}
        return cls(tuple(value["words"]), value["language"], symbols)
