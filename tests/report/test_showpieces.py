from __future__ import annotations

from typing import Any

import pytest

from espalier.report.items import Items, Output
from espalier.report.printed import Column, OwnMetric
from espalier.report.showpieces import showpieces_of


def _column(name: str, better: Any = "higher") -> Column:
    return Column(group="", name=name, better=better, ours=(OwnMetric(metric=name),))


def _items(texts: list[str], *scores: list[float | None], columns: tuple[Column, ...], **more: Any) -> Items:
    """Items of the run "one"; `scores` has a list for each column."""
    rows = zip(texts, zip(*scores, strict=True), strict=True)
    outputs = tuple(Output((text,), {"guide": f"(S ({text}))"}, "", row) for text, row in rows)
    return Items(
        ids=tuple(f"i{place}" for place in range(len(texts))), runs=(("one", "One"),), languages=("en",),
        outputs=(outputs,), scores=columns, **more,
    )  # fmt: skip


def _texts(items: Items, *keys: str) -> list[str]:
    found = showpieces_of(items, keys or ("one",))
    return [piece.text for piece in found.pieces] if found else []


def test_the_smallest_sum_of_ranks_is_best_whichever_way_a_score_is_better() -> None:
    """BLEU 9 7 8 5 has the ranks 0 2 1 3, TED 3 1 1 4 the ranks 2 0 0 3: the sums are 2 2 1 6."""
    items = _items(
        ["a", "a b", "a b c", "a b c d"], [9, 7, 8, 5], [3, 1, 1, 4], columns=(_column("BLEU"), _column("TED", "lower"))
    )
    assert _texts(items) == ["a b c", "a", "a b"]
    found = showpieces_of(items, ("one",))
    assert found is not None and (found.title, found.scores, found.total) == ("One", ("BLEU", "TED"), 4)
    assert found.pieces[0].tree == "(S (a b c))"


def test_a_text_without_a_score_is_behind_one_with_the_worst() -> None:
    assert _texts(_items(["a", "a b"], [None, 0], columns=(_column("BLEU"),))) == ["a b", "a"]


def test_a_text_that_repeats_its_source_or_is_empty_is_not_shown() -> None:
    items = _items(["a", "", "a b"], [9, 8, 7], columns=(_column("BLEU"),), given={"source": ("a", "x", "y")})
    assert _texts(items) == ["a b"]


def test_of_texts_of_one_length_the_best_alone_is_shown() -> None:
    assert _texts(_items(["a b", "c d", "e"], [7, 8, 6], columns=(_column("BLEU"),))) == ["c d", "e"]


def test_a_score_of_the_reference_does_not_choose() -> None:
    columns = (_column("PPL", "lower"), _column("BLEU"))
    items = _items(["a", "a b"], [1, 2], [1, 2], columns=columns, of_reference=("PPL",))
    assert _texts(items) == ["a b", "a"]


@pytest.mark.parametrize("keys", [(), ("other",)])
def test_a_paper_without_its_run_has_no_texts(keys: tuple[str, ...]) -> None:
    assert showpieces_of(_items(["a"], [1], columns=(_column("BLEU"),)), keys) is None
    assert _texts(_items(["a"], [1], columns=(_column("BLEU"),)), "other", "one") == ["a"]


def test_a_verse_has_its_rhymes_marked_and_its_format_is_not_told_twice() -> None:
    given = {"tune": ("灯词",), "format": ("2。",), "rhyme": ("A",), "reference": ("桥烟。",)}
    items = _items(["灯烟。"], [1], columns=(_column("Rhyme"),), given=given)
    items = Items(items.ids, given, {}, items.runs, ("zh",), items.outputs, items.scores)
    found = showpieces_of(items, ("one",))
    assert found is not None and found.pieces[0].poem is not None
    assert found.pieces[0].given == (("reference", "桥烟。"),) and found.pieces[0].poem.lines[0].letter == "A"
