"""Structures: sequences of symbols, one per token, extracted from a tagged text (SAT, equations 4-6).

A structure is a function g_i of equation 4: it gives each token a symbol. Tokens are characters in Chinese and words in
English; in Chinese a property of a word applies to each of its characters. Positions are also a structure, but the
model computes them. Add your own in a module listed under `plugins` in params.yaml: `STRUCTURES["mine"] = Mine()`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol, Self

from espalier.io.registry import Registry
from espalier.text.language import Language
from espalier.verse.mandarin import mandarin_tones


class Structure(Protocol):
    """One of the functions g_i of equation 4.

    Attributes:
        languages: languages for which it is defined.
    """

    languages: ClassVar[tuple[Language, ...]]

    def symbols(self, words: Sequence[Sequence[str]], tags: Sequence[str]) -> list[str]:
        """The symbol of each token of a text.

        Args:
            words: the tokens of each word.
            tags: one part of speech for each word.
        """


class WordBoundaries:
    """pc, participial construction (equation 6): B, M, E for begin, middle, end of a word; S for a single token."""

    languages: ClassVar[tuple[Language, ...]] = ("zh", "en")

    def symbols(self, words: Sequence[Sequence[str]], tags: Sequence[str]) -> list[str]:
        """For 我 / 喜欢 / 炸薯条: S, B E, B M E (figure 1)."""
        places = ("S" if len(word) == 1 else f"B{'M' * (len(word) - 2)}E" for word in words)
        return list("".join(places))


class PartsOfSpeech:
    """pos (equation 5): each token has the tag of its word."""

    languages: ClassVar[tuple[Language, ...]] = ("zh", "en")

    def symbols(self, words: Sequence[Sequence[str]], tags: Sequence[str]) -> list[str]:
        """For 我 / 喜欢 / 炸薯条: r, v v, n n n (figure 1)."""
        return [tag for word, tag in zip(words, tags, strict=True) for _ in word]


class Tones:
    """平 or 仄 of each character by its Mandarin readings, rare ones too; 中 if it has both; 無 for a mark (ours)."""

    languages: ClassVar[tuple[Language, ...]] = ("zh",)

    def symbols(self, words: Sequence[Sequence[str]], tags: Sequence[str]) -> list[str]:
        """For 我喜欢: 仄 仄 平."""
        readings = (mandarin_tones(character, rare=True) for word in words for character in word)
        return ["中" if len(tones) == 2 else next(iter(tones), "無") for tones in readings]


STRUCTURES: Final = Registry[Structure](
    "STRUCTURES", "structure", Structure, {"pc": WordBoundaries(), "pos": PartsOfSpeech(), "tone": Tones()}
)


@dataclass(frozen=True)
class StructuredText:
    """The tokens of a text, and the symbols of each structure; no symbols if the text could not be tagged."""

    tokens: tuple[str, ...]
    symbols: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, words: Sequence[Sequence[str]], tags: Sequence[str], names: Iterable[str]) -> Self:
        """Build from a tagged text.

        Args:
            words: the tokens of each word.
            tags: one tag per word.
        """
        tokens = tuple(token for word in words for token in word)
        return cls(tokens, {name: tuple(STRUCTURES.find(name).symbols(words, tags)) for name in names})
