from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.syntax.parsers.penn_words import has_ptb_form, penn_words, ptb_word, ptb_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("They can't leave.", "They ca n't leave ."),
        ('"Stay", she said.', "`` Stay '' , she said ."),
        ("``Stay'', she said.", "`` Stay '' , she said ."),
        ("the well-known 1/2 (half) price", "the well-known 1/2 ( half ) price"),
        ("Ann's $5.50 isn't 5% of it!", "Ann 's $ 5.50 is n't 5 % of it !"),
        ("do n't , he 's here .", "do n't , he 's here ."),
        ("a 👩‍👩‍👧 b", "a 👩‍👩‍👧 b"),
        ("one\u2028two\u00a0three", "one two three"),
    ],
)
def test_words_are_those_of_the_treebank(text: str, words: str) -> None:
    split = penn_words(text)
    assert split is not None
    assert split[0] == tuple(words.split(" "))


def test_it_is_known_where_white_space_was() -> None:
    assert penn_words('  "Stay," she\tsaid.\n') == (
        ("``", "Stay", ",", "''", "she", "said", "."),
        [False, False, False, True, True, False, True],
    )


@given(st.text(st.sampled_from("ab .,'\"`()-$\u2028\u200dé…“”"), max_size=30))
def test_words_make_up_the_text_or_are_refused(text: str) -> None:
    split = penn_words(text)
    if split is not None:
        words, spaces = split
        assert len(words) == len(spaces)
        assert not any(set(word) & set(" \t\n") for word in words)
        quotes = str.maketrans({'"': "", "'": "", "`": ""})
        assert "".join("".join(words).translate(quotes).split()) == "".join(text.translate(quotes).split())


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
