"""A constraint for texts in word pieces: their words are of given classes, such as the parts of speech of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor

from espalier.datasets.batch import Batch
from espalier.datasets.pairs.word_classes import Pieces
from espalier.datasets.vocabulary import EOS


class Slot(NamedTuple):
    """The place of a word in a text.

    Attributes:
        classes: the word is of one of them.
        many: whether several such words may stand here.
    """

    classes: tuple[Pieces, ...]
    many: bool = False


#: The number of the slot of the current word, -1 before the first, and the place in the word; for each way to read it.
Reading: TypeAlias = frozenset[tuple[int, Pieces]]


@dataclass
class ClassState:
    """For each prefix its slots and how it is read; a prefix that leads nowhere has no reading."""

    rows: Sequence[tuple[Sequence[Slot], Reading]]
    device: torch.device

    def select(self, index: Tensor) -> ClassState:
        """The rows `index`."""
        return ClassState([self.rows[place] for place in index.tolist()], self.device)


class WordClasses:
    """A text has a word for each slot, in order, and ends after the last. Specials are never allowed.

    It is for beam search, since a row with a slot without words has no text.

    Args:
        rows: the slots of each row of a batch, at least one.
        size: number of ids.
    """

    def __init__(self, rows: Sequence[Sequence[Slot]], size: int) -> None:
        self.rows, self.size = rows, size

    def start(self, batch: Batch) -> ClassState:
        """The state before the first piece. `batch` has one row for each entry of `rows`."""
        before: Reading = frozenset({(-1, Pieces(ends=True))})
        return ClassState([(slots, before) for slots in self.rows], batch.device)

    def mask(self, state: ClassState) -> Tensor:
        """Allow the pieces that continue the word or begin the next, and the end after the word of the last slot."""
        bias = np.full((len(state.rows), self.size), -np.inf, dtype=np.float32)
        for row, (slots, reading) in enumerate(state.rows):
            for _, place in _next(slots, reading):
                bias[row, place.ids] = 0.0
            if any(place.ends and number == len(slots) - 1 for number, place in reading):
                bias[row, EOS] = 0.0
        return torch.from_numpy(bias).to(state.device)

    def advance(self, tokens: Tensor, state: ClassState) -> ClassState:
        """The state after one more piece."""
        rows = list[tuple[Sequence[Slot], Reading]]()
        for id_, (slots, reading) in zip(tokens.tolist(), state.rows, strict=True):
            places = ((slot, place.after.get(id_)) for slot, place in _next(slots, reading))
            rows.append((slots, frozenset((slot, place) for slot, place in places if place is not None)))
        return ClassState(rows, state.device)


def _next(slots: Sequence[Slot], reading: Reading) -> Iterator[tuple[int, Pieces]]:
    """The slots and places at which the next piece may stand."""
    for slot, place in reading:
        yield slot, place
        if place.ends:
            first = slot if slot >= 0 and slots[slot].many else slot + 1
            for number in range(first, min(slot + 2, len(slots))):
                yield from ((number, words) for words in slots[number].classes)
