"""Repeated lines and words of a tune."""

import pytest

from espalier.verse.copies import copies_of

# The examples are made up; each repeats as the tune that is named does.


def test_a_repeated_line_is_copied_whole() -> None:
    """如梦令: the line after the mark equals the line before."""
    assert copies_of(["中仄韵", "中仄叠"], ["灯灭", "灯灭"]) == ((2, 0), (3, 1))


def test_the_end_of_a_longer_line_can_be_repeated() -> None:
    """忆秦娥: three words repeat the end of the line before."""
    assert copies_of(["中平中仄平平仄韵", "平平仄叠"], ["山前山后山桥雪", "山桥雪"]) == ((7, 4), (8, 5), (9, 6))


def test_only_the_rhyme_word_of_another_line_is_repeated() -> None:
    """长相思: the two lines differ, and end alike."""
    assert copies_of(["仄平平韵", "仄中平叠"], ["远山青", "近山青"]) == ((5, 2),)


def test_a_word_repeated_twice_has_one_source() -> None:
    """钗头凤: three times one word."""
    assert copies_of(["仄韵", "仄叠", "仄叠"], ["错", "错", "错"]) == ((1, 0), (2, 0))


def test_a_repeated_word_may_come_from_an_earlier_line() -> None:
    """阮郎归: 重, the word of the last line that ends so."""
    assert copies_of(["平平韵", "仄平韵", "平平重"], ["青山", "故人", "空山"]) == ((5, 1),)


def test_changes_of_rhyme_do_not_move_the_marks() -> None:
    """Entries write 换仄韵 and 叶平韵 with tone signs, which are no places."""
    assert copies_of(["平仄换仄韵平平叶平韵", "平平叠"], ["灯灭", "山青", "山青"]) == ((4, 2), (5, 3))


@pytest.mark.parametrize("clauses", [["灯灭"], ["灯灭", "山青"]])
def test_a_mark_that_the_example_does_not_bear_out_is_an_error(clauses: list[str]) -> None:
    with pytest.raises(ValueError):
        copies_of(["平仄韵", "平平叠"], clauses)


def test_without_marks_nothing_is_repeated_though_the_example_does() -> None:
    assert copies_of(["平仄韵", "平仄韵"], ["灯灭", "灯灭"]) == ()
