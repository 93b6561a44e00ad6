"""English tokens: one way of writing, whatever the print or the earlier tokenisation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpora.readers.english import tokens_in


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The Lamp, the door.", "the lamp , the door ."),
        ("o'er the well-known hill", "o'er the well-known hill"),
        ("O’er moss-grown stones", "o'er moss-grown stones"),
        ("'Tis late; ’twas early", "'tis late ; 'twas early"),
        ("'t was late and 't is cold", "'twas late and 'tis cold"),
        ("th' empty street, tho' wide", "th' empty street , tho' wide"),
        ("the lovers' lane", "the lovers' lane"),
        ("goin' home", "goin' home"),
        ("He said 'come home' again", 'he said " come home " again'),
        ("“Come,” she said, ‘come now’", '" come , " she said , " come now "'),
        ("``Come,'' she said", '" come , " she said'),
        ("'the lovers' and then the lovers' lane", '" the lovers " and then the lovers\' lane'),
        ("stay--go -- wait — there——", "stay — go — wait — there —"),
        ("a - b", "a — b"),
        ("and then... . . . or…", "and then … or …"),
        ("who knows?!", "who knows ? !"),
        ("moss & stone", "moss and stone"),
        ("the lamp 's light, we 'll see", "the lamp's light , we'll see"),
        ("in 1,024 ways at 5:30", "in 1,024 ways at 5:30"),
        ("ﬁve blessèd Ｌamps\u00a0here", "five blessèd lamps here"),
        ("(a) [b]", "( a ) [ b ]"),
        ("-", "—"),
        ("'", '"'),
    ],
)
def test_words_keep_their_apostrophes_and_marks_stand_alone(text: str, tokens: str) -> None:
    assert [" ".join(line) for line in tokens_in(text)] == [tokens]


def test_lines_stay_lines_and_empty_ones_go() -> None:
    assert tokens_in("a lamp —\n\n  \n— a door\r\n") == [["a", "lamp", "—"], ["—", "a", "door"]]
    assert tokens_in(" \n") == []


@settings(deadline=None)
@given(text=st.text(max_size=60) | st.text(alphabet="as'’‘\"-— .,\ntIn", max_size=60))
def test_no_token_is_empty_or_holds_a_space_and_nothing_but_spaces_is_lost(text: str) -> None:
    lines = tokens_in(text)
    assert all(lines)
    assert all(token and not any(map(str.isspace, token)) for line in lines for token in line)
    letters = [c for line in lines for token in line for c in token if c.isascii() and c.isalpha()]
    plain = [c for c in text.replace("&", "and").lower() if c.isascii() and c.isalpha()]
    if text.isascii():
        assert letters == plain


@given(
    words=st.lists(st.sampled_from(["lamp", "o'er", "'tis", "th'", ",", "—", '"', "well-known", "…", "("]), min_size=1)
)
def test_what_is_tokenised_already_stays_as_it_is(words: list[str]) -> None:
    # Runs of dashes and dots are one mark.
    (once,) = tokens_in(" ".join(words))
    assert tokens_in(" ".join(once)) == [once]
