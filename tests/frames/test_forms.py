"""Forms by name: each has rules that go together, and a poem that keeps them."""

from __future__ import annotations

import pytest

from espalier.frames import Form, Format
from espalier.frames.forms import NAMES
from espalier.frames.judge import kinds_of
from espalier.io.errors import ConfigError
from espalier.verse.ci_books import CiBooks, open_books
from tests.verse.couyun import write_couyun


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> CiBooks:
    return open_books(write_couyun(tmp_path_factory.mktemp("couyun")))


def test_every_form_has_rules_and_regulated_verse_has_four_openings() -> None:
    assert [len(kinds_of(Form(name).says())) for name in NAMES] == [4] * 4 + [1] * 5


def test_a_jueju_is_judged_by_the_opening_that_it_has(books: CiBooks) -> None:
    """洞 and 照 are oblique, 东 and 空 level and of one rhyme; the lines are ab, cd."""
    right = "洞照东东洞，东东洞照空。洞东东照洞，东洞洞东风。"
    assert Form("五言绝句").check(right, books).kept
    assert Form("五言绝句", opening=1).check(right, books).kept
    assert not Form("五言绝句", opening=2).check(right, books).kept
    report = Form("五言绝句").check(right.replace("东洞洞东风", "东洞洞东桃"), books)
    assert [each.rule for each in report.violations] == ["rhyme"]


def test_english_forms_are_judged_by_meter_and_rhyme() -> None:
    hymn = (
        "The river turned beside the mill / And did not say a word / "
        "The evening lay upon the hill / And not a leaf was heard"
    )
    assert Form("haiku").check("A lamp on the bridge, / and the river under it / lets the evening go.").kept
    assert Form("common metre").check(hymn).kept
    assert [each.rule for each in Form("common metre").check(hymn.replace("heard", "seen")).violations] == ["rhyme"]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (Form("sestina"), "unknown form 'sestina'; allowed: Petrarchan sonnet"),
        (Form("五言绝句", opening=5), "no opening 5 of 五言绝句; there are 4, from 1"),
        (Form("haiku") & Format("5。"), "format beside the form haiku"),
    ],
)
def test_bad_forms_are_one_line(frame: Form, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        frame.check("a lamp")
