import pytest

from espalier.metrics.family import family_scores
from espalier.metrics.literals import Literals, literal_statistics
from tests.metrics.keys import LITERALS

FORMATS = ["灯_，__。\n__！", "___。", "_ love _ to me .", "雨_。\n石_。"]


def test_words_count_at_their_places_alone() -> None:
    rows = literal_statistics(FORMATS[:2], ["灯山，山雨。石石！", "山山山。"], "zh").tolist()
    assert rows == [[1, 1, 1, 1], [0, 0, 0, 0]]
    assert literal_statistics(FORMATS[3:] * 4, ["雨山。\n石雨。", "山雨。\n石雨。", "雨山。", ""], "zh").tolist() == [
        [2, 2, 1, 1], [1, 2, 0, 1], [1, 2, 0, 1], [0, 2, 0, 1]
    ]  # fmt: skip
    assert literal_statistics(FORMATS[2:3], ["i love him to me ."], "en").tolist() == [[3, 3, 1, 1]]


def test_scores_are_shares_of_words_and_of_texts_that_have_any() -> None:
    formats, texts = [FORMATS[3]] * 2 + ["___。"], ["雨山。\n石雨。", "山雨。\n石雨。", "山山山。"]
    scores = family_scores({Literals(): literal_statistics(formats, texts, "zh")}, seed=1)
    assert scores["literals_kept"].value == pytest.approx(75.0) and scores["literals_all_kept"].value == 50.0
    none = family_scores({Literals(): literal_statistics(["___。"], ["山山山。"], "zh")}, seed=1)
    assert [none[key].undefined for key in LITERALS] == ["no format keeps words"] * 2
