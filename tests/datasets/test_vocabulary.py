"""The one table of words and symbols."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.datasets.verse.vocabulary import VerseVocabulary
from espalier.datasets.vocabulary import BOS, EOS, PAD, SEP, SPECIALS, UNK
from espalier.io.errors import ArtifactError, ConfigError

VOC = VerseVocabulary(("灯", "，", "山", "。"), units=3, length=5, language="zh")


def test_the_most_frequent_words_come_first_and_ties_by_code_point() -> None:
    built = VerseVocabulary.build(["b", "c", "a", "c", "b", "d"], "en", min_count=1, units=1, length=1)
    assert built.words == ("b", "c", "a", "d")
    assert VerseVocabulary.build("aab", "en", min_count=2, units=1, length=1).words == ("a",)


def test_ids_are_specials_words_then_symbols_and_none_stands_twice() -> None:
    symbols = [VOC.c_word, VOC.c_mark, VOC.c_rhyme, VOC.s_title]
    symbols += [VOC.segment(unit) for unit in range(3)] + [VOC.position(place) for place in range(5)]
    assert (PAD, UNK, BOS, EOS, SEP) == (0, 1, 2, 3, 4)
    assert VOC.encode(["灯", "，", "山", "。", "雨"]) == [5, 6, 7, 8, UNK]
    assert [VOC.id_of(token) for token in ("山", "雨")] == [7, UNK]
    assert symbols == list(range(VOC.text_size, VOC.size))
    assert (VOC.text_size, VOC.size) == (9, 21)


def test_tokens_are_the_inverse_of_ids() -> None:
    assert [VOC.token(index) for index in range(VOC.text_size)] == [*SPECIALS, *VOC.words]


def test_marks_are_known_by_their_ids() -> None:
    assert VOC.mark_ids.tolist() == [6, 8]
    assert VerseVocabulary(("灯",), "zh", 1, 1).mark_ids.tolist() == []


def test_a_format_beyond_its_symbols_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^format: 4 units; this model knows at most 3$"):
        VOC.segment(3)
    with pytest.raises(ConfigError, match=r"^format: a unit of 6 words and marks; this model knows at most 5$"):
        VOC.position(5)


def test_a_saved_vocabulary_is_the_same(tmp_path: Path) -> None:
    VOC.save(tmp_path / "vocabulary.json")
    assert VerseVocabulary.load(tmp_path / "vocabulary.json") == VOC


@pytest.mark.parametrize("text", ["{}", "[1]", '{"words": ["a"], "units": "many", "length": 1, "language": "en"}', "x"])
def test_what_is_no_vocabulary_is_an_artifact_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "vocabulary.json").write_text(text)
    with pytest.raises(ArtifactError, match=r"vocabulary\.json: not ") as caught:
        VerseVocabulary.load(tmp_path / "vocabulary.json")
    assert "\n" not in str(caught.value)
