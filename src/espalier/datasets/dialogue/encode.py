"""Encodes posts and responses as words, and responses as canonical ternary trees (X2Tree)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from espalier.corpora.records import Pair, Quarantined, words_of
from espalier.datasets.dialogue.data import ARITY, DialogueData
from espalier.datasets.encoding import Encoded, Encoding, Settings
from espalier.datasets.vocabulary import UNK, WordVocabulary
from espalier.io.hashing import seed_from
from espalier.syntax.altered import right_chain, with_noise
from espalier.syntax.dependency import Dependencies, mistake
from espalier.syntax.depths import depths_by_length, depths_of_tree
from espalier.syntax.projective import projectivize
from espalier.syntax.ternary import Ternary, ternary
from espalier.text.language import Language

SIDES: Final = ("source", "target")


class DialogueSettings(Settings):
    """Settings for posts and responses as words and trees of words."""

    opposite: ClassVar[Mapping[str, str]] = {"min_words": "max_words", "max_words": "min_words"}

    #: The vocabulary has at most `words` words, and no more than cover the share `coverage` of all tokens.
    words: int = Field(28_000, ge=1, le=1_000_000)
    coverage: float = Field(1.0, gt=0, le=1)
    #: Bounds of the words of each side. Other pairs are quarantined.
    min_words: int = Field(1, ge=1, le=10_000)
    max_words: int = Field(50, ge=1, le=10_000)
    #: The largest share of unknown words of a side. A pair with a side of only unknown words is always quarantined.
    max_unknown: float = Field(1.0, ge=0, le=1)
    #: Whether a non-projective tree is made projective (`syntax/projective.py`); if not, its pair is quarantined.
    lift: bool = True
    #: The trees of the corpus, or trees of the same words in which every word is the head of the next one.
    trees: Literal["corpus", "right_chain"] = "corpus"
    #: The probability that the head of a word, the root excepted, is drawn at random (`syntax/altered.py`).
    noise: float = Field(0.0, ge=0, le=1)

    @property
    def needs(self) -> tuple[str, ...]:
        """The heads of the words of the responses."""
        return ("target_heads",)

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if self.min_words > self.max_words:
            raise ValueError(f"min_words {self.min_words} is greater than max_words {self.max_words}")
        return self


class DialogueEncoding(Encoding[Pair, DialogueSettings, WordVocabulary, DialogueData]):
    """Words of both sides, and the ternary trees of the responses."""

    settings, record, vocabulary, split = DialogueSettings, Pair, WordVocabulary, DialogueData

    def build_vocabulary(
        self, records: Sequence[Pair], settings: DialogueSettings, language: Language
    ) -> WordVocabulary:
        """The most frequent words of both sides (28,000 in X2Tree, with a coverage of 97 %)."""
        tokens = (word for row in records for side in SIDES for word in words_of(row, side))
        return WordVocabulary.most_frequent(tokens, language, max_words=settings.words, coverage=settings.coverage)

    def encode(
        self, records: Sequence[Pair], vocabulary: WordVocabulary, settings: DialogueSettings
    ) -> Encoded[DialogueData]:
        """Encode the pairs that fit as ids and ternary trees.

        `facts["lifted"]` counts trees made projective. With other trees than the corpus's, `facts["moved"]` counts the
        words whose head is not that of the corpus.
        """
        columns: dict[str, list[npt.ArrayLike]] = {name: [] for name in DialogueData.COLUMNS}
        ids, places, quarantined, facts = list[str](), list[int](), list[Quarantined](), Counter[str](lifted=0)
        for place, row in enumerate(records):
            words = [words_of(row, side) for side in SIDES]
            sides = [vocabulary.encode(side) for side in words]
            tree: Ternary | None = None
            reason = _out_of_bounds(sides, settings)
            if not reason:
                tree, reason, changes = _tree(row, words[1], settings)
                for name, count in changes.items():
                    facts[name] += count
            if tree is None:
                text = "\t".join(getattr(row, side) for side in SIDES)
                quarantined.append(Quarantined(id=row.id, stage="canonicalize", reason=reason, text=text))
                continue
            places.append(place)
            ids.append(row.id)
            parts: tuple[npt.ArrayLike, ...] = (*sides, tree.words, tree.children.ravel())
            for name, value in zip(DialogueData.COLUMNS, parts, strict=True):
                columns[name].append(value)
        return Encoded(DialogueData.of(ids, columns, vocabulary), places, quarantined, dict(facts))

    def counts(self, split: DialogueData) -> Mapping[str, float]:
        """The number of words of the responses, and the percentage of known words of each side."""
        return {
            "words": int(split.columns["target"].lengths.sum()),
            **{f"known {name}": _known(split, side) for name, side in (("posts", "source"), ("responses", "target"))},
        }

    def numbers(self, vocabulary: WordVocabulary) -> Mapping[str, int]:
        """The number of words."""
        return {"words": len(vocabulary.words)}

    def measures(self, split: DialogueData) -> Mapping[str, Any]:
        """`depths`, the points of figure 6: mean depth of words in chains and trees, by sentence length."""
        children = split.columns["children"]
        rows = (children.flat[start:end] for start, end in pairwise(children.offsets))
        points = depths_by_length(depths_of_tree(row.reshape(-1, ARITY)) for row in rows)
        return {
            "depths": {
                str(length): {name: round(value, 4) for name, value in point._asdict().items()}
                for length, point in points.items()
            }
        }


def _known(split: DialogueData, side: str) -> float:
    words = split.columns[side]
    unknown = words.count(UNK) / len(words.flat) if len(split) else 0.0
    return round(100 * (1 - unknown), 2)


def _out_of_bounds(sides: Sequence[Sequence[int]], settings: DialogueSettings) -> str:
    lengths = [len(side) for side in sides]
    if min(lengths) < settings.min_words:
        return f"under {settings.min_words} words"
    if max(lengths) > settings.max_words:
        return f"over {settings.max_words} words"
    shares = [np.mean(np.array(side) == UNK) for side in sides]
    if max(shares) == 1:
        return "unknown words alone"
    return "too many unknown words" if max(shares) > settings.max_unknown else ""


def _tree(row: Pair, words: Sequence[str], settings: DialogueSettings) -> tuple[Ternary | None, str, dict[str, int]]:
    """The tree of the response or the reason for quarantine, and what was changed, by name."""
    heads = tuple(map(int, row.target_heads.split()))
    if not heads:
        return None, "no tree", {}
    if len(heads) != len(words) or mistake(heads):
        return None, "no single tree", {}
    new = right_chain(len(heads)) if settings.trees == "right_chain" else heads
    if settings.noise:
        new = with_noise(new, settings.noise, seed=seed_from(row.id))
    blank = ("",) * len(heads)
    tree, lifts = projectivize(Dependencies(tuple(words), blank, new, blank))
    if lifts and not settings.lift:
        return None, "not projective", {}
    changes = {"lifted": int(lifts > 0)}
    if new != heads:
        changes["moved"] = sum(a != b for a, b in zip(heads, tree.heads, strict=True))
    return ternary(tree.heads), "", changes
