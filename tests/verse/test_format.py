"""The grammar of formats: what it reads, how it spells it back, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.io.errors import ConfigError
from espalier.text.language import Language
from espalier.verse.format import BLANK, RHYME, Format, fill, format_of
from espalier.verse.grammar import parse_format


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
        ("春雨", "zh", None, r"^format: '春雨' leaves nothing to write; give counts"),
        (
            "abc",
            "zh",
            None,
            r"^format: 'a' is no count, blank, mark or word; counts look like 5,5。7,5。, blanks like ___$",
        ),
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
        ("）5。", "zh", None, "'）' in '）5。' has no words before it"),
        ("“，5。", "zh", None, "'，' in '“，5。' has no words before it"),
        ("5。/——", "zh", None, "'——' has no words"),
        (
            "_5",
            "zh",
            None,
            r"^format: '_ 5' has a count beside a blank or a count; counts look like 5,5。7,5。, blanks",
        ),
        ("3_。", "zh", None, "'3 _' has a count beside a blank"),
        ("3#。", "zh", None, "'3 #' has a count beside a blank"),
        ("3 _ .", "en", None, "'3 _' has a count beside a blank"),
        ("5 5。", "zh", None, "'5 5' has a count beside a blank or a count"),
        ("5-7-5", "zh", None, r"^format: '5-7' is no count; counts look like 5,5。7,5。, blanks like ___$"),
        ("5-7-5", "en", None, r"^format: '5-7' is no count; counts look like 8,/8\./8,/8\., blanks like ___$"),
        ("5–7–5", "zh", None, "'5–7' is no count"),
        ("5,x", "zh", None, r"^format: 'x' is no count, blank, mark or word; counts look like"),
        ("5,x", "en", None, r"^format: 'x' is no count, blank, mark or word; counts look like"),
        ("5×7", "zh", None, "'×' is no count"),
        ("5ｘ7", "zh", None, "'ｘ' is no count"),
        ("5×7", "en", None, "'×' is no count"),
        ("_" * 1000, "zh", None, r"^format: the format has 1000 characters; at most 999$"),
        ("999。" * 199, "zh", None, r"^format: the format has too many words and marks; at most 10,000$"),
        ("999/" * 199, "en", None, r"^format: the format has too many words and marks; at most 10,000$"),
        ("_\u202e_。", "zh", None, r"is no count, blank, mark or word"),
        ("_\udcff_。", "zh", None, r"is no count, blank, mark or word"),
        ("5。5。", "zh", "A", r"^rhyme: 'A' has 1 letters, the format 2 units; one letter per unit"),
        ("5。", "zh", "", "'' has 0 letters"),
        ("5。", "zh", "1", "'1' has more than letters and dots"),
        ("5。", "zh", "é", "more than letters"),
        ("__。_#。", "zh", "AA", r"^rhyme: unit 1 has the rhyme letter A but no position for it; write # where"),
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


@pytest.mark.parametrize(
    ("text", "units", "spelled"),
    [
        ("“5，5。”", ["“ _ _ _ _ _ ， _ _ _ _ # 。 ”"], "“5，5。”"),
        ("“2！”‘1？’2。", ["“ _ # ！ ”", "‘ # ？ ’", "_ # 。"], "“2！”‘1？’2。"),
        ("《2》，（1）2", ["《 _ _ 》 ， （ _ ） _ #"], "《2》，（1）2"),
        ("(1)2", ["（ _ ） _ #"], "（1）2"),
        ("「2」：1……", ["「 _ _ 」 ： # … …"], "「2」：1……"),
        ("2——1？！2！……1。", ["_ _ — — # ？ ！", "_ # ！ … …", "# 。"], "2——1？！2！……1。"),
        ("——2。", ["— — _ # 。"], "——2。"),
        ('"2。"2。', ['" _ # 。 "', "_ # 。"], '"2。"2。'),
        ("“_雨，《_#》……", ["“ _ 雨 ， 《 _ # 》 … …"], "“_雨，《_#》……"),
        ("2。/“2。”", ["_ # 。", "“ _ # 。 ”"], "2。“2。”"),
        ("2灯3。灯2。", ["_ _ 灯 _ _ # 。", "灯 _ # 。"], "__灯__#。灯_#。"),
    ],
)
def test_opening_and_doubled_marks_are_marks_in_chinese(text: str, units: list[str], spelled: str) -> None:
    format_ = parse_format(text, "zh")
    assert rows(format_) == units
    assert str(format_) == spelled
    assert parse_format(spelled, "zh") == format_


@pytest.mark.parametrize(
    ("text", "units", "spelled"),
    [
        ('"2, 1!"/(2) 1...', ['" _ _ , # ! "', "( _ _ ) # …"], '"2,1!"/(2)1…'),
        ("“2?!”", ['" _ # ? ! "'], '"2?!"'),
        ("2 -- 1", ["_ _ -- #"], "_ _ -- #"),
        ("lamp 2", ["lamp _ #"], "lamp _ #"),
    ],
)
def test_opening_and_doubled_marks_are_marks_in_english(text: str, units: list[str], spelled: str) -> None:
    format_ = parse_format(text, "en")
    assert rows(format_) == units
    assert str(format_) == spelled
    assert parse_format(spelled, "en") == format_


@pytest.mark.parametrize(
    ("text", "language", "letters", "places"),
    [
        ("#____。#____。", "zh", None, ((0,), (0,))),
        ("_#，_#_。2。", "zh", None, ((1, 4), ())),
        ("2灯。2。", "zh", "A.", ((2,), ())),
        ("_ _ #,/lamp # _.", "en", "AB", ((2,), (1,))),
    ],
)
def test_rhyme_places_are_the_written_ones_else_the_last_word(
    text: str, language: Language, letters: str | None, places: tuple[tuple[int, ...], ...]
) -> None:
    assert parse_format(text, language, letters).rhyme_places == places


@st.composite
def written(draw: st.DrawFn, language: Language) -> tuple[str, str]:
    """A format as people write it, and letters that fit it."""
    marks, words = ("，；、", "灯山桥春□") if language == "zh" else (",;:", ["lamp", "o'er", "sea-green", "été", "a"])
    opening, closing = ("“‘《（「——", "”’》）」……") if language == "zh" else ("\"'(-—", "\"')-…")
    word = st.sampled_from(["_", "_", "_", "#", *words])
    join = "" if language == "zh" else " "
    parts, letters = [], ""
    for _ in range(draw(st.integers(1, 4))):
        clauses = draw(
            st.lists(st.integers(1, 12).map(str) | st.lists(word, min_size=1, max_size=5), min_size=1, max_size=3)
        )
        spelled = [clause if isinstance(clause, str) else join.join(clause) for clause in clauses]
        unit = draw(st.sampled_from([*marks, *opening, *closing])).join(spelled)
        stops = st.sampled_from(["", *("。？！" if language == "zh" else ".?!"), "？！", "！……"])
        before, after = draw(st.text(opening, max_size=2)), draw(st.text(closing, max_size=2))
        parts.append(join.join([before, unit, draw(stops), after]))
        letters += draw(st.sampled_from("AB."))
    return draw(st.sampled_from(["/", "/", ""])).join(parts), letters


@pytest.mark.parametrize("language", ["zh", "en"])
@settings(deadline=None)  # the first example loads the dictionaries
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


@settings(deadline=None)
@given(st.text(alphabet="59_#/，。,.A 雨春\nx'-’“”《》（)…—？！\"", max_size=20), st.sampled_from(["zh", "en"]))
def test_any_text_is_a_format_or_a_config_error(text: str, language: Language) -> None:
    try:
        format_ = parse_format(text, language)
    except ConfigError:
        return
    assert format_.blanks > 0 and len(format_.rhyme) == len(format_.units)
    assert all(format_.units)
    assert parse_format(str(format_), language, format_.rhyme) == format_


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


@pytest.mark.parametrize(
    ("text", "language", "rhyme", "message"),
    [
        (
            "2灯。2山。2。",
            "zh",
            "AAA",
            r"^rhyme: unit 2 has the rhyme letter A, but '山' \(an\) does not rhyme with '灯' \(eng",
        ),
        ("2灯。2山。", "zh", "AA", "'山'"),
        (
            "2□。2。",
            "zh",
            "AA",
            r"^rhyme: unit 1 has the rhyme letter A, but the sound of '□' is not known; write \. for",
        ),
        ("2。2灯。2。2□", "zh", "ABAB", "unit 4 has the rhyme letter B, but the sound of '□'"),
        ("2 lamp/2 stone", "en", "AA", r"'stone' \(OW N\) does not rhyme with 'lamp' \(AE M P\)"),
        ("3/2 zzyzx", "en", "AA", "unit 2 has the rhyme letter A, but the sound of 'zzyzx' is not known"),
    ],
)
def test_literals_that_break_a_rhyme_asked_for_are_refused(
    text: str, language: Language, rhyme: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_format(text, language, rhyme)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200
    assert set(parse_format(text, language).rhyme) <= {"A", "."}  # nothing is promised without letters


@pytest.mark.parametrize(
    ("text", "language", "rhyme", "kept"),
    [
        ("2灯。2山。2。", "zh", None, "A.A"),
        ("2□。2。2。", "zh", None, ".AA"),
        ("2灯。2明。2。", "zh", "AAA", "AAA"),
        ("2灯。2山。2□。", "zh", "AB.", "AB."),
        ("2□。2。", "zh", "AB", "AB"),  # a letter of one place promises no rhyme
        ("2 lamp/2 damp/2", "en", "AAA", "AAA"),
        ("2 lamp/2 stone/2 zzyzx/2", "en", None, "A..A"),
    ],
)
def test_literals_keep_the_letters_that_they_can_keep(
    text: str, language: Language, rhyme: str | None, kept: str
) -> None:
    assert parse_format(text, language, rhyme).rhyme == kept


def test_a_word_that_is_repeated_has_the_tone_and_the_letter_of_its_repetition_where_it_has_none() -> None:
    format_ = parse_format("2。2。", "zh", "AA", tones="中平仄中", copies=((2, 0), (3, 0)))
    assert format_.asked == (("仄", "A"), ("平", "A"), ("仄", ""), ("中", "A"))
    assert replace(format_, copies=()).asked == (("中", ""), ("平", "A"), ("仄", ""), ("中", "A"))
