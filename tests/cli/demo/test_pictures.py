from __future__ import annotations

from html.parser import HTMLParser

import pytest

from espalier.cli.demo import pictures
from espalier.datasets.structure.structures import StructuredText
from espalier.frames.frame import frame_of
from espalier.frames.report import Report, Score, Violation
from espalier.inference.results import Composition, Paraphrase, Poem, Reply, TextGranularity

EVIL = "<script>alert(1)</script>\"'&"


class Balanced(HTMLParser):
    """Fails where what opens does not close, and on a script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _poem(text: str, rhyme: str = "", groups: tuple[str, ...] = (), stanza: int = 0) -> Poem:
    return Poem(text, "format", rhyme, "", 1, 0, "", groups, stanza)


def test_characters_have_the_signs_of_their_tones_and_the_rhyme_is_marked() -> None:
    """山 and 明 are level, 月 is oblique, and 为 is read in both tones."""
    html = pictures.verse(_poem("山月为明。", "A", ("eng",)))
    Balanced(html)
    for word, sign in (("山", "○"), ("月", "●"), ("为", "◐")):
        assert f'<ruby class="">{word}<rt>{sign}</rt></ruby>' in html
    assert '<ruby class="rhyme hue-a">明<rt>○</rt></ruby>' in html and "A <small>eng</small>" in html


def test_a_unit_without_a_letter_has_no_rhyme_and_a_second_stanza_is_set_apart() -> None:
    html = pictures.verse(_poem("山月。\n山明。", ".B", ("", "eng"), stanza=1))
    assert html.count('class="rhyme') == 1 and html.count('<li class="stanza">') == 1


def test_english_verse_has_words_and_no_tones() -> None:
    html = pictures.verse(_poem("the light of day\nis far away", "AA", ("EY", "EY")))
    assert "<rt>" not in html and html.count('class="rhyme hue-a"') == 2
    assert ">day</span>" in html and ">The</span>" in html


def test_a_click_makes_a_blank_and_another_brings_the_character_back() -> None:
    verse = "雨里江。"
    once = pictures.turned(verse, verse, 1)
    assert once == "雨_江。" and pictures.turned(once, verse, 1) == verse
    assert pictures.turned(verse, verse, 9) == verse  # a click on a text that has become shorter


def test_characters_are_buttons_that_say_what_they_do_and_marks_are_not() -> None:
    html = pictures.places("雨_。")
    Balanced(html)
    assert html.count("<button") == 2 and html.count('aria-pressed="true"') == 1
    assert 'data-place="1"' in html and "<span>。</span>" in html and 'aria-label="雨, keep"' in html


def test_both_trees_are_drawn_and_a_missing_one_leaves_no_gap() -> None:
    result = Paraphrase("a cat", ("a", "cat"), "the cat", "", "(S (NP (DT) (NN)))", -1.0)
    both, one = pictures.paraphrase(result, "(S (NP (DT the) (NN cat)))"), pictures.paraphrase(result, "")
    Balanced(both)
    assert both.count('<ul class="tree">') == 2 and one.count('<ul class="tree">') == 1


@pytest.mark.parametrize(
    ("heads", "tree", "sign"), [((2, 0), "b(a,E)", "tree heads"), ((), "b(a,E)", "<code>b(a,E)"), ((), "", "")]
)
def test_a_reply_has_its_tree_or_that_in_words_or_none(heads: tuple[int, ...], tree: str, sign: str) -> None:
    html = pictures.reply(Reply("ab", ("a", "b"), "p", ("p",), heads, tree, "", -1.0))
    Balanced(html)
    assert sign in html and ("<figure" in html) == bool(tree)


def test_a_shade_has_its_number_and_the_last_layer_comes_first() -> None:
    result = TextGranularity("s", "t", ("▁a", "b"), ("<bos>",), {1: (0.25, 1.0), 2: (0.0, 0.5)}, {})
    html = pictures.shades(result)
    Balanced(html)
    assert '<li style="--share: 25%"><b>▁a</b><small>0.25</small></li>' in html
    assert html.index("layer 2") < html.index("layer 1") and "decoder" not in html


def test_a_symbol_that_differs_is_marked() -> None:
    template, text = (
        StructuredText(("a", word), {"pos": ("DT", tag)}) for word, tag in (("dog", "NN"), ("runs", "VB"))
    )
    html = pictures.structures(Composition("a runs", "a dog", "", (), 1, 0, template, text))
    Balanced(html)
    assert "pos 1/2" in html and html.count("<u>") == 1 and "<td><u>VB</u></td>" in html


def test_a_fault_is_marked_where_it_stands_and_told_below() -> None:
    report = frame_of({"format": "5,5。7,5。", "rhyme": "AA"}).check(
        "江上一灯明，照我过长桥。月落山空人未睡，风雪满归船。", None
    )
    html = pictures.checked(report)
    Balanced(html)
    assert html.count("<mark ") == 1 and ">桥</mark>" in html and "<li>桥 (rhyme): " in html and "not kept" in html


def test_no_text_becomes_markup() -> None:
    trees = Paraphrase(EVIL, (EVIL,), EVIL, "", "(S (NP))", -1.0)
    structure = StructuredText((EVIL,), {"pos": (EVIL,)})
    for html in (
        pictures.page([pictures.problem(EVIL)], [EVIL]), pictures.typed(EVIL), pictures.places(EVIL),
        pictures.verse(_poem(EVIL, EVIL, (EVIL,))), pictures.paraphrase(trees, ""),
        pictures.reply(Reply(EVIL, (EVIL,), EVIL, (), (0,), "", "", -1.0)),
        pictures.shades(TextGranularity(EVIL, EVIL, (EVIL,), (), {1: (0.5,)}, {})),
        pictures.structures(Composition(EVIL, EVIL, "", (), 1, 0, structure, structure)),
        pictures.checked(Report(EVIL, (Score(EVIL, 0, 1),), (Violation(EVIL, 0, 3, EVIL, EVIL),), EVIL, (), (EVIL,))),
    ):  # fmt: skip
        Balanced(html)


def test_the_style_sheet_fetches_nothing() -> None:
    assert "url(" not in pictures.style() and "@import" not in pictures.style() and ".tree" in pictures.style()
