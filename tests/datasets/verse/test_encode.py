"""From poems to rows of symbols: what fits, and why the others do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from espalier.corpora.records import Verse
from espalier.datasets.encoding import Encoded
from espalier.datasets.verse.encode import VerseEncoding, VerseSettings, title_of
from espalier.datasets.vocabulary import EOS, SEP, UNK

ENCODING = VerseEncoding()
BOUNDS = {"units": 3, "length": 6, "max_tokens": 12}


def poem(name: str, target: str, rhyme: str = "", tune: str = "石桥令") -> Verse:
    return Verse(id=name, origin="test", language="zh", target=target, author="甲", tune=tune, rhyme=rhyme)


POEMS = [poem("a", "灯山，桥。\n山石！", "A."), poem("b", "雨。", "A", "灯"), poem("c", "桥灯山。\n石。", "AA")]


def settings(**changes: Any) -> VerseSettings:
    return VerseSettings.model_validate({**BOUNDS, **changes})


VOC = ENCODING.build_vocabulary(POEMS, settings(), "zh")


def encode(poems: list[Verse], **changes: Any) -> Encoded:
    return ENCODING.encode(poems, VOC, settings(**changes))


def test_words_and_marks_are_counted_and_rare_ones_left_out() -> None:
    assert set(VOC.words) == set("灯山，桥。石！雨") and VOC.words[:2] == ("。", "山")
    assert (VOC.units, VOC.length, VOC.language) == (3, 6, "zh")
    assert set(ENCODING.build_vocabulary(POEMS, settings(min_count=2), "zh").words) == set("灯山桥。石")


def test_a_fitting_poem_becomes_its_target_its_symbols_and_its_title() -> None:
    encoded = encode(POEMS)
    split = encoded.split
    assert split.ids == ["a", "b", "c"] and list(encoded.places) == [0, 1, 2] and not encoded.quarantined
    target = split.columns["target"]
    ids = [*VOC.encode("桥灯山。"), SEP, *VOC.encode("石。"), SEP, EOS]
    assert target.flat[target.offsets[2] :].tolist() == ids
    assert split.columns["title"].flat.tolist() == [*VOC.encode("石桥"), UNK, *VOC.encode("灯石桥"), UNK]
    assert split.columns["c"].lengths.tolist() == target.lengths.tolist() == [11, 4, 9]


@pytest.mark.parametrize(
    ("target", "changes", "reason"),
    [
        ("雨。\n雨。\n雨。\n雨。", {"max_tokens": 40}, "over 3 units or 6 tokens a unit"),
        ("灯山桥雨石灯。", {}, "over 3 units or 6 tokens a unit"),
        ("灯山桥灯山。\n山石！", {"max_tokens": 11}, "over 11 tokens"),
    ],
)
def test_what_does_not_fit_is_quarantined_with_its_reason(target: str, changes: dict[str, Any], reason: str) -> None:
    encoded = encode([poem("long", target, "." * (target.count("\n") + 1)), POEMS[1]], **changes)
    (row,) = encoded.quarantined
    assert (row.id, row.stage, row.reason, row.text) == ("long", "linearize", reason, target)
    assert encoded.split.ids == ["b"] and list(encoded.places) == [1]


@pytest.mark.parametrize("tones", ["平仄平平", "平仄平平仄平", "平仄平平x"])
def test_tones_that_do_not_fit_the_words_put_a_poem_aside(tones: str) -> None:
    encoded = encode([replace(POEMS[0], tones=tones), POEMS[1]])
    assert [row.reason for row in encoded.quarantined] == ["tones that do not fit its words"]
    assert encoded.split.ids == ["b"]


def test_the_tones_of_a_poem_are_those_of_its_record_and_either_where_it_has_none() -> None:
    encoded = encode([replace(POEMS[0], tones="平仄中仄平"), POEMS[1]])
    tone = encoded.split.columns["tone"]
    assert tone.flat.tolist() == [1, 2, -1, 0, -1, -1, 2, 1, -1, -1, -1, 0, -1, -1, -1]
    assert tone.lengths.tolist() == encoded.split.columns["c"].lengths.tolist()


def test_the_bounds_themselves_fit() -> None:
    # 5 words and a mark, a separator; 2 tokens and a separator, twice; the end mark: 14 tokens.
    poems = [poem("full", "灯山桥雨石。\n山！\n石。", "...")]
    assert not encode(poems, max_tokens=14).quarantined and encode(poems, max_tokens=13).quarantined


def test_a_title_has_as_many_words_as_a_unit_at_most() -> None:
    assert title_of("灯" * 9, VOC) == VOC.encode("灯" * 6)


def test_counts_are_of_targets_and_nothing_else_is_told() -> None:
    encoded = encode([*POEMS, poem("d", "鹤。", ".")])
    assert ENCODING.counts(encoded.split) == {"tokens": 11 + 4 + 9 + 4, "unknown": 1}
    assert ENCODING.numbers(VOC) == {"words": 8}
    assert ENCODING.extras(POEMS, settings()) == ENCODING.measures(encoded.split) == encoded.facts == {}
    assert ENCODING.training_records(POEMS, settings()) == POEMS


@pytest.mark.parametrize(
    "change", [{"min_count": 0}, {"units": 0}, {"length": 0}, {"max_tokens": 2}, {"colour": "red"}]
)
def test_settings_out_of_bounds_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(change))):
        settings(**change)
