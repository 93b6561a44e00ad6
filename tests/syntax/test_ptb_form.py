"""The form of PTB, by hand."""

from __future__ import annotations

import pytest

from espalier.syntax.ptb_form import has_ptb_form, ptb_word, ptb_words

KNOWN = {"the", "lamp", "&", "N", "<unk>", "$"}


@pytest.mark.parametrize(
    ("word", "written"),
    [("The", "the"), ("1,200.50", "N"), ("-3", "N"), ("7\\/8", "N"), (".5", "N"), ("%", "N"), ("$", "$"),
     ("Moss", "<unk>"), ("1990s", "<unk>"), ("&", "&")],
)  # fmt: skip
def test_a_word_is_lower_case_a_number_or_unknown(word: str, written: str) -> None:
    assert ptb_word(word, KNOWN) == written


def test_marks_go_unless_ptb_has_them_and_its_own_words_stay() -> None:
    assert ptb_words(["The", "lamp", ",", "``", "&", "N", "<unk>", "!"], KNOWN) == ["the", "lamp", "&", "N", "<unk>"]


def test_a_vocabulary_is_ptb_s_if_n_is_its_only_capital() -> None:
    assert has_ptb_form(KNOWN)
    assert not has_ptb_form({"the"}) and not has_ptb_form({"The", "N"})
