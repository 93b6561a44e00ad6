from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from espalier.report.trees import constituents_html, dependencies_html


def test_a_constituent_is_a_list_below_its_label() -> None:
    assert constituents_html("(NP (DT the) (NN yard))") == (
        '<ul class="tree"><li><span>NP</span><ul>'
        '<li><span>DT</span><ul><li><span class="word">the</span></li></ul></li>'
        '<li><span>NN</span><ul><li><span class="word">yard</span></li></ul></li>'
        "</ul></li></ul>"
    )


def test_a_template_ends_in_labels() -> None:
    assert constituents_html("(S (NP) (.))") == (
        '<ul class="tree"><li><span>S</span><ul><li><span>NP</span></li><li><span>.</span></li></ul></li></ul>'
    )


def test_what_is_no_tree_and_what_is_markup_is_shown_as_text() -> None:
    assert constituents_html("(S (<b>") == "<code>(S (&lt;b&gt;</code>"
    assert "<b>" not in constituents_html("(S (<b> <i>))")
    assert "<b>" not in dependencies_html(["<b>"], [0])


def test_dependents_stand_on_their_side_of_the_head() -> None:
    assert dependencies_html(["cows", "sleep", "now"], [2, 0, 2]) == (
        '<ul class="tree heads"><li><ul><li><span class="word">cows</span></li></ul>'
        '<span class="word">sleep</span><ul><li><span class="word">now</span></li></ul></li></ul>'
    )


def test_heads_that_are_no_tree_are_not_drawn() -> None:
    assert dependencies_html(["a", "b"], [2, 1]) == dependencies_html(["a"], [0, 1]) == ""


@given(st.data())
def test_words_of_a_projective_tree_stand_in_their_order(data: st.DataObject) -> None:
    def span(low: int, high: int, head: int) -> None:
        if low < high:
            root = data.draw(st.integers(low, high - 1))
            heads[root] = head
            span(low, root, root + 1)
            span(root + 1, high, root + 1)

    size = data.draw(st.integers(1, 9))
    heads = [0] * size
    span(0, size, 0)
    html = dependencies_html([str(word) for word in range(size)], heads)
    assert re.findall(r">(\d+)<", html) == [str(word) for word in range(size)]
    assert html.count("<li>") == html.count("</li>") == size
    assert html.count("<ul") == html.count("</ul>")
