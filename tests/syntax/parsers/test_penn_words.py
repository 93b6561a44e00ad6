from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.syntax.parsers.penn_words import penn_words


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
