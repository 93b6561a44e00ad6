"""Words by their classes, such as parts of speech, as word pieces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from espalier.datasets.pairs.data import PairData
from espalier.datasets.pairs.vocabulary import PairVocabulary
from espalier.datasets.ragged import IntArray
from espalier.datasets.vocabulary import EOS, UNK
from espalier.syntax.constituency import read_tree, tags, words

#: The ids of the pieces of a word.
Word: TypeAlias = tuple[int, ...]


@dataclass(eq=False)
class Pieces:
    """A place in the words of a class, between two pieces. The first place stands for the class.

    Attributes:
        after: the pieces that may come next, and the place after each.
        ends: whether a word may end here.
    """

    after: dict[int, Pieces] = field(default_factory=dict)
    ends: bool = False

    @classmethod
    def of(cls, words: Iterable[Word]) -> Pieces:
        """The class of these words."""
        first = cls()
        for word in words:
            place = first
            for piece in word:
                place = place.after.setdefault(piece, cls())
            place.ends = True
        return first

    @classmethod
    def every(cls, vocabulary: PairVocabulary) -> Pieces:
        """The class of all words that the pieces of a vocabulary spell."""
        pieces = [*enumerate(vocabulary.pieces_of(range(vocabulary.text_size)))][EOS + 1 :]
        inside = cls(ends=True)
        inside.after = {id_: inside for id_, piece in pieces if not vocabulary.starts[id_]}
        blank = cls(inside.after)  # the mark of a beginning alone spells nothing
        return cls({id_: blank if piece == "▁" else inside for id_, piece in pieces if vocabulary.starts[id_]})

    @cached_property
    def ids(self) -> IntArray:
        """The pieces that may come next."""
        return np.array([*self.after], dtype=np.int64)


class Lexicon:
    """Words by their classes.

    Attributes:
        classes: the words of each class.
        known: all words.
    """

    def __init__(self, words: Iterable[tuple[str, Word]]) -> None:
        own = defaultdict[str, set[Word]](set)
        for name, word in words:
            own[name].add(word)
        self.classes = {name: Pieces.of(each) for name, each in own.items()}
        self.known = frozenset(word for each in own.values() for word in each)

    @classmethod
    def of_pairs(cls, data: PairData) -> Lexicon:
        """The words of both sides, by the labels of the leaves of their trees.

        A side is left out if its tree, which is cut, has not as many leaves as the text has words. So are words with
        unknown pieces.
        """
        found = set[tuple[str, Word]]()
        for side in ("source", "target"):
            texts, trees = data.columns[side], data.columns[f"{side}_tree"]
            for place in range(len(data)):
                pieces = data.vocabulary.pieces_by_word(texts.row(place))
                leaves = data.vocabulary.trees.leaves(trees.row(place))
                if len(pieces) == len(leaves):
                    found.update(zip(leaves, pieces, strict=True))
        return cls((label, word) for label, word in found if UNK not in word)

    @classmethod
    def of_trees(cls, trees: Iterable[str], vocabulary: PairVocabulary) -> Lexicon:
        """The words of parsed texts, Penn strings, by their parts of speech; those with unknown pieces are left out."""
        read = [read_tree(tree) for tree in trees]
        found = list(dict.fromkeys(pair for tree in read for pair in zip(tags(tree), words(tree), strict=True)))
        pieces = vocabulary.encode_texts([word for _, word in found])
        return cls((tag, tuple(ids)) for (tag, _), ids in zip(found, pieces, strict=True) if UNK not in ids)
