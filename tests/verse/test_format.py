"""The grammar of formats: what it reads, how it spells it back, and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.errors import ConfigError
from espalier.text.language import Language
from espalier.verse.format import BLANK, RHYME, Format, fill, format_of, parse_format


def rows(format_: Format) -> list[str]:
    return [" ".join(unit) for unit in format_.units]


def test_counts_become_blanks_with_a_rhyme_at_each_unit() -> None:
    format_ = parse_format("5,5。7,5。", "zh", ".A")
    assert rows(format_) == ["_ _ _ _ _ ， _ _ _ _ _ 。", "_ _ _ _ _ _ _ ， _ _ _ _ # 。"]
    assert (format_.rhyme, format_.blanks, str(format_)) == (".A", 22, "5，5。7，5。")


def test_without_letters_every_unit_rhymes_as_in_training() -> None:
    assert parse_format("5,5。7,5。", "zh") == parse_format("5，5。7，5。", "zh", "AA")


def test_polishing_keeps_literals_and_a_literal_at_the_rhyme_place_stays() -> None:
    format_ = parse_format("_雨___，____到。", "zh")
    assert rows(format_) == ["_ 雨 _ _ _ ， _ _ _ _ 到 。"]
    assert (format_.rhyme, str(format_)) == ("A", "_雨___，____到。")
    assert fill(format_, list("一二三四五六七八")) == "一雨二三四，五六七八到。"


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("5,5.", "5，5。"),
        ("５，５。", "5,5."),
        ("5 ,  5 。", "5,5。"),
        ("＿＿＃。", "__#。"),
        ("5／7", "5/7"),
        ("5\n7", "5/7"),
        ("5。/7。", "5。7。"),
        ("5/\n\n/7/", "5/7"),
        ("3?4!", "3？4！"),
        ("_____。", "5。"),
    ],
)
def test_widths_spaces_and_breaks_do_not_matter_in_chinese(written: str, same: str) -> None:
    assert parse_format(written, "zh") == parse_format(same, "zh")


def test_a_chinese_unit_ends_at_terminals_alone() -> None:
    assert [len(unit) for unit in parse_format("3，3；3。3？3！3", "zh").units] == [12, 4, 4, 3]


def test_english_units_end_at_breaks_alone() -> None:
    format_ = parse_format("10,/4. 6;\n10", "en", "ABA")
    assert [len(unit) for unit in format_.units] == [11, 12, 10]
    assert str(format_) == "10,/4.6;/10"


def test_english_literals_are_lower_cased_and_keep_their_apostrophes() -> None:
    format_ = parse_format("_ _ not Love，/ O’er _ well-known _ remove .", "en", "AB")
    assert rows(format_) == ["_ _ not love ,", "o'er _ well-known _ remove ."]
    assert str(format_) == "_ _ not love ,/o'er _ well-known _ remove ."


def test_written_rhymes_choose_the_units_that_rhyme() -> None:
    assert parse_format("____。___#。", "zh").rhyme == ".A"
    assert parse_format("___#。___#。", "zh", "AB").rhyme == "AB"
    assert rows(parse_format("___#。___#。", "zh", "A.")) == ["_ _ _ # 。", "_ _ _ _ 。"]


@pytest.mark.parametrize("rhyme", [None, "A"])
def test_a_rhyme_before_the_last_word_is_kept(rhyme: str | None) -> None:
    format_ = parse_format("_#_，__#_。", "zh", rhyme)
    assert rows(format_) == ["_ # _ ， _ _ # _ 。"]
    assert str(format_) == "_#_，__#_。"


def test_letters_are_upper_cased() -> None:
    assert parse_format("5/5/5", "en", "ab.").rhyme == "AB."


@pytest.mark.parametrize(
    ("text", "language", "rhyme", "message"),
    [
        ("", "zh", None, r"^format: the format is empty; write counts"),
        (" \n\u3000", "zh", None, "the format is empty"),
        ("abc", "zh", None, r"^format: 'abc' leaves nothing to write; give counts"),
        ("abc", "en", None, "'abc' leaves nothing to write"),
        ("/", "zh", None, "leaves nothing to write"),
        ("春雨到。", "zh", None, "leaves nothing to write"),
        ("5,,7", "zh", None, r"^format: '，' in '5,,7' has no words before it$"),
        ("5,,7", "en", None, "',' in '5,,7' has no words before it"),
        ("，5。", "zh", None, "has no words before it"),
        ("5。！", "zh", None, "'！' in '5。！' has no words before it"),
        ("0", "zh", None, r"^format: a count of 0; counts go from 1 to 999$"),
        ("5,00。", "zh", None, "a count of 00"),
        ("1000", "zh", None, "a count of 1000"),
        ("9" * 900, "zh", None, r"a count of 9{37}\.\.\.;"),
        ("_5", "zh", None, "'5' follows a word without a mark"),
        ("_" * 1000, "zh", None, r"^format: the format has 1000 characters; at most 999$"),
        ("5。5。", "zh", "A", r"^rhyme: 'A' has 1 letters, the format 2 units; one letter per unit"),
        ("5。", "zh", "", "'' has 0 letters"),
        ("5。", "zh", "1", "'1' has more than letters and dots"),
        ("5。", "zh", "é", "more than letters"),
        ("__。_#。", "zh", "AA", r"^rhyme: unit 1 has the rhyme letter A but no place for it; write # where"),
    ],
)
def test_what_no_one_can_mean_is_refused_in_one_line(
    text: str, language: Language, rhyme: str | None, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_format(text, language, rhyme)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


def test_the_longest_format_is_read() -> None:
    assert parse_format("_" * 999, "zh").blanks == 999
    assert parse_format("999", "zh").blanks == 999


@st.composite
def written(draw: st.DrawFn, language: Language) -> tuple[str, str]:
    """A format as people write it, and letters that fit it."""
    marks, words = ("，；、", "灯山桥春") if language == "zh" else (",;:", ["lamp", "o'er", "sea-green", "été"])
    word = st.sampled_from(["_", "_", "_", "#", *words])
    parts, letters = [], ""
    for _ in range(draw(st.integers(1, 4))):
        clauses = draw(
            st.lists(st.integers(1, 12).map(str) | st.lists(word, min_size=1, max_size=5), min_size=1, max_size=3)
        )
        spelled = [
            clause if isinstance(clause, str) else ("" if language == "zh" else " ").join(clause) for clause in clauses
        ]
        unit = draw(st.sampled_from(marks)).join(spelled)
        parts.append(unit + draw(st.sampled_from(["", "。" if language == "zh" else "."])))
        letters += draw(st.sampled_from("AB."))
    return "/".join(parts), letters


@pytest.mark.parametrize("language", ["zh", "en"])
@given(data=st.data())
def test_the_canonical_spelling_is_read_back(language: Language, data: st.DataObject) -> None:
    text, letters = data.draw(written(language))
    for rhyme in (None, letters):
        try:
            format_ = parse_format(text, language, rhyme)
        except ConfigError:
            continue
        again = parse_format(str(format_), language, format_.rhyme)
        assert again == format_
        assert str(again) == str(format_)


@given(st.text(alphabet="59_#/，。,.A 雨春\nx'-’", max_size=20), st.sampled_from(["zh", "en"]))
def test_any_text_is_a_format_or_a_config_error(text: str, language: Language) -> None:
    try:
        format_ = parse_format(text, language)
    except ConfigError:
        return
    assert format_.blanks > 0 and len(format_.rhyme) == len(format_.units)
    assert all(format_.units)


def test_a_given_verse_has_its_format() -> None:
    format_ = format_of("灯暗，桥深。\n山远？", "zh", "A.")
    assert rows(format_) == ["_ _ ， _ # 。", "_ _ ？"]
    assert str(format_) == "2，2。2？"
    assert parse_format(str(format_), "zh", "A.") == format_


def test_a_unit_of_marks_alone_has_no_rhyme_place() -> None:
    assert rows(format_of("我爱灯。\n！", "zh", "AA")) == ["_ _ # 。", "！"]


@given(st.lists(st.text(alphabet="灯山桥，、", min_size=1, max_size=8), min_size=1, max_size=4))
def test_a_verse_fills_its_own_format(units: list[str]) -> None:
    verse = "\n".join(units)
    format_ = format_of(verse, "zh", "A" * len(units))
    assert fill(format_, [token for token in verse if token in "灯山桥"]) == verse
    assert sum(slot in (BLANK, RHYME) for unit in format_.units for slot in unit) == format_.blanks


def test_too_few_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="2 words for 5 blanks"):
        fill(parse_format("5", "zh"), ["灯", "山"])
