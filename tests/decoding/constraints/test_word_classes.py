"""Words of given classes, against regular expressions over the pieces; and under beam search."""

from __future__ import annotations

import re
import sys
from itertools import product
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from espalier.datasets.pairs.word_classes import Pieces, Word
from espalier.datasets.vocabulary import EOS
from espalier.decoding.beam import beam_search
from espalier.decoding.constraints.word_classes import Slot, WordClasses

sys.path.insert(0, str(Path(__file__).parent))
from constrained_trees import Chain, batch_of

SIZE, LONGEST = EOS + 4, 5
ROWS = st.lists(st.integers(4, SIZE - 1), min_size=1, max_size=3).map(tuple)
CLASSES = st.lists(st.lists(ROWS, max_size=3), min_size=1, max_size=2)
SLOTS = st.lists(st.tuples(CLASSES, st.booleans()), min_size=1, max_size=3)


def slots_of(given: list[tuple[list[list[Word]], bool]]) -> list[Slot]:
    return [Slot(tuple(map(Pieces.of, classes)), many) for classes, many in given]


def allowed(constraint: WordClasses) -> set[Word]:
    """All texts of at most `LONGEST` pieces that may end."""
    state, prefixes, found = constraint.start(batch_of([[]])), [()], set[Word]()
    for _ in range(LONGEST + 1):
        rows, tokens = (constraint.mask(state) == 0).nonzero(as_tuple=True)
        found |= {prefixes[row] for row in rows[tokens == EOS].tolist()}
        rows, tokens = rows[tokens != EOS], tokens[tokens != EOS]
        prefixes = [(*prefixes[row], token) for row, token in zip(rows.tolist(), tokens.tolist(), strict=True)]
        state = constraint.advance(tokens, state.select(rows))
    return found


@given(SLOTS)
def test_what_may_be_written_is_a_word_of_its_classes_for_each_slot(given: list[tuple[list[list[Word]], bool]]) -> None:
    def words(classes: list[list[Word]], many: bool) -> str:
        each = "|".join("".join(map(str, word)) for row in classes for word in row)
        return f"(?:{each or '(?!)'}){'+' if many else ''}"

    rule = re.compile("".join(words(classes, many) for classes, many in given))
    every = (word for length in range(LONGEST + 1) for word in product(range(4, SIZE), repeat=length))
    expected = {word for word in every if rule.fullmatch("".join(map(str, word)))}
    assert allowed(WordClasses([slots_of(given)], SIZE)) == expected


def test_each_row_of_a_beam_search_has_its_own_slots_and_one_without_words_has_no_text() -> None:
    one, other = Slot((Pieces.of([(4,), (5, 6)]),)), Slot((Pieces.of([(5,)]),))
    constraint = WordClasses([[one, other], [other], [one, Slot((Pieces(),))]], SIZE)
    found = beam_search(
        Chain(SIZE, 1, 1.0), batch_of([[]] * 3), beam=4, max_ids=6, begin=2, end=EOS, constraint=constraint
    )
    assert [{tuple(each.tokens) for each in row} for row in found] == [{(4, 5), (5, 6, 5)}, {(5,)}, set()]


@pytest.mark.parametrize("piece", [4, EOS])
def test_a_prefix_that_leads_nowhere_may_be_advanced_and_allows_nothing(piece: int) -> None:
    constraint = WordClasses([[Slot((Pieces.of([(5,)]),))]], SIZE)
    state = constraint.advance(torch.tensor([piece]), constraint.start(batch_of([[]])))
    assert torch.isinf(constraint.mask(state)).all()
    assert torch.isinf(constraint.mask(constraint.advance(torch.tensor([5]), state))).all()
