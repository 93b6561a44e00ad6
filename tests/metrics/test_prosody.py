"""Rhyme and tone by the book, on a small book written by hand; every count is worked out beside its poem.

The tune 灯词 has variants of the same sentences, 6 and 6 words: 1 rhymes level, 2 oblique. 9 of 12 places want a tone.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from espalier.io.errors import ArtifactError, EspalierError
from espalier.metrics.family import family_scores, statistics_of
from espalier.metrics.prosody import Prosody, fitting, marked_places, prosody_statistics
from espalier.metrics.texts import Verses
from espalier.metrics.verse import verse_families
from tests.metrics.keys import PROSODY
from tests.verse.couyun import write_couyun

#: Follows variant 1 in all its places: 中仄仄，仄平平。中平仄，仄中平。
LEVEL = "东动动，动东东。\n东东动，动东风。"
#: Follows variant 2: 中仄仄，仄平仄。中平仄，仄中仄。
OBLIQUE = "东动动，动东动。\n东东动，动东梦。"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_couyun(tmp_path_factory.mktemp("couyun"))


@pytest.mark.parametrize(
    ("text", "fits", "wanted", "rhymes", "tones", "all_tones", "whole", "clauses"),
    [
        # The reference itself.
        (LEVEL, 1, 9, (1, 1), (9, 9), (1, 1), (1, 1), 1),
        # Another variant of the same sentences.
        (OBLIQUE, 1, 9, (1, 1), (9, 9), (1, 1), (1, 1), 1),
        # 高 is level and of another part; Mandarin has ong and ao.
        ("东动动，动东东。\n东东动，动东高。", 1, 9, (0, 0), (9, 9), (1, 1), (0, 0), 1),
        # 竹 is oblique by the book, and level in Mandarin: place 10 is free, place 3 is not.
        ("东动动，竹东东。\n东东动，动竹风。", 1, 9, (1, 1), (9, 8), (1, 0), (1, 0), 1),
        # One wrong tone, 东 for an oblique word.
        ("东东动，动东东。\n东东动，动东风。", 1, 9, (1, 1), (8, 8), (0, 0), (0, 0), 1),
        # Another mark: sentences, rhymes and tones are right, the format is not.
        ("东动动、动东东。\n东东动，动东风。", 1, 9, (1, 1), (9, 9), (1, 1), (0, 0), 1),
        # Sentences of variant 4, which has 6, 6 and 2 words, 11 of 14 places of fixed tone; the format is another.
        ("东动动动东东。\n东东动动东风。\n东空。", 1, 11, (1, 1), (11, 11), (1, 1), (0, 0), 1),
        # Sentences of variants 1 to 3, the first of other clauses: 4 and 2 words.
        ("东动动动，东东。\n东东动，动东风。", 1, 9, (1, 1), (9, 9), (1, 1), (0, 0), 0),
        # Sentences of no variant: nothing is right at any of the reference's places but the clauses of variant 1.
        ("东动动。\n动东东，东东动，动东风。", 0, 9, (0, 0), (0, 0), (0, 0), (0, 0), 1),
        ("", 0, 9, (0, 0), (0, 0), (0, 0), (0, 0), 0),
    ],
)
def test_each_text_is_counted_by_hand(
    folder: Path,
    text: str,
    fits: int,
    wanted: int,
    rhymes: tuple[int, int],
    tones: tuple[int, int],
    all_tones: tuple[int, int],
    whole: tuple[int, int],
    clauses: int,
) -> None:
    row = prosody_statistics(["灯词"], [LEVEL], [text], folder)[0]
    assert row.tolist() == [1, fits, wanted, *rhymes, *tones, *all_tones, *whole, 0, 0, clauses]


@pytest.mark.parametrize(("tune", "reference"), [("无名", LEVEL), ("", LEVEL), ("灯词", "东风。\n东风。")])
def test_a_poem_whose_reference_fits_no_variant_does_not_count(folder: Path, tune: str, reference: str) -> None:
    assert not prosody_statistics([tune], [reference], [LEVEL], folder).any()


def test_scores_are_shares_of_the_poems_that_fit_and_accuracy_by_place(folder: Path) -> None:
    tunes = ["灯词", "试灯词", "灯词", "无名"]
    texts = [LEVEL, "东东动，动东东。\n东东动，动东高。", "东。", LEVEL]
    rows = prosody_statistics(tunes, [LEVEL] * 4, texts, folder)
    scores = family_scores({Prosody(): rows}, seed=1, groups=list("abcd"))
    assert tuple(scores) == PROSODY
    values = {key: score.value for key, score in scores.items()}
    third = pytest.approx(100 / 3)
    assert values == {
        "variant_fit": pytest.approx(200 / 3),
        "variant_fit_clauses": pytest.approx(200 / 3),
        "rhyme_cilin": third,
        "rhyme_mandarin": third,
        "tone_book": pytest.approx(100 * (9 + 8) / 27),
        "tone_mandarin": pytest.approx(100 * (9 + 8) / 27),
        "tones_whole_book": third,
        "tones_whole_mandarin": third,
        "repeated_lines": None,
        "verse_whole_book": third,
        "verse_whole_mandarin": third,
    }
    assert all(score.low < score.high for score in scores.values() if score.low is not None)  # type: ignore[operator]
    assert len({metric.signature for metric in Prosody.metrics}) == len(Prosody.metrics)


def test_without_a_poem_that_fits_there_is_no_value_and_a_reason(folder: Path) -> None:
    rows = prosody_statistics(["无名"], [LEVEL], [LEVEL], folder)
    for score in family_scores({Prosody(): rows}, seed=1, resamples=0).values():
        assert (score.value, score.undefined[:22]) == (None, "no poem fits a variant")  # type: ignore[index]


def test_coverage_counts_poems_tunes_and_fits(folder: Path) -> None:
    counts = fitting(["灯词", "无名", "转韵词"], [LEVEL, LEVEL, LEVEL], folder)
    assert counts == {"poems": 3, "tune in the book": 2, "fits a variant": 1}


def test_verse_has_the_family_with_books_alone(folder: Path) -> None:
    def families(books: Path | None) -> dict[Any, np.ndarray]:
        verses = Verses([LEVEL], [LEVEL], ["AA"], language="zh", tunes=["灯词"], books=books)
        return statistics_of(verse_families(verses, rules="songci", seed=1), verses)

    without, with_books = families(None), families(folder)
    assert with_books.keys() - without.keys() == {Prosody()}
    for family, rows in without.items():
        assert np.array_equal(rows, with_books[family])


def test_lists_of_different_lengths_and_a_missing_book_are_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EspalierError, match="1 tunes for 2 references"):
        prosody_statistics(["灯词"], [LEVEL] * 2, [LEVEL] * 2, folder)
    with pytest.raises(ArtifactError, match="download@couyun"):
        prosody_statistics(["灯词"], [LEVEL], [LEVEL], tmp_path)


def test_a_poem_whose_line_is_not_repeated_is_not_right(tmp_path: Path) -> None:
    """All else of it is: format, rhymes and tones."""
    repeats = ("2。2。", "中平中平", [[1, 3]], ["中平韵", "中平叠"], "东风。东风。")
    folder = write_couyun(tmp_path, tunes={("叠词",): [repeats]})
    texts = ["东风。\n东风。", "东风。\n东空。"]
    rows = prosody_statistics(["叠词"] * 2, [texts[0]] * 2, texts, folder)
    values = {key: score.value for key, score in family_scores({Prosody(): rows}, seed=1, resamples=0).items()}
    whole = (values["repeated_lines"], values["verse_whole_book"], values["rhyme_cilin"], values["tones_whole_book"])
    assert whole == (50, 50, 100, 100)
    assert marked_places(["叠词"], texts[1:], folder)["kept"] == ["...c"]
