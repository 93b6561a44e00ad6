"""Which variant of a tune is meant where none is named."""

from pathlib import Path

import pytest

from espalier.verse.tune_book import TuneBook
from tests.verse.couyun import write_couyun

TWO, FOUR = ("2。", "中平", [[1]]), ("4。", "中平中平", [[3]])


@pytest.fixture
def tunes(tmp_path: Path) -> TuneBook:
    forms = {
        ("江城子",): [TWO, TWO, TWO, TWO, FOUR, TWO],
        ("灯词",): [TWO, FOUR],
        ("浪淘沙",): [TWO],
        ("浪淘沙令",): [FOUR],
    }
    return TuneBook(write_couyun(tmp_path, tunes=forms))


def test_the_variant_that_most_song_ci_follow_is_meant(tunes: TuneBook) -> None:
    """2 of 171 poems follow the first variant of 江城子, 169 the fifth."""
    assert tunes.variant("江城子").number == 5
    assert [tunes.count(variant) for variant in tunes.variants("江城子")] == [2, 0, 0, 0, 169, 0]


def test_the_first_variant_of_a_tune_that_nobody_wrote_to_is_meant(tunes: TuneBook) -> None:
    assert tunes.variant("灯词").number == 1


def test_a_name_means_the_tune_that_the_poets_of_song_mean_by_it(tunes: TuneBook) -> None:
    """All 浪淘沙 of Song are 浪淘沙令; the book's 浪淘沙 is a quatrain."""
    assert tunes.variant("浪淘沙").tune == "浪淘沙令"
    assert [variant.tune for variant in tunes.fitting("浪淘沙", "灯下山中。")] == ["浪淘沙令"]
    assert tunes.variant("浪淘沙", 1).tune == "浪淘沙"
