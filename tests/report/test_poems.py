from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from espalier.report.poems import UnitLine, mark
from espalier.report.results import Sample


def _places(line: UnitLine) -> list[int]:
    return [index for index, token in enumerate(line.tokens) if token.rhymes]


def test_the_rhyme_place_is_the_last_word_before_the_closing_marks() -> None:
    # 0山 1有 2云 3， 4水 5有 6烟 7。 / 0月 1在 2天 3！ 4”
    poem = mark(Sample(id="a", text="山有云，水有烟。\n月在天！”", rhyme="AA"), "zh")
    assert [_places(line) for line in poem.lines] == [[6], [2]]
    assert [line.tokens[place].text for line in poem.lines for place in _places(line)] == ["烟", "天"]
    assert [line.tokens[place].sound for line in poem.lines for place in _places(line)] == ["yān", "tiān"]
    assert [(line.letter, line.group, line.agrees) for line in poem.lines] == [("A", "an", True), ("A", "an", True)]


def test_a_unit_without_a_letter_has_no_rhyme_place() -> None:
    poem = mark(Sample(id="a", text="山有云。\n月在天。", rhyme=".A"), "zh")
    assert [_places(line) for line in poem.lines] == [[], [2]]
    assert [(line.letter, line.group, line.agrees) for line in poem.lines] == [("", "", None), ("A", "an", None)]


def test_the_unit_that_leaves_its_group_is_found() -> None:
    poem = mark(Sample(id="a", text="月在天。\n水有烟。\n一枝桃。", rhyme="AAA"), "zh")
    assert [line.agrees for line in poem.lines] == [True, True, False]


def test_each_letter_has_its_own_group() -> None:
    text = "the light ,\nthe wall .\nthe night ,\nthe fall !"
    poem = mark(Sample(id="a", text=text, rhyme="ABAB"), "en")
    assert [line.group for line in poem.lines] == ["AY T", "AO L", "AY T", "AO L"]
    assert [line.agrees for line in poem.lines] == [True] * 4
    assert [_places(line) for line in poem.lines] == [[1]] * 4


def test_english_marks_close_up_and_words_do_not() -> None:
    (line,) = mark(Sample(id="a", text="we walk , and -- rest ."), "en").lines
    shown = "".join((" " if token.spaced else "") + token.text for token in line.tokens)
    assert shown == "we walk, and -- rest."


def test_what_was_asked_stands_beside_and_what_differs_is_said() -> None:
    poem = mark(Sample(id="a", text="山有云，水有烟。\n月天。", format="3，3。3。", rhyme="AA"), "zh")
    assert [(line.expected, line.actual) for line in poem.lines] == [("3，3。", ""), ("3。", "2。")]


def test_a_literal_of_a_template_counts_as_the_word_in_its_place() -> None:
    (line,) = mark(Sample(id="a", text="山有云，水有烟。", format="_有_，__#。", rhyme="A"), "zh").lines
    assert (line.expected, line.actual) == ("_有_，__#。", "")


def test_units_that_never_came_and_units_too_many_keep_their_lines() -> None:
    short = mark(Sample(id="a", text="山有云。", format="3。3。", rhyme="AA"), "zh")
    assert [(len(line.tokens), line.expected) for line in short.lines] == [(4, "3。"), (0, "3。")]
    long = mark(Sample(id="a", text="山有云。\n月在天。", format="3。", rhyme="A"), "zh")
    assert [(line.expected, line.actual, line.letter) for line in long.lines] == [("3。", "", "A"), ("", "3。", "")]


def test_a_format_that_cannot_be_read_is_shown_whole() -> None:
    poem = mark(Sample(id="a", text="山有云。", format="5,,7", rhyme="A"), "zh")
    assert (poem.format, [line.expected for line in poem.lines]) == ("5,,7", [""])


def test_a_place_without_a_known_sound_has_none() -> None:
    (line,) = mark(Sample(id="a", text="山有□。", rhyme="A"), "zh").lines
    assert _places(line) == [2]
    assert (line.tokens[2].sound, line.group) == ("", "")
    (other,) = mark(Sample(id="a", text="xqzt .", rhyme="A"), "en").lines
    assert (other.tokens[0].rhymes, other.tokens[0].sound) == (True, "")


def test_each_place_of_a_variant_has_the_sign_of_its_tone_and_rhyme_and_a_cross_where_it_is_wrong() -> None:
    poem = mark(
        Sample(
            id="a",
            text="灯山，雨。\n烟桥。",
            rhyme="AA",
            variant="灯词 2",
            tones="平仄中平仄",
            letters="..A.A",
            kept=".t.tb",
        ),
        "zh",
    )
    signs = [[token.signs for token in line.tokens] for line in poem.lines]
    assert signs == [["○", "●×", "", "◐△", ""], ["○×", "●×△×", ""]]
    assert [token.said for token in poem.lines[1].tokens] == [
        "level tone: it has none", "oblique tone: it has none, rhyme A: it does not rhyme", ""
    ]  # fmt: skip
    assert poem.variant == "灯词 2" and poem.lines[0].tokens[3].said == "either tone, rhyme A"


def test_a_poem_of_no_variant_has_no_signs() -> None:
    poem = mark(Sample(id="a", text="灯山。", rhyme="A"), "zh")
    assert not any(token.signs or token.said for line in poem.lines for token in line.tokens)


@given(st.text(max_size=30), st.text(max_size=12), st.text(alphabet="AB.", max_size=6), st.sampled_from(["zh", "en"]))
def test_any_text_can_be_shown_and_loses_no_token(text: str, format_: str, rhyme: str, language: str) -> None:
    poem = mark(Sample(id="a", text=text, format=format_, rhyme=rhyme, reference=text), language)  # type: ignore[arg-type]
    units = text.split("\n") if text else []
    shown = [[token.text for token in line.tokens] for line in poem.lines]
    assert shown[: len(units)] == [list(unit) if language == "zh" else unit.split() for unit in units]
    assert not any(shown[len(units) :])
